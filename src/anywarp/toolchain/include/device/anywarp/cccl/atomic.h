// cuda::atomic, cuda::atomic_ref and cuda::std::atomic over the compiler's scoped atomics.
#ifndef ANYWARP_CCCL_ATOMIC_H
#define ANYWARP_CCCL_ATOMIC_H

#include "../attributes.h"

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
namespace std {
enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace aw {
constexpr AW_HD int scope_of(thread_scope s) {
  return s == thread_scope_system   ? __MEMORY_SCOPE_SYSTEM
         : s == thread_scope_device ? __MEMORY_SCOPE_DEVICE
         : s == thread_scope_block  ? __MEMORY_SCOPE_WRKGRP
                                    : __MEMORY_SCOPE_SINGLE;
}
// What a failed exchange may be ordered by.
constexpr AW_HD std::memory_order failed(std::memory_order o) {
  return o == std::memory_order_acq_rel   ? std::memory_order_acquire
         : o == std::memory_order_release ? std::memory_order_relaxed
                                          : o;
}
template <int Size>
struct bits_of;
template <>
struct bits_of<1> {
  typedef unsigned char type;
};
template <>
struct bits_of<2> {
  typedef unsigned short type;
};
template <>
struct bits_of<4> {
  typedef unsigned int type;
};
template <>
struct bits_of<8> {
  typedef unsigned long long type;
};
// How far the step of a pointer goes.
template <class T>
struct step {
  static constexpr __PTRDIFF_TYPE__ size = 1;
  typedef T amount;
};
template <class T>
struct step<T *> {
  static constexpr __PTRDIFF_TYPE__ size = sizeof(T);
  typedef __PTRDIFF_TYPE__ amount;
};

// The operations on a value at p; __scoped_atomic builtins want the order and the scope as constants or give the strongest.
template <class T, thread_scope Scope>
struct operations {
  typedef typename bits_of<sizeof(T)>::type bits;
  static constexpr int scope = scope_of(Scope);
#define AW_ORDERED(call_with)                                   \
  switch (order) {                                              \
    case std::memory_order_relaxed: call_with(__ATOMIC_RELAXED) \
    case std::memory_order_consume:                             \
    case std::memory_order_acquire: call_with(__ATOMIC_ACQUIRE) \
    case std::memory_order_release: call_with(__ATOMIC_RELEASE) \
    case std::memory_order_acq_rel: call_with(__ATOMIC_ACQ_REL) \
    default: call_with(__ATOMIC_SEQ_CST)                        \
  }
  AW_HD static T load(const T *p, std::memory_order order) {
    const bits *at = (const bits *)p;
    bits v = order == std::memory_order_relaxed   ? __scoped_atomic_load_n(at, __ATOMIC_RELAXED, scope)
             : order == std::memory_order_seq_cst ? __scoped_atomic_load_n(at, __ATOMIC_SEQ_CST, scope)
                                                  : __scoped_atomic_load_n(at, __ATOMIC_ACQUIRE, scope);
    return __builtin_bit_cast(T, v);
  }
  AW_HD static void store(T *p, T value, std::memory_order order) {
    bits *at = (bits *)p, v = __builtin_bit_cast(bits, value);
    if (order == std::memory_order_relaxed) __scoped_atomic_store_n(at, v, __ATOMIC_RELAXED, scope);
    else if (order == std::memory_order_seq_cst) __scoped_atomic_store_n(at, v, __ATOMIC_SEQ_CST, scope);
    else __scoped_atomic_store_n(at, v, __ATOMIC_RELEASE, scope);
  }
  AW_HD static T exchange(T *p, T value, std::memory_order order) {
    bits *at = (bits *)p, v = __builtin_bit_cast(bits, value);
#define AW_CALL(o) return __builtin_bit_cast(T, (bits)__scoped_atomic_exchange_n(at, v, o, scope));
    AW_ORDERED(AW_CALL)
#undef AW_CALL
  }
  AW_HD static bool compare_exchange(T *p, T &expected, T value, std::memory_order order) {
    bits *at = (bits *)p, v = __builtin_bit_cast(bits, value), e = __builtin_bit_cast(bits, expected);
    bool done;
    if (order == std::memory_order_relaxed)
      done = __scoped_atomic_compare_exchange_n(at, &e, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);
    else
      done = __scoped_atomic_compare_exchange_n(at, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, scope);
    expected = __builtin_bit_cast(T, e);
    return done;
  }
#define AW_FETCH(name, V)                                                               \
  AW_HD static T fetch_##name(T *p, V v, std::memory_order order) {                     \
    AW_ORDERED(AW_CALL_##name)                                                          \
  }
#define AW_CALL_add(o) return __scoped_atomic_fetch_add(p, v, o, scope);
#define AW_CALL_sub(o) return __scoped_atomic_fetch_sub(p, v, o, scope);
#define AW_CALL_and(o) return __scoped_atomic_fetch_and(p, v, o, scope);
#define AW_CALL_or(o) return __scoped_atomic_fetch_or(p, v, o, scope);
#define AW_CALL_xor(o) return __scoped_atomic_fetch_xor(p, v, o, scope);
#define AW_CALL_min(o) return __scoped_atomic_fetch_min(p, v, o, scope);
#define AW_CALL_max(o) return __scoped_atomic_fetch_max(p, v, o, scope);
  template <class V>
  AW_FETCH(add, V)
  template <class V>
  AW_FETCH(sub, V)
  template <class V>
  AW_FETCH(and, V)
  template <class V>
  AW_FETCH(or, V)
  template <class V>
  AW_FETCH(xor, V)
  template <class V>
  AW_FETCH(min, V)
  template <class V>
  AW_FETCH(max, V)
#undef AW_FETCH
#undef AW_ORDERED
};
}  // namespace aw

#define AW_ORDER std::memory_order order = std::memory_order_seq_cst
// What an atomic and a reference to one have in common; `at` is where the value lies.
#define AW_ATOMIC_MEMBERS(at, constness)                                                                          \
  typedef aw::operations<T, Scope> aw_do;                                                                         \
  typedef typename aw::step<T>::amount aw_amount;                                                                 \
  static constexpr bool is_always_lock_free = true;                                                               \
  AW_HD bool is_lock_free() const { return true; }                                                                \
  AW_HD T load(AW_ORDER) const { return aw_do::load(at, order); }                                                 \
  AW_HD operator T() const { return load(); }                                                                     \
  AW_HD void store(T v, AW_ORDER) constness { aw_do::store((T *)at, v, order); }                                  \
  AW_HD T exchange(T v, AW_ORDER) constness { return aw_do::exchange((T *)at, v, order); }                        \
  AW_HD bool compare_exchange_strong(T &e, T v, AW_ORDER) constness {                                             \
    return aw_do::compare_exchange((T *)at, e, v, order);                                                         \
  }                                                                                                               \
  AW_HD bool compare_exchange_strong(T &e, T v, std::memory_order order, std::memory_order) constness {           \
    return aw_do::compare_exchange((T *)at, e, v, order);                                                         \
  }                                                                                                               \
  AW_HD bool compare_exchange_weak(T &e, T v, AW_ORDER) constness {                                               \
    return aw_do::compare_exchange((T *)at, e, v, order);                                                         \
  }                                                                                                               \
  AW_HD bool compare_exchange_weak(T &e, T v, std::memory_order order, std::memory_order) constness {             \
    return aw_do::compare_exchange((T *)at, e, v, order);                                                         \
  }                                                                                                               \
  AW_HD T fetch_add(aw_amount v, AW_ORDER) constness { return aw_do::fetch_add((T *)at, v, order); }              \
  AW_HD T fetch_sub(aw_amount v, AW_ORDER) constness { return aw_do::fetch_sub((T *)at, v, order); }              \
  AW_HD T fetch_and(T v, AW_ORDER) constness { return aw_do::fetch_and((T *)at, v, order); }                      \
  AW_HD T fetch_or(T v, AW_ORDER) constness { return aw_do::fetch_or((T *)at, v, order); }                        \
  AW_HD T fetch_xor(T v, AW_ORDER) constness { return aw_do::fetch_xor((T *)at, v, order); }                      \
  AW_HD T fetch_min(T v, AW_ORDER) constness { return aw_do::fetch_min((T *)at, v, order); }                      \
  AW_HD T fetch_max(T v, AW_ORDER) constness { return aw_do::fetch_max((T *)at, v, order); }                      \
  AW_HD T operator=(T v) constness { return store(v), v; }                                                        \
  AW_HD T operator++(int) constness { return fetch_add(1); }                                                      \
  AW_HD T operator--(int) constness { return fetch_sub(1); }                                                      \
  AW_HD T operator++() constness { return fetch_add(1) + 1; }                                                     \
  AW_HD T operator--() constness { return fetch_sub(1) - 1; }                                                     \
  AW_HD T operator+=(aw_amount v) constness { return fetch_add(v) + v; }                                          \
  AW_HD T operator-=(aw_amount v) constness { return fetch_sub(v) - v; }                                          \
  AW_HD T operator&=(T v) constness { return fetch_and(v) & v; }                                                  \
  AW_HD T operator|=(T v) constness { return fetch_or(v) | v; }                                                   \
  AW_HD T operator^=(T v) constness { return fetch_xor(v) ^ v; }                                                  \
  AW_HD void wait(T old, AW_ORDER) const {                                                                        \
    while (load(order) == old) {                                                                                  \
    }                                                                                                             \
  }                                                                                                               \
  AW_HD void notify_one() constness {}                                                                            \
  AW_HD void notify_all() constness {}

template <class T, thread_scope Scope = thread_scope_system>
struct __attribute__((aligned(sizeof(T) <= 8 ? sizeof(T) : alignof(T)))) atomic {
  typedef T value_type;
  T aw_value;
  atomic() = default;
  AW_HD constexpr atomic(T v) : aw_value(v) {}
  atomic(const atomic &) = delete;
  atomic &operator=(const atomic &) = delete;
  AW_ATOMIC_MEMBERS(&aw_value, )
};
template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref {
  typedef T value_type;
  static constexpr __SIZE_TYPE__ required_alignment = sizeof(T);
  T *aw_at;
  AW_HD explicit atomic_ref(T &value) : aw_at(&value) {}
  AW_ATOMIC_MEMBERS(aw_at, const)
};
#undef AW_ATOMIC_MEMBERS
#undef AW_ORDER

AW_HD inline void atomic_thread_fence(std::memory_order, thread_scope scope = thread_scope_system) {
#ifdef __CUDA_ARCH__
  if (scope == thread_scope_block) __threadfence_block();
  else if (scope == thread_scope_device) __threadfence();
  else if (scope == thread_scope_system) __threadfence_system();
#else
  (void)scope;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
struct atomic_flag {
  atomic<unsigned int> aw_set{0};
  AW_HD bool test_and_set(std::memory_order = std::memory_order_seq_cst) { return aw_set.exchange(1); }
  AW_HD void clear(std::memory_order = std::memory_order_seq_cst) { aw_set.store(0); }
  AW_HD bool test() const { return aw_set.load(); }
};
namespace std {
template <class T>
using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using ::cuda::atomic_flag;
AW_HD inline void atomic_thread_fence(memory_order order) { ::cuda::atomic_thread_fence(order); }
}  // namespace std
}  // namespace cuda

#endif
