// The product on any processor, in vectors of 128 bits as compilers make of them what there is.
#include <cmath>

#include "libraries/product/kernels.h"
#ifdef __aarch64__
#include <arm_neon.h>
#endif

#define AW_TARGET
#define AW_INLINE __attribute__((always_inline)) inline

namespace aw::product::portable {
namespace {

constexpr int L = 4, kRows = 8, kColumns = 12;
typedef float F __attribute__((vector_size(16)));
typedef uint32_t U __attribute__((vector_size(16)));
typedef int32_t Mask __attribute__((vector_size(16)));

AW_INLINE U low(U a, U b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
AW_INLINE U high(U a, U b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
// Fused where every processor of the kind does it at once.
AW_INLINE F fma(F a, F b, F c) {
#ifdef __aarch64__
  return F(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b)));
#else
  return a * b + c;
#endif
}
AW_INLINE U choose(Mask mask, U yes, U no) { return (U(mask) & yes) | (~U(mask) & no); }
// Exponents begin 112 later in f32; the multiplication makes normal numbers of subnormal ones.
AW_INLINE F from_half(U x) {
  U magnitude = x & 0x7fffu, sign = (x & 0x8000u) << 16;
  U finite = U(F(magnitude << 13) * 0x1p112f), special = 0x7f800000u | magnitude << 13;
  return F(choose(magnitude >= 0x7c00u, special, finite) | sign);
}
AW_INLINE U to_half(F value) {
  U x = U(value), sign = (x >> 16) & 0x8000u, magnitude = x & 0x7fffffffu;
  U normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  U subnormal = U(F(magnitude) + 0.5f) - 0x3f000000u;  // 2^-24 is the last place of 0.5
  U out = choose(magnitude < 0x38800000u, subnormal, normal);
  out = choose(magnitude >= 0x477ff000u, U{} + 0x7c00u, out);
  return choose(magnitude > 0x7f800000u, U{} + 0x7e00u, out) | sign;
}

#include "libraries/product/body.inc"
#include "libraries/product/direct.inc"

namespace f32 {
constexpr int kDepth = 1;
AW_INLINE F accumulate(F sum, U a, U b) { return fma(F(a), F(b), sum); }
#include "libraries/product/micro.inc"
}  // namespace f32
namespace s16 {
constexpr int kDepth = 2;
AW_INLINE I accumulate(I sum, U a, U b) {
  return sum + (I(a << 16) >> 16) * (I(b << 16) >> 16) + (I(a) >> 16) * (I(b) >> 16);
}
#include "libraries/product/micro.inc"
}  // namespace s16

Kernels made() {
  const Way f32 = f32::way<F>(pack, nullptr), s8 = s16::way<I>(pack_with<ShortPairs>, nullptr);
  return {f32, f32, f32, s8, sum_pixels, sum_lines, nullptr, finish, to_f32, from_f32};
}

}  // namespace
}  // namespace aw::product::portable

namespace aw::product {

const Kernels& portable_kernels() {
  static const Kernels made = portable::made();
  return made;
}

}  // namespace aw::product

#undef AW_TARGET
#undef AW_INLINE
