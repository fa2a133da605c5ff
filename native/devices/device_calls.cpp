#include "devices/device_calls.h"

#include <cstring>

namespace aw {
namespace {

constexpr uint64_t kNotSupported = 801;  // cudaErrorNotSupported

constinit thread_local DeviceCalls* answering = nullptr;

}  // namespace

void set_device_calls(DeviceCalls* calls) { answering = calls; }

}  // namespace aw

extern "C" uint64_t aw_device_runtime(AwWorker*, uint32_t call, uint64_t thread,
                                      uint64_t arguments) {
  if (!aw::answering) return aw::kNotSupported;
  uint8_t copy[AW_CALL_BYTES];
  memcpy(copy, reinterpret_cast<const void*>(arguments), sizeof copy);
  return aw::answering->answer(static_cast<AwDeviceCall>(call), thread, copy);
}
