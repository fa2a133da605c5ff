// What every function of the runtime library goes through: it is counted, told to listeners, has a
// context of the current device before it starts, and its error becomes the thread's last error.
//
// The library has no state beside that of its threads and of the registered binaries; what it does,
// libcuda does. Nothing here needs a constructor: programs call before constructors have run.
#pragma once

#define __CUDA_API_VERSION_INTERNAL  // every function under its own name
#include <cuda_runtime_api.h>

#include <exception>
#include <new>

#include "13/cuda.h"
#include "core/activity.h"
#include "core/name.h"
#include "core/status.h"
#include "cudart/driver.h"
#include "cudart_functions.h"

#define AW_PUBLIC __attribute__((visibility("default")))

// Functions that CUDA 12 exports with a suffix and CUDA 13 without.
#if CUDART_VERSION >= 13000
#define AW_V2(name) name
#define AW_V3(name) name
#else
#define AW_V2(name) name##_v2
#define AW_V3(name) name##_v3
#endif

namespace aw {

// What a kernel is about to be launched with (`<<<...>>>`).
struct CallConfiguration {
  unsigned grid[3], block[3];
  size_t shared_bytes;
  cudaStream_t stream;
};

constexpr int kMostConfigurations = 16;

// What a thread has of its own.
struct ThreadState {
  cudaError_t last = cudaSuccess;
  int device = 0;           // where its context will be made
  bool per_thread = false;  // stream 0 is the thread's own default stream, in this call
  int configurations = 0;
  CallConfiguration configuration[kMostConfigurations] = {};
};

inline ThreadState& thread_state() {
  static constinit thread_local ThreadState state;
  return state;
}

// In force during the calls of variants for per-thread default streams (`_ptsz`, `_ptds`).
class PerThreadStreams {
 public:
  PerThreadStreams() : before_(thread_state().per_thread) { thread_state().per_thread = true; }
  ~PerThreadStreams() { thread_state().per_thread = before_; }
  PerThreadStreams(const PerThreadStreams&) = delete;

 private:
  bool before_;
};

// The driver's stream for one of a program's.
inline CUstream stream_of(cudaStream_t stream) {
  if (stream) return stream;
  return thread_state().per_thread ? reinterpret_cast<CUstream>(2)
                                   : nullptr;  // CU_STREAM_PER_THREAD
}

// Without a locked instruction, which alone costs more than cudaGetDevice may: calls that several
// threads make in the same moment may count as one.
template <Name Function>
void count_call() {
  static auto& count = *anywarp_call_counter(Function.text);
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

enum class Needs { nothing, context };
enum class Keeps { error, nothing };

// Makes `error` the thread's last error, unless it is none; returns it. That something is not ready
// is an answer, not an error: cub, called by CuPy behind a query, takes any last error for its own.
inline cudaError_t kept(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) [[unlikely]]
    thread_state().last = error;
  return error;
}

// The numbers of CUresult mean the same as cudaError_t.
constexpr cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }

cudaError_t report_failure(const char* function, const Failure& failure);
void report_absent(const char* function, const char* reason);

inline const std::atomic<uint32_t>& wanted_activities() {
  static const std::atomic<uint32_t>& wanted = *anywarp_activity_wanted();
  return wanted;
}

// Makes the primary context of the thread's device current; throws what the driver answers.
void make_context_current();

inline void ensure_context() {
  int device;
  if (!anywarp_current_context(&device)) [[unlikely]]
    make_context_current();
}

template <Needs needs, class Body>
cudaError_t guarded(const char* name, Body&& body) noexcept {
  try {
    if constexpr (needs == Needs::context) ensure_context();
    return body();
  } catch (const Failure& failure) {
    return report_failure(name, failure);
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    return report_failure(name, Failure(cudaErrorUnknown, error.what()));
  }
}

// Runs `body` as the exported function called `Function`. `args` are the function's own, in order,
// for those who listen.
template <Name Function, Needs needs = Needs::context, Keeps keeps = Keeps::error, class Body,
          class... Args>
cudaError_t api(Body&& body, const Args&... args) noexcept {
  count_call<Function>();
  static constinit AwCallSite site{Function.text, AW_DOMAIN_RUNTIME, {}, {}};
  TracedCall call(wanted_activities(), site, args...);
  cudaError_t result = guarded<needs>(Function.text, body);
  call.end(result);
  return keeps == Keeps::error ? kept(result) : result;
}

// Throws INVALID_VALUE (or another code) unless the condition holds.
inline void require(bool condition, cudaError_t otherwise = cudaErrorInvalidValue) {
  if (!condition) throw Failure(otherwise);
}

// Throws what the driver answered, unless that is success.
inline void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw Failure(result);
}

}  // namespace aw
