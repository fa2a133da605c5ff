// What a device is, as far as shared code wants to know.
#pragma once

#include <cstdint>
#include <string>

namespace aw {

struct DeviceInfo {
  std::string name;      // for people
  std::string identity;  // part of cache keys (docs/contracts.md, section 2)
  uint64_t memory = 0;   // bytes that may be allocated
  unsigned multiprocessors = 1;
  unsigned clock_khz = 0;
  unsigned cache_bytes = 0;
};

}  // namespace aw
