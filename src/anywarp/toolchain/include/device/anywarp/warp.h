// What the lanes of a warp say to each other: shuffles, votes, matches, reductions.
#ifndef ANYWARP_WARP_H
#define ANYWARP_WARP_H

#include "attributes.h"

AW_FN unsigned int __activemask(void) { return __nvvm_activemask(); }
AW_FN int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p); }
AW_FN int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p); }
AW_FN int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p); }
AW_FN unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
AW_FN unsigned int __lane_id(void) { return __nvvm_read_ptx_sreg_laneid(); }

// The third operand of shfl: what a lane number may not change (for widths below 32), and the clamp (0 for `up`).
#define AW_CLAMP(width, low) (((32 - (width)) << 8) | (low))
#define AW_SHUFFLE_32(T, type)                                                                                          \
  AW_FN T __shfl_sync(unsigned int m, T v, int lane, int width = 32) {                                                  \
    return __nvvm_shfl_sync_idx_##type(m, v, lane, AW_CLAMP(width, 31));                                                \
  }                                                                                                                     \
  AW_FN T __shfl_up_sync(unsigned int m, T v, unsigned int d, int width = 32) {                                         \
    return __nvvm_shfl_sync_up_##type(m, v, d, AW_CLAMP(width, 0));                                                     \
  }                                                                                                                     \
  AW_FN T __shfl_down_sync(unsigned int m, T v, unsigned int d, int width = 32) {                                       \
    return __nvvm_shfl_sync_down_##type(m, v, d, AW_CLAMP(width, 31));                                                  \
  }                                                                                                                     \
  AW_FN T __shfl_xor_sync(unsigned int m, T v, int bits, int width = 32) {                                              \
    return __nvvm_shfl_sync_bfly_##type(m, v, bits, AW_CLAMP(width, 31));                                               \
  }
AW_SHUFFLE_32(int, i32)
AW_SHUFFLE_32(float, f32)
#define AW_SHUFFLE_AS(name, T, U, L)                                                                  \
  AW_FN T name(unsigned int m, T v, L lane, int width = 32) {                                         \
    return __builtin_bit_cast(T, name(m, __builtin_bit_cast(U, v), lane, width));                     \
  }
#define AW_SHUFFLE_HALVES(name, T, L)                                                                 \
  AW_FN T name(unsigned int m, T v, L lane, int width = 32) {                                         \
    unsigned long long bits = __builtin_bit_cast(unsigned long long, v);                              \
    unsigned int lo = (unsigned int)name(m, (int)bits, lane, width);                                  \
    unsigned int hi = (unsigned int)name(m, (int)(bits >> 32), lane, width);                          \
    return __builtin_bit_cast(T, (unsigned long long)hi << 32 | lo);                                  \
  }
#define AW_EVERY_SHUFFLE(HOW, ...)                    \
  HOW(__shfl_sync, __VA_ARGS__, int)                  \
  HOW(__shfl_up_sync, __VA_ARGS__, unsigned int)      \
  HOW(__shfl_down_sync, __VA_ARGS__, unsigned int)    \
  HOW(__shfl_xor_sync, __VA_ARGS__, int)
AW_EVERY_SHUFFLE(AW_SHUFFLE_AS, unsigned int, int)
AW_EVERY_SHUFFLE(AW_SHUFFLE_HALVES, long long)
AW_EVERY_SHUFFLE(AW_SHUFFLE_HALVES, unsigned long long)
AW_EVERY_SHUFFLE(AW_SHUFFLE_HALVES, double)
AW_EVERY_SHUFFLE(AW_SHUFFLE_HALVES, long)
AW_EVERY_SHUFFLE(AW_SHUFFLE_HALVES, unsigned long)
#undef AW_SHUFFLE_32

#define AW_MATCH(T, U, bits)                                                                     \
  AW_FN unsigned int __match_any_sync(unsigned int m, T v) {                                     \
    return __nvvm_match_any_sync_i##bits(m, __builtin_bit_cast(U, v));                           \
  }                                                                                              \
  AW_FN unsigned int __match_all_sync(unsigned int m, T v, int *all) {                           \
    return __nvvm_match_all_sync_i##bits##p(m, __builtin_bit_cast(U, v), all);                   \
  }
AW_MATCH(int, unsigned int, 32)
AW_MATCH(unsigned int, unsigned int, 32)
AW_MATCH(float, unsigned int, 32)
AW_MATCH(long, unsigned long long, 64)
AW_MATCH(unsigned long, unsigned long long, 64)
AW_MATCH(long long, unsigned long long, 64)
AW_MATCH(unsigned long long, unsigned long long, 64)
AW_MATCH(double, unsigned long long, 64)
#undef AW_MATCH

#define AW_REDUCE(name, op, T) \
  AW_FN T name(unsigned int m, T v) { return (T)__nvvm_redux_sync_##op((int)v, (int)m); }
AW_REDUCE(__reduce_add_sync, add, unsigned int)
AW_REDUCE(__reduce_add_sync, add, int)
AW_REDUCE(__reduce_min_sync, umin, unsigned int)
AW_REDUCE(__reduce_min_sync, min, int)
AW_REDUCE(__reduce_max_sync, umax, unsigned int)
AW_REDUCE(__reduce_max_sync, max, int)
AW_REDUCE(__reduce_and_sync, and, unsigned int)
AW_REDUCE(__reduce_or_sync, or, unsigned int)
AW_REDUCE(__reduce_xor_sync, xor, unsigned int)
#undef AW_REDUCE

// Without `_sync`: gone from sm_70 on. Those who ask get the active lanes, as compilers for older cards meant.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
AW_FN int __all(int p) { return __all_sync(__activemask(), p); }
AW_FN int __any(int p) { return __any_sync(__activemask(), p); }
AW_FN unsigned int __ballot(int p) { return __ballot_sync(__activemask(), p); }
#define AW_OLD_SHUFFLE(T)                                                                                          \
  AW_FN T __shfl(T v, int l, int w = 32) { return __shfl_sync(__activemask(), v, l, w); }                          \
  AW_FN T __shfl_up(T v, unsigned int l, int w = 32) { return __shfl_up_sync(__activemask(), v, l, w); }           \
  AW_FN T __shfl_down(T v, unsigned int l, int w = 32) { return __shfl_down_sync(__activemask(), v, l, w); }       \
  AW_FN T __shfl_xor(T v, int l, int w = 32) { return __shfl_xor_sync(__activemask(), v, l, w); }
AW_OLD_SHUFFLE(int)
AW_OLD_SHUFFLE(unsigned int)
AW_OLD_SHUFFLE(long long)
AW_OLD_SHUFFLE(unsigned long long)
AW_OLD_SHUFFLE(float)
AW_OLD_SHUFFLE(double)
#undef AW_OLD_SHUFFLE
#endif

#endif
