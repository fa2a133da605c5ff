// The entry points of NVIDIA's CUDA runtime by number, and where the thunks that answer them lie.
#pragma once

#include <cstdint>

#include "rebind/place.h"

namespace aw::rebind {

struct Entry {
  char name[64];
  uint16_t since12;  // 124: CUDA 12.4 brought it; 0: not in CUDA 12
  uint16_t since13;
};

inline constexpr Entry kEntries[] = {
#include "rebind_entries.inc"
};

inline constexpr uint32_t kKnown = sizeof(kEntries) / sizeof(kEntries[0]);
inline constexpr uint32_t kThunkBytes = 16;  // of each thunk

// A thunk's number: known entries of CUDA 12, those of CUDA 13, then unknown names.
inline constexpr uint32_t kThunks = 2 * kKnown + kUnknown;

}  // namespace aw::rebind
