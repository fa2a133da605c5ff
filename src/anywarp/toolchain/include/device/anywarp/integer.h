// Integer functions, bit counting and byte moving: chapter "Integer Intrinsics" of the CUDA math API.
#ifndef ANYWARP_INTEGER_H
#define ANYWARP_INTEGER_H

#include "attributes.h"

typedef unsigned int aw_u32;
typedef unsigned long long aw_u64;

AW_BOTH int __popc(unsigned int x) { return __builtin_popcount(x); }
AW_BOTH int __popcll(aw_u64 x) { return __builtin_popcountll(x); }
AW_BOTH int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
AW_BOTH int __clzll(long long x) { return x ? __builtin_clzll((aw_u64)x) : 64; }
AW_BOTH int __ffs(int x) { return __builtin_ffs(x); }
AW_BOTH int __ffsll(long long x) { return __builtin_ffsll(x); }
AW_BOTH unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
AW_BOTH aw_u64 __brevll(aw_u64 x) { return __builtin_bitreverse64(x); }
AW_FN int ffs(int x) { return __builtin_ffs(x); }
AW_FN int ffsll(long long x) { return __builtin_ffsll(x); }
AW_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset) { return __nvvm_fns(mask, base, offset); }

AW_BOTH int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
AW_BOTH unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)(((aw_u64)a * b) >> 32); }
AW_BOTH long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
AW_BOTH aw_u64 __umul64hi(aw_u64 a, aw_u64 b) { return (aw_u64)(((unsigned __int128)a * b) >> 64); }
AW_BOTH int mulhi(int a, int b) { return __mulhi(a, b); }
AW_BOTH unsigned int mulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
AW_BOTH unsigned int mulhi(int a, unsigned int b) { return __umulhi((unsigned int)a, b); }
AW_BOTH unsigned int mulhi(unsigned int a, int b) { return __umulhi(a, (unsigned int)b); }
AW_BOTH long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
AW_BOTH aw_u64 mul64hi(aw_u64 a, aw_u64 b) { return __umul64hi(a, b); }
AW_BOTH aw_u64 mul64hi(long long a, aw_u64 b) { return __umul64hi((aw_u64)a, b); }
AW_BOTH aw_u64 mul64hi(aw_u64 a, long long b) { return __umul64hi(a, (aw_u64)b); }
AW_BOTH int __mul24(int a, int b) { return (int)((unsigned int)((a << 8) >> 8) * (unsigned int)((b << 8) >> 8)); }
AW_BOTH unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
AW_BOTH int mul24(int a, int b) { return __mul24(a, b); }
AW_BOTH unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }

AW_BOTH unsigned int __sad(int a, int b, unsigned int c) {
  return c + (a > b ? (unsigned int)a - (unsigned int)b : (unsigned int)b - (unsigned int)a);
}
AW_BOTH unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a > b ? a - b : b - a); }
AW_BOTH int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
AW_BOTH int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
AW_BOTH unsigned int __uhadd(unsigned int a, unsigned int b) { return (a & b) + ((a ^ b) >> 1); }
AW_BOTH unsigned int __urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }

// The selector's nibbles choose bytes of y:x; a nibble's top bit repeats the byte's sign instead.
AW_FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return __nvvm_prmt(x, y, s & 0x7777u); }
AW_FN unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)((((aw_u64)hi << 32 | lo) << (n & 31)) >> 32);
}
AW_FN unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)((((aw_u64)hi << 32 | lo) << (n < 32 ? n : 32)) >> 32);
}
AW_FN unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)(((aw_u64)hi << 32 | lo) >> (n & 31));
}
AW_FN unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)(((aw_u64)hi << 32 | lo) >> (n < 32 ? n : 32));
}

#define AW_DOT(name, form, Result, A, B)                                                             \
  AW_FN Result name(A a, B b, Result c) {                                                            \
    Result r;                                                                                        \
    __asm__(form " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                             \
    return r;                                                                                        \
  }
AW_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
AW_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int)
AW_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
AW_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int)
AW_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
AW_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int)
#undef AW_DOT
#define AW_BITS_OF(x) __builtin_bit_cast(int, x)
AW_FN int __dp4a(char4 a, char4 b, int c) { return __dp4a(AW_BITS_OF(a), AW_BITS_OF(b), c); }
AW_FN unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a((unsigned int)AW_BITS_OF(a), (unsigned int)AW_BITS_OF(b), c);
}
AW_FN int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(AW_BITS_OF(a), AW_BITS_OF(b), c); }
AW_FN int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(AW_BITS_OF(a), AW_BITS_OF(b), c); }
AW_FN unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_lo((unsigned int)AW_BITS_OF(a), (unsigned int)AW_BITS_OF(b), c);
}
AW_FN unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_hi((unsigned int)AW_BITS_OF(a), (unsigned int)AW_BITS_OF(b), c);
}

