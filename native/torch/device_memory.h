// The memory of one device as the caching allocator holds it.
#pragma once

#include <c10/core/Stream.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "memory_blocks.h"
#include "memory_history.h"
#include "memory_settings.h"
#include "memory_stats.h"

namespace awt {

// Which allocations go to a pool: those for whose stream `wanted` answers true.
using PoolFilter = std::function<bool(c10::Stream)>;

class DeviceMemory {
 public:
  explicit DeviceMemory(c10::DeviceIndex device);

  // At least `bytes` for work on `stream`; raises OutOfMemoryError.
  void* allocate(size_t bytes, c10::Stream stream);
  // Returns the bytes once asked for; -1 when `memory` is no block of this device.
  int64_t free(void* memory);
  void record_stream(void* memory, c10::Stream stream);

  // Gives segments without a block in use back to the driver; of every pool, or of one.
  void empty_cache(PoolId pool = {0, 0});

  MemoryStats stats();
  std::map<PoolId, PoolCounters> stats_by_pool();
  void reset_peak();
  void reset_accumulated();
  double fraction();
  void set_fraction(double fraction);

  // Pools. Everything here raises when it does not fit what went before.
  void open_pool(PoolId pool,
                 std::shared_ptr<const Plugin> plugin = nullptr);  // makes it, or one more use
  void set_pool_flags(PoolId pool, bool use_on_oom, bool no_split);
  int pool_uses(PoolId pool);
  void begin_allocate_to_pool(PoolId pool, PoolFilter wanted);
  void end_allocate_to_pool(PoolId pool);
  void release_pool(PoolId pool);
  void mark_capture(bool begins);

  // Live blocks of a pool equal `expected` (their addresses).
  bool pool_holds_exactly(PoolId pool, const std::unordered_set<void*>& expected);

  // The state of a pool, and its return to a state before.
  struct BlockState {
    char* address;
    size_t size, requested;
    bool allocated;
    c10::Stream stream;
  };
  using Checkpoint = std::vector<std::vector<BlockState>>;  // per segment
  Checkpoint checkpoint(PoolId pool);
  struct Restored {
    std::vector<void*> freed, allocated;
  };
  Restored restore(PoolId pool, const Checkpoint& checkpoint);

  // The segment that holds an address; 0 bytes when there is none.
  std::pair<char*, size_t> segment_of(const void* address);
  int64_t stack_of(const void* address);
  size_t largest_free();

  // Blocks as JSON: the segments of one pool (or of all), and the trace.
  void write_snapshot(std::string& out, PoolId pool, bool traces);
  void snapshot_taken(int64_t stack);
  void clear_trace();

  std::mutex& mutex() { return mutex_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Waiting {
    void* event;
    Block* block;
    c10::DeviceIndex device;  // of the event
  };
  struct Route {
    PoolId pool;
    PoolFilter wanted;
  };
  // What is given back after the lock is released: plugins may need Python.
  struct Returned {
    std::shared_ptr<const Plugin> plugin;
    void* memory;
    size_t bytes;
    c10::Stream stream;
  };

  // caching_allocator.cpp
  size_t round(size_t bytes) const;
  Arena& arena_for(c10::Stream stream);
  Arena& arena_in(Pool& pool, c10::Stream stream);
  Block* find_free(Arena& arena, size_t size, bool small);
  Block* hand_out(Block* block, size_t size, size_t requested, int64_t stack);
  void put_back(Block* block, int64_t stack);
  void join(Block* block, Block* neighbour);
  Block* new_block();
  void drop_block(Block* block);
  void count_inactive(const Block* block, int sign);

  // caching_allocator_segments.cpp
  Block* grow(Lock& lock, Arena& arena, size_t size, bool small, size_t requested, int64_t stack);
  Block* new_segment(Lock& lock, Arena& arena, size_t bytes, bool small, int64_t stack);
  void* from_driver(size_t bytes);
  void drop_segment(Block* block, std::vector<Returned>& returned);
  void give_back(Lock& lock, const std::vector<Returned>& returned);
  void wait_for_work(Lock& lock);
  void release_all(Lock& lock, const PoolId* only);
  bool release_enough(Lock& lock, size_t size);
  void collect_garbage(Lock& lock);
  Block* from_pools_for_emergencies(size_t size, bool small, c10::Stream stream);
  [[noreturn]] void raise_out_of_memory(Lock& lock, Arena& arena, size_t requested, size_t wanted,
                                        int64_t stack);
  void* allocate_uncached(Lock& lock, size_t bytes);
  int64_t free_uncached(Lock& lock, void* memory);
  size_t allowed() const;

  // caching_allocator_streams.cpp
  void insert_events(Block* block);
  void process_events();
  void wait_for_events(Lock& lock);

  // caching_allocator_pools.cpp
  void require_restorable(PoolId id, const Checkpoint& wanted);
  void lay_out(Segment& segment, const std::vector<BlockState>& states);
  Pool& pool_at(PoolId id);
  void forget_pool(PoolId id);

  void trace(TraceAction action, uint64_t address, size_t size, c10::Stream stream, PoolId pool,
             int64_t stack);

  const c10::DeviceIndex device_;
  std::mutex mutex_;
  MemoryStats stats_;
  BlockTable blocks_;  // in use
  std::unordered_map<void*, std::unique_ptr<Segment>> segments_;
  std::unordered_map<void*, size_t> uncached_;
  std::vector<void*> uncached_idle_;  // freed where the driver must not be asked to
  std::deque<Block> storage_;         // all Block objects ever made
  Block* spare_ = nullptr;
  Pool common_;
  std::map<PoolId, std::unique_ptr<Pool>> pools_;
  std::map<PoolId, PoolCounters> reserved_by_pool_;
  std::vector<Route> routes_;
  int captures_ = 0;
  // Freed with streams to wait for, while a graph was captured or on a thread of the driver.
  std::vector<Block*> deferred_;
  std::map<std::pair<c10::DeviceIndex, c10::StreamId>, std::deque<Waiting>> waiting_;
  size_t waiting_count_ = 0;
  uint64_t calls_ = 0;
  double fraction_ = 1;
  bool fraction_set_ = false;
  size_t total_memory_ = 0;
  Trace trace_;
};

// One per device, made at the first use.
DeviceMemory& device_memory(c10::DeviceIndex device);
bool device_memory_made(c10::DeviceIndex device) noexcept;

}  // namespace awt
