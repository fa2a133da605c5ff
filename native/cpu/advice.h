// What programs advised about ranges of managed memory, page by page.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "cuda/cuda_api.h"

namespace aw {

struct PageAdvice {
  bool read_mostly = false, host_accesses = false;
  uint64_t device_accesses = 0;             // a bit for each device
  CUmemLocation preferred{}, prefetched{};  // of no type: none
};

// Of one allocation. Each entry holds from its address up to the next entry's.
struct Advice {
  std::mutex mutex;
  std::map<uint64_t, PageAdvice> from;
};

// Notes that a range of managed memory is to be at a location; other memory has no notes.
void note_prefetch(uint64_t address, uint64_t bytes, CUmemLocation location);

}  // namespace aw
