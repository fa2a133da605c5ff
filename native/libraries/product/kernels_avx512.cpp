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

constexpr int kRows = 32, kColumns = 12;

#include "libraries/product/avx512.inc"
#include "libraries/product/direct.inc"
#include "libraries/product/finish.inc"
#include "libraries/product/pack.inc"

namespace f32 {
constexpr int kDepth = 1;
AW_INLINE F accumulate(F sum, U a, U b) { return fma(F(a), F(b), sum); }
#include "libraries/product/few.inc"
#include "libraries/product/micro.inc"
}  // namespace f32
namespace s16 {
constexpr int kDepth = 2;
AW_INLINE I accumulate(I sum, U a, U b) {
  return I(_mm512_add_epi32(__m512i(sum), _mm512_madd_epi16(__m512i(a), __m512i(b))));
}
#include "libraries/product/few.inc"
#include "libraries/product/micro.inc"
}  // namespace s16

#undef AW_TARGET
#define AW_TARGET __attribute__((target(AW_FEATURES ",avx512bf16")))
namespace bf16 {
constexpr int kDepth = 2;
AW_INLINE F accumulate(F sum, U a, U b) {
  return F(_mm512_dpbf16_ps(__m512(sum), __m512bh(a), __m512bh(b)));
}
#include "libraries/product/few.inc"
#include "libraries/product/micro.inc"
Few few(Type type, Rounding, bool along_k, int64_t columns) {
  switch (type) {
    case Type::e4m3:
      return few_of<SmallPairs<Type::e4m3>, SmallWords<Type::e4m3>, F>(along_k, columns);
    case Type::e5m2:
      return few_of<SmallPairs<Type::e5m2>, SmallWords<Type::e5m2>, F>(along_k, columns);
    default:
      return few_of<Bf16Pairs, PlainWords<2>, F>(along_k, columns);
  }
}
}  // namespace bf16

#undef AW_TARGET
#define AW_TARGET __attribute__((target(AW_FEATURES ",avx512vnni")))
namespace s8 {
constexpr int kDepth = 4;
AW_INLINE I accumulate(I sum, U a, U b) {
  return I(_mm512_dpbusd_epi32(__m512i(sum), __m512i(a), __m512i(b)));
}
#include "libraries/product/micro.inc"
// VPDPBUSD takes a left factor without sign. Its numbers are 128 too high, so sums are by 128 times
// each column's sum.
AW_TARGET void correct_quads(const uint32_t* panel, int64_t units, int32_t* corrections) {
  __m512i total = _mm512_setzero_si512();
  for (int64_t unit = 0; unit < units; ++unit)
    total = _mm512_dpbusd_epi32(total, _mm512_set1_epi8(-128),
                                _mm512_loadu_si512(panel + unit * kColumns));
  const __mmask16 columns = (1 << kColumns) - 1;
  _mm512_mask_storeu_epi32(corrections, columns,
                           _mm512_add_epi32(total, _mm512_maskz_loadu_epi32(columns, corrections)));
}
#include "libraries/product/few.inc"
}  // namespace s8

AW_TARGET void pack_quads(const Block& from, uint32_t* to) {
  return from.of_a ? pack_with<Quads<true>>(from, to) : pack_with<Quads<false>>(from, to);
}
AW_TARGET void pack_pairs(const Block& from, uint32_t* to) {
  switch (from.type) {
    case Type::e4m3:
      return pack_with<SmallPairs<Type::e4m3>>(from, to);
    case Type::e5m2:
      return pack_with<SmallPairs<Type::e5m2>>(from, to);
    default:
      return pack_with<Bf16Pairs>(from, to);
  }
}

Kernels made(bool has_bf16, bool has_vnni) {
  const Way f32 = f32::way<F>(pack, f32::few_as_f32<F>);
  const Way pairs = has_bf16 ? bf16::way<F>(pack_pairs, bf16::few) : f32;
  const Way bytes =
      has_vnni
          ? s8::way<I>(pack_quads, s8::few_of_type<Quads<true>, OffsetWords, I>, s8::correct_quads)
          : s16::way<I>(pack_with<ShortPairs>, s16::few_of_type<ShortPairs, ShortWords, I>);
  return {f32, f32, pairs, bytes, sum_pixels, sum_lines, nullptr, finish, to_f32, from_f32};
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
