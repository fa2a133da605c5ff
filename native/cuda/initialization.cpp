// Driver API reference: initialization; and the fork that a device does not cross.
#include <pthread.h>

#include <mutex>

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
    if (initialised) return;
    require_own_device();
    choose_visible_devices();
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, mark_fork);
      begin_process();
      initialised = true;
    });
  });
}
