// cuBLAS level 2: a matrix and vectors, full, banded and packed.
#pragma once

#include "libraries/cublas/blas.h"

namespace aw::cublas {

// y = alpha op(A) x + beta y, whatever the matrix is: `call` gets both scalars by address.
template <class E, class Call>
void with_scalars(cublasContext& it, const char* name, const void* alpha, const void* beta,
                  Call call) {
  Scalar<E> a(it, alpha), b(it, beta);
  lib::submit(it.stream, name, [=] {
    const E alpha_now = a(), beta_now = b();
    call(&alpha_now, &beta_now);
  });
}

template <class T>
void gemv(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, const T* alpha,
          const T* A, int64_t lda, const T* x, int64_t incx, const T* beta, T* y, int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  char op = letter(trans);
  int rows = size(m), columns = size(n), ld = leading(lda, m), sx = step(incx), sy = step(incy);
  need<E, "gemv_">();
  with_scalars<E>(it, "gemv", alpha, beta, [=](const E* a, const E* b) {
    blas<E, "gemv_">(&op, &rows, &columns, a, elements(A), &ld, elements(x), &sx, b, elements(y),
                     &sy);
  });
}

template <class T>
void gbmv(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, int64_t kl,
          int64_t ku, const T* alpha, const T* A, int64_t lda, const T* x, int64_t incx,
          const T* beta, T* y, int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  char op = letter(trans);
  int rows = size(m), columns = size(n), low = size(kl), up = size(ku),
      ld = leading(lda, kl + ku + 1), sx = step(incx), sy = step(incy);
  need<E, "gbmv_">();
  with_scalars<E>(it, "gbmv", alpha, beta, [=](const E* a, const E* b) {
    blas<E, "gbmv_">(&op, &rows, &columns, &low, &up, a, elements(A), &ld, elements(x), &sx, b,
                     elements(y), &sy);
  });
}

// Products with symmetric and Hermitian matrices: full, banded, packed.
template <Name Function, class T>
void symmetric_full(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const T* alpha,
                    const T* A, int64_t lda, const T* x, int64_t incx, const T* beta, T* y,
                    int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo);
  int count = size(n), ld = leading(lda, n), sx = step(incx), sy = step(incy);
  need<E, Function>();
  with_scalars<E>(it, Function.text, alpha, beta, [=](const E* a, const E* b) {
    blas<E, Function>(&fill, &count, a, elements(A), &ld, elements(x), &sx, b, elements(y), &sy);
  });
}
template <Name Function, class T>
void symmetric_band(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t k,
                    const T* alpha, const T* A, int64_t lda, const T* x, int64_t incx,
                    const T* beta, T* y, int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo);
  int count = size(n), width = size(k), ld = leading(lda, k + 1), sx = step(incx), sy = step(incy);
  need<E, Function>();
  with_scalars<E>(it, Function.text, alpha, beta, [=](const E* a, const E* b) {
    blas<E, Function>(&fill, &count, &width, a, elements(A), &ld, elements(x), &sx, b, elements(y),
                      &sy);
  });
}
template <Name Function, class T>
void symmetric_packed(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const T* alpha,
                      const T* AP, const T* x, int64_t incx, const T* beta, T* y, int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo);
  int count = size(n), sx = step(incx), sy = step(incy);
  need<E, Function>();
  with_scalars<E>(it, Function.text, alpha, beta, [=](const E* a, const E* b) {
    blas<E, Function>(&fill, &count, a, elements(AP), elements(x), &sx, b, elements(y), &sy);
  });
}
template <class... Args>
void symv(Args... args) {
  symmetric_full<"symv_">(args...);
}
template <class... Args>
void hemv(Args... args) {
  symmetric_full<"hemv_">(args...);
}
template <class... Args>
void sbmv(Args... args) {
  symmetric_band<"sbmv_">(args...);
}
template <class... Args>
void hbmv(Args... args) {
  symmetric_band<"hbmv_">(args...);
}
template <class... Args>
void spmv(Args... args) {
  symmetric_packed<"spmv_">(args...);
}
template <class... Args>
void hpmv(Args... args) {
  symmetric_packed<"hpmv_">(args...);
}

// Products and solutions with triangular matrices, in place.
template <Name Function, class T>
void triangular_full(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                     cublasDiagType_t diag, int64_t n, const T* A, int64_t lda, T* x,
                     int64_t incx) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo), op = letter(trans), unit = letter(diag);
  int count = size(n), ld = leading(lda, n), sx = step(incx);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    blas<E, Function>(&fill, &op, &unit, &count, elements(A), &ld, elements(x), &sx);
  });
}
template <Name Function, class T>
void triangular_band(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                     cublasDiagType_t diag, int64_t n, int64_t k, const T* A, int64_t lda, T* x,
                     int64_t incx) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo), op = letter(trans), unit = letter(diag);
  int count = size(n), width = size(k), ld = leading(lda, k + 1), sx = step(incx);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    blas<E, Function>(&fill, &op, &unit, &count, &width, elements(A), &ld, elements(x), &sx);
  });
}
template <Name Function, class T>
void triangular_packed(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                       cublasDiagType_t diag, int64_t n, const T* AP, T* x, int64_t incx) {
  using E = Element<T>;
  auto& it = use(handle);
  char fill = letter(uplo), op = letter(trans), unit = letter(diag);
  int count = size(n), sx = step(incx);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    blas<E, Function>(&fill, &op, &unit, &count, elements(AP), elements(x), &sx);
  });
}
#define AW_TRIANGULAR(name, kind)                                                  \
  template <class... Args>                                                         \
  void name(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
            cublasDiagType_t diag, int64_t n, Args... args) {                      \
    triangular_##kind<#name "_">(handle, uplo, trans, diag, n, args...);           \
  }
