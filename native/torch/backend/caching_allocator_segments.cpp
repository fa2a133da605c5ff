// Segments: memory from the driver and back to it, and what happens when it has none.
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <cmath>

#include "device_memory.h"
#include "devices.h"
#include "driver.h"
#include "memory_map.h"
#include "memory_text.h"
#include "streams.h"

namespace awt {
namespace {

const DriverFn<uint64_t(int)> memory_in_use{"anywarp_memory_in_use"};
const DriverFn<CUresult(CUdeviceptr*, size_t)> mem_alloc{"cuMemAlloc_v2"};
const DriverFn<CUresult(CUdeviceptr)> mem_free{"cuMemFree_v2"};
const DriverFn<CUresult(size_t*, size_t*)> mem_info{"cuMemGetInfo_v2"};
const DriverFn<CUresult()> synchronize_context{"cuCtxSynchronize"};

size_t segment_bytes(size_t size) {
  if (size <= kSmallRequest) return kSmallSegment;
  const size_t shared = memory_settings().large_segment;
  if (size < kOwnSegment && size <= shared) return shared;
  return (size + kSegmentRound - 1) / kSegmentRound * kSegmentRound;
}

}  // namespace

std::pair<size_t, size_t> free_and_total(c10::DeviceIndex device) {
  InContext on(device);
  size_t available = 0, total = 0;
  check(mem_info(&available, &total));
  return {available, total};
}

// Null when the driver has none.
void* DeviceMemory::from_driver(size_t bytes) {
  InContext on(device_);
  CUdeviceptr address = 0;
  const CUresult result = mem_alloc(&address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(result);
  return reinterpret_cast<void*>(address);
}

size_t DeviceMemory::allowed() const {
  return fraction_set_ ? static_cast<size_t>(fraction_ * static_cast<double>(total_memory_))
                       : SIZE_MAX;
}

// A new segment as one free block in no list; null when nobody has memory for it.
Block* DeviceMemory::new_segment(Lock& lock, Arena& arena, size_t bytes, bool small,
                                 int64_t stack) {
  if (!total_memory_) total_memory_ = free_and_total(device_).second;
  const auto reserved = static_cast<size_t>(stats_.reserved_bytes.all.current);
  const size_t most = allowed();
  if (reserved > most || bytes > most - reserved) {
    if (memory_settings().throw_on_oom) ++stats_.num_oom_rejections;
    return nullptr;
  }
  void* memory = nullptr;
  if (const auto plugin = arena.pool->plugin) {
    // The user's function may want the interpreter, whose lock another waiting thread may hold.
    lock.unlock();
    memory = plugin->allocate(bytes, device_, native_stream(arena.stream));
    lock.lock();
  } else {
    memory = from_driver(bytes);
  }
  if (!memory) return nullptr;
  auto segment = std::make_unique<Segment>();
  segment->address = static_cast<char*>(memory);
  segment->size = bytes;
  segment->arena = &arena;
  segment->small = small;
  segment->stack = stack;
  Block* block = new_block();
  block->address = segment->address;
  block->size = bytes;
  block->segment = segment.get();
  segment->first = block;
  enter_memory(memory, bytes, device_);
  segments_[memory] = std::move(segment);
  ++arena.pool->segments;
  ++stats_.num_device_alloc;
  stats_.segment.add(small, 1);
  stats_.reserved_bytes.add(small, static_cast<int64_t>(bytes));
  if (arena.pool != &common_)
    reserved_by_pool_[arena.pool->id].add(small, static_cast<int64_t>(bytes));
  if (bytes >= memory_settings().max_split_size) stats_.oversize_segments.add(1);
  if (history_settings().recording)
    trace(TraceAction::segment_alloc, reinterpret_cast<uint64_t>(memory), bytes, arena.stream,
          arena.pool->id, stack);
  return block;
}

// `block` is a whole segment, free, and still in its list.
void DeviceMemory::drop_segment(Block* block, std::vector<Returned>& returned) {
  Segment* segment = block->segment;
  Arena& arena = *segment->arena;
  arena.remove(block);
  if (history_settings().recording)
    trace(TraceAction::segment_free, reinterpret_cast<uint64_t>(segment->address), segment->size,
          arena.stream, arena.pool->id, 0);
  const auto bytes = static_cast<int64_t>(segment->size);
  ++stats_.num_device_free;
  stats_.segment.subtract(segment->small, 1);
  stats_.reserved_bytes.subtract(segment->small, bytes);
  if (arena.pool != &common_) reserved_by_pool_[arena.pool->id].subtract(segment->small, bytes);
  if (segment->size >= memory_settings().max_split_size) stats_.oversize_segments.subtract(1);
  --arena.pool->segments;
  remove_memory(segment->address, segment->size);
  returned.push_back({arena.pool->plugin, segment->address, segment->size, arena.stream});
  drop_block(block);
  segments_.erase(segment->address);
}

// The driver waits for its streams, whose work may want this lock; a plugin may want the
// interpreter.
void DeviceMemory::give_back(Lock& lock, const std::vector<Returned>& returned) {
  if (returned.empty()) return;
  lock.unlock();
  {
    InContext on(device_);
    for (auto& each : returned) {
      if (each.plugin) {
        each.plugin->free(each.memory, each.bytes, device_, native_stream(each.stream));
      } else {
        check(mem_free(reinterpret_cast<CUdeviceptr>(each.memory)));
      }
    }
  }
  lock.lock();
}

// As cudaFree: work that was given before may use free blocks, above all those of pools.
void DeviceMemory::wait_for_work(Lock& lock) {
  if (captures_ > 0 || !driver_busy() || !context_made(device_)) return;
  lock.unlock();
  {
    const InContext on(device_);
    check(synchronize_context());
  }
  lock.lock();
}

// Every segment without a block in use: of the common pool and of pools that nobody holds, or of
// one pool if nobody holds it. Graphs use the free blocks of their pools.
void DeviceMemory::release_all(Lock& lock, const PoolId* only) {
  const auto idle = [&] {
    std::vector<Block*> whole;
    for (auto& item : segments_) {
      Segment& segment = *item.second;
      const Pool& pool = *segment.arena->pool;
      const Block* first = segment.first;
      if (first->allocated || first->pending || first->is_split()) continue;
      if (&pool == &common_ ? !only : pool.uses == 0 && (!only || pool.id == *only))
        whole.push_back(segment.first);
    }
    return whole;
  };
  if (!idle().empty()) wait_for_work(lock);
  const std::vector<Block*> whole = idle();
  std::vector<Returned> returned;
  for (Block* block : whole) drop_segment(block, returned);
  for (auto it = pools_.begin(); it != pools_.end();) {
    Pool& pool = *(it++)->second;
    if (pool.uses == 0 && pool.segments == 0) forget_pool(pool.id);
  }
  give_back(lock, returned);
}

// With a limit on splitting: gives back the fewest blocks above the limit that make room.
bool DeviceMemory::release_enough(Lock& lock, size_t size) {
  const auto& settings = memory_settings();
  if (settings.max_split_size == SIZE_MAX) return false;
  const size_t wanted = std::max(size, settings.max_split_size);
  std::vector<Returned> returned;
  for (auto& arena : common_.arenas) {
    auto at = arena->large.lower_bound(wanted);
    size_t released = 0;
    if (at != arena->large.end() && !(*at)->is_split()) {
      released = (*at)->size;
      drop_segment(*at, returned);
    }
    while (released < wanted && !arena->large.empty()) {
      Block* largest = *arena->large.rbegin();
      if (largest->size < settings.max_split_size || largest->is_split()) break;
      released += largest->size;
      drop_segment(largest, returned);
    }
    if (released < wanted) continue;
    give_back(lock, returned);
    return true;
  }
  give_back(lock, returned);
  return false;
}

// Gives back segments that were free for longer than the others, until use is below the threshold.
void DeviceMemory::collect_garbage(Lock& lock) {
  const double threshold = memory_settings().garbage_collection_threshold;
  if (threshold <= 0 || !fraction_set_ || captures_ > 0) return;
  const auto limit = static_cast<int64_t>(threshold * static_cast<double>(allowed()));
  std::vector<Returned> returned;
  while (stats_.reserved_bytes.all.current > limit) {
    double ages = 0;
    std::vector<Block*> idle;
    for (auto& arena : common_.arenas)
      for (Block* block : arena->large)
        if (!block->is_split())
          idle.push_back(block), ages += static_cast<double>(calls_ - block->freed_at);
    if (idle.empty()) break;
    const double mean = ages / static_cast<double>(idle.size());
    for (Block* block : idle) {
      if (stats_.reserved_bytes.all.current <= limit) break;
      if (static_cast<double>(calls_ - block->freed_at) >= mean) drop_segment(block, returned);
    }
  }
  give_back(lock, returned);
}

// A free block of a pool that said it may be used when all else fails.
Block* DeviceMemory::from_pools_for_emergencies(size_t size, bool small, c10::Stream stream) {
  for (auto& item : pools_) {
    Pool& pool = *item.second;
    if (!pool.use_on_oom) continue;
    for (auto& arena : pool.arenas) {
      if (arena->stream.id() != stream.id()) continue;
      if (Block* block = find_free(*arena, size, small)) {
        arena->remove(block);
        return block;
      }
    }
  }
  return nullptr;
}

// No free block fits: a segment, if need be after giving back what lies idle.
Block* DeviceMemory::grow(Lock& lock, Arena& arena, size_t size, bool small, size_t requested,
                          int64_t stack) {
  const size_t bytes = segment_bytes(size);
  collect_garbage(lock);
  if (Block* block = new_segment(lock, arena, bytes, small, stack)) return block;
  ++stats_.num_alloc_retries;
  if (release_enough(lock, bytes))
    if (Block* block = new_segment(lock, arena, bytes, small, stack)) return block;
  if (captures_ == 0) {
    wait_for_events(lock);
    // Waiting may have freed a block that fits.
    if (Block* block = find_free(arena, size, small)) return arena.remove(block), block;
    release_all(lock, nullptr);
    if (Block* block = new_segment(lock, arena, bytes, small, stack)) return block;
  }
  if (Block* block = from_pools_for_emergencies(size, small, arena.stream)) return block;
  raise_out_of_memory(lock, arena, requested, bytes, stack);
}

void DeviceMemory::raise_out_of_memory(Lock& lock, Arena& arena, size_t requested, size_t wanted,
                                       int64_t stack) {
  ++stats_.num_ooms;
  const auto [available, total] = free_and_total(device_);
  const auto reserved = static_cast<size_t>(stats_.reserved_bytes.all.current);
  const auto allocated = static_cast<size_t>(stats_.allocated_bytes.all.current);
  size_t in_pools = 0;
  blocks_.each([&](const Block* block) {
    if (block->segment->arena->pool != &common_) in_pools += block->size;
  });
  if (history_settings().recording)
    trace(TraceAction::oom, available, wanted, arena.stream, arena.pool->id, stack);
  const std::string allowance = fraction_set_ ? size_text(allowed()) + " allowed; " : "";
  const std::string pools =
      in_pools ? "with " + size_text(in_pools) + " allocated in private pools (e.g., CUDA Graphs), "
               : "";
  lock.unlock();
  c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(wanted), allocated, reserved,
                                   c10::Device(c10::DeviceType::CUDA, device_));
  tell_out_of_memory(device_, static_cast<int64_t>(wanted), static_cast<int64_t>(total),
                     static_cast<int64_t>(available));
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", size_text(requested),
      ". GPU ", static_cast<int>(device_), " has a total capacity of ", size_text(total),
      " of which ", size_text(available),
      " is free. Including non-PyTorch memory, this process has ",
      size_text(std::max<size_t>(reserved, memory_in_use(device_))), " memory in use. ", allowance,
      "Of the allocated memory ", size_text(allocated), " is allocated by PyTorch, ", pools, "and ",
      size_text(reserved - allocated),
      " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
      "setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
      "documentation for Memory Management  "
      "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)");
}

