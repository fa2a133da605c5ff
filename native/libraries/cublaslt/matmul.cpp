// cublasLtMatmul. f64 and complex numbers go to OpenBLAS (dense.cpp), all else to our own product.
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/own_functions.h"
#include "libraries/cublaslt/plan.h"

namespace aw::cublaslt {
namespace {

using product::Matrix;
using product::Product;

struct Free {
  void operator()(void* it) const { free(it); }
};
using Memory = std::unique_ptr<void, Free>;

// In work: memory, or an error of the context.
Memory room(int64_t bytes) {
  Memory out(malloc(bytes > 0 ? static_cast<size_t>(bytes) : 1));
  if (!out) anywarp_fail(2, "cublasLtMatmul: no memory for copies of matrices");
  return out;
}

// As many bytes as the widest scalar has.
struct Scalar {
  alignas(16) unsigned char bytes[16];
};

struct Call {
  Plan plan;
  const void *a, *b, *c;
  void* d;
  const void *alpha, *beta;                // on the device
  Scalar host_alpha = {}, host_beta = {};  // of the host
  void* gemm = nullptr;

  bool alpha_on_host() const { return plan.desc.pointer_mode == CUBLASLT_POINTER_MODE_HOST; }
  bool beta_on_host() const {
    return alpha_on_host() ||
           plan.desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
  }
};

double number(int32_t type, const void* at) {
  if (type == CUDA_R_32I) return *static_cast<const int32_t*>(at);
  float out;
  product::to_f32(type_of(type), at, &out, 1);
  return out;
}

Matrix matrix(const void* data, const Layout& it) {
  return {data, type_of(it.type), it.ld, it.stride,
          it.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY};
}

// Copies between an order and column after column (or row after row), one matrix behind the other.
template <class T>
void reorder(const Layout& it, void* theirs, void* ours, int32_t order, bool back) {
  const auto rows = static_cast<int64_t>(it.rows), columns = static_cast<int64_t>(it.cols);
  lib::parallel(static_cast<uint64_t>(it.batch * columns), [&](uint64_t number) {
    const int64_t item = static_cast<int64_t>(number) / columns,
                  column = static_cast<int64_t>(number) % columns;
    auto* there = static_cast<T*>(theirs) + item * it.stride;
    auto* here = static_cast<T*>(ours) + item * rows * columns;
    for (int64_t row = 0; row < rows; ++row) {
      T& outside = there[place_of(it.order, it.ld, row, column)];
      T& inside = here[order == CUBLASLT_ORDER_ROW ? row * columns + column : row + column * rows];
      if (back)
        outside = inside;
      else
        inside = outside;
    }
  });
}
void reorder(const Layout& it, void* theirs, void* ours, int32_t order, bool back) {
  const size_t bytes = bytes_of(it.type);
  if (bytes == 1) return reorder<uint8_t>(it, theirs, ours, order, back);
  if (bytes == 2) return reorder<uint16_t>(it, theirs, ours, order, back);
  reorder<uint32_t>(it, theirs, ours, order, back);
}

// A matrix in an order that the product does not read, as a copy in one that it does.
bool straighten(Layout& it, const void*& data, int32_t order, Memory& copy) {
  if (it.order == order || (order < 0 && is_plain(it.order))) return true;
  const int32_t to = order < 0 ? CUBLASLT_ORDER_COL : order;
  copy = room(static_cast<int64_t>(it.rows * it.cols * bytes_of(it.type)) * it.batch);
  if (!copy) return false;
  reorder(it, const_cast<void*>(data), copy.get(), to, false);
  data = copy.get();
  it.ld = static_cast<int64_t>(to == CUBLASLT_ORDER_ROW ? it.cols : it.rows), it.order = to;
  it.stride = static_cast<int64_t>(it.rows * it.cols);
  return true;
}

// Compute types such as CUBLAS_COMPUTE_32F_FAST_TF32 permit factors of fewer digits, for speed:
// here f32 is as fast, and stays f32, as in cuBLAS and PyTorch.
product::Factor factor(const void* data, const Layout& it, bool turned) {
  product::Factor out;
  static_cast<Matrix&>(out) = matrix(data, it);
  out.transposed = turned != (it.order == CUBLASLT_ORDER_ROW);
  return out;
}

// What the epilogues of gradients do to a column.
struct Gradient {
  const Plan& plan;
  float* kept;  // D in f32, for the gradient of the bias

