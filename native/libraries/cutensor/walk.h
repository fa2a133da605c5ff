// Several tensors walked together, a row of elements at a time, as numbers to compute with.
#pragma once

#include <array>
#include <complex>
#include <cstdlib>
#include <memory>
#include <new>

#include "libraries/cutensor/tensors.h"
#include "libraries/float_formats.h"

namespace aw::tensor {

constexpr int64_t kRow = 512;       // elements that are handled at a time
constexpr int64_t kTask = 1 << 15;  // below that another thread is not worth it
constexpr size_t kMost = 4;         // tensors

using Places = std::array<int64_t, kMost>;

// Loops over modes, the innermost first; those that can be are one.
struct Walk {
  std::vector<int64_t> extents;
  std::vector<Places> strides;

  // In the order of the strides of the first operand that has a mode.
  Walk(std::vector<int32_t> modes, const std::vector<const Operand*>& operands);
  int64_t rows() const;
  int64_t row() const { return extents.empty() ? 1 : extents[0]; }
  int64_t step(size_t operand) const { return extents.empty() ? 0 : strides[0][operand]; }
  Places place(int64_t row) const;
};

// body(places of the first element, count) for all rows, pieces of at most kRow.
template <class Body>
void each_row(const Walk& walk, const Body& body) {
  const int64_t length = walk.row(), pieces = (length + kRow - 1) / kRow;
  const int64_t all = walk.rows() * pieces,
                group = std::max<int64_t>(1, kTask / std::min(length, kRow));
  lib::parallel(static_cast<uint64_t>((all + group - 1) / group), [&](uint64_t number) {
    const auto first = static_cast<int64_t>(number) * group;
    for (int64_t i = first; i < std::min(all, first + group); ++i) {
      const int64_t from = i % pieces * kRow;
      Places at = walk.place(i / pieces);
      for (size_t v = 0; v < kMost; ++v) at[v] += from * walk.step(v);
      body(at, std::min(kRow, length - from));
    }
  });
}

template <class W>
constexpr bool kComplex = !std::is_floating_point_v<W>;

// body(S{}) with the C++ type of the elements.
template <class W, class Body>
void with_element(cudaDataType_t type, const Body& body) {
  switch (type) {
    case CUDA_R_16F:
      return body(formats::Half{});
    case CUDA_R_16BF:
      return body(formats::Brain{});
    case CUDA_R_64F:
      return body(double{});
    case CUDA_C_32F:
      if constexpr (kComplex<W>) body(std::complex<float>{});
      return;
    case CUDA_C_64F:
      if constexpr (kComplex<W>) body(std::complex<double>{});
      return;
    default:
      return body(float{});
  }
}

template <class W, class S>
W number(S value) {
  if constexpr (requires { value.bits; })
    return W(formats::widen(value));
  else if constexpr (requires { value.real(); })
    return W(static_cast<typename W::value_type>(value.real()),
             static_cast<typename W::value_type>(value.imag()));
  else
    return W(static_cast<decltype(std::real(W{}))>(value));
}
template <class S, class W>
void put(W value, S& to) {
  if constexpr (requires { to.bits; })
    formats::narrow(static_cast<float>(std::real(value)), to);
  else if constexpr (requires { to.real(); })
    to = number<S>(value);
  else
    to = static_cast<S>(std::real(value));
}

template <class W>
void load(const Operand& from, const void* data, int64_t at, int64_t step, int64_t count, W* to) {
  with_element<W>(from.tensor.type, [&](auto element) {
    auto* source = static_cast<const decltype(element)*>(data) + at;
    if (step == 1)
      for (int64_t i = 0; i < count; ++i) to[i] = number<W>(source[i]);
    else
      for (int64_t i = 0; i < count; ++i) to[i] = number<W>(source[i * step]);
  });
}
template <class W>
void store(const Operand& to, void* data, int64_t at, int64_t step, int64_t count, const W* from) {
  with_element<W>(to.tensor.type, [&](auto element) {
    auto* target = static_cast<decltype(element)*>(data) + at;
    if (step == 1)
      for (int64_t i = 0; i < count; ++i) put(from[i], target[i]);
    else
      for (int64_t i = 0; i < count; ++i) put(from[i], target[i * step]);
  });
}

// The value of a scalar on the host.
template <class W>
W scalar(const Operation& operation, const void* at) {
  require(at);
  W value{};
  with_element<W>(operation.scalar, [&](auto element) {
    value = number<W>(*static_cast<const decltype(element)*>(at));
  });
  return value;
}

template <class W>
void apply(cutensorOperator_t op, W* row, int64_t count);
template <class W>
void combine(cutensorOperator_t op, W* row, const W* other, int64_t count);

// body(W{}) with the type that an operation is computed in.
template <class Body>
void computed(const Operation& operation, const Body& body) {
  const bool complex = is_complex(operation.operands.back().tensor.type);
  if (operation.wide) return complex ? body(std::complex<double>{}) : body(double{});
  return complex ? body(std::complex<float>{}) : body(float{});
}

// Memory for the time of some work, taken before it is given to a stream.
template <class W>
std::shared_ptr<W> room(int64_t count) {
  auto* made = static_cast<W*>(std::malloc(static_cast<size_t>(count) * sizeof(W)));
  if (!made) throw std::bad_alloc();
  return std::shared_ptr<W>(made, std::free);
}

}  // namespace aw::tensor
