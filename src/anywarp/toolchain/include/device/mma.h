// Warp matrix fragments: nvcuda::wmma for half, bfloat16, tf32, double and integers of 8, 4 bits and 1 bit.
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define AW_MMA __device__ __forceinline__

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

// How many elements a lane holds, and as what.
template <class T, int Count>
struct aw_elements {
  enum { num_elements = Count, num_storage_elements = Count };
  T x[Count];
};
template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment;

// A register list of an instruction: its text, and its operands by name.
#define AW_LIST_1(p) "{%[" #p "0]}"
#define AW_LIST_2(p) "{%[" #p "0], %[" #p "1]}"
#define AW_LIST_4(p) "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3]}"
#define AW_LIST_8(p) \
  "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3], %[" #p "4], %[" #p "5], %[" #p "6], %[" #p "7]}"
#define AW_REGS_1(p, c, v) [p##0] c(v[0])
#define AW_REGS_2(p, c, v) [p##0] c(v[0]), [p##1] c(v[1])
#define AW_REGS_4(p, c, v) AW_REGS_2(p, c, v), [p##2] c(v[2]), [p##3] c(v[3])
#define AW_REGS_8(p, c, v) \
  AW_REGS_4(p, c, v), [p##4] c(v[4]), [p##5] c(v[5]), [p##6] c(v[6]), [p##7] c(v[7])

// A matrix that is multiplied: n registers of `Register` for `count` elements of `Storage`.
#define AW_MATRIX_1(use, letter, M, N, K, T, Storage, count, Layout, layout, shape, type, Register, c, n)                  \
  template <>                                                                                                              \
  class fragment<use, M, N, K, T, Layout> : public aw_elements<Storage, count> {};                                         \
  AW_MMA void load_matrix_sync(fragment<use, M, N, K, T, Layout> &f, const Storage *p, unsigned ldm) {                     \
    Register r[n];                                                                                                         \
    __asm__ volatile("wmma.load." letter ".sync.aligned." layout "." shape "." type " " AW_LIST_##n(d) ", [%[p]], %[ldm];" \
                     : AW_REGS_##n(d, "=" c, r) : [p] "l"(p), [ldm] "r"(ldm) : "memory");                                  \
    static_assert(sizeof(r) == sizeof(f.x), "registers and elements");                                                     \
    __builtin_memcpy(f.x, r, sizeof(r));                                                                                   \
  }
#define AW_MATRIX(use, letter, M, N, K, T, Storage, count, shape, type, Register, c, n)                                    \
  AW_MATRIX_1(use, letter, M, N, K, T, Storage, count, row_major, "row", shape, type, Register, c, n)                      \
  AW_MATRIX_1(use, letter, M, N, K, T, Storage, count, col_major, "col", shape, type, Register, c, n)
#define AW_ACCUMULATOR(M, N, K, T, count, shape, type, Register, c, n)                                                     \
  template <>                                                                                                              \
  class fragment<accumulator, M, N, K, T> : public aw_elements<T, count> {};                                               \
  AW_MMA void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned ldm, layout_t layout) {          \
    Register r[n];                                                                                                         \
    if (layout == mem_row_major)                                                                                           \
      __asm__ volatile("wmma.load.c.sync.aligned.row." shape "." type " " AW_LIST_##n(d) ", [%[p]], %[ldm];"               \
                       : AW_REGS_##n(d, "=" c, r) : [p] "l"(p), [ldm] "r"(ldm) : "memory");                                \
    else                                                                                                                   \
      __asm__ volatile("wmma.load.c.sync.aligned.col." shape "." type " " AW_LIST_##n(d) ", [%[p]], %[ldm];"               \
                       : AW_REGS_##n(d, "=" c, r) : [p] "l"(p), [ldm] "r"(ldm) : "memory");                                \
    __builtin_memcpy(f.x, r, sizeof(r));                                                                                   \
  }                                                                                                                        \
  AW_MMA void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned ldm, layout_t layout) {         \
    Register r[n];                                                                                                         \
    __builtin_memcpy(r, f.x, sizeof(r));                                                                                   \
    if (layout == mem_row_major)                                                                                           \
      __asm__ volatile("wmma.store.d.sync.aligned.row." shape "." type " [%[p]], " AW_LIST_##n(d) ", %[ldm];"              \
                       : : AW_REGS_##n(d, c, r), [p] "l"(p), [ldm] "r"(ldm) : "memory");                                   \
    else                                                                                                                   \
      __asm__ volatile("wmma.store.d.sync.aligned.col." shape "." type " [%[p]], " AW_LIST_##n(d) ", %[ldm];"              \
                       : : AW_REGS_##n(d, c, r), [p] "l"(p), [ldm] "r"(ldm) : "memory");                                   \
  }

// d = a b + c for one pair of layouts. D, C: type, register, its constraint and their number.
#define AW_PRODUCT_1(M, N, K, T, LA, LB, order, text, RA, ca, na, nb, TD, RD, cd, nd, TC, RC, cc, nc, Saturate, satfinite)      \
  AW_MMA void mma_sync(fragment<accumulator, M, N, K, TD> &d, const fragment<matrix_a, M, N, K, T, LA> &a,                      \
                       const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, TC> &c AW_SATURATE_##Saturate) {     \
    RA ra[na], rb[nb];                                                                                                          \
    RC rc[nc];                                                                                                                  \
    RD rd[nd];                                                                                                                  \
    __builtin_memcpy(ra, a.x, sizeof(ra)), __builtin_memcpy(rb, b.x, sizeof(rb)), __builtin_memcpy(rc, c.x, sizeof(rc));        \
    __asm__ volatile("wmma.mma.sync.aligned." order text satfinite " " AW_LIST_##nd(d) ", " AW_LIST_##na(a) ", "                \
                     AW_LIST_##nb(b) ", " AW_LIST_##nc(c) ";"                                                                   \
                     : AW_REGS_##nd(d, "=" cd, rd)                                                                              \
                     : AW_REGS_##na(a, ca, ra), AW_REGS_##nb(b, ca, rb), AW_REGS_##nc(c, cc, rc));                              \
    __builtin_memcpy(d.x, rd, sizeof(rd));                                                                                      \
  }
#define AW_PRODUCT_4(...)                                \
  AW_PRODUCT_5(row_major, row_major, "row.row.", __VA_ARGS__) \
  AW_PRODUCT_5(row_major, col_major, "row.col.", __VA_ARGS__) \
  AW_PRODUCT_5(col_major, row_major, "col.row.", __VA_ARGS__) \
  AW_PRODUCT_5(col_major, col_major, "col.col.", __VA_ARGS__)
#define AW_PRODUCT_5(LA, LB, order, M, N, K, T, ...) AW_PRODUCT_1(M, N, K, T, LA, LB, order, __VA_ARGS__)
#define AW_SATURATE_0
#define AW_SATURATE_1 , bool = false

typedef unsigned int aw_word;
#define AW_HALF_SHAPE(M, N, shape)                                                                                          \
  AW_MATRIX(matrix_a, "a", M, N, 16, __half, __half, 16, shape, "f16", aw_word, "r", 8)                                     \
  AW_MATRIX(matrix_b, "b", M, N, 16, __half, __half, 16, shape, "f16", aw_word, "r", 8)                                     \
  AW_ACCUMULATOR(M, N, 16, __half, 8, shape, "f16", aw_word, "r", 4)                                                        \
  AW_ACCUMULATOR(M, N, 16, float, 8, shape, "f32", float, "f", 8)                                                           \
  AW_PRODUCT_4(M, N, 16, __half, shape ".f32.f32", aw_word, "r", 8, 8, float, float, "f", 8, float, float, "f", 8, 1, "")    \
  AW_PRODUCT_4(M, N, 16, __half, shape ".f16.f16", aw_word, "r", 8, 8, __half, aw_word, "r", 4, __half, aw_word, "r", 4, 1, "") \
  AW_PRODUCT_4(M, N, 16, __half, shape ".f32.f16", aw_word, "r", 8, 8, float, float, "f", 8, __half, aw_word, "r", 4, 1, "") \
  AW_PRODUCT_4(M, N, 16, __half, shape ".f16.f32", aw_word, "r", 8, 8, __half, aw_word, "r", 4, float, float, "f", 8, 1, "")
AW_HALF_SHAPE(16, 16, "m16n16k16")
AW_HALF_SHAPE(32, 8, "m32n8k16")
AW_HALF_SHAPE(8, 32, "m8n32k16")
#undef AW_HALF_SHAPE
// bfloat16 and bytes share how many registers each shape takes: na words for a and nb for b.
#define AW_NARROW_SHAPE(M, N, shape, na, nb, bytes_a, bytes_b, wa, wb)                                                      \
  AW_MATRIX(matrix_a, "a", M, N, 16, __nv_bfloat16, __nv_bfloat16, wa, shape, "bf16", aw_word, "r", na)                     \
  AW_MATRIX(matrix_b, "b", M, N, 16, __nv_bfloat16, __nv_bfloat16, wb, shape, "bf16", aw_word, "r", nb)                     \
  AW_PRODUCT_4(M, N, 16, __nv_bfloat16, shape ".f32.bf16.bf16.f32", aw_word, "r", na, nb, float, float, "f", 8, float,      \
               float, "f", 8, 1, "")                                                                         \
  AW_ACCUMULATOR(M, N, 16, int, 8, shape, "s32", int, "r", 8)                                                               \
  AW_BYTES(M, N, signed char, shape, "s8", bytes_a, bytes_b, wa, wb)                                                        \
  AW_BYTES(M, N, unsigned char, shape, "u8", bytes_a, bytes_b, wa, wb)
#define AW_BYTES(M, N, T, shape, type, na, nb, wa, wb)                                                                      \
  AW_MATRIX(matrix_a, "a", M, N, 16, T, T, wa, shape, type, aw_word, "r", na)                                               \
  AW_MATRIX(matrix_b, "b", M, N, 16, T, T, wb, shape, type, aw_word, "r", nb)                                               \
  AW_BYTES_PRODUCT(row_major, row_major, "row.row.", M, N, T, shape, type, na, nb)                                          \
  AW_BYTES_PRODUCT(row_major, col_major, "row.col.", M, N, T, shape, type, na, nb)                                          \
  AW_BYTES_PRODUCT(col_major, row_major, "col.row.", M, N, T, shape, type, na, nb)                                          \
  AW_BYTES_PRODUCT(col_major, col_major, "col.col.", M, N, T, shape, type, na, nb)
// Sums of bytes' products may be clamped instead of wrapped, which is another instruction.
#define AW_BYTES_PRODUCT(LA, LB, order, M, N, T, shape, type, na, nb)                                                       \
  AW_PRODUCT_1(M, N, 16, T, LA, LB, order, shape ".s32." type "." type ".s32", aw_word, "r", na, nb, int, int, "r", 8, int, \
               int, "r", 8, 0, "")                                                                                           \
  AW_MMA void aw_clamped(fragment<accumulator, M, N, 16, int> &d, const fragment<matrix_a, M, N, 16, T, LA> &a,             \
                         const fragment<matrix_b, M, N, 16, T, LB> &b, const fragment<accumulator, M, N, 16, int> &c) {     \
    aw_word ra[na], rb[nb];                                                                                                 \
    __builtin_memcpy(ra, a.x, sizeof(ra)), __builtin_memcpy(rb, b.x, sizeof(rb));                                           \
    __asm__ volatile("wmma.mma.sync.aligned." order shape ".s32." type "." type ".s32.satfinite " AW_LIST_8(d) ", "         \
                     AW_LIST_##na(a) ", " AW_LIST_##nb(b) ", " AW_LIST_8(c) ";"                                             \
                     : AW_REGS_8(d, "=r", d.x)                                                                              \
                     : AW_REGS_##na(a, "r", ra), AW_REGS_##nb(b, "r", rb), AW_REGS_8(c, "r", c.x));                         \
  }                                                                                                                         \
  AW_MMA void mma_sync(fragment<accumulator, M, N, 16, int> &d, const fragment<matrix_a, M, N, 16, T, LA> &a,               \
                       const fragment<matrix_b, M, N, 16, T, LB> &b, const fragment<accumulator, M, N, 16, int> &c,         \
                       bool saturate) {                                                                                     \
    if (saturate) aw_clamped(d, a, b, c);                                                                                   \
    else mma_sync(d, a, b, c);                                                                                              \
  }
AW_NARROW_SHAPE(16, 16, "m16n16k16", 4, 4, 2, 2, 8, 8)
AW_NARROW_SHAPE(32, 8, "m32n8k16", 8, 2, 4, 1, 16, 4)
AW_NARROW_SHAPE(8, 32, "m8n32k16", 2, 8, 1, 4, 4, 16)
#undef AW_NARROW_SHAPE
#undef AW_BYTES
#undef AW_BYTES_PRODUCT

AW_MATRIX(matrix_a, "a", 16, 16, 8, precision::tf32, float, 4, "m16n16k8", "tf32", aw_word, "r", 4)
AW_MATRIX(matrix_b, "b", 16, 16, 8, precision::tf32, float, 4, "m16n16k8", "tf32", aw_word, "r", 4)
AW_ACCUMULATOR(16, 16, 8, float, 8, "m16n16k8", "f32", float, "f", 8)
AW_PRODUCT_4(16, 16, 8, precision::tf32, "m16n16k8.f32.tf32.tf32.f32", aw_word, "r", 4, 4, float, float, "f", 8, float, float,
             "f", 8, 1, "")
AW_MATRIX(matrix_a, "a", 8, 8, 4, double, double, 1, "m8n8k4", "f64", double, "d", 1)
AW_MATRIX(matrix_b, "b", 8, 8, 4, double, double, 1, "m8n8k4", "f64", double, "d", 1)
AW_ACCUMULATOR(8, 8, 4, double, 2, "m8n8k4", "f64", double, "d", 2)
AW_PRODUCT_4(8, 8, 4, double, "m8n8k4.f64.f64.f64.f64", double, "d", 1, 1, double, double, "d", 2, double, double, "d", 2,
             1, "")

// Several elements to a register: a by rows and b by columns, and pointers that have no type of their own.
#define AW_PACKED_MATRIX(use, letter, layout, Layout, K, T, Storage, count, type)                                          \
  template <>                                                                                                              \
  class fragment<use, 8, 8, K, experimental::precision::T, Layout> {                                                       \
   public:                                                                                                                 \
    enum { num_elements = count, num_storage_elements = 1 };                                                               \
    Storage x[1];                                                                                                          \
  };                                                                                                                       \
  AW_MMA void load_matrix_sync(fragment<use, 8, 8, K, experimental::precision::T, Layout> &f, const void *p, unsigned ldm) { \
    __asm__ volatile("wmma.load." letter ".sync.aligned." layout ".m8n8k" #K "." type " {%0}, [%1], %2;"                  \
                     : "=r"(f.x[0]) : "l"(p), "r"(ldm) : "memory");                                                        \
  }
#define AW_PACKED(K, T, Storage, count)                                                                 \
  AW_PACKED_MATRIX(matrix_a, "a", "row", row_major, K, T, Storage, count, #T)                           \
  AW_PACKED_MATRIX(matrix_b, "b", "col", col_major, K, T, Storage, count, #T)
#define AW_PACKED_PRODUCT(d, a, b, c, text)                                                              \
  __asm__ volatile("wmma.mma" text " {%0, %1}, {%2}, {%3}, {%4, %5};"                                     \
                   : "=r"(d.x[0]), "=r"(d.x[1])                                                          \
                   : "r"(a.x[0]), "r"(b.x[0]), "r"(c.x[0]), "r"(c.x[1]))
#define AW_NIBBLES(T, Storage)                                                                           \
  AW_PACKED(32, T, Storage, 8)                                                                           \
  AW_MMA void mma_sync(fragment<accumulator, 8, 8, 32, int> &d,                                          \
                       const fragment<matrix_a, 8, 8, 32, experimental::precision::T, row_major> &a,     \
                       const fragment<matrix_b, 8, 8, 32, experimental::precision::T, col_major> &b,     \
                       const fragment<accumulator, 8, 8, 32, int> &c, bool saturate = false) {           \
    if (saturate)                                                                                        \
      AW_PACKED_PRODUCT(d, a, b, c, ".sync.aligned.row.col.m8n8k32.s32." #T "." #T ".s32.satfinite");     \
    else                                                                                                 \
      AW_PACKED_PRODUCT(d, a, b, c, ".sync.aligned.row.col.m8n8k32.s32." #T "." #T ".s32");               \
  }
AW_ACCUMULATOR(8, 8, 32, int, 2, "m8n8k32", "s32", int, "r", 2)
AW_NIBBLES(u4, unsigned)
AW_NIBBLES(s4, int)
AW_ACCUMULATOR(8, 8, 128, int, 2, "m8n8k128", "s32", int, "r", 2)
AW_PACKED(128, b1, unsigned, 32)
AW_MMA void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d,
                      const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
                      const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b,
                      const fragment<accumulator, 8, 8, 128, int> &c,
                      experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                      experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  if (op == experimental::bmmaBitOpAND)
    AW_PACKED_PRODUCT(d, a, b, c, ".and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32");
  else
    AW_PACKED_PRODUCT(d, a, b, c, ".xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32");
}
#undef AW_PACKED
#undef AW_PACKED_MATRIX
#undef AW_PACKED_PRODUCT
#undef AW_NIBBLES
#undef AW_MATRIX
#undef AW_MATRIX_1
#undef AW_ACCUMULATOR
#undef AW_PRODUCT_1
#undef AW_PRODUCT_4
#undef AW_PRODUCT_5
#undef AW_SATURATE_0
#undef AW_SATURATE_1

template <class Use, int M, int N, int K, class T, class Layout, class Value>
AW_MMA void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const Value &value) {
  AW_UNROLL for (int k = 0; k < (int)f.num_elements; ++k) f.x[k] = value;
}
AW_MMA float __float_to_tf32(float x) {
  unsigned int r;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __builtin_bit_cast(float, r);
}

}  // namespace wmma
}  // namespace nvcuda

#undef AW_MMA
#endif
