// cuda::barrier: of a block in shared memory, or wherever its scope reaches in global memory; cuda::memcpy_async with one.
#ifndef ANYWARP_CCCL_BARRIER_H
#define ANYWARP_CCCL_BARRIER_H

#include "../aligned_size.h"
#include "atomic.h"
#include "mbarrier.h"

namespace cuda {

// Outside shared memory: how many are expected in the low half, and how many have still to arrive with the phase above.
template <thread_scope Scope>
struct barrier {
  typedef unsigned long long arrival_token;
  aw_mbarrier aw_state[2];

  barrier() = default;
  barrier(const barrier &) = delete;
  barrier &operator=(const barrier &) = delete;
  AW_HD barrier(__PTRDIFF_TYPE__ expected) { aw_init(expected); }
  AW_HD static constexpr __PTRDIFF_TYPE__ max() { return (1 << 20) - 1; }

  AW_HD void aw_init(__PTRDIFF_TYPE__ expected) {
#ifdef __CUDA_ARCH__
    if (__isShared(this)) return aw_mbarrier_init(aw_state, (unsigned int)expected);
#endif
    aw_state[0] = (unsigned long long)expected, aw_state[1] = (unsigned long long)expected;
  }
  __device__ arrival_token aw_arrive_once(bool drop) {
    if (__isShared(this)) return drop ? aw_mbarrier_arrive_drop(aw_state) : aw_mbarrier_arrive(aw_state);
    // aw_state[0]: the phase in the upper half and who is missing in the lower; aw_state[1]: how many each phase has.
    constexpr int scope = aw::scope_of(Scope);
    if (drop) __scoped_atomic_fetch_sub(&aw_state[1], 1ull, __ATOMIC_RELAXED, scope);
    unsigned long long before = __scoped_atomic_fetch_sub(&aw_state[0], 1ull, __ATOMIC_ACQ_REL, scope);
    if ((unsigned int)before == 1) {
      unsigned long long all = __scoped_atomic_load_n(&aw_state[1], __ATOMIC_RELAXED, scope);
      __scoped_atomic_store_n(&aw_state[0], ((before >> 32) + 1) << 32 | all, __ATOMIC_RELEASE, scope);
    }
    return before >> 32;
  }
  __device__ arrival_token arrive(__PTRDIFF_TYPE__ n = 1) {
    arrival_token token = aw_arrive_once(false);
    for (; n > 1; --n) aw_arrive_once(false);
    return token;
  }
  __device__ bool aw_test(arrival_token token) const {
    if (__isShared(this)) return aw_mbarrier_test(aw_state, token);
    return __scoped_atomic_load_n(&aw_state[0], __ATOMIC_ACQUIRE, aw::scope_of(Scope)) >> 32 != token;
  }
  __device__ bool aw_test_parity(bool parity) const {
    if (__isShared(this)) return aw_mbarrier_test_parity(aw_state, parity);
    return (__scoped_atomic_load_n(&aw_state[0], __ATOMIC_ACQUIRE, aw::scope_of(Scope)) >> 32 & 1) != (unsigned)parity;
  }
  __device__ void wait(arrival_token &&token) const {
    while (!aw_test(token)) {
    }
  }
  __device__ void wait_parity(bool parity) const {
    while (!aw_test_parity(parity)) {
    }
  }
  __device__ bool try_wait(arrival_token &&token) const { return aw_test(token); }
  __device__ bool try_wait_parity(bool parity) const { return aw_test_parity(parity); }
  __device__ void arrive_and_wait() { wait(arrive()); }
  __device__ void arrive_and_drop() { aw_arrive_once(true); }
};
template <thread_scope Scope>
AW_HD void init(barrier<Scope> *b, __PTRDIFF_TYPE__ expected) {
  b->aw_init(expected);
}
namespace std {
typedef ::cuda::barrier<thread_scope_system> aw_barrier;
}
namespace device {
AW_FN unsigned long long *barrier_native_handle(barrier<thread_scope_block> &b) { return b.aw_state; }
}  // namespace device

// The copy is done when the call returns; the thread's own arrival makes it known to others.
template <class T, class Size, thread_scope Scope>
__device__ void memcpy_async(T *to, const T *from, Size bytes, barrier<Scope> &) {
  __builtin_memcpy(to, from, (__SIZE_TYPE__)bytes);
}
template <class Size, thread_scope Scope>
__device__ void memcpy_async(void *to, const void *from, Size bytes, barrier<Scope> &) {
  for (__SIZE_TYPE__ k = 0; k < (__SIZE_TYPE__)bytes; ++k) ((char *)to)[k] = ((const char *)from)[k];
}
namespace aw {
template <class Group>
__device__ void copy_together(const Group &g, void *to, const void *from, __SIZE_TYPE__ bytes) {
  __SIZE_TYPE__ step = g.size(), rank = g.thread_rank(), place = (__SIZE_TYPE__)to | (__SIZE_TYPE__)from | bytes;
  if (place % 16 == 0)
    for (__SIZE_TYPE__ k = rank; k < bytes / 16; k += step) ((uint4 *)to)[k] = ((const uint4 *)from)[k];
  else
    for (__SIZE_TYPE__ k = rank; k < bytes; k += step) ((char *)to)[k] = ((const char *)from)[k];
}
}  // namespace aw
template <class Group, class T, class U, class Size, thread_scope Scope>
__device__ void memcpy_async(const Group &g, T *to, const U *from, Size bytes, barrier<Scope> &) {
  aw::copy_together(g, to, from, (__SIZE_TYPE__)bytes);
}

}  // namespace cuda

#endif
