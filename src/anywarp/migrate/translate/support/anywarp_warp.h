// Warps of 32 lanes, as CUDA has them, on AMD GPUs with waves of 32 or of 64 lanes.
//
// On a wave of 64 lanes two warps lie side by side: lanes 0 to 31 and 32 to 63. Whatever looks at a warp as a whole looks at one of these
// halves, so masks have 32 bits and lane numbers go from 0 to 31 everywhere. With CUDA's compiler the same names are CUDA's own.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_WARP_H
#define ANYWARP_TRANSLATE_WARP_H

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#elif defined(__CUDACC__) || defined(__CUDA__)
#include <cuda_runtime.h>
#endif

// What `__CUDA_ARCH__` is compared with: code for AMD GPUs takes the way of compute capability 8.0 where a version is asked for.
#if defined(__HIP__)
#if defined(__HIP_DEVICE_COMPILE__)
#define ANYWARP_CUDA_ARCH 800
#endif
#elif defined(__CUDA_ARCH__)
#define ANYWARP_CUDA_ARCH __CUDA_ARCH__
#endif

#if defined(__HIP__) || defined(__CUDACC__) || defined(__CUDA__)

namespace anywarp {

constexpr unsigned all_lanes = 0xffffffffu;

#if defined(__HIP__)

namespace detail {
__device__ inline unsigned lane_of_wave() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
// The 32 bits of a wave's mask that belong to this lane's warp.
__device__ inline unsigned mine(unsigned long long mask) { return static_cast<unsigned>(mask >> (lane_of_wave() & 32u)); }
template <class T>
__device__ inline unsigned long long bits(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes compare 32 or 64 bits");
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(unsigned, value);
  } else {
    return __builtin_bit_cast(unsigned long long, value);
  }
}
__device__ inline unsigned long long first_lane(unsigned long long value) {
  const unsigned low = __builtin_amdgcn_readfirstlane(static_cast<unsigned>(value));
  const unsigned high = __builtin_amdgcn_readfirstlane(static_cast<unsigned>(value >> 32));
  return static_cast<unsigned long long>(high) << 32 | low;
}
}  // namespace detail

__device__ inline unsigned lane_id() { return detail::lane_of_wave() & 31u; }

// Votes among the active lanes of the warp.
__device__ inline unsigned ballot(bool predicate) { return detail::mine(__ballot(predicate)); }
__device__ inline unsigned activemask() { return ballot(true); }
__device__ inline bool any(bool predicate) { return ballot(predicate) != 0u; }
__device__ inline bool all(bool predicate) { return ballot(!predicate) == 0u; }

__device__ inline unsigned ballot_sync(unsigned mask, bool predicate) { return ballot(predicate) & mask; }
__device__ inline bool any_sync(unsigned mask, bool predicate) { return ballot_sync(mask, predicate) != 0u; }
__device__ inline bool all_sync(unsigned mask, bool predicate) { return ballot_sync(mask, !predicate) == 0u; }

// A wave runs in step, so nobody is waited for; the compiler must keep the order of memory accesses.
__device__ inline void syncwarp(unsigned = all_lanes) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// Shuffles: the mask only says who takes part.
template <class T>
__device__ inline T shfl_sync(unsigned, T value, int lane, int width = 32) {
  return __shfl(value, lane, width);
}
template <class T>
__device__ inline T shfl_up_sync(unsigned, T value, unsigned delta, int width = 32) {
  return __shfl_up(value, delta, width);
}
template <class T>
__device__ inline T shfl_down_sync(unsigned, T value, unsigned delta, int width = 32) {
  return __shfl_down(value, delta, width);
}
template <class T>
__device__ inline T shfl_xor_sync(unsigned, T value, int lanes, int width = 32) {
  return __shfl_xor(value, lanes, width);
}

// The lanes of `mask` that hold the same bits as this one.
template <class T>
__device__ inline unsigned match_any_sync(unsigned mask, T value) {
  const unsigned long long own = detail::bits(value);
  unsigned result = 0;
  bool found = false;
  while (__any(!found)) {
    if (!found) {
      const bool same = own == detail::first_lane(own);
      const unsigned lanes = ballot(same);
      if (same) {
        result = lanes;
        found = true;
      }
    }
  }
  return result & mask;
}
// All of `mask` if its lanes hold the same bits, else 0.
template <class T>
__device__ inline unsigned match_all_sync(unsigned mask, T value, int *predicate) {
  const unsigned long long own = detail::bits(value);
  const int first = __ffs(static_cast<int>(mask & activemask())) - 1;
  const bool same = all_sync(mask, own == static_cast<unsigned long long>(__shfl(own, first, 32)));
  *predicate = same;
  return same ? mask : 0u;
}

