#include "libraries/nccl/arithmetic.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/status.h"
#include "libraries/float_formats.h"
#include "libraries/wide.h"

namespace aw::nccl {
namespace {

using namespace formats;

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
  if constexpr (std::is_same_v<T, Wide<T>> && !std::is_same_v<Op, Mean>)
    if (count == 2) {
      auto *first = static_cast<const T*>(parts[0]), *second = static_cast<const T*>(parts[1]);
#pragma GCC ivdep  // the place may be that of a part, element by element
      for (size_t i = 0; i < elements; ++i) out[i] = Op::apply(first[i], second[i]);
      return;
    }
  for (size_t at = 0; at < elements; at += kTile) {
    size_t n = elements - at < kTile ? elements - at : kTile;
    auto* first = static_cast<const T*>(parts[0]) + at;
    for (size_t i = 0; i < n; ++i) sums[i] = widen(first[i]);
    for (int part = 1; part < count; ++part) {
      auto* more = static_cast<const T*>(parts[part]) + at;
      for (size_t i = 0; i < n; ++i)
        sums[i] = Op::apply(sums[i], static_cast<Wide<T>>(widen(more[i])));
    }
    if constexpr (std::is_same_v<Op, Mean>)
      for (size_t i = 0; i < n; ++i)
        sums[i] = static_cast<Wide<T>>(sums[i] / static_cast<Wide<T>>(count));
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
  for (size_t i = 0; i < elements; ++i)
    narrow(Product::apply(static_cast<Wide<T>>(widen(in[i])), wide), out[i]);
}

template <class F>
auto by_type(ncclDataType_t type, F f) {
  switch (type) {
    case ncclInt8:
      return f(int8_t{});
    case ncclUint8:
      return f(uint8_t{});
    case ncclInt32:
      return f(int32_t{});
    case ncclUint32:
      return f(uint32_t{});
    case ncclInt64:
      return f(int64_t{});
    case ncclUint64:
      return f(uint64_t{});
    case ncclFloat16:
      return f(Half{});
    case ncclFloat32:
      return f(float{});
    case ncclFloat64:
      return f(double{});
    case ncclBfloat16:
      return f(Brain{});
    case ncclFloat8e4m3:
      return f(E4M3{});
    case ncclFloat8e5m2:
      return f(E5M2{});
    default:
      throw Failure(ncclInvalidArgument);
  }
}

}  // namespace

Fold fold_of(ncclDataType_t type, ncclRedOp_t op) {
  return by_type(type, [&](auto value) -> Fold {
    using T = decltype(value);
    switch (op) {
      case ncclProd:
        return fold<T, Product>;
      case ncclMax:
        return fold<T, Most>;
      case ncclMin:
        return fold<T, Least>;
      case ncclAvg:
        return fold<T, Mean>;
      default:
        return fold<T, Sum>;  // also for operators of the program's, which scale before
    }
  });
}

Scale scale_of(ncclDataType_t type) {
  return by_type(type, [](auto value) -> Scale { return scale<decltype(value)>; });
}

}  // namespace aw::nccl
