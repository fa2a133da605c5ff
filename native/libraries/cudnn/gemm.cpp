#include "libraries/cudnn/gemm.h"

namespace aw::dnn {
namespace {

// Fortran's: by columns, so that a row-major product is the one of the transposes, turned round.
using Single = void(const char*, const char*, const int*, const int*, const int*, const float*,
                    const float*, const int*, const float*, const int*, const float*, float*,
                    const int*);
using Double = void(const char*, const char*, const int*, const int*, const int*, const double*,
                    const double*, const int*, const double*, const int*, const double*, double*,
                    const int*);

Single* single_gemm() { return lib::engine<"sgemm_", Single>(); }
Double* double_gemm() { return lib::engine<"dgemm_", Double>(); }

}  // namespace

void need_gemm() { single_gemm(), double_gemm(); }

template <class T>
void gemm(int64_t rows, int64_t columns, int64_t depth, T alpha, const Matrix<T>& a,
          const Matrix<T>& b, T beta, T* c, int64_t c_step) {
  const auto m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(depth);
  const auto lda = static_cast<int>(std::max<int64_t>(1, b.step)),
             ldb = static_cast<int>(std::max<int64_t>(1, a.step)), ldc = static_cast<int>(c_step);
  const char first = b.turned ? 'T' : 'N', second = a.turned ? 'T' : 'N';
  if constexpr (sizeof(T) == sizeof(float))
    single_gemm()(&first, &second, &m, &n, &k, &alpha, b.data, &lda, a.data, &ldb, &beta, c, &ldc);
  else
    double_gemm()(&first, &second, &m, &n, &k, &alpha, b.data, &lda, a.data, &ldb, &beta, c, &ldc);
}

void gemm(product::Type type, int64_t rows, int64_t columns, int64_t depth, float alpha,
          const Matrix<uint16_t>& a, const Matrix<uint16_t>& b, float beta, float* c,
          int64_t c_step) {
  auto factor = [&](const Matrix<uint16_t>& of) {
    product::Factor made;
    made.data = of.data, made.type = type, made.ld = std::max<int64_t>(1, of.step);
    made.transposed = of.turned;
    return made;
  };
  product::Product p;
  p.m = columns, p.n = rows, p.k = depth, p.alpha = alpha, p.beta = beta;
  p.a = factor(b), p.b = factor(a);
  p.d.data = c, p.d.ld = c_step;
  p.c = p.d;
  product::product(p);
}

template void gemm(int64_t, int64_t, int64_t, float, const Matrix<float>&, const Matrix<float>&,
                   float, float*, int64_t);
template void gemm(int64_t, int64_t, int64_t, double, const Matrix<double>&, const Matrix<double>&,
                   double, double*, int64_t);

}  // namespace aw::dnn