namespace detail {
// Every lane walks all 32 places, so that the lanes of different masks stay together.
template <class T, class Operation>
__device__ inline T reduce(unsigned mask, T value, Operation operation) {
  mask &= activemask();
  T result{};
  bool started = false;
  for (int lane = 0; lane < 32; ++lane) {
    const T other = __shfl(value, lane, 32);
    if (mask >> lane & 1u) {
      result = started ? operation(result, other) : other;
      started = true;
    }
  }
  return result;
}
}  // namespace detail

#define ANYWARP_REDUCE(NAME, EXPRESSION)                                              \
  template <class T>                                                                  \
  __device__ inline T reduce_##NAME##_sync(unsigned mask, T value) {                  \
    return detail::reduce(mask, value, [](T a, T b) -> T { return EXPRESSION; });     \
  }
ANYWARP_REDUCE(add, a + b)
ANYWARP_REDUCE(min, b < a ? b : a)
ANYWARP_REDUCE(max, a < b ? b : a)
ANYWARP_REDUCE(and, a &b)
ANYWARP_REDUCE(or, a | b)
ANYWARP_REDUCE(xor, a ^ b)
#undef ANYWARP_REDUCE

// The lowest active lane of `mask`.
__device__ inline unsigned leader(unsigned mask) { return static_cast<unsigned>(__ffs(static_cast<int>(mask & activemask())) - 1); }

__device__ inline unsigned lanemask_eq() { return 1u << lane_id(); }
__device__ inline unsigned lanemask_lt() { return (1u << lane_id()) - 1u; }
__device__ inline unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
__device__ inline unsigned lanemask_gt() { return ~lanemask_le(); }
__device__ inline unsigned lanemask_ge() { return ~lanemask_lt(); }

// Shared memory by 32-bit addresses, as CUDA's `__cvta_generic_to_shared` gives them.
#define ANYWARP_SHARED __attribute__((address_space(3)))
__device__ inline unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(reinterpret_cast<size_t>((const ANYWARP_SHARED void *)pointer));
}
template <class T>
__device__ inline T *shared_pointer(size_t address) {
  return (T *)(ANYWARP_SHARED T *)static_cast<size_t>(static_cast<unsigned>(address));
}
#undef ANYWARP_SHARED

template <int order, int scope, class T>
__device__ inline T atomic_cas(T *pointer, T expected, T value) {
  constexpr int failed = order == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order;
  __hip_atomic_compare_exchange_strong(pointer, &expected, value, order, failed, scope);
  return expected;
}

#else  // CUDA's compiler

#define ANYWARP_SAME(NAME, THEIRS)                              \
  template <class... Arguments>                                 \
  __device__ inline auto NAME(Arguments... arguments) {         \
    return THEIRS(arguments...);                                \
  }
ANYWARP_SAME(ballot_sync, __ballot_sync)
ANYWARP_SAME(any_sync, __any_sync)
ANYWARP_SAME(all_sync, __all_sync)
ANYWARP_SAME(syncwarp, __syncwarp)
ANYWARP_SAME(shfl_sync, __shfl_sync)
ANYWARP_SAME(shfl_up_sync, __shfl_up_sync)
ANYWARP_SAME(shfl_down_sync, __shfl_down_sync)
ANYWARP_SAME(shfl_xor_sync, __shfl_xor_sync)
ANYWARP_SAME(activemask, __activemask)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
ANYWARP_SAME(match_any_sync, __match_any_sync)
ANYWARP_SAME(match_all_sync, __match_all_sync)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
ANYWARP_SAME(reduce_add_sync, __reduce_add_sync)
ANYWARP_SAME(reduce_min_sync, __reduce_min_sync)
ANYWARP_SAME(reduce_max_sync, __reduce_max_sync)
ANYWARP_SAME(reduce_and_sync, __reduce_and_sync)
ANYWARP_SAME(reduce_or_sync, __reduce_or_sync)
ANYWARP_SAME(reduce_xor_sync, __reduce_xor_sync)
#endif
#undef ANYWARP_SAME
__device__ inline unsigned ballot(bool predicate) { return __ballot_sync(__activemask(), predicate); }
__device__ inline bool any(bool predicate) { return __any_sync(__activemask(), predicate); }
__device__ inline bool all(bool predicate) { return __all_sync(__activemask(), predicate); }
__device__ inline unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ inline unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
#endif

__device__ inline unsigned warp_id() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) >> 5;
}
__device__ inline unsigned warps_of_block() { return (blockDim.x * blockDim.y * blockDim.z + 31u) >> 5; }

}  // namespace anywarp

#endif  // a compiler of device code

#endif  // ANYWARP_TRANSLATE_WARP_H
