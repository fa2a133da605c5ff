// The product on x86-64 with AVX-512 (F, BW, DQ, VL), with VDPBF16PS and VPDPBUSD where the
// processor has them.
#ifdef __x86_64__
#include <immintrin.h>

#include <cmath>

#include "libraries/product/kernels.h"

#define AW_FEATURES "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512"
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

#include "libraries/product/body.inc"

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
}  // namespace s8

Kernels made(bool has_bf16, bool has_vnni) {
  Kernels out = {kRows, kColumns,    L,  Packing::f32, Packing::s16_pairs,
                 pack,  add_columns, {}, finish};
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
