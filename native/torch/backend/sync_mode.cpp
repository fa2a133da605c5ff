// The mode of torch.cuda.set_sync_debug_mode, and who else wants to hear of operators that wait.
#include <atomic>

#include "deferred.h"
#include "exported.h"
#include "sync_debug.h"

namespace awt {
namespace {

std::atomic<int> mode{0};

}  // namespace

int sync_debug_mode() noexcept { return mode.load(std::memory_order_relaxed); }

void warn_or_refuse_to_wait() {
  TORCH_CHECK(sync_debug_mode() != 2, "called a synchronizing CUDA operation");
  TORCH_WARN("called a synchronizing CUDA operation");
}

}  // namespace awt

AWT_EXPORT int awt_sync_debug(int* out) {
  return awt::exported([&] { *out = awt::sync_debug_mode(); });
}

AWT_EXPORT int awt_set_sync_debug(int mode) {
  return awt::exported([&] {
    TORCH_CHECK(mode >= 0 && mode <= 2, "invalid value of debug_mode, expected one of 0,1,2");
    const int before = awt::mode.exchange(mode);
    // Operators look closer as long as there is a reason.
    awt::count_reasons(int(mode != 0) - int(before != 0));
  });
}

// Beside the mode: a sanitiser listens, and operators that wait must be told.
AWT_EXPORT int awt_sanitizer_listens() {
  return awt::exported([] {
    static std::atomic<bool> known{false};
    if (!known.exchange(true)) awt::count_reasons(1);
  });
}