AW_TRIANGULAR(trmv, full)
AW_TRIANGULAR(trsv, full)
AW_TRIANGULAR(tbmv, band)
AW_TRIANGULAR(tbsv, band)
AW_TRIANGULAR(tpmv, packed)
AW_TRIANGULAR(tpsv, packed)
#undef AW_TRIANGULAR

// Updates of rank one and two.
template <Name Function, class T>
void rank_one(cublasHandle_t handle, int64_t m, int64_t n, const T* alpha, const T* x, int64_t incx,
              const T* y, int64_t incy, T* A, int64_t lda) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> factor(it, alpha);
  int rows = size(m), columns = size(n), sx = step(incx), sy = step(incy), ld = leading(lda, m);
  need<E, Function>();
  lib::submit(it.stream, "ger", [=] {
    const E f = factor();
    blas<E, Function>(&rows, &columns, &f, elements(x), &sx, elements(y), &sy, elements(A), &ld);
  });
}
template <class... Args>
void ger(Args... args) {
  rank_one<"ger_">(args...);
}
template <class... Args>
void geru(Args... args) {
  rank_one<"geru_">(args...);
}
template <class... Args>
void gerc(Args... args) {
  rank_one<"gerc_">(args...);
}

// The factor of Hermitian updates of rank one is real.
template <Name Function, class T, class A>
void rank_one_full(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const A* alpha,
                   const T* x, int64_t incx, T* matrix, int64_t lda) {
  using E = Element<T>;
  using F = Element<A>;
  auto& it = use(handle);
  Scalar<F> factor(it, alpha);
  char fill = letter(uplo);
  int count = size(n), sx = step(incx), ld = leading(lda, n);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    const F f = factor();
    blas<E, Function>(&fill, &count, &f, elements(x), &sx, elements(matrix), &ld);
  });
}
template <Name Function, class T, class A>
void rank_one_packed(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const A* alpha,
                     const T* x, int64_t incx, T* packed) {
  using E = Element<T>;
  using F = Element<A>;
  auto& it = use(handle);
  Scalar<F> factor(it, alpha);
  char fill = letter(uplo);
  int count = size(n), sx = step(incx);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    const F f = factor();
    blas<E, Function>(&fill, &count, &f, elements(x), &sx, elements(packed));
  });
}
template <class... Args>
void syr(Args... args) {
  rank_one_full<"syr_">(args...);
}
template <class... Args>
void her(Args... args) {
  rank_one_full<"her_">(args...);
}
template <class... Args>
void spr(Args... args) {
  rank_one_packed<"spr_">(args...);
}
template <class... Args>
void hpr(Args... args) {
  rank_one_packed<"hpr_">(args...);
}

// A += alpha x y' + (alpha or its conjugate) y x', one triangle of it. LAPACK has no such for
// symmetric complex matrices.
template <bool Hermitian, class T, class At>
void rank_two(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
              int64_t incx, const T* y, int64_t incy, T* matrix, At at) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> factor(it, alpha);
  bool lower = letter(uplo) == 'L';
  size(n), step(incx), step(incy);
  const E* u = first_of(elements(x), n, incx);
  const E* v = first_of(elements(y), n, incy);
  lib::submit(it.stream, Hermitian ? "her2" : "syr2", [=, into = elements(matrix)] {
    const E f = factor();
    auto other = [](E value) {
      if constexpr (Hermitian && kComplex<E>)
        return std::conj(value);
      else
        return value;
    };
    for (int64_t j = 0; j < n; ++j) {
      E a = f * other(v[j * incy]), b = other(f * u[j * incx]);
      for (int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
        E& element = into[at(i, j)];
        element += u[i * incx] * a + v[i * incy] * b;
        if constexpr (Hermitian && kComplex<E>) {
          if (i == j) element = std::real(element);
        }
      }
    }
  });
}
inline auto full_at(int64_t lda, int64_t n) {
  leading(lda, n);
  return [=](int64_t i, int64_t j) { return i + j * lda; };
}
inline auto packed_at(cublasFillMode_t uplo, int64_t n) {
  bool lower = letter(uplo) == 'L';
  return [=](int64_t i, int64_t j) {
    return lower ? i + j * (2 * n - j - 1) / 2 : i + j * (j + 1) / 2;
  };
}
template <class T>
void syr2(cublasHandle_t h, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
          int64_t incx, const T* y, int64_t incy, T* A, int64_t lda) {
  rank_two<false>(h, uplo, n, alpha, x, incx, y, incy, A, full_at(lda, n));
}
template <class T>
void her2(cublasHandle_t h, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
          int64_t incx, const T* y, int64_t incy, T* A, int64_t lda) {
  rank_two<true>(h, uplo, n, alpha, x, incx, y, incy, A, full_at(lda, n));
}
template <class T>
void spr2(cublasHandle_t h, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
          int64_t incx, const T* y, int64_t incy, T* AP) {
  rank_two<false>(h, uplo, n, alpha, x, incx, y, incy, AP, packed_at(uplo, n));
}
template <class T>
void hpr2(cublasHandle_t h, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x,
          int64_t incx, const T* y, int64_t incy, T* AP) {
  rank_two<true>(h, uplo, n, alpha, x, incx, y, incy, AP, packed_at(uplo, n));
}

}  // namespace aw::cublas
