#include "libraries/nccl/arithmetic.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/status.h"

// Compiled for wider vectors as well, chosen when the library is loaded.
#if defined(__x86_64__) && !defined(__clang__)
#define AW_WIDE __attribute__((target_clones("default", "arch=x86-64-v3"), optimize("O3")))
#else
#define AW_WIDE
#endif

namespace aw::nccl {
namespace {

// Floating types of 8 and 16 bits as their bits; conversions without branches, so that loops become vectors.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct E4M3 {
  uint8_t bits;
};
struct E5M2 {
  uint8_t bits;
};

inline float widen(Half value) {
  uint32_t sign = uint32_t{value.bits & 0x8000u} << 16, rest = uint32_t{value.bits & 0x7fffu} << 13;
  float scaled = std::bit_cast<float>(rest) * 0x1p112f;  // subnormals come out right, too
  uint32_t bits = rest >= 0x0f800000u ? rest | 0x7f800000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}
inline float widen(Brain value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }
inline float widen(E5M2 value) { return widen(Half{static_cast<uint16_t>(value.bits << 8)}); }
inline float widen(E4M3 value) {
  uint32_t sign = uint32_t{value.bits & 0x80u} << 24, rest = uint32_t{value.bits & 0x7fu} << 20;
  float scaled = std::bit_cast<float>(rest) * 0x1p120f;
  uint32_t bits = (value.bits & 0x7f) == 0x7f ? 0x7fc00000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}
template <class T>
inline T widen(T value) {
  return value;
}

// To nearest, ties to even: with `Drop` bits less of fraction. NaN is for the caller.
template <int Drop>
inline uint32_t rounded(uint32_t bits) {
  return (bits + ((1u << (Drop - 1)) - 1) + ((bits >> Drop) & 1)) >> Drop;
}

inline void narrow(float value, Half& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 16) & 0x8000u, bits = all & 0x7fffffffu;
  uint32_t normal = rounded<13>(bits) - (112u << 10);
  // Below 2^-14 an addition rounds at the place of the last bit of a subnormal.
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  uint32_t out = bits < 0x38800000u ? small : normal;
  out = bits >= 0x477ff000u ? 0x7c00u : out;
  out = bits > 0x7f800000u ? 0x7fffu : out;  // CUDA's canonical NaN
  to.bits = static_cast<uint16_t>(out | (bits > 0x7f800000u ? 0 : sign));
}
inline void narrow(float value, Brain& to) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  to.bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded<16>(bits));
}
// Both as the constructors of __nv_fp8_e5m2 and __nv_fp8_e4m3 convert (CUDA Math API, __NV_SATFINITE): what is too large is
// the largest number.
inline void narrow(float value, E5M2& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 24) & 0x80u, bits = all & 0x7fffffffu;
  uint32_t normal = rounded<21>(bits) - (112u << 2);
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0x1p7f) - 0x43000000u;  // units of 2^-16
  uint32_t out = bits < 0x38800000u ? small : normal;
  out = bits >= 0x47700000u ? 0x7bu : out;
  out = bits > 0x7f800000u ? 0x7fu : out;
  to.bits = static_cast<uint8_t>(out | sign);
}
inline void narrow(float value, E4M3& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 24) & 0x80u, bits = all & 0x7fffffffu;
  uint32_t normal = rounded<20>(bits) - (120u << 3);
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0x1p14f) - 0x46800000u;  // units of 2^-9
  uint32_t out = bits < 0x3c800000u ? small : normal;
  out = bits > 0x43e80000u ? 0x7eu : out;
  out = bits > 0x7f800000u ? 0x7fu : out;
  to.bits = static_cast<uint8_t>(out | sign);
}
template <class T>
inline void narrow(T value, T& to) {
  to = value;
}

template <class T>
using Wide = decltype(widen(T{}));

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;  // overflow wraps
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
struct Least {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Mean : Sum {};

constexpr size_t kTile = 512;

template <class T, class Op>
AW_WIDE void fold(void* to, const void* const* parts, int count, size_t elements) {
  Wide<T> sums[kTile];
  auto* out = static_cast<T*>(to);
  for (size_t at = 0; at < elements; at += kTile) {
    size_t n = elements - at < kTile ? elements - at : kTile;
    auto* first = static_cast<const T*>(parts[0]) + at;
    for (size_t i = 0; i < n; ++i) sums[i] = widen(first[i]);
    for (int part = 1; part < count; ++part) {
      auto* more = static_cast<const T*>(parts[part]) + at;
      for (size_t i = 0; i < n; ++i) sums[i] = Op::apply(sums[i], static_cast<Wide<T>>(widen(more[i])));
    }
    if constexpr (std::is_same_v<Op, Mean>)
      for (size_t i = 0; i < n; ++i) sums[i] = static_cast<Wide<T>>(sums[i] / static_cast<Wide<T>>(count));
    for (size_t i = 0; i < n; ++i) narrow(sums[i], out[at + i]);
  }
}

template <class T>
AW_WIDE void scale(void* to, const void* from, const void* factor, size_t elements) {
  auto* out = static_cast<T*>(to);
  auto* in = static_cast<const T*>(from);
  T by;
  memcpy(&by, factor, sizeof by);
  Wide<T> wide = widen(by);
  for (size_t i = 0; i < elements; ++i) narrow(Product::apply(static_cast<Wide<T>>(widen(in[i])), wide), out[i]);
}

template <class F>
auto by_type(ncclDataType_t type, F f) {
  switch (type) {
    case ncclInt8: return f(int8_t{});
    case ncclUint8: return f(uint8_t{});
    case ncclInt32: return f(int32_t{});
    case ncclUint32: return f(uint32_t{});
    case ncclInt64: return f(int64_t{});
    case ncclUint64: return f(uint64_t{});
    case ncclFloat16: return f(Half{});
    case ncclFloat32: return f(float{});
    case ncclFloat64: return f(double{});
    case ncclBfloat16: return f(Brain{});
    case ncclFloat8e4m3: return f(E4M3{});
    case ncclFloat8e5m2: return f(E5M2{});
    default: throw Failure(ncclInvalidArgument);
  }
}

}  // namespace

Fold fold_of(ncclDataType_t type, ncclRedOp_t op) {
  return by_type(type, [&](auto value) -> Fold {
    using T = decltype(value);
    switch (op) {
      case ncclProd: return fold<T, Product>;
      case ncclMax: return fold<T, Most>;
      case ncclMin: return fold<T, Least>;
      case ncclAvg: return fold<T, Mean>;
      default: return fold<T, Sum>;  // also for operators of the program's, which scale before
    }
  });
}

Scale scale_of(ncclDataType_t type) {
  return by_type(type, [](auto value) -> Scale { return scale<decltype(value)>; });
}

}  // namespace aw::nccl
