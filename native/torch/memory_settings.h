// The options of PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF that the allocators follow.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace awt {

struct MemorySettings {
  size_t max_split_size = SIZE_MAX;          // bytes; larger blocks are never split
  size_t max_non_split_rounding = 20 << 20;  // bytes by which an oversize block may be too large
  size_t large_segment = 20 << 20;           // bytes of a segment for requests below 10 MiB
  double garbage_collection_threshold = 0;   // of the allowed memory; 0 is off
  std::vector<size_t> roundup_divisions;     // per power of two, 1 MiB first; 16 numbers or none
  bool expandable_segments = false;          // taken note of; our segments never fragment addresses
  bool throw_on_oom = false;                 // reject before the driver is asked
  double memory_fraction = 1;                // of the device, for every device
  bool disabled = false;                     // PYTORCH_NO_CUDA_MEMORY_CACHING
  size_t pinned_max_round = SIZE_MAX;        // bytes; larger pinned blocks are not rounded up
  size_t pinned_max_cached = SIZE_MAX;       // bytes; larger pinned blocks are not kept
  std::string text;                          // what was parsed last
};

extern std::atomic<const MemorySettings*> memory_settings_in_force;
const MemorySettings& read_memory_settings();

// The settings in force. The first call reads the environment; raises ValueError on an unknown
// option.
inline const MemorySettings& memory_settings() {
  const auto* found = memory_settings_in_force.load(std::memory_order_acquire);
  return __builtin_expect(found != nullptr, 1) ? *found : read_memory_settings();
}

// Parses `text` over the settings in force, as `torch.cuda.memory._set_allocator_settings`.
void set_memory_settings(const std::string& text);
void set_caching(bool on);

}  // namespace awt
