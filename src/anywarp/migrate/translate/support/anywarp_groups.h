// `reduce` and the scans of CUDA's cooperative groups, for tiles and coalesced groups of HIP's, which has the groups but not these.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_GROUPS_H
#define ANYWARP_TRANSLATE_GROUPS_H

#if defined(__HIP__)
#include <hip/hip_cooperative_groups.h>

#include "anywarp_warp.h"

namespace anywarp {
// The active threads of this warp of 32; HIP's own function gives those of the wave.
__device__ inline cooperative_groups::coalesced_group coalesced_threads() {
  return cooperative_groups::binary_partition(cooperative_groups::coalesced_threads(), detail::lane_of_wave() < 32u);
}
}  // namespace anywarp

namespace cooperative_groups {

#define ANYWARP_OPERATION(NAME, EXPRESSION)                                      \
  template <class T>                                                             \
  struct NAME {                                                                  \
    __host__ __device__ T operator()(T a, T b) const { return EXPRESSION; }      \
  };
ANYWARP_OPERATION(plus, a + b)
ANYWARP_OPERATION(less, b < a ? b : a)
ANYWARP_OPERATION(greater, a < b ? b : a)
ANYWARP_OPERATION(bit_and, a &b)
ANYWARP_OPERATION(bit_or, a | b)
ANYWARP_OPERATION(bit_xor, a ^ b)
#undef ANYWARP_OPERATION

namespace anywarp_detail {
// The value of another thread of the group, for values of any size.
template <class Group, class T>
__device__ inline T from(const Group &group, const T &value, unsigned rank) {
  static_assert(sizeof(T) % 4 == 0 || sizeof(T) < 4, "values are passed in words of 32 bits");
  constexpr unsigned words = (sizeof(T) + 3) / 4;
  int given[words] = {};
  __builtin_memcpy(given, &value, sizeof(T));
  for (unsigned n = 0; n < words; ++n) given[n] = group.shfl(given[n], static_cast<int>(rank));
  T result;
  __builtin_memcpy(&result, given, sizeof(T));
  return result;
}
}  // namespace anywarp_detail

// The sum (or what `operation` makes) of the values of all threads of the group, in all of them. The order of the operations is open.
template <class Group, class T, class Operation>
__device__ inline T reduce(const Group &group, T value, Operation operation) {
  const unsigned size = group.size(), rank = group.thread_rank();
  if ((size & (size - 1)) == 0) {
    for (unsigned other = size / 2; other > 0; other /= 2)
      value = operation(value, anywarp_detail::from(group, value, rank ^ other));
    return value;
  }
  T result = anywarp_detail::from(group, value, 0);
  for (unsigned other = 1; other < size; ++other) result = operation(result, anywarp_detail::from(group, value, other));
  return result;
}

// What the threads up to this one make together.
template <class Group, class T, class Operation>
__device__ inline T inclusive_scan(const Group &group, T value, Operation operation) {
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = anywarp_detail::from(group, value, rank >= step ? rank - step : rank);
    if (rank >= step) value = operation(other, value);
  }
  return value;
}
template <class Group, class T>
__device__ inline T inclusive_scan(const Group &group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

// What the threads before this one make together; nothing (zeros) in the first.
template <class Group, class T, class Operation>
__device__ inline T exclusive_scan(const Group &group, T value, Operation operation) {
  const unsigned rank = group.thread_rank();
  const T whole = inclusive_scan(group, value, operation);
  const T before = anywarp_detail::from(group, whole, rank > 0 ? rank - 1 : 0);
  return rank > 0 ? before : T{};
}
template <class Group, class T>
__device__ inline T exclusive_scan(const Group &group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// The threads of the group with the same label, as a group.
template <class Group, class Label>
__device__ inline coalesced_group labeled_partition(const Group &group, Label label) {
  coalesced_group rest = binary_partition(group, true);
  for (;;) {
    const bool same = label == anywarp_detail::from(rest, label, 0);
    const coalesced_group part = binary_partition(rest, same);
    if (same) return part;
    rest = part;
  }
}

// `memcpy_async`: the threads of the group copy at once, and waiting is meeting.
template <class Group, class T>
__device__ inline void memcpy_async(const Group &group, T *to, const T *from, size_t size) {
  const unsigned threads = group.size(), rank = group.thread_rank();
  const size_t whole = size / sizeof(T);
  for (size_t n = rank; n < whole; n += threads) to[n] = from[n];
  for (size_t n = whole * sizeof(T) + rank; n < size; n += threads)
    reinterpret_cast<unsigned char *>(to)[n] = reinterpret_cast<const unsigned char *>(from)[n];
}
template <class Group>
__device__ inline void wait(const Group &group) {
  group.sync();
}
template <unsigned, class Group>
__device__ inline void wait_prior(const Group &group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif

#endif  // ANYWARP_TRANSLATE_GROUPS_H
