// Groups of lanes: tiles of a fixed size, coalesced threads, and partitions of them; tiles of several warps.
#ifndef ANYWARP_COOPERATIVE_TILES_H
#define ANYWARP_COOPERATIVE_TILES_H

#include "groups.h"

namespace cooperative_groups {
namespace __v1 {

namespace aw {
AW_CG unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
// A value of any size, 32 bits at a time.
template <class T, class F>
AW_CG T by_words(T value, F move) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned int w[words] = {};
  __builtin_memcpy(w, &value, sizeof(T));
  AW_UNROLL for (int k = 0; k < words; ++k) w[k] = move(w[k]);
  __builtin_memcpy(&value, w, sizeof(T));
  return value;
}
struct from_lane {
  unsigned int mask, lane;
  int width;
  AW_CG unsigned int operator()(unsigned int v) const { return __shfl_sync(mask, v, (int)lane, width); }
};
struct from_below {
  unsigned int mask, delta;
  int width;
  AW_CG unsigned int operator()(unsigned int v) const { return __shfl_up_sync(mask, v, delta, width); }
};
struct from_above {
  unsigned int mask, delta;
  int width;
  AW_CG unsigned int operator()(unsigned int v) const { return __shfl_down_sync(mask, v, delta, width); }
};
struct from_mirror {
  unsigned int mask, bits;
  int width;
  AW_CG unsigned int operator()(unsigned int v) const { return __shfl_xor_sync(mask, v, (int)bits, width); }
};
// The bits of `ballot` at the places of `mask`, moved together: results of votes are counted by rank.
AW_CG unsigned int pack(unsigned int ballot, unsigned int mask) {
  unsigned int r = 0, place = 0;
  for (unsigned int m = mask; m; m &= m - 1, ++place) r |= (ballot & (m & -m)) ? 1u << place : 0u;
  return r;
}
}  // namespace aw

// Some lanes of a warp, numbered by rank.
struct coalesced_group : thread_group {
  AW_CG static coalesced_group aw_make(unsigned int lanes, unsigned int tile = 0, unsigned int of = 1) {
    coalesced_group g;
    g.what = aw::kind_lanes, g.mask = lanes, g.number = tile, g.tiles = of;
    return g;
  }
  AW_CG unsigned int aw_mask() const { return mask; }
  AW_CG unsigned int aw_lane_of(unsigned int rank) const { return __fns(mask, 0, (int)rank + 1); }
  AW_CG unsigned int num_threads() const { return (unsigned)__popc(mask); }
  AW_CG unsigned int size() const { return num_threads(); }
  AW_CG unsigned int thread_rank() const { return (unsigned)__popc(mask & aw::lanes_before()); }
  AW_CG void sync() const { __syncwarp(mask); }
  AW_CG unsigned int meta_group_rank() const { return number; }
  AW_CG unsigned int meta_group_size() const { return tiles; }
  template <class T>
  AW_CG T shfl(T v, unsigned int rank) const {
    unsigned int n = num_threads();
    return aw::by_words(v, aw::from_lane{mask, aw_lane_of(rank % n), 32});
  }
  template <class T>
  AW_CG T shfl_up(T v, unsigned int delta) const {
    unsigned int r = thread_rank();
    return aw::by_words(v, aw::from_lane{mask, r < delta ? aw::lane() : aw_lane_of(r - delta), 32});
  }
  template <class T>
  AW_CG T shfl_down(T v, unsigned int delta) const {
    unsigned int r = thread_rank() + delta;
    return aw::by_words(v, aw::from_lane{mask, r >= num_threads() ? aw::lane() : aw_lane_of(r), 32});
  }
  AW_CG int any(int p) const { return __ballot_sync(mask, p) != 0; }
  AW_CG int all(int p) const { return __ballot_sync(mask, p) == mask; }
  AW_CG unsigned int ballot(int p) const { return aw::pack(__ballot_sync(mask, p), mask); }
  template <class T>
  AW_CG unsigned int match_any(T v) const {
    return aw::pack(__match_any_sync(mask, v), mask);
  }
  template <class T>
  AW_CG unsigned int match_all(T v, int &p) const {
    return aw::pack(__match_all_sync(mask, v, &p), mask);
  }
};
AW_CG coalesced_group coalesced_threads() { return coalesced_group::aw_make(__activemask()); }

// A tile of 1 to 32 lanes, a power of two.
template <unsigned int Size>
struct aw_warp_tile : thread_group {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0 && Size > 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  AW_CG static unsigned int aw_mask() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (aw::lane() & ~(Size - 1));
  }
  AW_CG static unsigned int aw_lane_of(unsigned int rank) { return (aw::lane() & ~(Size - 1)) + rank; }
  AW_CG static constexpr unsigned int num_threads() { return Size; }
  AW_CG static constexpr unsigned int size() { return Size; }
  AW_CG static unsigned int thread_rank() { return aw::thread_rank() & (Size - 1); }
  AW_CG static void sync() { __syncwarp(aw_mask()); }
  AW_CG unsigned int meta_group_rank() const { return number; }
  AW_CG unsigned int meta_group_size() const { return tiles; }
  template <class T>
  AW_CG T shfl(T v, int rank) const {
    return aw::by_words(v, aw::from_lane{aw_mask(), (unsigned int)rank, (int)Size});
  }
  template <class T>
  AW_CG T shfl_up(T v, unsigned int delta) const {
    return aw::by_words(v, aw::from_below{aw_mask(), delta, (int)Size});
  }
  template <class T>
  AW_CG T shfl_down(T v, unsigned int delta) const {
    return aw::by_words(v, aw::from_above{aw_mask(), delta, (int)Size});
  }
  template <class T>
  AW_CG T shfl_xor(T v, unsigned int bits) const {
    return aw::by_words(v, aw::from_mirror{aw_mask(), bits, (int)Size});
  }
  AW_CG unsigned int aw_own(unsigned int lanes) const {
    return Size == 32 ? lanes : (lanes >> (aw::lane() & ~(Size - 1))) & ((1u << (Size & 31)) - 1);
  }
  AW_CG int any(int p) const { return __ballot_sync(aw_mask(), p) != 0; }
  AW_CG int all(int p) const { return __ballot_sync(aw_mask(), p) == aw_mask(); }
  AW_CG unsigned int ballot(int p) const { return aw_own(__ballot_sync(aw_mask(), p)); }
  template <class T>
  AW_CG unsigned int match_any(T v) const {
    return aw_own(__match_any_sync(aw_mask(), v));
  }
  template <class T>
  AW_CG unsigned int match_all(T v, int &p) const {
    return aw_own(__match_all_sync(aw_mask(), v, &p));
  }
};

