// The map of all allocations.
#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "core/presence.h"
#include "core/watched_memory.h"
#include "cpu/activity_work.h"
#include "cpu/advice.h"
#include "cpu/graph_memory.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/pool_sharing.h"
#include "cpu/sharing.h"
#include "cuda/visible.h"
#include "devices/processor.h"

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

std::array<std::atomic<uint64_t>, kMostDevices> in_use{};  // by device

std::atomic<uint64_t>& used_on(int device) { return in_use[static_cast<size_t>(device)]; }

void report_use(int device) {
  note_memory(machine_number(device), used_on(device));
  uint64_t all = 0;
  for (int i = 0; i < visible_devices(); ++i) all += used_on(i);
  report_memory(all);
}

// The entry that holds an address; the end when there is none. With the mutex held.
std::map<uint64_t, Allocation>::iterator find_allocation(uint64_t address) {
  auto& all = map().by_base;
  auto next = all.upper_bound(address);
  if (next == all.begin()) return all.end();
  auto found = std::prev(next);
  return address - found->first < found->second.bytes ? found : all.end();
}

bool may_account_for(uint64_t bytes, int device) {
  uint64_t before = used_on(device).load(), limit = device_memory();
  do {
    if (bytes > limit || before > limit - bytes) return false;
  } while (!used_on(device).compare_exchange_weak(before, before + bytes));
  return true;
}

void account_for(uint64_t bytes, int device) {
  require(may_account_for(bytes, device), CUDA_ERROR_OUT_OF_MEMORY);
}

uint64_t allocate_in_file(PoolFile& file, uint64_t bytes, int device) {
  account_for(bytes, device);
  try {
    uint64_t address = file.allocate(bytes);
    report_use(device);
    return address;
  } catch (...) {
    used_on(device) -= bytes;
    throw;
  }
}

// `found`: a block of the pool's that was freed before, or the size of a new one.
uint64_t allocate_in_pool(const Pool::Block& found, int device) {
  if (found.base && !checking()) return found.base;
  // The pool counts as it always does, but who still uses the freed block is seen.
  if (found.base) release_bytes(reinterpret_cast<void*>(found.base), found.bytes, device);
  return reinterpret_cast<uint64_t>(allocate_bytes(found.bytes, device));
}

// What no checked kernel may touch behind each allocation, so that running over its end is seen.
uint64_t gap() { return checking() ? 64 << 10 : 0; }

// Freed memory is not handed out again at once, so that who still uses it is seen.
void quarantine(void* memory, uint64_t bytes) {
  constexpr uint64_t kMost = 256 << 20;
  static std::mutex& mutex = *new std::mutex;
  static auto& waiting = *new std::deque<std::pair<void*, uint64_t>>;
  static uint64_t held = 0;
  std::lock_guard lock(mutex);
  waiting.emplace_back(memory, bytes);
  held += bytes;
  while (held > kMost) {
    auto [oldest, size] = waiting.front();
    waiting.pop_front();
    held -= size;
    processor::release(oldest, size);
  }
}

const char* words_for(const Allocation& a) {
  switch (a.kind) {
    case MemoryKind::device:
      return "the allocation";
    case MemoryKind::managed:
      return "the managed allocation";
    case MemoryKind::host:
      return "the host allocation";
    case MemoryKind::registered:
      return "the registered host memory";
    default:
      return "the mapped memory";
  }
}

}  // namespace

void* allocate_bytes(uint64_t bytes, int device, bool narrow) {
  auto allocate = [&] {
    account_for(bytes, device);
    void* made =
        narrow ? processor::allocate_narrow(bytes + gap()) : processor::allocate(bytes + gap());
    if (!made) {
      used_on(device) -= bytes;
      throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
    }
    return made;
  };
  void* memory;
  try {
    memory = allocate();
  } catch (const Failure&) {
    release_unused_memory();
    memory = allocate();
  }
  report_use(device);
  watch(reinterpret_cast<uint64_t>(memory), bytes, "memory", false);
  return memory;
}

