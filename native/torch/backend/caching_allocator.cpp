// Blocks handed out, put back, split and joined.
#include <c10/util/Exception.h>

#include <bit>

#include "device_memory.h"
#include "devices.h"
#include "streams.h"

namespace awt {
namespace {

constexpr size_t kOneExabyte = size_t{1} << 60;

}  // namespace

DeviceMemory::DeviceMemory(c10::DeviceIndex device)
    : device_(device), common_{{0, 0}, 1, false, false, nullptr, 0, {}} {
  fraction_ = memory_settings().memory_fraction;
  fraction_set_ = fraction_ < 1;
}

// Sizes are multiples of 512, or of a share of the power of two below them
// (roundup_power2_divisions).
size_t DeviceMemory::round(size_t bytes) const {
  if (bytes <= kSmallest) return kSmallest;
  const auto& divisions = memory_settings().roundup_divisions;
  const size_t plain = (bytes + kSmallest - 1) / kSmallest * kSmallest;
  if (__builtin_expect(divisions.empty(), 1)) return plain;
  constexpr size_t kFirst = 20;  // the first division is for sizes up to 1 MiB
  const size_t power = static_cast<size_t>(std::bit_width(bytes)) - 1;
  const size_t place = std::min(power < kFirst ? 0 : power - kFirst, divisions.size() - 1);
  const size_t parts = divisions[place];
  if (parts <= 1 || bytes <= kSmallest * parts) return plain;
  if (std::has_single_bit(bytes)) return bytes;
  const size_t step = std::bit_floor(bytes) / parts;
  return step == 0 ? plain : (bytes + step - 1) / step * step;
}

Arena& DeviceMemory::arena_in(Pool& pool, c10::Stream stream) {
  for (auto& arena : pool.arenas)
    if (arena->stream.id() == stream.id()) return *arena;
  pool.arenas.push_back(
      std::make_unique<Arena>(Arena{&pool, stream, std::make_unique<SmallBlocks>(), {}}));
  return *pool.arenas.back();
}

Arena& DeviceMemory::arena_for(c10::Stream stream) {
  for (auto& route : routes_)
    if (route.wanted(stream)) return arena_in(pool_at(route.pool), stream);
  return arena_in(common_, stream);
}

Block* DeviceMemory::find_free(Arena& arena, size_t size, bool small) {
  if (small) return arena.small->find(size);
  auto found = arena.large.lower_bound(size);
  if (found == arena.large.end()) return nullptr;
  const auto& settings = memory_settings();
  // Blocks above the limit are kept whole, for requests that are about as large.
  if (size < settings.max_split_size && (*found)->size >= settings.max_split_size) return nullptr;
  if (size >= settings.max_split_size && (*found)->size >= size + settings.max_non_split_rounding)
    return nullptr;
  return *found;
}

Block* DeviceMemory::new_block() {
  if (!spare_) return &storage_.emplace_back();
  Block* block = spare_;
  spare_ = block->next_free;
  block->next_free = nullptr;
  return block;
}

void DeviceMemory::drop_block(Block* block) {
  block->uses.reset();
  *block = Block{};
  block->next_free = spare_;
  spare_ = block;
}

// Free blocks of a split segment cannot be given back: torch counts them apart.
void DeviceMemory::count_inactive(const Block* block, int sign) {
  if (!block->is_split()) return;
  const bool small = block->segment->small;
  if (sign > 0) {
    stats_.inactive_split.add(small, 1);
    stats_.inactive_split_bytes.add(small, static_cast<int64_t>(block->size));
  } else {
    stats_.inactive_split.subtract(small, 1);
    stats_.inactive_split_bytes.subtract(small, static_cast<int64_t>(block->size));
  }
}

// `block` is free and in no list.
Block* DeviceMemory::hand_out(Block* block, size_t size, size_t requested, int64_t stack) {
  const auto& settings = memory_settings();
  const bool small = block->segment->small;
  const size_t rest = block->size - size;
  const bool split =
      small ? rest >= kSmallest : size < settings.max_split_size && rest > kSmallRequest;
  count_inactive(block, -1);
  if (split && !block->segment->arena->pool->no_split) {
    Block* remaining = new_block();
    remaining->address = block->address + size;
    remaining->size = rest;
    remaining->segment = block->segment;
    remaining->freed_at = block->freed_at;
    remaining->before = block;
    remaining->after = block->after;
    if (block->after) block->after->before = remaining;
    block->after = remaining;
    block->size = size;
    block->segment->arena->put(remaining);
    count_inactive(remaining, +1);
  }
  block->allocated = true;
  block->requested = requested;
  block->stack = stack;
  const auto bytes = static_cast<int64_t>(block->size);
  stats_.allocation.add(small, 1);
  stats_.allocated_bytes.add(small, bytes);
  stats_.active.add(small, 1);
  stats_.active_bytes.add(small, bytes);
  stats_.requested_bytes.add(small, static_cast<int64_t>(requested));
  if (block->size >= settings.max_split_size) stats_.oversize_allocations.add(1);
  blocks_.insert(block);
  return block;
}

// Makes one block of two neighbours; `neighbour` is free.
void DeviceMemory::join(Block* block, Block* neighbour) {
  count_inactive(neighbour, -1);
  neighbour->segment->arena->remove(neighbour);
  if (block->before == neighbour) {
    block->address = neighbour->address;
    block->before = neighbour->before;
    if (block->before) block->before->after = block;
    if (block->segment->first == neighbour) block->segment->first = block;
  } else {
    block->after = neighbour->after;
    if (block->after) block->after->before = block;
  }
  block->size += neighbour->size;
  drop_block(neighbour);
}

void DeviceMemory::put_back(Block* block, int64_t stack) {
  const bool small = block->segment->small;
  Arena& arena = *block->segment->arena;
  if (__builtin_expect(history_settings().recording.load(std::memory_order_relaxed), 0))
    trace(TraceAction::free_completed, reinterpret_cast<uint64_t>(block->address), block->requested,
          arena.stream, arena.pool->id, stack);
  stats_.active.subtract(small, 1);
  stats_.active_bytes.subtract(small, static_cast<int64_t>(block->size));
  stats_.requested_bytes.subtract(small, static_cast<int64_t>(block->requested));
  block->requested = 0;
  block->stack = 0;
  block->freed_at = calls_;
  const auto is_free = [](const Block* b) { return b && !b->allocated && b->pending == 0; };
  if (is_free(block->before)) join(block, block->before);
  if (is_free(block->after)) join(block, block->after);
  count_inactive(block, +1);
  arena.put(block);
}

void* DeviceMemory::allocate(size_t bytes, c10::Stream stream) {
  TORCH_CHECK_WITH(OutOfMemoryError, bytes < kOneExabyte,
                   "CUDA out of memory. Tried to allocate more than 1EB memory.");
  const int64_t stack = stack_for(Stacks::state);
  Lock lock(mutex_);
  if (__builtin_expect(waiting_count_ != 0 || !deferred_.empty(), 0)) process_events();
  if (__builtin_expect(memory_settings().disabled, 0)) return allocate_uncached(lock, bytes);
  ++calls_;
  const size_t size = round(bytes);
  const bool small = size <= kSmallRequest;
  Arena& arena = arena_for(stream);
  Block* block = find_free(arena, size, small);
  if (__builtin_expect(block != nullptr, 1)) {
    arena.remove(block);
  } else {
    block = grow(lock, arena, size, small, bytes, stack);
  }
  hand_out(block, size, bytes, stack);
  if (__builtin_expect(history_settings().recording.load(std::memory_order_relaxed), 0))
    trace(TraceAction::alloc, reinterpret_cast<uint64_t>(block->address), bytes, stream,
          arena.pool->id,
          history_settings().stacks.load() >= static_cast<int>(Stacks::alloc) ? stack : 0);
  return block->address;
}

int64_t DeviceMemory::free(void* memory) {
  const int64_t stack = stack_for(Stacks::all);
  Lock lock(mutex_);
  Block* block = blocks_.take(memory);
  if (__builtin_expect(!block, 0)) return free_uncached(lock, memory);
  const bool small = block->segment->small;
  const auto requested = static_cast<int64_t>(block->requested);
  block->allocated = false;
  stats_.allocation.subtract(small, 1);
  stats_.allocated_bytes.subtract(small, static_cast<int64_t>(block->size));
  if (block->size >= memory_settings().max_split_size) stats_.oversize_allocations.subtract(1);
  if (__builtin_expect(history_settings().recording.load(std::memory_order_relaxed), 0))
    trace(TraceAction::free_requested, reinterpret_cast<uint64_t>(memory), block->requested,
          block->segment->arena->stream, block->segment->arena->pool->id, stack);
  if (__builtin_expect(block->uses == nullptr, 1)) {
    put_back(block, stack);
  } else if (captures_ > 0 || on_driver_thread()) {
    block->pending = 1;
    deferred_.push_back(block);
  } else {
    insert_events(block);
  }
  return requested;
}

MemoryStats DeviceMemory::stats() {
  Lock lock(mutex_);
  return stats_;
}

std::map<PoolId, PoolCounters> DeviceMemory::stats_by_pool() {
  Lock lock(mutex_);
  return reserved_by_pool_;
}

void DeviceMemory::reset_peak() {
  Lock lock(mutex_);
  const auto reset = [](PoolCounters& counters) {
    for (Counter* each : {&counters.all, &counters.small_pool, &counters.large_pool})
      each->reset_peak();
  };
  stats_.each_pool_counter([&](const char*, PoolCounters& counters) { reset(counters); });
  for (auto& item : reserved_by_pool_) reset(item.second);
  stats_.oversize_allocations.reset_peak();
  stats_.oversize_segments.reset_peak();
}

void DeviceMemory::reset_accumulated() {
  Lock lock(mutex_);
  const auto reset = [](PoolCounters& counters) {
    for (Counter* each : {&counters.all, &counters.small_pool, &counters.large_pool})
      each->reset_accumulated();
  };
  stats_.each_pool_counter([&](const char*, PoolCounters& counters) { reset(counters); });
  for (auto& item : reserved_by_pool_) reset(item.second);
  stats_.oversize_allocations.reset_accumulated();
  stats_.oversize_segments.reset_accumulated();
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = stats_.num_device_free = stats_.num_oom_rejections = 0;
}

double DeviceMemory::fraction() {
  Lock lock(mutex_);
  return fraction_;
}

void DeviceMemory::set_fraction(double fraction) {
  Lock lock(mutex_);
  fraction_ = fraction;
  fraction_set_ = true;
}

std::pair<char*, size_t> DeviceMemory::segment_of(const void* address) {
  Lock lock(mutex_);
  for (auto& [base, segment] : segments_) {
    auto* begin = static_cast<char*>(base);
    if (address >= begin && address < begin + segment->size) return {begin, segment->size};
  }
  for (auto& [base, size] : uncached_) {
    auto* begin = static_cast<char*>(base);
    if (address >= begin && address < begin + size) return {begin, size};
  }
  return {nullptr, 0};
}

int64_t DeviceMemory::stack_of(const void* address) {
  Lock lock(mutex_);
  Block* block = blocks_.find(address);
  return block ? block->stack : 0;
}

size_t DeviceMemory::largest_free() {
  Lock lock(mutex_);
  size_t largest = 0;
  for (auto& arena : common_.arenas) {
    if (!arena->large.empty()) largest = std::max(largest, (*arena->large.rbegin())->size);
    arena->small->each([&](const Block* block) { largest = std::max(largest, block->size); });
  }
  return largest;
}

}  // namespace awt
