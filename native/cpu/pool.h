// Memory pools: accounts over allocations; the memory itself comes from the device like any other.
#pragma once

#include <atomic>
#include <cstdint>
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

  void add(uint64_t bytes);  // throws OUT_OF_MEMORY beyond the limit
  void remove(uint64_t bytes);

  // Blocks that were freed and wait for the next allocation of their size, as far as the release
  // threshold allows. `take` returns 0 when there is none.
  uint64_t take(uint64_t block);
  bool keep(uint64_t base, uint64_t block);
  void trim(uint64_t bytes);  // until no more than that is reserved

  mutable std::mutex mutex;
  uint64_t used = 0, used_high = 0, kept = 0, reserved_high = 0;
  std::multimap<uint64_t, uint64_t> free_blocks;  // size and address

  Pool() = default;
  ~Pool() { trim(0); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
};

// Bytes of the block that a pool takes for an allocation.
uint64_t block_bytes(uint64_t bytes);

std::shared_ptr<Pool> default_pool(int device);
std::shared_ptr<Pool> current_pool(int device);  // cuDeviceSetMemPool
std::shared_ptr<Pool> pool_of(CUmemoryPool handle);
uintptr_t enter_pool(std::shared_ptr<Pool> pool);  // gives it its handle

}  // namespace aw
