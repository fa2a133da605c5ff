// Elements of every type as float or double, and back.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "libraries/cudnn/elementwise.h"
#include "libraries/float_formats.h"

namespace aw::dnn {
namespace {

using namespace formats;

struct ByteBoolean {
  uint8_t value;
};

// float, double, integers and the formats of less bits as one family of conversions.
template <class S, class T>
T as_number(S value) {
  if constexpr (requires { value.bits; })
    return static_cast<T>(widen(value));
  else if constexpr (std::is_same_v<S, ByteBoolean>)
    return static_cast<T>(value.value != 0);
  else
    return static_cast<T>(value);
}

template <class S, class T>
S as_element(T value) {
  if constexpr (requires(S made) { made.bits; }) {
    S made;
    narrow(static_cast<float>(value), made);
    return made;
  } else if constexpr (std::is_same_v<S, ByteBoolean>) {
    return {static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_integral_v<S>) {
    // The largest value may be no number of T; what lies beyond saturates.
    constexpr auto most = static_cast<T>(std::numeric_limits<S>::max()),
                   least = static_cast<T>(std::numeric_limits<S>::min());
    const T rounded = std::nearbyint(value);
    if (!(rounded > least)) return value != value ? S{0} : std::numeric_limits<S>::min();
    return rounded >= most ? std::numeric_limits<S>::max() : static_cast<S>(rounded);
  } else {
    return static_cast<S>(value);
  }
}

template <class S, class T>
AW_LOOP void load_near(const S* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = as_number<S, T>(from[i]);
}
template <class S, class T>
void load_apart(const S* from, int64_t stride, size_t count, T* to) {
  if (stride == 1) return load_near<S, T>(from, count, to);
  for (size_t i = 0; i < count; ++i)
    to[i] = as_number<S, T>(from[static_cast<int64_t>(i) * stride]);
}
template <class S, class T>
AW_LOOP void store_near(S* to, size_t count, const T* row, T alpha) {
  for (size_t i = 0; i < count; ++i) to[i] = as_element<S, T>(alpha * row[i]);
}
template <class S, class T>
void store_apart(S* to, int64_t stride, size_t count, const T* row, T alpha, T beta) {
  if (beta == 0 && stride == 1) return store_near<S, T>(to, count, row, alpha);
  for (size_t i = 0; i < count; ++i, to += stride)
    *to =
        as_element<S, T>(beta == 0 ? alpha * row[i] : alpha * row[i] + beta * as_number<S, T>(*to));
}

bool bit(const View& view, int64_t at) { return view.data[at / 8] >> (at % 8) & 1; }
void set_bit(const View& view, int64_t at, bool value) {
  const auto mask = static_cast<unsigned char>(1u << (at % 8));
  auto& byte = view.data[at / 8];
  byte = static_cast<unsigned char>(value ? byte | mask : byte & ~mask);
}

// body(S{}) with the C++ type of the elements.
template <class Body>
void with_element(cudnnDataType_t type, const Body& body) {
  switch (static_cast<int>(type)) {
    case CUDNN_DATA_FLOAT:
      return body(float{});
    case CUDNN_DATA_DOUBLE:
      return body(double{});
    case CUDNN_DATA_HALF:
      return body(Half{});
    case CUDNN_DATA_BFLOAT16:
      return body(Brain{});
    case CUDNN_DATA_INT8:
      return body(int8_t{});
    case CUDNN_DATA_UINT8:
      return body(uint8_t{});
    case CUDNN_DATA_INT32:
      return body(int32_t{});
    case CUDNN_DATA_INT64:
      return body(int64_t{});
    case CUDNN_DATA_FP8_E4M3:
      return body(E4M3{});
    case CUDNN_DATA_FP8_E5M2:
      return body(E5M2{});
    case kByteBoolean:
      return body(ByteBoolean{});
    default:
      return;  // descriptors hold no other
  }
}

}  // namespace

size_t element_bytes(cudnnDataType_t type) {
  if (type == CUDNN_DATA_BOOLEAN) return 1;
  size_t bytes = 0;
  with_element(type, [&](auto element) { bytes = sizeof element; });
  return bytes;
}

template <class T>
const T* load_row(const View& view, int64_t at, int64_t stride, size_t count, T* room) {
  if (T* place = row_place<T>(view, at, stride)) return place;
  if (view.type == CUDNN_DATA_BOOLEAN) {
    for (size_t i = 0; i < count; ++i) room[i] = bit(view, at + static_cast<int64_t>(i) * stride);
    return room;
  }
  with_element(view.type, [&](auto element) {
    using S = decltype(element);
    auto* from = reinterpret_cast<const S*>(view.data) + at;
    if (stride == 0)
      std::fill_n(room, count, as_number<S, T>(*from));
    else
      load_apart<S, T>(from, stride, count, room);
  });
  return room;
}

template <class T>
void store_row(const View& view, int64_t at, int64_t stride, size_t count, const T* row, T alpha,
               T beta) {
  if (view.type == CUDNN_DATA_BOOLEAN) {
    for (size_t i = 0; i < count; ++i) {
      const int64_t place = at + static_cast<int64_t>(i) * stride;
      const T old = beta == 0 ? T{0} : beta * static_cast<T>(bit(view, place));
      set_bit(view, place, alpha * row[i] + old != 0);
    }
    return;
  }
  with_element(view.type, [&](auto element) {
    using S = decltype(element);
    store_apart<S, T>(reinterpret_cast<S*>(view.data) + at, stride, count, row, alpha, beta);
  });
}

template const float* load_row(const View&, int64_t, int64_t, size_t, float*);
template const double* load_row(const View&, int64_t, int64_t, size_t, double*);
template void store_row(const View&, int64_t, int64_t, size_t, const float*, float, float);
template void store_row(const View&, int64_t, int64_t, size_t, const double*, double, double);

}  // namespace aw::dnn
