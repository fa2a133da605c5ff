// The product on x86-64 with AVX2, FMA and F16C.
#ifdef __x86_64__
#include <immintrin.h>

#include <cmath>

#include "libraries/product/kernels.h"

#define AW_TARGET __attribute__((target("avx2,fma,f16c")))
#define AW_INLINE AW_TARGET __attribute__((always_inline)) inline

namespace aw::product::with_avx2 {
namespace {

constexpr int L = 8, kRows = 16, kColumns = 6;
typedef float F __attribute__((vector_size(32)));
typedef uint32_t U __attribute__((vector_size(32)));

AW_INLINE U low(U a, U b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
AW_INLINE U high(U a, U b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
AW_INLINE F fma(F a, F b, F c) { return F(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c))); }
AW_INLINE F from_half(U x) {
  typedef uint16_t H __attribute__((vector_size(16)));
  return F(_mm256_cvtph_ps(__m128i(__builtin_convertvector(x, H))));
}
AW_INLINE U to_half(F x) {
  return U(_mm256_cvtepu16_epi32(_mm256_cvtps_ph(__m256(x), _MM_FROUND_TO_NEAREST_INT)));
}

#include "libraries/product/body.inc"

AW_INLINE __m128i row_at(const uint8_t* it) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(it));
}
// As in avx512.inc, of halves.
AW_INLINE U quarters(const uint8_t* lines) {
  return U(
      _mm256_inserti128_si256(_mm256_castsi128_si256(row_at(lines)), row_at(lines + 4 * 64), 1));
}
AW_INLINE U low_words(U a, U b) { return U(_mm256_unpacklo_epi32(__m256i(a), __m256i(b))); }
AW_INLINE U high_words(U a, U b) { return U(_mm256_unpackhi_epi32(__m256i(a), __m256i(b))); }
AW_INLINE U low_pairs(U a, U b) { return U(_mm256_unpacklo_epi64(__m256i(a), __m256i(b))); }
AW_INLINE U high_pairs(U a, U b) { return U(_mm256_unpackhi_epi64(__m256i(a), __m256i(b))); }
#include "libraries/product/direct.inc"
#include "libraries/product/words.inc"

namespace f32 {
constexpr int kDepth = 1;
AW_INLINE F accumulate(F sum, U a, U b) { return fma(F(a), F(b), sum); }
#include "libraries/product/few.inc"
#include "libraries/product/micro.inc"
}  // namespace f32
namespace s16 {
constexpr int kDepth = 2;
AW_INLINE I accumulate(I sum, U a, U b) {
  return I(_mm256_add_epi32(__m256i(sum), _mm256_madd_epi16(__m256i(a), __m256i(b))));
}
#include "libraries/product/few.inc"
#include "libraries/product/micro.inc"
}  // namespace s16

Kernels made() {
  const Way f32 = f32::way<F>(pack, f32::few_as_f32<F>),
            s8 = s16::way<I>(pack_with<ShortPairs>, s16::few_of_type<ShortPairs, ShortWords, I>);
  return {f32, f32, f32, s8, sum_pixels, sum_lines, nullptr, finish, to_f32, from_f32};
}

}  // namespace
}  // namespace aw::product::with_avx2

namespace aw::product {

const Kernels& avx2() {
  static const Kernels made = with_avx2::made();
  return made;
}

}  // namespace aw::product

#undef AW_TARGET
#undef AW_INLINE
#endif
