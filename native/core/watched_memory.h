// The memory that checked kernels may use: what was allocated, what was freed, and which bytes have
// been written. Kept only while checks are on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aw {

// A variable of a module within its data.
struct WatchedVariable {
  std::string name, space;
  uint64_t offset = 0, size = 0;
};

// A piece of memory. `written` has a byte per byte, not 0 where something has been stored; null
// where the host may write behind our back, so that every byte counts as written.
struct WatchedRange {
  uint64_t base = 0, bytes = 0;
  std::string what;     // "the allocation", "managed memory" ...
  uint64_t number = 0;  // in order of allocation
  bool freed = false;
  std::vector<WatchedVariable> variables;  // of a module's data, by offset
  uint8_t* written = nullptr;
  ~WatchedRange();
};

// Whether this process checks anything at all.
bool checking();
bool checking(const char* check);

// Stand-ins of frameworks compute on the host, in device memory: then nothing is known of what is
// written there.
void let_host_write_device_memory();
bool host_writes_device_memory();

// `fresh`: device memory, whose bytes nobody has written yet.
void watch(uint64_t base, uint64_t bytes, const std::string& what, bool fresh);
void watch_module(uint64_t base, uint64_t bytes, std::vector<WatchedVariable> variables);
void unwatch(uint64_t base);  // freed, and remembered as such

// The host or a copy wrote there; a copy of device memory carries over what is written.
void note_written(uint64_t address, uint64_t bytes);
void note_copied(uint64_t to, uint64_t from, uint64_t bytes);

// The range that holds an address, freed ones too; null when there is none. Fast for repeated
// questions about few ranges.
std::shared_ptr<const WatchedRange> range_at(uint64_t address);

// The same for [first, end), null if that is not in one; good until this thread asks again.
const WatchedRange* range_holding(uint64_t first, uint64_t end);

// The range nearest to an address, in use or (if it is nearer) freed; null when nothing is near.
std::shared_ptr<const WatchedRange> range_near(uint64_t address);

}  // namespace aw
