// What every exported function of our libraries for the processor (cuBLAS, cuFFT ...) goes through:
// it is counted and told to listeners, and what is thrown inside becomes the library's own status.
#pragma once

#include <atomic>
#include <exception>
#include <new>
#include <string>

#include "core/activity.h"
#include "core/name.h"
#include "core/status.h"
#include "libraries/logger.h"

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

namespace aw::lib {

// The numbers of the library's status enum for what goes wrong in any of them. Each library defines
// its own.
struct Codes {
  int success, not_initialized, alloc_failed, invalid_value, not_supported, internal;
};
extern const Codes codes;

// Sources are compiled once for all versions of a library: as which the file answers. `cuda` is 12
// or 13.
struct Version {
  int cuda, major, minor, patch;
};
extern const Version version;

// What the library was built with: the runtime of that version of CUDA.
inline size_t cudart_version() { return version.cuda == 12 ? 12090 : 13000; }

// Says once, by name, what is not there; returns the library's status for it.
int absent(const char* function, const char* reason);

// Says once what went wrong where the words are more than the status; returns the status.
int failed(const char* function, const Failure& failure);

std::atomic<uint64_t>& call_counter(const char* function);
const std::atomic<uint32_t>& wanted_activities();

// Runs `body` (returning nothing or Status) as the exported function called `Function`.
template <class Status, Name Function, class Body, class... Args>
Status call(Body&& body, const Args&... args) noexcept {
  static auto& count = call_counter(Function.text);
  count.fetch_add(1, std::memory_order_relaxed);
  static constinit AwCallSite site{Function.text, AW_DOMAIN_OTHER, {}, {}};
  TracedCall traced(wanted_activities(), site, args...);
  if (logs(Log::api)) log(Log::api, Function.text, "called");
  Status result = static_cast<Status>(codes.success);
  try {
    if constexpr (std::is_void_v<decltype(body())>)
      body();
    else
      result = body();
  } catch (const Failure& failure) {
    result = static_cast<Status>(failed(Function.text, failure));
  } catch (const std::bad_alloc&) {
    result = static_cast<Status>(codes.alloc_failed);
  } catch (const std::exception& error) {
    result = static_cast<Status>(failed(Function.text, Failure(codes.internal, error.what())));
  }
  traced.end(result);
  if (result != static_cast<Status>(codes.success) && logs(Log::error))
    log(Log::error, Function.text, ("returned " + std::to_string(result)).c_str());
  return result;
}

// Throws the library's INVALID_VALUE (or another of its codes) unless the condition holds.
inline void require(bool condition) {
  if (!condition) throw Failure(codes.invalid_value);
}
inline void require(bool condition, int otherwise) {
  if (!condition) throw Failure(otherwise);
}

// Throws the library's NOT_SUPPORTED with words that name what is not supported.
[[noreturn]] inline void unsupported(const std::string& what) {
  throw Failure(codes.not_supported, what);
}

}  // namespace aw::lib