// A tile of whole warps: its barrier is one of the block's, counted; values go through the memory that the program gives.
template <unsigned int Size>
struct aw_multi_warp_tile : thread_group {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads, at most 1024");
  AW_CG static constexpr unsigned int num_threads() { return Size; }
  AW_CG static constexpr unsigned int size() { return Size; }
  AW_CG static unsigned int thread_rank() { return aw::thread_rank() & (Size - 1); }
  // A block has 16 barriers, the first of which is everybody's: 15 such tiles can wait on their own.
  AW_CG void sync() const {
    if (number > 14) __trap();
    __barrier_sync_count(1 + number, Size);
  }
  AW_CG unsigned int meta_group_rank() const { return number; }
  AW_CG unsigned int meta_group_size() const { return tiles; }
};

template <unsigned int Size, class Parent = void>
struct thread_block_tile : aw::choose<(Size <= 32), aw_warp_tile<(Size <= 32 ? Size : 32)>, aw_multi_warp_tile<Size>>::type {
  AW_CG static thread_block_tile aw_make(unsigned int number, unsigned int tiles) {
    thread_block_tile t;
    t.what = Size <= 32 ? aw::kind_lanes : aw::kind_multi_warp;
    t.mask = Size <= 32 ? aw_warp_tile<(Size <= 32 ? Size : 32)>::aw_mask() : 0;
    t.number = number, t.tiles = tiles;
    return t;
  }
  thread_block_tile() = default;
  // A tile without the type of what it was cut from.
  template <class Other>
  AW_CG thread_block_tile(const thread_block_tile<Size, Other> &other) {
    this->what = other.what, this->mask = other.mask, this->number = other.number, this->tiles = other.tiles;
  }
};
template <unsigned int Size>
struct block_tile_memory_size {
  static constexpr unsigned int bytes = Size;
};
// Room for tiles of several warps: 8 bytes for each warp, and 8 more.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned long long room[MaxBlockSize / 32 + 1];
};
template <unsigned int MaxBlockSize>
AW_CG thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
  return thread_block::aw_make();
}

