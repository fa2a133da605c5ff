// atomicAdd and its family, relaxed, for the device, a block (`_block`) or the whole system (`_system`).
#ifndef ANYWARP_ATOMICS_H
#define ANYWARP_ATOMICS_H

#include "attributes.h"

#define AW_ATOMIC_1(name, op, T, scope) \
  AW_FN T name(T *p, T v) { return op(p, v, __ATOMIC_RELAXED, scope); }
#define AW_ATOMIC(name, op, T)                                   \
  AW_ATOMIC_1(name, op, T, __MEMORY_SCOPE_DEVICE)                \
  AW_ATOMIC_1(name##_block, op, T, __MEMORY_SCOPE_WRKGRP)        \
  AW_ATOMIC_1(name##_system, op, T, __MEMORY_SCOPE_SYSTEM)
#define AW_ATOMIC_INTEGERS(name, op)  \
  AW_ATOMIC(name, op, int)            \
  AW_ATOMIC(name, op, unsigned int)   \
  AW_ATOMIC(name, op, unsigned long long)
#define AW_ATOMIC_ALL_INTEGERS(name, op) \
  AW_ATOMIC_INTEGERS(name, op)           \
  AW_ATOMIC(name, op, long long)
AW_ATOMIC_INTEGERS(atomicAdd, __scoped_atomic_fetch_add)
AW_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, float)
AW_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, double)
AW_ATOMIC(atomicSub, __scoped_atomic_fetch_sub, int)
AW_ATOMIC(atomicSub, __scoped_atomic_fetch_sub, unsigned int)
AW_ATOMIC_INTEGERS(atomicExch, __scoped_atomic_exchange_n)
AW_ATOMIC_ALL_INTEGERS(atomicMin, __scoped_atomic_fetch_min)
AW_ATOMIC_ALL_INTEGERS(atomicMax, __scoped_atomic_fetch_max)
AW_ATOMIC_ALL_INTEGERS(atomicAnd, __scoped_atomic_fetch_and)
AW_ATOMIC_ALL_INTEGERS(atomicOr, __scoped_atomic_fetch_or)
AW_ATOMIC_ALL_INTEGERS(atomicXor, __scoped_atomic_fetch_xor)
#undef AW_ATOMIC
#undef AW_ATOMIC_1
#undef AW_ATOMIC_INTEGERS
#undef AW_ATOMIC_ALL_INTEGERS

#define AW_ATOMIC_AS(name, T, U)                                                                        \
  AW_FN T name(T *p, T v) { return __builtin_bit_cast(T, name((U *)p, __builtin_bit_cast(U, v))); }
AW_ATOMIC_AS(atomicExch, float, unsigned int)
AW_ATOMIC_AS(atomicExch_block, float, unsigned int)
AW_ATOMIC_AS(atomicExch_system, float, unsigned int)
#undef AW_ATOMIC_AS

#define AW_WRAP(name, scope)                                                                               \
  AW_FN unsigned int atomicInc##name(unsigned int *p, unsigned int most) {                                 \
    unsigned int r;                                                                                        \
    __asm__ volatile("atom" scope ".inc.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(most) : "memory");      \
    return r;                                                                                              \
  }                                                                                                        \
  AW_FN unsigned int atomicDec##name(unsigned int *p, unsigned int most) {                                 \
    unsigned int r;                                                                                        \
    __asm__ volatile("atom" scope ".dec.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(most) : "memory");      \
    return r;                                                                                              \
  }
AW_WRAP(_block, ".cta")
AW_WRAP(_system, ".sys")
#undef AW_WRAP
AW_FN unsigned int atomicInc(unsigned int *p, unsigned int most) { return __nvvm_atom_inc_gen_ui(p, most); }
AW_FN unsigned int atomicDec(unsigned int *p, unsigned int most) { return __nvvm_atom_dec_gen_ui(p, most); }

#define AW_CAS_1(name, T, scope)                                                                                   \
  AW_FN T name(T *p, T expected, T v) {                                                                            \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);         \
    return expected;                                                                                               \
  }
#define AW_CAS(T)                                         \
  AW_CAS_1(atomicCAS, T, __MEMORY_SCOPE_DEVICE)           \
  AW_CAS_1(atomicCAS_block, T, __MEMORY_SCOPE_WRKGRP)     \
  AW_CAS_1(atomicCAS_system, T, __MEMORY_SCOPE_SYSTEM)
AW_CAS(int)
AW_CAS(unsigned int)
AW_CAS(unsigned long long)
#undef AW_CAS
#undef AW_CAS_1

// 16 bits have an instruction of their own, which LLVM would replace by a loop over 32.
#define AW_CAS_16(name, scope)                                                                               \
  AW_FN unsigned short name(unsigned short *p, unsigned short expected, unsigned short v) {                  \
    unsigned short r;                                                                                        \
    __asm__ volatile("atom" scope ".cas.b16 %0, [%1], %2, %3;"                                               \
                     : "=h"(r) : "l"(p), "h"(expected), "h"(v) : "memory");                                  \
    return r;                                                                                                \
  }
AW_CAS_16(atomicCAS, "")
AW_CAS_16(atomicCAS_block, ".cta")
AW_CAS_16(atomicCAS_system, ".sys")
#undef AW_CAS_16

// 128 bits, for any type of that size: sm_90 in the manual, served wherever the target says so.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define AW_128(suffix, scope)                                                                                \
  template <class T>                                                                                         \
  __device__ static inline T __aw_cas128##suffix(T *p, T expected, T v) {                                    \
    static_assert(sizeof(T) == 16, "128 bits");                                                              \
    struct words { unsigned long long low, high; };                                                          \
    words e = __builtin_bit_cast(words, expected), n = __builtin_bit_cast(words, v), r;                      \
    __asm__ volatile("{ .reg .b128 e, n, r; mov.b128 e, {%2, %3}; mov.b128 n, {%4, %5};"                     \
                     " atom" scope ".cas.b128 r, [%6], e, n; mov.b128 {%0, %1}, r; }"                        \
                     : "=l"(r.low), "=l"(r.high)                                                             \
                     : "l"(e.low), "l"(e.high), "l"(n.low), "l"(n.high), "l"(p)                              \
                     : "memory");                                                                            \
    return __builtin_bit_cast(T, r);                                                                         \
  }                                                                                                          \
  template <class T, class = decltype(sizeof(char[sizeof(T) == 16 ? 1 : -1]))>                               \
  __device__ static inline T atomicCAS##suffix(T *p, T expected, T v) {                                      \
    return __aw_cas128##suffix(p, expected, v);                                                              \
  }                                                                                                          \
  template <class T, class = decltype(sizeof(char[sizeof(T) == 16 ? 1 : -1]))>                               \
  __device__ static inline T atomicExch##suffix(T *p, T v) {                                                 \
    struct words { unsigned long long low, high; };                                                          \
    words n = __builtin_bit_cast(words, v), r;                                                               \
    __asm__ volatile("{ .reg .b128 n, r; mov.b128 n, {%2, %3};"                                              \
                     " atom" scope ".exch.b128 r, [%4], n; mov.b128 {%0, %1}, r; }"                          \
                     : "=l"(r.low), "=l"(r.high) : "l"(n.low), "l"(n.high), "l"(p) : "memory");              \
    return __builtin_bit_cast(T, r);                                                                         \
  }
AW_128(, "")
AW_128(_block, ".cta")
AW_128(_system, ".sys")
#undef AW_128
#endif

#endif
