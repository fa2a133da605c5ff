// cublasLtMatrixTransform: C = alpha op(A) + beta op(B), from any order and type to any other.
#include <algorithm>

#include "libraries/cublaslt/plan.h"

namespace aw::cublaslt {
namespace {

// Elements of a column are collected and dispersed so many at a time.
constexpr int64_t kSome = 256;

struct Source {
  const uint8_t* data = nullptr;
  Layout layout;
  bool turned = false;

  // `count` elements of column `column` of op(matrix), from `row` on, one behind the other.
  void collect(int64_t item, int64_t row, int64_t column, int64_t count, uint8_t* to) const {
    const auto bytes = static_cast<int64_t>(bytes_of(layout.type));
    const uint8_t* base = data + item * layout.stride * bytes;
    if (layout.order == CUBLASLT_ORDER_COL && !turned) {
      memcpy(to, base + (row + column * layout.ld) * bytes, static_cast<size_t>(count * bytes));
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = turned ? place_of(layout.order, layout.ld, column, row + i)
                                : place_of(layout.order, layout.ld, row + i, column);
      memcpy(to + i * bytes, base + at * bytes, static_cast<size_t>(bytes));
    }
  }
};

struct Transform {
  Source a, b;
  uint8_t* data;
  Layout c;
  bool whole;  // computed in s32
  double alpha, beta;

  void disperse(int64_t item, int64_t row, int64_t column, int64_t count,
                const uint8_t* from) const {
    const auto bytes = static_cast<int64_t>(bytes_of(c.type));
    uint8_t* base = data + item * c.stride * bytes;
    for (int64_t i = 0; i < count; ++i)
      memcpy(base + place_of(c.order, c.ld, row + i, column) * bytes, from + i * bytes,
             static_cast<size_t>(bytes));
  }

  void whole_numbers(int64_t item, int64_t row, int64_t column, int64_t count, uint8_t* out) const {
    int32_t sums[kSome] = {};
    auto add = [&](const Source& from, double factor) {
      if (factor == 0 || !from.data) return;
      alignas(64) uint8_t raw[kSome * 4];
      from.collect(item, row, column, count, raw);
      for (int64_t i = 0; i < count; ++i) {
        const int32_t value = from.layout.type == CUDA_R_8I ? reinterpret_cast<int8_t*>(raw)[i]
                                                            : reinterpret_cast<int32_t*>(raw)[i];
        sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                       static_cast<uint32_t>(value) *
                                           static_cast<uint32_t>(static_cast<int32_t>(factor)));
      }
    };
    add(a, alpha), add(b, beta);
    for (int64_t i = 0; i < count; ++i) {
      if (c.type == CUDA_R_8I)
        reinterpret_cast<int8_t*>(out)[i] = static_cast<int8_t>(std::clamp(sums[i], -128, 127));
      else
        reinterpret_cast<int32_t*>(out)[i] = sums[i];
    }
  }

  void column(int64_t item, int64_t at) const {
    const auto rows = static_cast<int64_t>(c.rows);
    const bool copies = alpha == 1 && (beta == 0 || !b.data) && a.data && a.layout.type == c.type;
    for (int64_t row = 0; row < rows; row += kSome) {
      const int64_t count = std::min(kSome, rows - row);
      alignas(64) uint8_t out[kSome * 4];
      if (copies) {
        a.collect(item, row, at, count, out);
      } else if (whole) {
        whole_numbers(item, row, at, count, out);
      } else {
        float sums[kSome] = {};
        auto add = [&](const Source& from, double factor) {
          if (factor == 0 || !from.data) return;
          alignas(64) uint8_t raw[kSome * 4];
          float values[kSome];
          from.collect(item, row, at, count, raw);
          product::to_f32(type_of(from.layout.type), raw, values, count);
          for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<float>(factor) * values[i];
        };
        add(a, alpha), add(b, beta);
        product::from_f32(type_of(c.type), sums, out, count);
      }
      disperse(item, row, at, count, out);
    }
  }

