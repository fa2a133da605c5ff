// The clock of events and of what was measured.
#pragma once

#include <chrono>
#include <cstdint>

namespace aw {

// Nanoseconds of a clock that never goes back.
inline uint64_t event_clock() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace aw
