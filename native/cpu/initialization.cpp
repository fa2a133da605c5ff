#include "core/presence.h"
#include "cuda/driver.h"

namespace aw {

void require_own_device() {
  if (settings().device == "cpu") return;
  throw Failure(CUDA_ERROR_NO_DEVICE, "the driver library has no device named " +
                                          settings().device +
                                          "\nhelp: set ANYWARP_DEVICE to cpu, or leave it unset");
}

void begin_process() {
  start_report(device_info().name);
  announce_presence();
}

}  // namespace aw