// Without the cache (PYTORCH_NO_CUDA_MEMORY_CACHING, caching_allocator_enable(False)): the driver's
// own.
void* DeviceMemory::allocate_uncached(Lock& lock, size_t bytes) {
  if (!uncached_idle_.empty()) {
    const auto idle = std::exchange(uncached_idle_, {});
    lock.unlock();
    InContext on(device_);
    for (void* each : idle) check(mem_free(reinterpret_cast<CUdeviceptr>(each)));
    lock.lock();
  }
  void* memory = from_driver(bytes);
  if (!memory) {
    ++stats_.num_ooms;
    lock.unlock();
    check(CUDA_ERROR_OUT_OF_MEMORY);
  }
  uncached_[memory] = bytes;
  enter_memory(memory, bytes, device_);
  return memory;
}

int64_t DeviceMemory::free_uncached(Lock& lock, void* memory) {
  auto found = uncached_.find(memory);
  if (found == uncached_.end()) return -1;
  const size_t bytes = found->second;
  remove_memory(memory, bytes);
  uncached_.erase(found);
  if (on_driver_thread()) {
    uncached_idle_.push_back(memory);
    return static_cast<int64_t>(bytes);
  }
  lock.unlock();
  InContext on(device_);
  check(mem_free(reinterpret_cast<CUdeviceptr>(memory)));
  return static_cast<int64_t>(bytes);
}

void DeviceMemory::empty_cache(PoolId pool) {
  Lock lock(mutex_);
  const PoolId* only = pool == PoolId{0, 0} ? nullptr : &pool;
  if (captures_ == 0) wait_for_events(lock);
  release_all(lock, only);
}

}  // namespace awt
