// Streams are HIP's own: a handle passes through as it is, apart from the three that name default
// streams.
#pragma once

#include <atomic>
#include <vector>

#include "cuda/cuda_api.h"
#include "cuda/thread.h"
#include "hip/hip_api.h"

namespace aw {

// How many captures a refused call has broken that have not ended yet (hip/capture.h).
extern std::atomic<int> broken_captures;
void require_unbroken(hipStream_t stream);

// The streams that programs have made and not destroyed.
std::vector<hipStream_t> made_streams();

// HIP's null stream is CUDA's legacy one; 2 is the thread's own with both.
inline hipStream_t handle_of(const void* stream) {
  auto number = reinterpret_cast<uintptr_t>(stream);
  if (number > kPerThreadStream) return static_cast<hipStream_t>(const_cast<void*>(stream));
  bool own = number == kPerThreadStream || (number == 0 && thread_state.per_thread);
  return own ? hipStreamPerThread : nullptr;
}

// The same for what gives a stream work; throws STREAM_CAPTURE_INVALIDATED for a broken capture.
inline hipStream_t stream_for(const void* stream) {
  hipStream_t handle = handle_of(stream);
  if (__builtin_expect(broken_captures.load(std::memory_order_relaxed) != 0, 0))
    require_unbroken(handle);
  return handle;
}

}  // namespace aw
