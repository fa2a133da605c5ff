// The product on x86-64 with AVX-512 (F, BW, DQ, VL), with VDPBF16PS and VPDPBUSD where the
// processor has them.
#ifdef __x86_64__
#include <immintrin.h>

#include <cmath>

#include "libraries/product/kernels.h"

#define AW_FEATURES "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"
#define AW_TARGET __attribute__((target(AW_FEATURES)))
#define AW_INLINE AW_TARGET __attribute__((always_inline)) inline

namespace aw::product::with_avx512 {
namespace {

constexpr int L = 16, kRows = 32, kColumns = 12;
typedef float F __attribute__((vector_size(64)));
typedef uint32_t U __attribute__((vector_size(64)));

AW_INLINE U low(U a, U b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
AW_INLINE U high(U a, U b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}
AW_INLINE F fma(F a, F b, F c) { return F(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c))); }
typedef uint16_t H __attribute__((vector_size(32)));
// The forms with a mask of ones: GCC 12 takes the others' undefined operand for a use of one.
AW_INLINE F from_half(U x) {
  return F(_mm512_maskz_cvtph_ps(0xffff, __m256i(__builtin_convertvector(x, H))));
}
AW_INLINE U to_half(F x) {
  return __builtin_convertvector(
      H(_mm512_maskz_cvtps_ph(0xffff, __m512(x), _MM_FROUND_TO_NEAREST_INT)), U);
}

// The bf16 of every e4m3 or e5m2 without its sign.
template <Type T>
struct Table {
  alignas(64) uint16_t of[128];
  constexpr Table() : of() {
    constexpr int kMantissa = T == Type::e4m3 ? 3 : 2, kBias = T == Type::e4m3 ? 7 : 15;
    for (int x = 0; x < 128; ++x) {
      int exponent = x >> kMantissa, mantissa = x & ((1 << kMantissa) - 1);
      if (exponent == 0 && mantissa) {
        for (exponent = 1; !(mantissa >> kMantissa); --exponent) mantissa <<= 1;
        mantissa &= (1 << kMantissa) - 1;
      } else if (exponent == 0) {
        exponent = kBias - 127;
      }
      of[x] = static_cast<uint16_t>((exponent - kBias + 127) << 7 | mantissa << (7 - kMantissa));
      if (T == Type::e4m3 ? x == 127 : x > 124) of[x] = 0x7fc0;
      if (T == Type::e5m2 && x == 124) of[x] = 0x7f80;
    }
  }
};
template <Type T>
constexpr Table<T> kTable;

#define AW_PAIRS_AND_QUADS
// In each half of a lane.
template <Type T>
AW_INLINE U small_to_bf16(U x) {
  const auto* table = reinterpret_cast<const __m512i*>(kTable<T>.of);
  const __m512i at = __m512i(x);
  const __m512i below = _mm512_permutex2var_epi16(table[0], at, table[1]);
  const __m512i above = _mm512_permutex2var_epi16(table[2], at, table[3]);
  const __mmask32 high_half = _mm512_test_epi16_mask(at, _mm512_set1_epi16(0x40));
  return U(_mm512_mask_mov_epi16(below, high_half, above)) | (x & 0x00800080u) << 8;
}

AW_INLINE __m128i row_at(const uint8_t* it) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(it));
}
// 16 bytes of each of four rows, as 16 lanes of one of each.
AW_INLINE U read_quads(const uint8_t* at, int64_t ld) {
  __m512i rows = _mm512_zextsi128_si512(row_at(at));
  rows = _mm512_inserti32x4(rows, row_at(at + ld), 1);
  rows = _mm512_inserti32x4(rows, row_at(at + 2 * ld), 2);
  rows = _mm512_inserti32x4(rows, row_at(at + 3 * ld), 3);
  const __m512i fours = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i ones = _mm512_maskz_broadcast_i32x4(
      0xffff, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  return U(_mm512_shuffle_epi8(_mm512_maskz_permutexvar_epi32(0xffff, fours, rows), ones));
}

#include "libraries/product/body.inc"
#undef AW_PAIRS_AND_QUADS

namespace f32 {
AW_INLINE F accumulate(F sum, U a, U b) { return fma(F(a), F(b), sum); }
#include "libraries/product/micro.inc"
}  // namespace f32
namespace s16 {
AW_INLINE I accumulate(I sum, U a, U b) {
  return I(_mm512_add_epi32(__m512i(sum), _mm512_madd_epi16(__m512i(a), __m512i(b))));
}
#include "libraries/product/micro.inc"
}  // namespace s16

#undef AW_TARGET
#define AW_TARGET __attribute__((target(AW_FEATURES ",avx512bf16")))
namespace bf16 {
AW_INLINE F accumulate(F sum, U a, U b) {
  return F(_mm512_dpbf16_ps(__m512(sum), __m512bh(a), __m512bh(b)));
}
#include "libraries/product/micro.inc"
}  // namespace bf16

#undef AW_TARGET
#define AW_TARGET __attribute__((target(AW_FEATURES ",avx512vnni")))
namespace s8 {
AW_INLINE I accumulate(I sum, U a, U b) {
  return I(_mm512_dpbusd_epi32(__m512i(sum), __m512i(a), __m512i(b)));
}
#include "libraries/product/micro.inc"
// Where the left factor is 128 too high: 128 times each column's sum.
AW_TARGET void add_columns(const uint32_t* panel, int64_t units, int32_t* sums) {
  __m512i total = _mm512_setzero_si512();
  for (int64_t unit = 0; unit < units; ++unit)
    total = _mm512_dpbusd_epi32(total, _mm512_set1_epi8(-128),
                                _mm512_loadu_si512(panel + unit * kColumns));
  const __mmask16 columns = (1 << kColumns) - 1;
  _mm512_mask_storeu_epi32(sums, columns,
                           _mm512_add_epi32(total, _mm512_maskz_loadu_epi32(columns, sums)));
}
}  // namespace s8

Kernels made(bool has_bf16, bool has_vnni) {
  Kernels out = {kRows, kColumns, L,      Packing::f32, Packing::s16_pairs, pack, s8::add_columns,
                 {},    finish,   to_f32, from_f32};
  f32::fill<F>(out.micro[static_cast<int>(Packing::f32)]);
  bf16::fill<F>(out.micro[static_cast<int>(Packing::bf16_pairs)]);
  s8::fill<I>(out.micro[static_cast<int>(Packing::s8_quads)]);
  s16::fill<I>(out.micro[static_cast<int>(Packing::s16_pairs)]);
  if (has_bf16) out.bf16 = Packing::bf16_pairs;
  if (has_vnni) out.s8 = Packing::s8_quads;
  return out;
}

}  // namespace
}  // namespace aw::product::with_avx512

namespace aw::product {

const Kernels& avx512(bool bf16, bool vnni) {
  static const Kernels made = with_avx512::made(bf16, vnni);
  return made;
}

}  // namespace aw::product

#undef AW_FEATURES
#undef AW_TARGET
#undef AW_INLINE
#endif
