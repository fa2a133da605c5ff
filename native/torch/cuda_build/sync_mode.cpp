// The mode of torch.cuda.set_sync_debug_mode, which libtorch_cuda keeps.
#include <c10/cuda/CUDAFunctions.h>

#include "sync_debug.h"

namespace awt {

int sync_debug_mode() noexcept { return int(c10::cuda::warning_state().get_sync_debug_mode()); }

void warn_or_refuse_to_wait() { c10::cuda::warn_or_error_on_sync(); }

}  // namespace awt
