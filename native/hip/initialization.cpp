// Driver API reference: initialization; and the fork that a device does not cross.
#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "cuda/api.h"
#include "hip/devices.h"

namespace aw {
namespace {

std::atomic<bool> initialised{false}, forked{false};

void mark_fork() {
  if (initialised) forked = true;
}

void require_hip() {
  const char* given = getenv("ANYWARP_DEVICE");  // the settings make cpu of none
  std::string wanted = given ? given : "";
  if (wanted.empty() || wanted == "hip" || wanted.rfind("hip:", 0) == 0) return;
  throw Failure(CUDA_ERROR_NO_DEVICE,
                "this driver library is for the device hip, and the device " + wanted +
                    " is asked for\nhelp: start the program by `anywarp run --device hip`");
}

}  // namespace

bool is_initialised() {
  return initialised.load(std::memory_order_relaxed) && !forked.load(std::memory_order_relaxed);
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuInit(unsigned flags) {
  return api<"cuInit", Needs::nothing>([&] {
    require(flags == 0);
    require(!forked, CUDA_ERROR_NOT_INITIALIZED);
    if (initialised) return;
    require_hip();
    choose_visible_devices();
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, mark_fork);
      start_report(hip_device_of(0).name);
      initialised = true;
    });
  });
}