template <unsigned int Size>
AW_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
  return thread_block_tile<Size, thread_block>::aw_make(aw::thread_rank() / Size, (aw::block_size() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int ParentSize, class Grandparent>
AW_CG thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent> &parent) {
  static_assert(Size <= ParentSize, "a tile is cut from a larger one");
  return thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>>::aw_make(parent.thread_rank() / Size,
                                                                                      ParentSize / Size);
}
AW_CG coalesced_group aw_part_of_lanes(unsigned int mask, unsigned int size) {
  // Lanes of the same rank divided by the size.
  unsigned int rank = (unsigned)__popc(mask & aw::lanes_before()) / size, part = 0, k = 0;
  for (unsigned int m = mask; m; m &= m - 1, ++k) part |= k / size == rank ? m & -m : 0u;
  return coalesced_group::aw_make(part, rank, ((unsigned)__popc(mask) + size - 1) / size);
}
AW_CG coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
  return aw_part_of_lanes(parent.mask, size);
}
template <unsigned int Size>
AW_CG coalesced_group tiled_partition(const coalesced_group &parent) {
  return aw_part_of_lanes(parent.mask, Size);
}
AW_CG thread_group tiled_partition(const thread_group &parent, unsigned int size) {
  if (parent.what == aw::kind_lanes) return aw_part_of_lanes(parent.mask, size);
  unsigned int lanes = size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (aw::lane() & ~(size - 1));
  unsigned int last = aw::block_size() - (aw::thread_rank() & ~31u);
  return coalesced_group::aw_make(last < 32 ? lanes & ((1u << last) - 1) : lanes, aw::thread_rank() / size,
                                  (aw::block_size() + size - 1) / size);
}
// Lanes with the same label, or the same truth.
template <class Group>
AW_CG coalesced_group binary_partition(const Group &g, bool p) {
  unsigned int yes = __ballot_sync(g.aw_mask(), p);
  return coalesced_group::aw_make(p ? yes : g.aw_mask() & ~yes, p ? 1 : 0, 2);
}
template <class Label, class Group>
AW_CG coalesced_group labeled_partition(const Group &g, Label label) {
  unsigned int same = __match_any_sync(g.aw_mask(), label);
  // The parts in the order of their first lanes.
  unsigned int firsts = __ballot_sync(g.aw_mask(), (same & aw::lanes_before()) == 0);
  return coalesced_group::aw_make(same, (unsigned)__popc(firsts & ((same & -same) - 1)), (unsigned)__popc(firsts));
}

// One thread of the group does it; the value goes to all.
template <class Group, class F, class... A>
AW_CG void invoke_one(const Group &g, F &&f, A &&...arguments) {
  if (g.thread_rank() == 0) f(static_cast<A &&>(arguments)...);
}
template <class Group, class F, class... A>
AW_CG auto invoke_one_broadcast(const Group &g, F &&f, A &&...arguments) -> decltype(f(static_cast<A &&>(arguments)...)) {
  decltype(f(static_cast<A &&>(arguments)...)) r{};
  if (g.thread_rank() == 0) r = f(static_cast<A &&>(arguments)...);
  return g.shfl(r, 0);
}

}  // namespace __v1
}  // namespace cooperative_groups

#endif
