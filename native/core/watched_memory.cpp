#include "core/watched_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "core/settings.h"

namespace aw {
namespace {

constexpr size_t kRemembered = 4096;  // freed ranges
constexpr uint64_t kNear = 1 << 20;

std::atomic<bool> host_writes{false};

using Range = std::shared_ptr<WatchedRange>;

struct WatchedTable {
  std::shared_mutex mutex;
  std::map<uint64_t, Range> live, freed;
  std::deque<uint64_t> order;  // of freed ones, oldest first
  uint64_t next = 1;
  std::atomic<uint64_t> generation{1};
};

WatchedTable& watched() {
  static WatchedTable& instance = *new WatchedTable;
  return instance;
}

Range find(const std::map<uint64_t, Range>& ranges, uint64_t address) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return nullptr;
  auto& range = std::prev(next)->second;
  return address - range->base < range->bytes ? range : nullptr;
}

uint64_t distance(const WatchedRange& range, uint64_t address) {
  if (address < range.base) return range.base - address;
  uint64_t end = range.base + range.bytes;
  return address < end ? 0 : address - end + 1;
}

void consider(const std::map<uint64_t, Range>& ranges, uint64_t address, Range& best) {
  auto next = ranges.lower_bound(address);
  auto better = [&](const Range& r) {
    uint64_t far = distance(*r, address);
    if (far <= kNear && (!best || far < distance(*best, address))) best = r;
  };
  if (next != ranges.end()) better(next->second);
  if (next != ranges.begin()) better(std::prev(next)->second);
}

// With the mutex held: memory that is used again is no longer freed.
void forget_freed(WatchedTable& t, uint64_t base, uint64_t bytes) {
  auto it = t.freed.upper_bound(base);
  if (it != t.freed.begin() && std::prev(it)->second->base + std::prev(it)->second->bytes > base)
    --it;
  while (it != t.freed.end() && it->first < base + bytes) it = t.freed.erase(it);
}

void insert(Range range) {
  WatchedTable& t = watched();
  std::unique_lock lock(t.mutex);
  range->number = t.next++;
  forget_freed(t, range->base, range->bytes);
  t.live[range->base] = std::move(range);
  ++t.generation;
}

}  // namespace

WatchedRange::~WatchedRange() {
  if (written) munmap(written, bytes);
}

bool checking() { return !settings().checks.empty(); }
bool checking(const char* check) { return settings().checks.count(check) != 0; }

void let_host_write_device_memory() { host_writes = true; }
bool host_writes_device_memory() { return host_writes; }

void watch(uint64_t base, uint64_t bytes, const std::string& what, bool fresh) {
  if (!checking()) return;
  auto range = std::make_shared<WatchedRange>();
  range->base = base, range->bytes = bytes, range->what = what;
  if (fresh && checking("init")) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) range->written = static_cast<uint8_t*>(memory);
  }
  insert(std::move(range));
}

void watch_module(uint64_t base, uint64_t bytes, std::vector<WatchedVariable> variables) {
  if (!checking() || !bytes) return;
  auto range = std::make_shared<WatchedRange>();
  range->base = base, range->bytes = bytes, range->what = "a module's variables";
  range->variables = std::move(variables);
  std::sort(range->variables.begin(), range->variables.end(),
            [](auto& a, auto& b) { return a.offset < b.offset; });
  insert(std::move(range));
}

void unwatch(uint64_t base) {
  if (!checking()) return;
  WatchedTable& t = watched();
  std::unique_lock lock(t.mutex);
  auto it = t.live.find(base);
  if (it == t.live.end()) return;
  it->second->freed = true;
  t.freed[base] = std::move(it->second);
  t.live.erase(it);
  t.order.push_back(base);
  while (t.order.size() > kRemembered) {
    t.freed.erase(t.order.front());
    t.order.pop_front();
  }
  ++t.generation;
}

void note_written(uint64_t address, uint64_t bytes) {
  if (!checking("init") || !bytes) return;
  auto range = range_at(address);
  if (!range || !range->written) return;
  uint64_t offset = address - range->base;
  memset(range->written + offset, 1, std::min(bytes, range->bytes - offset));
}

void note_copied(uint64_t to, uint64_t from, uint64_t bytes) {
  if (!checking("init") || !bytes) return;
  auto source = range_at(from), target = range_at(to);
  if (!source || !source->written) return note_written(to, bytes);
  if (!target || !target->written) return;
  uint64_t a = from - source->base, b = to - target->base;
  bytes = std::min({bytes, source->bytes - a, target->bytes - b});
  memmove(target->written + b, source->written + a, bytes);
}

namespace {

// The live ranges that this thread asked for last.
struct Cache {
  uint64_t generation = 0, next = 0;
  Range ranges[4];
};

Cache& fresh_cache() {
  thread_local std::unique_ptr<Cache> cache = std::make_unique<Cache>();
  uint64_t now = watched().generation.load(std::memory_order_acquire);
  if (cache->generation != now) *cache = Cache{}, cache->generation = now;
  return *cache;
}

}  // namespace

std::shared_ptr<const WatchedRange> range_at(uint64_t address) {
  Cache& cache = fresh_cache();
  for (auto& range : cache.ranges) {
    if (range && address - range->base < range->bytes) return range;
  }
  WatchedTable& t = watched();
  std::shared_lock lock(t.mutex);
  Range found = find(t.live, address);
  if (!found) return find(t.freed, address);
  cache.ranges[cache.next++ % 4] = found;
  return found;
}

const WatchedRange* range_holding(uint64_t first, uint64_t end) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto& range : fresh_cache().ranges) {
      if (range && first - range->base < range->bytes)
        return end - range->base <= range->bytes ? range.get() : nullptr;
    }
    range_at(first);
  }
  return nullptr;
}

std::shared_ptr<const WatchedRange> range_near(uint64_t address) {
  WatchedTable& t = watched();
  std::shared_lock lock(t.mutex);
  Range best;
  consider(t.live, address, best);
  consider(t.freed, address, best);
  return best;
}

}  // namespace aw
