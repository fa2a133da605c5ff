// Memory pools: accounts over allocations; the memory itself comes from the device like any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/handles.h"
#include "cuda/memory.h"

namespace aw {

struct PoolFile;

struct Pool {
  uintptr_t handle = 0;
  int device = 0;
  bool is_default = false;
  uint64_t limit = 0;  // 0: none
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};
  int location_type = 1;
  MemoryKind kind = MemoryKind::device;
  std::map<std::pair<int, int>, int> access;
  std::shared_ptr<PoolFile> file;  // of pools that processes share

  void add(uint64_t bytes);  // throws OUT_OF_MEMORY beyond the limit
  void remove(uint64_t bytes);

  mutable std::mutex mutex;
  uint64_t used = 0, used_high = 0;
};

std::shared_ptr<Pool> default_pool(int device);
std::shared_ptr<Pool> current_pool(int device);  // cuDeviceSetMemPool
std::shared_ptr<Pool> pool_of(CUmemoryPool handle);
uintptr_t enter_pool(std::shared_ptr<Pool> pool);  // gives it its handle

}  // namespace aw
