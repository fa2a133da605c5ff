// Streams are HIP's own: a handle passes through as it is, apart from the three that name default
// streams.
#pragma once

#include <atomic>

#include "cuda/api.h"
#include "hip/hip_api.h"
#include "hip/thread.h"

namespace aw {

class Stream {};

// How many captures a refused call has broken that have not ended yet (hip/capture.h).
extern std::atomic<int> broken_captures;
void require_unbroken(hipStream_t stream);

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

// As shared code asks for a stream, and takes what it is given by the star.
struct StreamPlace {
  hipStream_t stream;
  bool is_legacy;
  hipStream_t operator*() const { return stream; }
  const StreamPlace* operator->() const { return this; }
};
inline StreamPlace stream_of(CUstream handle) {
  hipStream_t stream = stream_for(handle);
  return {stream, stream == nullptr};
}

// While one exists on this thread, the null stream is the per-thread default stream (functions
// ending in _ptsz, _ptds).
class PerThreadDefault {
 public:
  PerThreadDefault();
  ~PerThreadDefault();

 private:
  bool before_;
};

}  // namespace aw
