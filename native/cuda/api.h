// What every exported function goes through: it is counted, and whatever is thrown inside becomes
// its return value.
#pragma once

#include <cstddef>
#include <new>

#include "core/log.h"
#include "core/report.h"
#include "core/status.h"
#include "cuda/cuda_api.h"

namespace aw {

// A name as a template argument, so that each function has a counter of its own.
template <size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&name)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

// False until cuInit, and for good in a forked child: as with NVIDIA's driver, the threads and
// memory of a device do not cross a fork.
bool is_initialised();

CUresult report_failure(const char* function, const Failure& failure);

enum class Needs { nothing, init };

// Runs `body` (returning CUresult or nothing) as the exported function called `Function`.
template <Name Function, Needs needs = Needs::init, class Body>
CUresult api(Body&& body) noexcept {
  static CallCounter& counter = *new CallCounter(Function.text);
  counter.count.fetch_add(1, std::memory_order_relaxed);
  if (needs == Needs::init && !is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return CUDA_SUCCESS;
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return report_failure(Function.text, failure);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    return report_failure(Function.text, Failure(CUDA_ERROR_UNKNOWN, error.what()));
  }
}

// Throws INVALID_VALUE (or another code) unless the condition holds.
inline void require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) throw Failure(otherwise);
}

}  // namespace aw