// Three operands and more at once ("DPX"): the largest or smallest, clamped at zero, behind a sum.
#define AW_DPX(suffix, T)                                                                                     \
  AW_BOTH T __vimax3_##suffix(T a, T b, T c) { return (a > b ? a : b) > c ? (a > b ? a : b) : c; }            \
  AW_BOTH T __vimin3_##suffix(T a, T b, T c) { return (a < b ? a : b) < c ? (a < b ? a : b) : c; }
AW_DPX(s32, int)
AW_DPX(u32, unsigned int)
#undef AW_DPX
AW_BOTH int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
AW_BOTH int __vimin_s32_relu(int a, int b) { return (a < b ? a : b) > 0 ? (a < b ? a : b) : 0; }
AW_BOTH int __vimax3_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__vimax3_s32(a, b, c), 0); }
AW_BOTH int __vimin3_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__vimin3_s32(a, b, c), 0); }
AW_BOTH int __viaddmax_s32(int a, int b, int c) { return a + b > c ? a + b : c; }
AW_BOTH int __viaddmin_s32(int a, int b, int c) { return a + b < c ? a + b : c; }
AW_BOTH unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) { return a + b > c ? a + b : c; }
AW_BOTH unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) { return a + b < c ? a + b : c; }
AW_BOTH int __viaddmax_s32_relu(int a, int b, int c) { return __vimax3_s32(a + b, c, 0); }
AW_BOTH int __viaddmin_s32_relu(int a, int b, int c) { return __vimin_s32_relu(a + b, c); }
AW_BOTH int __vibmax_s32(int a, int b, bool *p) { return (*p = a >= b) ? a : b; }
AW_BOTH int __vibmin_s32(int a, int b, bool *p) { return (*p = a <= b) ? a : b; }
AW_BOTH unsigned int __vibmax_u32(unsigned int a, unsigned int b, bool *p) { return (*p = a >= b) ? a : b; }
AW_BOTH unsigned int __vibmin_u32(unsigned int a, unsigned int b, bool *p) { return (*p = a <= b) ? a : b; }

// min, max and abs for every mixture of integers: the signed meets the unsigned as C++ converts them.
#define AW_MINMAX(T, A, B)                                   \
  AW_BOTH T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; } \
  AW_BOTH T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; }
AW_MINMAX(int, int, int)
AW_MINMAX(unsigned int, unsigned int, unsigned int)
AW_MINMAX(unsigned int, int, unsigned int)
AW_MINMAX(unsigned int, unsigned int, int)
AW_MINMAX(long, long, long)
AW_MINMAX(unsigned long, unsigned long, unsigned long)
AW_MINMAX(unsigned long, long, unsigned long)
AW_MINMAX(unsigned long, unsigned long, long)
AW_MINMAX(long long, long long, long long)
AW_MINMAX(aw_u64, aw_u64, aw_u64)
AW_MINMAX(aw_u64, long long, aw_u64)
AW_MINMAX(aw_u64, aw_u64, long long)
#undef AW_MINMAX
AW_BOTH unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
AW_BOTH unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
AW_BOTH long long llmin(long long a, long long b) { return a < b ? a : b; }
AW_BOTH long long llmax(long long a, long long b) { return a > b ? a : b; }
AW_BOTH aw_u64 ullmin(aw_u64 a, aw_u64 b) { return a < b ? a : b; }
AW_BOTH aw_u64 ullmax(aw_u64 a, aw_u64 b) { return a > b ? a : b; }
AW_FN long labs(long x) { return x < 0 ? -x : x; }
AW_FN long long llabs(long long x) { return x < 0 ? -x : x; }
AW_FN long abs(long x) { return x < 0 ? -x : x; }
AW_FN long long abs(long long x) { return x < 0 ? -x : x; }

#endif
