// cuBLAS: the same operation on many matrices, by an array of pointers on the device or by strides.
#pragma once

#include "libraries/cublas/level3.h"

namespace aw::cublas {

inline uint64_t batch(int64_t count) {
  require(count >= 0);
  return static_cast<uint64_t>(count);
}

// Of matrices that a cache holds OpenBLAS is as quick; with one column it does not pack them.
inline bool narrow_each(const Shape& s) {
  const double numbers = double(std::max(s.m, s.n)) * s.k;
  return narrow(s, 1) && numbers >= (std::min(s.m, s.n) == 1 ? 1 << 20 : 1 << 18);
}

template <class T>
void gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                 int64_t m, int64_t n, int64_t k, const T* alpha, const T* const* A, int64_t lda,
                 const T* const* B, int64_t ldb, const T* beta, T* const* C, int64_t ldc,
                 int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  Shape s(transa, transb, m, n, k, lda, ldb, ldc);
  uint64_t all = batch(count);
  need<E, "gemm_">();
  if (s.empty() || !all) return;
  lib::submit(it.stream, "gemmBatched", [=] {
    const E alpha_now = a(), beta_now = b();
    if constexpr (kLetter<E> == 's')
      if (narrow_each(s)) return narrow_now(s, alpha_now, A, B, beta_now, C, all);
    lib::parallel(all, [&](uint64_t i) {
      blas<E, "gemm_">(&s.opa, &s.opb, &s.m, &s.n, &s.k, &alpha_now, elements(A[i]), &s.lda,
                       elements(B[i]), &s.ldb, &beta_now, elements(C[i]), &s.ldc);
    });
  });
}

template <class T>
void gemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                        int64_t m, int64_t n, int64_t k, const T* alpha, const T* A, int64_t lda,
                        long long strideA, const T* B, int64_t ldb, long long strideB,
                        const T* beta, T* C, int64_t ldc, long long strideC, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  Shape s(transa, transb, m, n, k, lda, ldb, ldc);
  uint64_t all = batch(count);
  need<E, "gemm_">();
  if (s.empty() || !all) return;
  lib::submit(it.stream, "gemmStridedBatched", [=] {
    const E alpha_now = a(), beta_now = b();
    if constexpr (kLetter<E> == 's')
      if (narrow(s, all))
        return narrow_now(s, alpha_now, elements(A), strideA, elements(B), strideB, beta_now,
                          elements(C), strideC, all);
    lib::parallel(all, [&](uint64_t i) {
      auto number = static_cast<int64_t>(i);
      blas<E, "gemm_">(&s.opa, &s.opb, &s.m, &s.n, &s.k, &alpha_now, elements(A) + number * strideA,
                       &s.lda, elements(B) + number * strideB, &s.ldb, &beta_now,
                       elements(C) + number * strideC, &s.ldc);
    });
  });
}
template <class... Args>
void gemm3mStridedBatched(Args... args) {
  gemmStridedBatched(args...);
}
template <class... Args>
void gemm3mBatched(Args... args) {
  gemmBatched(args...);
}

template <class T>
void gemvBatched(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n,
                 const T* alpha, const T* const* A, int64_t lda, const T* const* x, int64_t incx,
                 const T* beta, T* const* y, int64_t incy, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  char op = letter(trans);
  int rows = size(m), columns = size(n), ld = leading(lda, m), sx = step(incx), sy = step(incy);
  uint64_t all = batch(count);
  need<E, "gemv_">();
  if (!all) return;
  lib::submit(it.stream, "gemvBatched", [=] {
    const E alpha_now = a(), beta_now = b();
    lib::parallel(all, [&](uint64_t i) {
      blas<E, "gemv_">(&op, &rows, &columns, &alpha_now, elements(A[i]), &ld, elements(x[i]), &sx,
                       &beta_now, elements(y[i]), &sy);
    });
  });
}
template <class T>
void gemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n,
                        const T* alpha, const T* A, int64_t lda, long long strideA, const T* x,
                        int64_t incx, long long stridex, const T* beta, T* y, int64_t incy,
                        long long stridey, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  char op = letter(trans);
  int rows = size(m), columns = size(n), ld = leading(lda, m), sx = step(incx), sy = step(incy);
  uint64_t all = batch(count);
  need<E, "gemv_">();
  if (!all) return;
  lib::submit(it.stream, "gemvStridedBatched", [=] {
    const E alpha_now = a(), beta_now = b();
    lib::parallel(all, [&](uint64_t i) {
      auto number = static_cast<int64_t>(i);
      blas<E, "gemv_">(&op, &rows, &columns, &alpha_now, elements(A) + number * strideA, &ld,
                       elements(x) + number * stridex, &sx, &beta_now,
                       elements(y) + number * stridey, &sy);
    });
  });
}

template <class T>
void trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                 cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,
                 const T* alpha, const T* const* A, int64_t lda, T* const* B, int64_t ldb,
                 int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha);
  Triangle t(side, uplo, trans, diag, m, n, lda, ldb);
  uint64_t all = batch(count);
  need<E, "trsm_">();
  if (!all) return;
  lib::submit(it.stream, "trsmBatched", [=] {
    const E alpha_now = a();
    lib::parallel(all, [&](uint64_t i) { t.solve<E>(alpha_now, elements(A[i]), elements(B[i])); });
  });
}

// Groups of products, each with a shape, its scalars and a number of matrices of its own: all of
// that lies on the host, the pointers on the device.
template <class T>
void gemmGroupedBatched(cublasHandle_t handle, const cublasOperation_t* transa,
                        const cublasOperation_t* transb, auto* m, auto* n, auto* k, const T* alpha,
                        const T* const* A, auto* lda, const T* const* B, auto* ldb, const T* beta,
                        T* const* C, auto* ldc, int64_t groups, auto* sizes) {
  using E = Element<T>;
  auto& it = use(handle);
  struct Group {
    Shape shape;
    E alpha, beta;
    uint64_t first, count;
  };
  std::vector<Group> all;
  uint64_t total = 0;
  for (uint64_t g = 0; g < batch(groups); ++g) {
    Shape shape(transa[g], transb[g], m[g], n[g], k[g], lda[g], ldb[g], ldc[g]);
    uint64_t count = batch(sizes[g]);
    all.push_back({shape, elements(alpha)[g], elements(beta)[g], total, count});
    total += count;
  }
  need<E, "gemm_">();
  if (!total) return;
  lib::submit(it.stream, "gemmGroupedBatched", [=] {
    for (auto& group : all) {
      const Shape& s = group.shape;
      if (s.empty() || !group.count) continue;
      if constexpr (kLetter<E> == 's')
        if (narrow_each(s)) {
          narrow_now(s, group.alpha, A + group.first, B + group.first, group.beta, C + group.first,
                     group.count);
          continue;
        }
      lib::parallel(group.count, [&](uint64_t i) {
        uint64_t at = group.first + i;
        blas<E, "gemm_">(&s.opa, &s.opb, &s.m, &s.n, &s.k, &group.alpha, elements(A[at]), &s.lda,
                         elements(B[at]), &s.ldb, &group.beta, elements(C[at]), &s.ldc);
      });
    }
  });
}

}  // namespace aw::cublas
