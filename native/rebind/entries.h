// The entry points of NVIDIA's CUDA runtime by number, and where the thunks that answer them lie.
#pragma once

#include <cstdint>

#include "rebind/place.h"

namespace aw::rebind {

struct Entry {
  char name[64];
  uint16_t since12;  // 124: CUDA 12.4 brought it; 0: not in CUDA 12
  uint16_t since13;
  uint16_t since11;  // 118, or 0: no other release of CUDA 11 is known
};

inline constexpr Entry kEntries[] = {
#include "rebind_entries.inc"
};

inline constexpr uint32_t kKnown = sizeof(kEntries) / sizeof(kEntries[0]);
inline constexpr uint32_t kThunkBytes = 16;  // of each thunk

// The releases whose runtimes are redirected, in the order of their thunks.
inline constexpr int kMajors[] = {12, 13, 11};

inline constexpr uint16_t since(const Entry& entry, int major) {
  return major == 12 ? entry.since12 : major == 13 ? entry.since13 : entry.since11;
}

// A thunk's number: the known entries once for each major, then unknown names.
inline constexpr uint32_t kUnknownThunks = 3 * kKnown;
inline constexpr uint32_t kThunks = kUnknownThunks + kUnknown;

}  // namespace aw::rebind
