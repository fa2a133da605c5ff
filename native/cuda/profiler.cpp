// Driver API reference: profiler control. No profiler is attached, so starting and stopping one is
// no error and no work.
#include "cuda/context.h"

using namespace aw;

AW_EXPORT CUresult cuProfilerStart() {
  return api<"cuProfilerStart">([&] { current_context(); });
}

AW_EXPORT CUresult cuProfilerStop() {
  return api<"cuProfilerStop">([&] { current_context(); });
}

AW_EXPORT CUresult cuProfilerInitialize(const char*, const char*, int) {
  return api<"cuProfilerInitialize">(
      [&] { throw Failure(CUDA_ERROR_NOT_SUPPORTED); });  // as since CUDA 12
}
