// What every exported function goes through: it is counted, and whatever is thrown inside becomes
// its return value.
#pragma once

#include <cstddef>
#include <new>

#include "core/activity.h"
#include "core/log.h"
#include "core/name.h"
#include "core/report.h"
#include "core/status.h"
#include "cuda/cuda_api.h"

namespace aw {

// False until cuInit, and for good in a forked child: as with NVIDIA's driver, the threads and
// memory of a device do not cross a fork.
bool is_initialised();

CUresult report_failure(const char* function, const Failure& failure);

enum class Needs { nothing, init };

// Runs `body` and makes a code of what it throws.
template <Needs needs, class Body>
CUresult guarded(const char* name, Body&& body) noexcept {
  if (needs == Needs::init && !is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return CUDA_SUCCESS;
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return report_failure(name, failure);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    return report_failure(name, Failure(CUDA_ERROR_UNKNOWN, error.what()));
  }
}

// Where it says what listeners want (core/activity.h).
inline const std::atomic<uint32_t>& wanted_activities() {
  static const std::atomic<uint32_t>& wanted = *anywarp_activity_wanted();
  return wanted;
}

// Runs `body` (returning CUresult or nothing) as the exported function called `Function`. `args`
// are the function's own, in order, for those who listen.
template <Name Function, Needs needs = Needs::init, class Body, class... Args>
CUresult api(Body&& body, const Args&... args) noexcept {
  static CallCounter& counter = *new CallCounter(Function.text);
  counter.count.fetch_add(1, std::memory_order_relaxed);
  static AwCallSite site{Function.text, AW_DOMAIN_DRIVER};
  TracedCall call(wanted_activities(), site, args...);
  CUresult result = guarded<needs>(Function.text, body);
  call.end(result);
  return result;
}

// Throws INVALID_VALUE (or another code) unless the condition holds.
inline void require(bool condition, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) throw Failure(otherwise);
}

}  // namespace aw
