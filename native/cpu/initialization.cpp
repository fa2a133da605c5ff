// Driver API reference: initialization; and the fork that a device does not cross.
#include <pthread.h>

#include <mutex>

#include "core/presence.h"
#include "cuda/api.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

namespace aw {
namespace {

std::atomic<bool> initialised{false}, forked{false};

void mark_fork() {
  if (initialised) forked = true;
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
    if (settings().device != "cpu") {
      throw Failure(CUDA_ERROR_NO_DEVICE,
                    "the driver library has no device named " + settings().device +
                        "\nhelp: set ANYWARP_DEVICE to cpu, or leave it unset");
    }
    choose_visible_devices();
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, mark_fork);
      start_report(device_info().name);
      announce_presence();
      initialised = true;
    });
  });
}
