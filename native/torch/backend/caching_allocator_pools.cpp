// Pools: memory of graphs and of torch.cuda.MemPool, kept apart from the common one.
#include <c10/util/Exception.h>

#include <algorithm>

#include "device_memory.h"

namespace awt {

Pool& DeviceMemory::pool_at(PoolId id) {
  auto found = pools_.find(id);
  TORCH_CHECK(found != pools_.end(), "no memory pool (", id.first, ", ", id.second, ") on device ",
              static_cast<int>(device_));
  return *found->second;
}

void DeviceMemory::forget_pool(PoolId id) { pools_.erase(id); }

void DeviceMemory::open_pool(PoolId id, std::shared_ptr<const Plugin> plugin) {
  Lock lock(mutex_);
  auto& pool = pools_[id];
  if (!pool) {
    pool = std::make_unique<Pool>(Pool{id, 0, false, false, std::move(plugin), 0, {}});
    reserved_by_pool_[id];
  }
  ++pool->uses;
}

void DeviceMemory::set_pool_flags(PoolId id, bool use_on_oom, bool no_split) {
  Lock lock(mutex_);
  Pool& pool = pool_at(id);
  pool.use_on_oom = use_on_oom, pool.no_split = no_split;
}

int DeviceMemory::pool_uses(PoolId id) {
  Lock lock(mutex_);
  auto found = pools_.find(id);
  return found == pools_.end() ? 0 : found->second->uses;
}

void DeviceMemory::begin_allocate_to_pool(PoolId id, PoolFilter wanted) {
  open_pool(id);
  Lock lock(mutex_);
  for (auto& route : routes_) {
    if (route.pool != id) continue;
    --pool_at(id).uses;
    TORCH_CHECK(false, "beginAllocateToPool: already recording to mempool_id");
  }
  routes_.push_back({id, std::move(wanted)});
}

void DeviceMemory::end_allocate_to_pool(PoolId id) {
  Lock lock(mutex_);
  auto found = std::find_if(routes_.begin(), routes_.end(),
                            [&](const Route& route) { return route.pool == id; });
  TORCH_CHECK(found != routes_.end(), "endAllocatePool: not currently recording to mempool_id");
  routes_.erase(found);
}

// Its memory stays until the cache is emptied: blocks of it may still be in use.
void DeviceMemory::release_pool(PoolId id) {
  Lock lock(mutex_);
  Pool& pool = pool_at(id);
  TORCH_CHECK(pool.uses > 0, "releasePool: the pool was released before");
  if (--pool.uses == 0 && pool.segments == 0) forget_pool(id);
}

void DeviceMemory::mark_capture(bool begins) {
  Lock lock(mutex_);
  captures_ += begins ? 1 : -1;
}

bool DeviceMemory::pool_holds_exactly(PoolId id, const std::unordered_set<void*>& expected) {
  Lock lock(mutex_);
  size_t seen = 0;
  bool same = true;
  blocks_.each([&](const Block* block) {
    if (block->segment->arena->pool->id != id) return;
    if (expected.count(block->address)) {
      ++seen;
    } else {
      same = false;
    }
  });
  return same && seen == expected.size();
}

DeviceMemory::Checkpoint DeviceMemory::checkpoint(PoolId id) {
  Lock lock(mutex_);
  Checkpoint found;
  for (auto& item : segments_) {
    const Segment& segment = *item.second;
    if (segment.arena->pool->id != id) continue;
    auto& blocks = found.emplace_back();
    for (const Block* at = segment.first; at; at = at->after)
      blocks.push_back(
          {at->address, at->size, at->requested, at->allocated, segment.arena->stream});
  }
  return found;
}

// What could go wrong with a restore, before anything is changed.
void DeviceMemory::require_restorable(PoolId id, const Checkpoint& wanted) {
  for (auto& item : segments_) {
    if (item.second->arena->pool->id != id) continue;
    for (const Block* at = item.second->first; at; at = at->after)
      TORCH_CHECK(
          !at->uses && !at->pending,
          "a checkpoint cannot be restored while a block of the pool is in use on other streams");
  }
  for (const auto& states : wanted) {
    auto found = segments_.find(states.front().address);
    TORCH_CHECK(found != segments_.end() && found->second->arena->pool->id == id,
                "a segment of the checkpoint was given back meanwhile");
  }
}

// Cuts a whole free segment into the blocks of a checkpoint.
void DeviceMemory::lay_out(Segment& segment, const std::vector<BlockState>& states) {
  Block* block = segment.first;
  segment.arena->remove(block);
  for (size_t i = 1; i < states.size(); ++i) {
    Block* next = new_block();
    next->address = states[i].address;
    next->size = block->size - states[i - 1].size;
    next->segment = &segment;
    next->before = block;
    block->after = next;
    block->size = states[i - 1].size;
    block = next;
  }
}

// Frees every block of the pool and lays its segments out as they were. Segments that came later
// stay, free.
DeviceMemory::Restored DeviceMemory::restore(PoolId id, const Checkpoint& wanted) {
  Lock lock(mutex_);
  require_restorable(id, wanted);
  Restored result;
  std::vector<Block*> live;
  blocks_.each([&](Block* block) {
    if (block->segment->arena->pool->id == id) live.push_back(block);
  });
  for (Block* block : live) {
    result.freed.push_back(block->address);
    blocks_.take(block->address);
    block->allocated = false;
    stats_.allocation.subtract(block->segment->small, 1);
    stats_.allocated_bytes.subtract(block->segment->small, static_cast<int64_t>(block->size));
    put_back(block, 0);
  }
  for (const auto& states : wanted) {
    Segment& segment = *segments_.at(states.front().address);
    lay_out(segment, states);
    size_t place = 0;
    for (Block* block = segment.first; block; block = block->after, ++place) {
      count_inactive(block, +1);
      if (!states[place].allocated) {
        segment.arena->put(block);
        continue;
      }
      hand_out(block, block->size, states[place].requested, 0);
      result.allocated.push_back(block->address);
    }
  }
  return result;
}

}  // namespace awt
