#include "libraries/cutensor/walk.h"

#include <algorithm>
#include <cmath>

namespace aw::tensor {

Walk::Walk(std::vector<int32_t> modes, const std::vector<const Operand*>& operands) {
  auto strides_of = [&](int32_t mode) {
    Places out{};
    for (size_t v = 0; v < operands.size(); ++v) out[v] = operands[v]->stride(mode);
    return out;
  };
  auto key = [&](int32_t mode) {
    for (auto* operand : operands)
      if (operand->has(mode)) return std::abs(operand->stride(mode));
    return int64_t{0};
  };
  std::stable_sort(modes.begin(), modes.end(),
                   [&](int32_t a, int32_t b) { return key(a) < key(b); });
  for (int32_t mode : modes) {
    int64_t extent = 1;
    for (auto* operand : operands) extent = std::max(extent, operand->extent(mode));
    if (extent == 1) continue;
    const Places own = strides_of(mode);
    bool merges = !extents.empty();
    for (size_t v = 0; v < operands.size() && merges; ++v)
      merges = own[v] == strides.back()[v] * extents.back();
    if (merges) {
      extents.back() *= extent;
    } else {
      extents.push_back(extent);
      strides.push_back(own);
    }
  }
}

int64_t Walk::rows() const {
  int64_t product = 1;
  for (size_t i = 1; i < extents.size(); ++i) product *= extents[i];
  return product;
}

Places Walk::place(int64_t row) const {
  Places at{};
  for (size_t i = 1; i < extents.size(); ++i) {
    const int64_t index = row % extents[i];
    row /= extents[i];
    for (size_t v = 0; v < kMost; ++v) at[v] += index * strides[i][v];
  }
  return at;
}

namespace {

template <class W, class F>
void each(W* row, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) row[i] = f(row[i]);
}

}  // namespace

template <class W>
void apply(cutensorOperator_t op, W* row, int64_t count) {
  if (op == CUTENSOR_OP_IDENTITY) return;
  if constexpr (kComplex<W>) {
    if (op == CUTENSOR_OP_CONJ) each(row, count, [](W x) { return std::conj(x); });
  } else {
    auto by = [&](auto f) { each(row, count, f); };
    switch (op) {
      case CUTENSOR_OP_SQRT:
        return by([](W x) { return std::sqrt(x); });
      case CUTENSOR_OP_RELU:
        return by([](W x) { return x < 0 ? W{0} : x; });
      case CUTENSOR_OP_RCP:
        return by([](W x) { return 1 / x; });
      case CUTENSOR_OP_SIGMOID:
        return by([](W x) { return 1 / (1 + std::exp(-x)); });
      case CUTENSOR_OP_TANH:
        return by([](W x) { return std::tanh(x); });
      case CUTENSOR_OP_EXP:
        return by([](W x) { return std::exp(x); });
      case CUTENSOR_OP_LOG:
        return by([](W x) { return std::log(x); });
      case CUTENSOR_OP_ABS:
        return by([](W x) { return std::fabs(x); });
      case CUTENSOR_OP_NEG:
        return by([](W x) { return -x; });
      case CUTENSOR_OP_SIN:
        return by([](W x) { return std::sin(x); });
      case CUTENSOR_OP_COS:
        return by([](W x) { return std::cos(x); });
      case CUTENSOR_OP_TAN:
        return by([](W x) { return std::tan(x); });
      case CUTENSOR_OP_SINH:
        return by([](W x) { return std::sinh(x); });
      case CUTENSOR_OP_COSH:
        return by([](W x) { return std::cosh(x); });
      case CUTENSOR_OP_ASIN:
        return by([](W x) { return std::asin(x); });
      case CUTENSOR_OP_ACOS:
        return by([](W x) { return std::acos(x); });
      case CUTENSOR_OP_ATAN:
        return by([](W x) { return std::atan(x); });
      case CUTENSOR_OP_ASINH:
        return by([](W x) { return std::asinh(x); });
      case CUTENSOR_OP_ACOSH:
        return by([](W x) { return std::acosh(x); });
      case CUTENSOR_OP_ATANH:
        return by([](W x) { return std::atanh(x); });
      case CUTENSOR_OP_CEIL:
        return by([](W x) { return std::ceil(x); });
      case CUTENSOR_OP_FLOOR:
        return by([](W x) { return std::floor(x); });
      case CUTENSOR_OP_MISH:
        return by([](W x) { return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x))); });
      case CUTENSOR_OP_SWISH:
        return by([](W x) { return x / (1 + std::exp(-x)); });
      case CUTENSOR_OP_SOFT_PLUS:
        return by([](W x) { return x > 30 ? x : std::log1p(std::exp(x)); });
      case CUTENSOR_OP_SOFT_SIGN:
        return by([](W x) { return x / (1 + std::fabs(x)); });
      default:
        return;
    }
  }
}

template <class W>
void combine(cutensorOperator_t op, W* row, const W* other, int64_t count) {
  switch (op) {
    case CUTENSOR_OP_MUL:
      for (int64_t i = 0; i < count; ++i) row[i] *= other[i];
      return;
    case CUTENSOR_OP_MAX:
      if constexpr (!kComplex<W>)
        for (int64_t i = 0; i < count; ++i) row[i] = row[i] > other[i] ? row[i] : other[i];
      return;
    case CUTENSOR_OP_MIN:
      if constexpr (!kComplex<W>)
        for (int64_t i = 0; i < count; ++i) row[i] = row[i] < other[i] ? row[i] : other[i];
      return;
    default:
      for (int64_t i = 0; i < count; ++i) row[i] += other[i];
  }
}

#define AW_OF(W)                                        \
  template void apply(cutensorOperator_t, W*, int64_t); \
  template void combine(cutensorOperator_t, W*, const W*, int64_t);
AW_OF(float)
AW_OF(double)
AW_OF(std::complex<float>)
AW_OF(std::complex<double>)
#undef AW_OF

}  // namespace aw::tensor
