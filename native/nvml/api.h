// What every exported function goes through: it is counted, it needs an initialised library, and
// what is thrown inside becomes its return value.
#pragma once

#include <atomic>
#include <new>

#include "core/log.h"
#include "core/name.h"
#include "core/report.h"
#include "core/status.h"
#include "nvml/nvml_api.h"

namespace aw::nvml {

// How often nvmlInit was called without its nvmlShutdown.
std::atomic<int>& users();

enum class Needs { nothing, init };

// Runs `body` (returning nvmlReturn or nothing) as the exported function called `Function`.
template <Name Function, Needs needs = Needs::init, class Body>
nvmlReturn api(Body&& body) noexcept {
  static CallCounter& counter = *new CallCounter(Function.text);
  counter.count.fetch_add(1, std::memory_order_relaxed);
  if (needs == Needs::init && users().load() <= 0) return NVML_ERROR_UNINITIALIZED;
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return NVML_SUCCESS;
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return static_cast<nvmlReturn>(failure.code);
  } catch (const std::bad_alloc&) {
    return NVML_ERROR_MEMORY;
  } catch (const std::exception&) {
    return NVML_ERROR_UNKNOWN;
  }
}

inline void require(bool condition, nvmlReturn otherwise = NVML_ERROR_INVALID_ARGUMENT) {
  if (!condition) throw Failure(otherwise);
}

// Microseconds since the epoch.
unsigned long long epoch_us();

// Devices by their number among all of the machine: CUDA_VISIBLE_DEVICES does not matter here.
int device_count();
nvmlDevice handle_of(int number);
int number_of(nvmlDevice device);  // throws INVALID_ARGUMENT

// Copies a text with its end into a buffer; throws INSUFFICIENT_SIZE.
void copy_text(const std::string& text, char* to, unsigned length);

// Fills an array by NVML's rule for lists: `count` says how much fits and then how much there is;
// throws INSUFFICIENT_SIZE when it is too small, or when there is no array and something to say.
template <class Item, class List, class Convert>
void copy_list(const List& list, unsigned* count, Item* out, Convert&& convert) {
  require(count);
  auto room = *count;
  *count = static_cast<unsigned>(list.size());
  require(list.empty() || (out && room >= list.size()), NVML_ERROR_INSUFFICIENT_SIZE);
  for (size_t i = 0; i < list.size(); ++i) out[i] = convert(list[i]);
}

}  // namespace aw::nvml
