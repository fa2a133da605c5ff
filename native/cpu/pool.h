// Memory pools: accounts over allocations; the memory itself comes from the device like any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "core/handles.h"
#include "cpu/memory.h"

namespace aw {

struct PoolFile;

struct Pool {
  uintptr_t handle = 0;
  int device = 0;
  bool is_default = false;
  uint64_t limit = 0;  // 0: none
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};
  CUmemLocationType location_type = CU_MEM_LOCATION_TYPE_DEVICE;
  MemoryKind kind = MemoryKind::device;
  std::map<std::pair<CUmemLocationType, int>, CUmemAccess_flags> access;
  std::shared_ptr<PoolFile> file;  // of pools that processes share

  // A block that waits. When it rests, its pages are the system's to take and it does not count as
  // reserved, but its address and, until they are taken, its pages are still there.
  struct Block {
    uint64_t base, bytes;
    bool rests;
  };

  // Counts an allocation and returns a block for it: one that was freed before, of its size or a
  // little larger; with base 0 when none such waits. Throws OUT_OF_MEMORY beyond the limit.
  Block add(uint64_t bytes);
  void remove(uint64_t bytes, uint64_t block);

  // Lets a block that was freed wait for the next allocation that fits. What is reserved beyond
  // the release threshold goes back to the system when the program next synchronizes.
  void keep(uint64_t base, uint64_t block);
  void rest();                // what is beyond the threshold
  void trim(uint64_t bytes);  // the oldest first, until no more than that is reserved
  void empty();               // nothing waits any more

  using Blocks = std::list<Block>;

  mutable std::mutex mutex;
  uint64_t used = 0, used_high = 0;      // bytes asked for
  uint64_t held = 0;                     // bytes of the blocks in use
  uint64_t kept = 0, reserved_high = 0;  // of those that wait, and of both
  uint64_t resting_bytes = 0;
  Blocks waiting, resting;  // the one freed last in front
  std::multimap<uint64_t, Blocks::iterator> by_size;
  bool destroyed = false;  // only its allocations hold it

  Pool() = default;
  ~Pool() { empty(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  Block take_waiting(uint64_t block);
  void forget(Blocks& among, Blocks::iterator block);
  void release_down_to(uint64_t most_waiting);
};

// Gives back all that the pools keep.
void release_unused_memory();

// Bytes of the block that a pool takes for an allocation.
uint64_t block_bytes(uint64_t bytes);

std::shared_ptr<Pool> default_pool(int device);
std::shared_ptr<Pool> current_pool(int device);  // cuDeviceSetMemPool
std::shared_ptr<Pool> pool_of(CUmemoryPool handle);
uintptr_t enter_pool(std::shared_ptr<Pool> pool);  // gives it its handle

}  // namespace aw
