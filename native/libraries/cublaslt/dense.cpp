// f64 and complex products by OpenBLAS, in blocks of D of a fixed size, so that bits do not depend
// on the number of threads.
#include <algorithm>
#include <complex>
#include <limits>

#include "libraries/cublaslt/plan.h"
#include "libraries/engine.h"

namespace aw::cublaslt {
namespace {

using Gemm = void(const char*, const char*, const int*, const int*, const int*, const void*,
                  const void*, const int*, const void*, const int*, const void*, void*, const int*);

// A side of D in equal parts.
struct Cut {
  int64_t side, parts;
  explicit Cut(int64_t size) {
    constexpr int64_t kMost = 384, kUnit = 16;
    parts = (size + kMost - 1) / kMost;
    side = ((size + parts - 1) / parts + kUnit - 1) / kUnit * kUnit;
    parts = (size + side - 1) / side;
  }
};

// op(A) of what is stored in row order is an operation on its transpose. OpenBLAS knows R:
// conjugated, not turned.
char letter(int32_t operation, bool row_order, bool swapped) {
  const bool turned = (operation != CUBLAS_OP_N) != (row_order != swapped);
  const bool conjugated = operation == CUBLAS_OP_C;
  return turned ? (conjugated ? 'C' : 'T') : (conjugated ? 'R' : 'N');
}

template <class T>
struct Dense {
  const DenseCall& call;
  const Plan& plan;
  T alpha, beta;

  static const T* item(const void* data, const Layout& it, int64_t number) {
    if (it.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY)
      return static_cast<const T* const*>(data)[number];
    return static_cast<const T*>(data) + number * it.stride;
  }

  // Rows [row, row + m) and columns [column, column + n) of what is stored column after column.
  void block(int64_t number, int64_t row, int64_t column, int64_t m, int64_t n) const {
    const Layout &left = plan.swapped ? plan.b : plan.a, &right = plan.swapped ? plan.a : plan.b;
    const char ta = letter(plan.swapped ? plan.desc.trans_b : plan.desc.trans_a,
                           left.order == CUBLASLT_ORDER_ROW, plan.swapped);
    const char tb = letter(plan.swapped ? plan.desc.trans_a : plan.desc.trans_b,
                           right.order == CUBLASLT_ORDER_ROW, plan.swapped);
    const bool a_turned = ta == 'T' || ta == 'C', b_turned = tb == 'T' || tb == 'C';
    const T* a =
        item(plan.swapped ? call.b : call.a, left, number) + (a_turned ? row * left.ld : row);
    const T* b = item(plan.swapped ? call.a : call.b, right, number) +
                 (b_turned ? column : column * right.ld);
    T* d = const_cast<T*>(item(call.d, plan.d, number)) + row + column * plan.d.ld;
    if (beta != T(0)) {
      const T* c = item(call.c, plan.c, number) + row + column * plan.c.ld;
      if (c != d)
        for (int64_t j = 0; j < n; ++j) std::copy_n(c + j * plan.c.ld, m, d + j * plan.d.ld);
    }
    const int sizes[] = {static_cast<int>(m), static_cast<int>(n), static_cast<int>(plan.k)};
    const int steps[] = {static_cast<int>(left.ld), static_cast<int>(right.ld),
                         static_cast<int>(plan.d.ld)};
    if (plan.k > 0) {
      reinterpret_cast<Gemm*>(call.gemm)(&ta, &tb, &sizes[0], &sizes[1], &sizes[2], &alpha, a,
                                         &steps[0], b, &steps[1], &beta, d, &steps[2]);
    } else {
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i)
          d[i + j * plan.d.ld] = beta == T(0) ? T(0) : beta * d[i + j * plan.d.ld];
    }
    if constexpr (std::is_same_v<T, double>) {
      if (!plan.has(kBias | kRelu)) return;
      auto* bias = plan.has(kBias)
                       ? static_cast<const double*>(plan.desc.bias) + number * plan.desc.bias_stride
                       : nullptr;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
          double& value = d[i + j * plan.d.ld];
          if (bias) value += bias[plan.swapped ? column + j : row + i];
          if (plan.has(kRelu) && value < 0) value = 0;
        }
    }
  }

  void run() const {
    const int64_t m = plan.swapped ? plan.n : plan.m, n = plan.swapped ? plan.m : plan.n;
    const Cut down(m), across(n);
    lib::parallel(static_cast<uint64_t>(down.parts * across.parts * plan.batch),
                  [&](uint64_t number) {
                    const auto at = static_cast<int64_t>(number);
                    const int64_t row = at % down.parts * down.side,
                                  column = at / down.parts % across.parts * across.side;
                    block(at / (down.parts * across.parts), row, column,
                          std::min(down.side, m - row), std::min(across.side, n - column));
                  });
  }
};

template <class T>
void run_as(const DenseCall& call, const void* alpha, const void* beta) {
  Dense<T>{call, call.plan, *static_cast<const T*>(alpha), *static_cast<const T*>(beta)}.run();
}

}  // namespace

void* dense_engine(const Plan& plan) {
  for (const Layout* it : {&plan.a, &plan.b, &plan.c, &plan.d})
    if (it->ld > std::numeric_limits<int>::max() || plan.k > std::numeric_limits<int>::max())
      unsupported("f64 or complex matrices with sides of more than 2^31 elements");
  return lib::engine_symbol(plan.d.type == CUDA_R_64F   ? "dgemm_"
                            : plan.d.type == CUDA_C_32F ? "cgemm_"
                                                        : "zgemm_");
}

void run_dense(const DenseCall& call, const void* alpha, const void* beta) {
  if (call.plan.d.type == CUDA_R_64F) return run_as<double>(call, alpha, beta);
  if (call.plan.d.type == CUDA_C_32F) return run_as<std::complex<float>>(call, alpha, beta);
  run_as<std::complex<double>>(call, alpha, beta);
}

}  // namespace aw::cublaslt
