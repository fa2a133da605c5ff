// The map of all allocations.
#include <algorithm>

#include "cuda/advice.h"
#include "cuda/memory.h"
#include "cuda/pool.h"
#include "cuda/pool_sharing.h"
#include "cuda/sharing.h"
#include "devices/device.h"

namespace aw {
namespace {

struct Map {
  std::shared_mutex mutex;
  std::map<uint64_t, Allocation> by_base;
};

Map& map() {
  static Map& instance = *new Map;
  return instance;
}

std::atomic<uint64_t> in_use{0};

// The entry that holds an address; the end when there is none. With the mutex held.
std::map<uint64_t, Allocation>::iterator find(uint64_t address) {
  auto& all = map().by_base;
  auto next = all.upper_bound(address);
  if (next == all.begin()) return all.end();
  auto found = std::prev(next);
  return address - found->first < found->second.bytes ? found : all.end();
}

void account_for(uint64_t bytes) {
  uint64_t before = in_use.load(), limit = device().info().memory;
  do {
    require(bytes <= limit && before <= limit - bytes, CUDA_ERROR_OUT_OF_MEMORY);
  } while (!in_use.compare_exchange_weak(before, before + bytes));
}

uint64_t allocate_in_file(PoolFile& file, uint64_t bytes) {
  account_for(bytes);
  try {
    uint64_t address = file.allocate(bytes);
    report_memory(in_use);
    return address;
  } catch (...) {
    in_use -= bytes;
    throw;
  }
}

}  // namespace

void* allocate_bytes(uint64_t bytes) {
  account_for(bytes);
  void* memory = device().allocate(bytes);
  if (!memory) {
    in_use -= bytes;
    throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  }
  report_memory(in_use);
  return memory;
}

void release_bytes(void* memory, uint64_t bytes) {
  stop_sharing(reinterpret_cast<uint64_t>(memory));
  device().release(memory, bytes);
  in_use -= bytes;
}

void give_back(const Allocation& a) {
  if (a.pool) a.pool->remove(a.bytes);
  if (a.kind == MemoryKind::registered || a.kind == MemoryKind::mapped) return;
  if (a.kind == MemoryKind::imported) return unmap_imported(a.base, a.bytes);
  if (a.pool && a.pool->file) {
    if (!a.pool->file->imported) in_use -= a.bytes;
    return a.pool->file->release(a.base, a.bytes);
  }
  release_bytes(reinterpret_cast<void*>(a.base), a.bytes);
}

uint64_t bytes_in_use() { return in_use; }

Allocation allocation_at(uint64_t address) {
  std::shared_lock lock(map().mutex);
  auto it = find(address);
  return it == map().by_base.end() ? Allocation{} : it->second;
}

void enter(Allocation allocation) {
  static std::atomic<uint64_t> next{1};
  allocation.id = next++;
  std::unique_lock lock(map().mutex);
  map().by_base[allocation.base] = std::move(allocation);
}

uint64_t allocate_in(const std::shared_ptr<Context>& context, uint64_t bytes, MemoryKind kind,
                     unsigned flags, std::shared_ptr<Pool> pool) {
  require(bytes > 0);
  if (pool) pool->add(bytes);
  Allocation a;
  try {
    a.base = pool && pool->file ? allocate_in_file(*pool->file, bytes)
                                : reinterpret_cast<uint64_t>(allocate_bytes(bytes));
  } catch (...) {
    if (pool) pool->remove(bytes);
    throw;
  }
  a.bytes = bytes, a.kind = kind, a.flags = flags;
  a.context = context, a.context_id = context->id;
  a.pool = std::move(pool);
  if (kind == MemoryKind::managed) a.advice = std::make_shared<Advice>();
  uint64_t base = a.base;
  enter(std::move(a));
  return base;
}

bool take(uint64_t address, MemoryKind kind, Allocation* taken) {
  std::unique_lock lock(map().mutex);
  auto it = map().by_base.find(address);
  if (it == map().by_base.end() || it->second.kind != kind || it->second.freeing) return false;
  *taken = std::move(it->second);
  map().by_base.erase(it);
  return true;
}

void free_memory_of(uint64_t context_id) {
  std::vector<Allocation> gone;
  {
    std::unique_lock lock(map().mutex);
    std::erase_if(map().by_base, [&](auto& item) {
      if (item.second.context_id != context_id) return false;
      gone.push_back(std::move(item.second));
      return true;
    });
  }
  for (auto& a : gone) give_back(a);
}

void begin_free(uint64_t address) {
  std::unique_lock lock(map().mutex);
  auto it = map().by_base.find(address);
  bool good = it != map().by_base.end() && !it->second.freeing;
  if (good) good = it->second.kind == MemoryKind::device || it->second.pool;
  require(good);
  it->second.freeing = true;
}

void finish_free(uint64_t address) {
  Allocation gone;
  {
    std::unique_lock lock(map().mutex);
    auto it = map().by_base.find(address);
    if (it == map().by_base.end()) return;
    gone = std::move(it->second);
    map().by_base.erase(it);
  }
  give_back(gone);
}

void set_sync_memops(uint64_t address, bool on) {
  std::unique_lock lock(map().mutex);
  auto it = find(address);
  require(it != map().by_base.end());
  it->second.sync_memops = on;
}

}  // namespace aw