  static float derivative(float x) {  // of GELU by tanh
    const float inner = 0.7978845608f * (x + 0.044715f * x * x * x), t = std::tanh(inner);
    const float bounded = std::fmin(std::fmax(x, -16.0f), 16.0f);  // beyond, 1 - t * t is 0
    return 0.5f * (1 + t) +
           0.5f * bounded * (1 - t * t) * 0.7978845608f * (1 + 0.134145f * bounded * bounded);
  }

  void operator()(int64_t item, int64_t row, int64_t column, int64_t count, float* values) const {
    const auto& desc = plan.desc;
    const int64_t first = item * desc.aux_stride + column * desc.aux_ld + row;
    auto* aux = static_cast<const uint8_t*>(desc.aux);
    if (plan.has(kDrelu)) {
      for (int64_t i = 0; i < count; ++i)
        if (!(aux[(first + i) / 8] >> ((first + i) % 8) & 1)) values[i] = 0;
    } else {
      const auto bytes = static_cast<int64_t>(bytes_of(plan.aux_type));
      for (int64_t i = 0; i < count; i += 64) {
        float x[64];
        const int64_t some = std::min<int64_t>(64, count - i);
        product::to_f32(type_of(plan.aux_type), aux + (first + i) * bytes, x, some);
        for (int64_t j = 0; j < some; ++j) values[i + j] *= derivative(x[j]);
      }
    }
    if (kept) std::copy_n(values, count, kept + (item * plan.n + column) * plan.m + row);
  }
};

// The sum of a matrix over its columns, or over its rows where `turned`, as a product with ones.
void sum_up(const Plan& plan, product::Factor of, int64_t count, int64_t length) {
  Memory ones = room(length * 4);
  if (!ones) return;
  std::fill_n(static_cast<float*>(ones.get()), length, 1.0f);
  Product p;
  p.m = count, p.n = 1, p.k = length, p.batch = plan.batch;
  p.a = of;
  p.b.data = ones.get(), p.b.ld = length > 0 ? length : 1;
  p.d = {plan.desc.bias, type_of(plan.bias_type), count, plan.desc.bias_stride, false};
  product::product(p);
}

void run(const Call& call) {
  const Plan& plan = call.plan;
  const auto& desc = plan.desc;
  const void* alpha = call.alpha_on_host() ? call.host_alpha.bytes : call.alpha;
  const void* beta = call.beta_on_host() ? call.host_beta.bytes : call.beta;
  if (plan.dense) return run_dense({plan, call.a, call.b, call.c, call.d, call.gemm}, alpha, beta);

  Product p;
  p.batch = plan.batch, p.k = plan.k, p.integer = plan.integer;
  if (desc.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR) {
    p.alpha_rows = static_cast<const float*>(alpha);
    if (desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
      p.beta_rows = static_cast<const float*>(beta);
    if (desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
      p.beta = number(desc.scale_type, beta);
  } else {
    p.alpha = number(desc.scale_type, alpha), p.beta = number(desc.scale_type, beta);
  }

  Layout a = plan.a, b = plan.b, c = plan.c, d = plan.d;
  const void *a_data = call.a, *b_data = call.b, *c_data = call.c;
  void* d_data = call.d;
  Memory copies[4];
  const bool reads_c = p.beta != 0 || p.beta_rows;
  if (!straighten(a, a_data, -1, copies[0]) || !straighten(b, b_data, -1, copies[1])) return;
  if (reads_c &&
      !straighten(c, c_data, plan.swapped ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, copies[2]))
    return;
  if (!is_plain(d.order)) {
    copies[3] = room(plan.m * plan.n * plan.batch * static_cast<int64_t>(bytes_of(d.type)));
    if (!copies[3]) return;
    d_data = copies[3].get();
    d.order = CUBLASLT_ORDER_COL, d.ld = plan.m, d.stride = plan.m * plan.n;
  }

  auto left = factor(a_data, a, desc.trans_a != CUBLAS_OP_N);
  auto right = factor(b_data, b, desc.trans_b != CUBLAS_OP_N);
  const float *left_scale = nullptr, *right_scale = nullptr;
  auto scale = [&](void* pointer, int32_t type, int32_t mode, const float*& vector) {
    if (!pointer || !is_fp8(type)) return;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F)
      vector = static_cast<const float*>(pointer);
    else
      p.alpha *= *static_cast<const float*>(pointer);
  };
  scale(desc.a_scale, a.type, desc.a_scale_mode, left_scale);
  scale(desc.b_scale, b.type, desc.b_scale_mode, right_scale);
  if (desc.d_scale && is_fp8(d.type)) p.d_scale = *static_cast<const float*>(desc.d_scale);
  if (desc.aux_scale && plan.has(kAux) && is_fp8(plan.aux_type))
    p.aux_scale = *static_cast<const float*>(desc.aux_scale);

  p.m = plan.m, p.n = plan.n, p.a = left, p.b = right, p.a_scale = left_scale,
  p.b_scale = right_scale;
  if (plan.swapped) {
    p.m = plan.n, p.n = plan.m, p.a = right, p.b = left, p.a_scale = right_scale,
    p.b_scale = left_scale;
    p.a.transposed = !right.transposed, p.b.transposed = !left.transposed;
  }
  p.c = matrix(c_data, c), p.d = matrix(d_data, d);
  if (plan.has(kBias))
    p.bias = {desc.bias, type_of(plan.bias_type), plan.swapped, desc.bias_stride};
  p.d_amax = static_cast<float*>(desc.amax_d);

  Memory kept;
  if (plan.has(kBgrad) && !(kept = room(plan.m * plan.n * plan.batch * 4))) return;
  const Gradient gradient{plan, static_cast<float*>(kept.get())};
  if (plan.has(kDrelu | kDgelu)) {
    p.context = const_cast<Gradient*>(&gradient);
    p.hook = [](void* it, int64_t item, int64_t row, int64_t column, int64_t count, float* values) {
      (*static_cast<const Gradient*>(it))(item, row, column, count, values);
    };
  } else {
    if (plan.has(kRelu)) p.activation = product::Activation::relu;
    if (plan.has(kGelu)) p.activation = product::Activation::gelu;
    if (plan.has(kAux)) {
      p.aux = {desc.aux, type_of(plan.aux_type), desc.aux_ld, desc.aux_stride, false};
      p.aux_mask = plan.has(kRelu);
      p.aux_amax = static_cast<float*>(desc.aux_amax);
    }
  }
  product::product(p);

  if (kept) {
    product::Factor sums;
    sums.data = kept.get(), sums.ld = plan.m, sums.stride = plan.m * plan.n;
    sum_up(plan, sums, plan.m, plan.n);
  }
  if (plan.has(kBgradA)) sum_up(plan, left, plan.m, plan.k);
  if (plan.has(kBgradB)) {
    right.transposed = !right.transposed;
    sum_up(plan, right, plan.n, plan.k);
  }
  if (copies[3]) reorder(plan.d, call.d, d_data, CUBLASLT_ORDER_COL, true);
}

}  // namespace
}  // namespace aw::cublaslt

using namespace aw::cublaslt;

AW_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                        const void* alpha, const void* a,
                                        cublasLtMatrixLayout_t a_layout, const void* b,
                                        cublasLtMatrixLayout_t b_layout, const void* beta,
                                        const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                        cublasLtMatrixLayout_t d_layout,
                                        const cublasLtMatmulAlgo_t* algorithm, void*, size_t,
                                        cudaStream_t stream) {
  return api<"cublasLtMatmul">(
      [&] {
        use(handle);
        aw::lib::ensure_context();
        if (algorithm) of(algorithm);
        Call call = {planned(of(desc), of(a_layout), of(b_layout), of(c_layout), of(d_layout)),
                     a,
                     b,
                     c,
                     d,
                     alpha,
                     beta};
        const Plan& plan = call.plan;
        const bool no_beta =
            plan.desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
        require(alpha && (beta || no_beta));
        if (plan.m == 0 || plan.n == 0) return;
        require(d && (plan.k == 0 || (a && b)));
        if (plan.has(kBias | kBgrad | kBgradA | kBgradB)) require(plan.desc.bias != nullptr);
        if (plan.has(kAux)) {
          require(plan.desc.aux && plan.desc.aux_ld >= plan.m);
          if (plan.has(kRelu | kDrelu))
            require(plan.desc.aux_ld % 128 == 0 && plan.desc.aux_stride % 8 == 0);
        }
        const size_t bytes = bytes_of(plan.desc.scale_type);
        if (call.alpha_on_host()) memcpy(call.host_alpha.bytes, alpha, bytes);
        if (call.beta_on_host()) {
          memcpy(call.host_beta.bytes, beta, bytes);
          const Scalar zero = {};  // -0.0 is none of what C may be missing for
          require(c || memcmp(call.host_beta.bytes, zero.bytes, bytes) == 0);
        }
        if (plan.dense) call.gemm = dense_engine(plan);
        aw::lib::submit(stream, "cublasLtMatmul", [call] { run(call); });
      },
      handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algorithm,
      stream);
}
