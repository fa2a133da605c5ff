// Results on the host: a call that gives one waits for its stream.
#pragma once

#include "cuda.h"
#include "libraries/api.h"

namespace aw::lib {

// Until what a stream was given is done; throws `failed` where that went wrong, and NOT_SUPPORTED
// under a capture, where nothing is done.
inline void wait(CUstream stream, int failed) {
  CUresult result = cuStreamSynchronize(stream);
  require(result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
              result != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          codes.not_supported);
  require(result == CUDA_SUCCESS, failed);
}

}  // namespace aw::lib
