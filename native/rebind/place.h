// What the auditor and the libraries of a redirected program share.
#pragma once

#include <cstdint>

namespace aw::rebind {

inline constexpr uint32_t kUnknown = 512;       // names that the table of entries does not have
inline constexpr uint32_t kLongestName = 64;    // with its end
inline constexpr uint32_t kMagic = 0x31425741;  // "AWB1"

// Exported by libanywarp_rebind.so as `anywarp_rebind_place`. The auditor reads and writes it
// before that library is relocated: so it holds no pointers.
struct Place {
  uint32_t magic;
  uint32_t told;  // messages about runtimes that were not redirected
  uint32_t unknown_used;
  char unknown[kUnknown][kLongestName];
};

}  // namespace aw::rebind
