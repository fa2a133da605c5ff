// Blocks, the segments they are cut from, and the lists of free ones.
#pragma once

#include <c10/core/Stream.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "memory_plugin.h"

namespace awt {

constexpr size_t kSmallest = 512;          // every size is a multiple of it
constexpr size_t kSmallRequest = 1 << 20;  // largest request that a small segment serves
constexpr size_t kSmallSegment = 2 << 20;
constexpr size_t kOwnSegment = 10 << 20;  // from here on a request has a segment to itself
constexpr size_t kSegmentRound = 2 << 20;

// (graph, handle): the first number names the pool of a graph, the second one made by hand; both 0:
// the common pool.
using PoolId = std::pair<unsigned long long, unsigned long long>;

struct Arena;
struct Segment;

struct Block {
  char* address = nullptr;
  size_t size = 0, requested = 0;
  Segment* segment = nullptr;
  Block *before = nullptr, *after = nullptr;             // neighbours in the segment
  Block *next_free = nullptr, *previous_free = nullptr;  // in a list of free ones; spare blocks too
  bool allocated = false;
  int pending = 0;        // events to be waited for before it is free
  uint64_t freed_at = 0;  // the allocator's call count
  int64_t stack = 0;      // of the allocation, as memory_history.h counts them
  std::unique_ptr<std::vector<c10::Stream>> uses;  // streams that it was recorded on

  bool is_split() const { return before || after; }
};

struct Segment {
  char* address = nullptr;
  size_t size = 0;
  Arena* arena = nullptr;
  bool small = false;
  Block* first = nullptr;
  int64_t stack = 0;
};

// Free blocks of small segments: a list per size, and a bit per list that is not empty.
class SmallBlocks {
 public:
  void put(Block* block) {
    const size_t place = block->size / kSmallest - 1;
    Block*& head = heads_[place];
    block->previous_free = nullptr, block->next_free = head;
    if (head) head->previous_free = block;
    head = block;
    words_[place / 64] |= uint64_t{1} << place % 64;
    summary_ |= uint64_t{1} << place / 64;
  }

  void remove(Block* block) {
    const size_t place = block->size / kSmallest - 1;
    if (block->next_free) block->next_free->previous_free = block->previous_free;
    if (block->previous_free) {
      block->previous_free->next_free = block->next_free;
    } else if (!(heads_[place] = block->next_free)) {
      if (!(words_[place / 64] &= ~(uint64_t{1} << place % 64)))
        summary_ &= ~(uint64_t{1} << place / 64);
    }
  }

  // The smallest one of at least `size` bytes; null when there is none.
  Block* find(size_t size) const {
    const size_t place = size / kSmallest - 1;
    if (uint64_t here = words_[place / 64] >> place % 64) return heads_[place + bits(here)];
    const size_t next = place / 64 + 1;
    const uint64_t rest = next < kWords ? summary_ >> next : 0;
    if (!rest) return nullptr;
    const size_t word = next + bits(rest);
    return heads_[word * 64 + bits(words_[word])];
  }

  template <class F>
  void each(F&& f) const {
    for (Block* head : heads_)
      for (Block* at = head; at; at = at->next_free) f(at);
  }

 private:
  static size_t bits(uint64_t value) { return static_cast<size_t>(std::countr_zero(value)); }
  static constexpr size_t kLists = kSmallSegment / kSmallest, kWords = kLists / 64;
  static_assert(kWords == 64, "the summary is one word");

  std::array<Block*, kLists> heads_{};
  std::array<uint64_t, kWords> words_{};
  uint64_t summary_ = 0;
};

// Free blocks of large segments, smallest first, then lowest address.
struct SizeThenAddress {
  using is_transparent = void;
  bool operator()(const Block* a, const Block* b) const {
    return a->size != b->size ? a->size < b->size : a->address < b->address;
  }
  bool operator()(const Block* a, size_t size) const { return a->size < size; }
  bool operator()(size_t size, const Block* b) const { return size < b->size; }
};
using LargeBlocks = std::set<Block*, SizeThenAddress>;

struct Pool;

// The free blocks of one stream in one pool.
struct Arena {
  Pool* pool;
  c10::Stream stream;
  std::unique_ptr<SmallBlocks> small;
  LargeBlocks large;

  void put(Block* block) {
    if (block->segment->small) {
      small->put(block);
    } else {
      large.insert(block);
    }
  }
  void remove(Block* block) {
    if (block->segment->small) {
      small->remove(block);
    } else {
      large.erase(block);
    }
  }
};

struct Pool {
  PoolId id;
  int uses = 0;  // graphs, handles and routes that hold it; at 0 its memory can go
  bool use_on_oom = false, no_split = false;
  std::shared_ptr<const Plugin> plugin;  // who gives its segments; null: the driver
  size_t segments = 0;
  std::vector<std::unique_ptr<Arena>> arenas;
};

// Blocks by address: open addressing, half full at most.
class BlockTable {
 public:
  BlockTable() : slots_(1 << 10), shift_(64 - 10) {}

  Block* find(const void* address) const {
    for (size_t at = place(address);; at = (at + 1) & mask())
      if (!slots_[at] || slots_[at]->address == address) return slots_[at];
  }

  void insert(Block* block) {
    if (2 * ++count_ > slots_.size()) grow();
    put(block);
  }

  // Takes the block at `address` out; null when there is none.
  Block* take(const void* address) {
    size_t at = place(address);
    while (slots_[at] && slots_[at]->address != address) at = (at + 1) & mask();
    Block* found = slots_[at];
    if (!found) return nullptr;
    --count_;
    for (size_t hole = at, next = at;;) {
      next = (next + 1) & mask();
      if (!slots_[next]) return slots_[hole] = nullptr, found;
      // What belongs at or before the hole moves into it.
      if (((next - place(slots_[next]->address)) & mask()) < ((next - hole) & mask())) continue;
      slots_[hole] = slots_[next], hole = next;
    }
  }

  template <class F>
  void each(F&& f) const {
    for (Block* block : slots_)
      if (block) f(block);
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  size_t place(const void* address) const {
    return (reinterpret_cast<uintptr_t>(address) / kSmallest * 0x9E3779B97F4A7C15u) >> shift_;
  }
  void put(Block* block) {
    size_t at = place(block->address);
    while (slots_[at]) at = (at + 1) & mask();
    slots_[at] = block;
  }
  void grow() {
    auto before = std::exchange(slots_, std::vector<Block*>(2 * slots_.size()));
    --shift_;
    for (Block* block : before)
      if (block) put(block);
  }

  std::vector<Block*> slots_;
  int shift_;
  size_t count_ = 0;
};

}  // namespace awt