void release_bytes(void* memory, uint64_t bytes, int device) {
  stop_sharing(reinterpret_cast<uint64_t>(memory));
  unwatch(reinterpret_cast<uint64_t>(memory));
  if (checking()) {
    quarantine(memory, bytes + gap());
  } else {
    processor::release(memory, bytes);
  }
  used_on(device) -= bytes;
  note_memory(machine_number(device), used_on(device));
}

bool rest_bytes(void* memory, uint64_t bytes, int device) {
  if (checking() || !processor::rest(memory, bytes)) return false;
  used_on(device) -= bytes;
  note_memory(machine_number(device), used_on(device));
  return true;
}

bool wake_bytes(uint64_t bytes, int device) {
  if (!may_account_for(bytes, device)) return false;
  report_use(device);
  return true;
}

void give_back(const Allocation& a) {
  if (a.kind != MemoryKind::variables) tell_allocation(a, true);
  if (a.pool) a.pool->remove(a.bytes, a.block);
  unwatch(a.base);
  if (a.graph_memory) return withdraw(*a.graph_memory);
  if (a.kind == MemoryKind::registered || a.kind == MemoryKind::mapped ||
      a.kind == MemoryKind::variables)
    return;
  if (a.kind == MemoryKind::imported) return unmap_imported(a.base, a.bytes);
  if (a.pool && a.pool->file) {
    if (!a.pool->file->imported) used_on(a.device) -= a.bytes;
    note_memory(machine_number(a.device), used_on(a.device));
    return a.pool->file->release(a.base, a.bytes);
  }
  if (a.pool) {
    const uint64_t cut = block_bytes(a.bytes);
    if (cut == a.block || processor::join(reinterpret_cast<void*>(a.base), cut))
      return a.pool->keep(a.base, a.block);
    return release_bytes(reinterpret_cast<void*>(a.base), a.block, a.device);
  }
  release_bytes(reinterpret_cast<void*>(a.base), a.bytes, a.device);
}

uint64_t bytes_in_use(int device) { return used_on(device); }

Allocation allocation_at(uint64_t address) {
  std::shared_lock lock(map().mutex);
  auto it = find_allocation(address);
  return it == map().by_base.end() ? Allocation{} : it->second;
}

void enter(Allocation allocation) {
  static std::atomic<uint64_t> next{1};
  allocation.id = next++;
  watch(allocation.base, allocation.bytes, words_for(allocation),
        allocation.kind == MemoryKind::device && !host_writes_device_memory());
  if (allocation.kind != MemoryKind::variables) tell_allocation(allocation, false);
  std::unique_lock lock(map().mutex);
  map().by_base[allocation.base] = std::move(allocation);
}

uint64_t allocate_in(const std::shared_ptr<Context>& context, uint64_t bytes, MemoryKind kind,
                     unsigned flags, std::shared_ptr<Pool> pool, bool narrow) {
  require(bytes > 0);
  const Pool::Block found = pool ? pool->add(bytes) : Pool::Block{};
  Allocation a;
  a.device = pool ? pool->device : context->device;
  try {
    a.base = pool && pool->file ? allocate_in_file(*pool->file, bytes, a.device)
             : pool ? allocate_in_pool(found, a.device)
                    : reinterpret_cast<uint64_t>(allocate_bytes(bytes, a.device, narrow));
  } catch (...) {
    if (pool) pool->remove(bytes, found.bytes);
    throw;
  }
  a.bytes = bytes, a.kind = kind, a.flags = flags;
  a.context = context, a.context_id = context->id;
  a.pool = std::move(pool), a.block = found.bytes;
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
    if (it == map().by_base.end() || !it->second.freeing) return;
    gone = std::move(it->second);
    map().by_base.erase(it);
  }
  give_back(gone);
}

bool revive(uint64_t address) {
  std::unique_lock lock(map().mutex);
  auto it = map().by_base.find(address);
  if (it == map().by_base.end()) return false;
  it->second.freeing = false;
  return true;
}

void set_sync_memops(uint64_t address, bool on) {
  std::unique_lock lock(map().mutex);
  auto it = find_allocation(address);
  require(it != map().by_base.end());
  it->second.sync_memops = on;
}

}  // namespace aw