  void run() const {
    const auto columns = static_cast<int64_t>(c.cols);
    lib::parallel(static_cast<uint64_t>(columns * c.batch), [&](uint64_t number) {
      column(static_cast<int64_t>(number) / columns, static_cast<int64_t>(number) % columns);
    });
  }
};

Source source(const void* data, cublasLtMatrixLayout_t layout, int32_t operation, const Layout& c) {
  Source out;
  if (!layout) {
    require(data == nullptr);
    return out;
  }
  out.data = static_cast<const uint8_t*>(data), out.layout = of(layout),
  out.turned = operation != CUBLAS_OP_N;
  require(operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C);
  const auto& it = out.layout;
  require((out.turned ? it.cols : it.rows) == c.rows &&
          (out.turned ? it.rows : it.cols) == c.cols && it.batch == c.batch);
  return out;
}

void check_side(const Layout& it, bool whole) {
  const auto rows = static_cast<int64_t>(it.rows), cols = static_cast<int64_t>(it.cols);
  require(rows >= 0 && cols >= 0 && it.batch >= 1 && it.order >= CUBLASLT_ORDER_COL &&
          it.order <= CUBLASLT_ORDER_COL32_2R_4R4);
  check_size(it.rows, it.cols, it.batch);
  if (is_plain(it.order))
    require(it.ld >= std::max<int64_t>(1, it.order == CUBLASLT_ORDER_ROW ? cols : rows));
  if (it.batch_mode != CUBLASLT_BATCH_MODE_STRIDED)
    unsupported("cublasLtMatrixTransform of arrays of pointers");
  type_of(it.type);
  if (whole && it.type != CUDA_R_8I && it.type != CUDA_R_32I)
    unsupported("cublasLtMatrixTransform of fractions with scale type CUDA_R_32I");
}

}  // namespace
}  // namespace aw::cublaslt

using namespace aw::cublaslt;

AW_EXPORT cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                                 cublasLtMatrixTransformDesc_t desc,
                                                 const void* alpha, const void* a,
                                                 cublasLtMatrixLayout_t a_layout, const void* beta,
                                                 const void* b, cublasLtMatrixLayout_t b_layout,
                                                 void* c, cublasLtMatrixLayout_t c_layout,
                                                 cudaStream_t stream) {
  return api<"cublasLtMatrixTransform">(
      [&] {
        use(handle);
        aw::lib::ensure_context();
        const TransformDesc it = of(desc);
        Transform call = {};
        call.c = of(c_layout), call.data = static_cast<uint8_t*>(c);
        call.a = source(a, a_layout, it.trans_a, call.c),
        call.b = source(b, b_layout, it.trans_b, call.c);
        call.whole = it.scale_type == CUDA_R_32I;
        if (it.scale_type != CUDA_R_32F && it.scale_type != CUDA_R_32I &&
            it.scale_type != CUDA_R_16F)
          unsupported("cublasLtMatrixTransform with scale type " + std::to_string(it.scale_type));
        if (it.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE)
          unsupported("cublasLtMatrixTransform with vectors of alpha");
        check_side(call.c, call.whole);
        if (a_layout) check_side(call.a.layout, call.whole);
        if (b_layout) check_side(call.b.layout, call.whole);
        if (call.c.rows == 0 || call.c.cols == 0) return;
        require(c && (alpha || !call.a.data) && (beta || !call.b.data));
        auto number = [type = it.scale_type](const void* at) -> double {
          if (!at) return 0;
          if (type == CUDA_R_32I) return *static_cast<const int32_t*>(at);
          float out;
          aw::product::to_f32(type_of(type), at, &out, 1);
          return out;
        };
        const bool host = it.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
        if (host) call.alpha = number(alpha), call.beta = number(beta);
        if (host) require((call.alpha == 0 || a) && (call.beta == 0 || b));
        aw::lib::submit(stream, "cublasLtMatrixTransform", [=]() mutable {
          if (!host) call.alpha = number(alpha), call.beta = number(beta);
          call.run();
        });
      },
      handle, desc, alpha, a, a_layout, beta, b, b_layout, c, c_layout, stream);
}
