// cuBLAS level 3: products of matrices, triangular solutions, updates of rank k.
#pragma once

#include <string_view>

#include "libraries/cublas/blas.h"
#include "libraries/product/product.h"

namespace aw::cublas {

// Large products are cut along the columns of C, always in the same way, so that bits do not depend
// on the number of threads.
constexpr int kPiece = 512;
constexpr double kWorthCutting = 2.0e8;  // multiplications

template <class E, Name Function>
void gemm_now(char opa, char opb, int m, int n, int k, const E& alpha, const E* A, int lda,
              const E* B, int ldb, const E& beta, E* C, int ldc) {
  if (n < 2 * kPiece || double(m) * n * k < kWorthCutting) {
    blas<E, Function>(&opa, &opb, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
    return;
  }
  auto pieces = static_cast<uint64_t>((n + kPiece - 1) / kPiece);
  lib::parallel(pieces, [&](uint64_t number) {
    int64_t first = static_cast<int64_t>(number) * kPiece;
    int columns = static_cast<int>(std::min<int64_t>(kPiece, n - first));
    const E* b = B + (opb == 'N' ? first * ldb : first);
    E* c = C + first * ldc;
    blas<E, Function>(&opa, &opb, &m, &columns, &k, &alpha, A, &lda, b, &ldb, &beta, c, &ldc);
  });
}

struct Shape {
  char opa, opb;
  int m, n, k, lda, ldb, ldc;

  Shape(cublasOperation_t transa, cublasOperation_t transb, int64_t rows, int64_t columns,
        int64_t depth, int64_t la, int64_t lb, int64_t lc)
      : opa(letter(transa)),
        opb(letter(transb)),
        m(size(rows)),
        n(size(columns)),
        k(size(depth)),
        lda(leading(la, opa == 'N' ? rows : depth)),
        ldb(leading(lb, opb == 'N' ? depth : columns)),
        ldc(leading(lc, rows)) {}
  bool empty() const { return m == 0 || n == 0; }
};

// Where a processor has AVX-512, OpenBLAS multiplies small matrices as they lie; these are its own
// conditions (its sgemm_small_kernel_permit).
inline bool unpacked(const Shape& s) {
  static const bool has = [] {
    const std::string_view core = lib::engine<"openblas_get_corename", const char*()>()();
    return core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  }();
  if (!has || double(s.m) * s.n * s.k > 1e6) return false;
  return s.opa == 'N' || (s.opb == 'N' && int64_t{s.m} * s.n <= 1200 && s.k >= 32);
}

// Else it packs a factor before it multiplies it, which takes several times as long as a product
// with a few columns (or rows) itself. In f32 such products are our own, of one or many matrices:
// of many, a call of OpenBLAS for each takes longer. So are those with some more columns and a
// large factor: ours reads memory beside the arithmetic.
inline bool narrow(const Shape& s, uint64_t count) {
  constexpr double kWorthwhile = 16384;  // numbers of the long factors
  if (std::min(s.m, s.n) <= product::kFew)
    return double(std::max(s.m, s.n)) * s.k * static_cast<double>(count) >= kWorthwhile &&
           !(count == 1 && unpacked(s));
  constexpr double kLong = 65536;  // of a matrix
  return s.n <= product::kNarrow && s.n < s.m && double(s.m) * s.k >= kLong && !unpacked(s);
}
inline product::Product narrow_product(const Shape& s, float alpha, const void* A, const void* B,
                                       float beta, void* C, uint64_t count) {
  product::Product made;
  made.m = s.m, made.n = s.n, made.k = s.k, made.batch = static_cast<int64_t>(count);
  made.a.data = A, made.a.ld = s.lda, made.a.transposed = s.opa != 'N';
  made.b.data = B, made.b.ld = s.ldb, made.b.transposed = s.opb != 'N';
  made.d.data = C, made.d.ld = s.ldc;
  made.alpha = alpha, made.beta = beta;
  return made;
}
inline void narrow_now(const Shape& s, float alpha, const float* A, int64_t strideA, const float* B,
                       int64_t strideB, float beta, float* C, int64_t strideC, uint64_t count) {
  product::Product made = narrow_product(s, alpha, A, B, beta, C, count);
  made.a.stride = strideA, made.b.stride = strideB, made.d.stride = strideC;
  made.c = made.d;
  product::product(made);
}
// The same by arrays of pointers.
inline void narrow_now(const Shape& s, float alpha, const float* const* A, const float* const* B,
                       float beta, float* const* C, uint64_t count) {
  product::Product made = narrow_product(s, alpha, A, B, beta, const_cast<float**>(C), count);
  made.a.array = made.b.array = made.d.array = true;
  made.c = made.d;
  product::product(made);
}

template <Name Function, class T>
void multiply(cublasHandle_t handle, const Shape& s, const T* alpha, const T* A, const T* B,
              const T* beta, T* C) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  need<E, Function>();
  if (s.empty()) return;
  lib::submit(it.stream,
              kLetter<E> == 's'   ? "sgemm"
              : kLetter<E> == 'd' ? "dgemm"
              : kLetter<E> == 'c' ? "cgemm"
                                  : "zgemm",
              [=] {
                if constexpr (kLetter<E> == 's')
                  if (narrow(s, 1))
                    return narrow_now(s, a(), elements(A), 0, elements(B), 0, b(), elements(C), 0,
                                      1);
                gemm_now<E, Function>(s.opa, s.opb, s.m, s.n, s.k, a(), elements(A), s.lda,
                                      elements(B), s.ldb, b(), elements(C), s.ldc);
              });
}
template <class T>
void gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
          int64_t n, int64_t k, const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb,
          const T* beta, T* C, int64_t ldc) {
  multiply<"gemm_">(handle, Shape(transa, transb, m, n, k, lda, ldb, ldc), alpha, A, B, beta, C);
}
template <class T>
void gemm3m(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
            int64_t n, int64_t k, const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb,
            const T* beta, T* C, int64_t ldc) {
  multiply<"gemm3m_">(handle, Shape(transa, transb, m, n, k, lda, ldb, ldc), alpha, A, B, beta, C);
}

// C = alpha A B + beta C with A symmetric or Hermitian, on either side.
template <Name Function, class T>
void one_symmetric(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m,
                   int64_t n, const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb,
                   const T* beta, T* C, int64_t ldc) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  char where = letter(side), fill = letter(uplo);
  int rows = size(m), columns = size(n), la = leading(lda, where == 'L' ? m : n),
      lb = leading(ldb, m), lc = leading(ldc, m);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    const E alpha_now = a(), beta_now = b();
    blas<E, Function>(&where, &fill, &rows, &columns, &alpha_now, elements(A), &la, elements(B),
                      &lb, &beta_now, elements(C), &lc);
  });
}
template <class... Args>
void symm(Args... args) {
  one_symmetric<"symm_">(args...);
}
template <class... Args>
void hemm(Args... args) {
  one_symmetric<"hemm_">(args...);
}

// C = alpha op(A) op(A)' + beta C, one triangle. Both scalars of Hermitian updates are real.
template <Name Function, class T, class S>
void rank_k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
            int64_t k, const S* alpha, const T* A, int64_t lda, const S* beta, T* C, int64_t ldc) {
  using E = Element<T>;
  using F = Element<S>;
  auto& it = use(handle);
  Scalar<F> a(it, alpha), b(it, beta);
  char fill = letter(uplo), op = letter(trans);
  int count = size(n), depth = size(k), la = leading(lda, op == 'N' ? n : k), lc = leading(ldc, n);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    const F alpha_now = a(), beta_now = b();
    blas<E, Function>(&fill, &op, &count, &depth, &alpha_now, elements(A), &la, &beta_now,
                      elements(C), &lc);
  });
}
template <class... Args>
void syrk(Args... args) {
  rank_k<"syrk_">(args...);
}
template <class... Args>
void herk(Args... args) {
  rank_k<"herk_">(args...);
}

template <Name Function, class T, class S>
void rank_2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb,
             const S* beta, T* C, int64_t ldc) {
  using E = Element<T>;
  using F = Element<S>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha);
  Scalar<F> b(it, beta);
  char fill = letter(uplo), op = letter(trans);
  int64_t rows = op == 'N' ? n : k;
  int count = size(n), depth = size(k), la = leading(lda, rows), lb = leading(ldb, rows),
      lc = leading(ldc, n);
  need<E, Function>();
  lib::submit(it.stream, Function.text, [=] {
    const E alpha_now = a();
    const F beta_now = b();
    blas<E, Function>(&fill, &op, &count, &depth, &alpha_now, elements(A), &la, elements(B), &lb,
                      &beta_now, elements(C), &lc);
  });
}
template <class... Args>
void syr2k(Args... args) {
  rank_2k<"syr2k_">(args...);
}
template <class... Args>
void her2k(Args... args) {
  rank_2k<"her2k_">(args...);
}

// C = alpha op(A) op(B)' + beta C, one triangle of it: OpenBLAS's gemmt.
template <bool Hermitian, class T, class S>
void rank_kx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb,
             const S* beta, T* C, int64_t ldc) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha);
  Scalar<Element<S>> b(it, beta);
  char fill = letter(uplo), op = letter(trans), back = Hermitian ? 'C' : 'T';
  require(op == 'N' || op == back || !kComplex<E>, CUBLAS_STATUS_INVALID_VALUE);
  int64_t rows = op == 'N' ? n : k;
  int count = size(n), depth = size(k), la = leading(lda, rows), lb = leading(ldb, rows),
      lc = leading(ldc, n);
  need<E, "gemmt_">();
  lib::submit(it.stream, Hermitian ? "herkx" : "syrkx", [=] {
    const E alpha_now = a(), beta_now = b();
    const char opa = op == 'N' ? 'N' : back, opb = op == 'N' ? back : 'N';
    blas<E, "gemmt_">(&fill, &opa, &opb, &count, &depth, &alpha_now, elements(A), &la, elements(B),
                      &lb, &beta_now, elements(C), &lc);
    if constexpr (Hermitian && kComplex<E>) {
      for (int64_t i = 0; i < count; ++i) elements(C)[i * (lc + int64_t{1})].imag(0);
    }
  });
}
template <class... Args>
void syrkx(Args... args) {
  rank_kx<false>(args...);
}
template <class... Args>
void herkx(Args... args) {
  rank_kx<true>(args...);
}

// B = alpha op(A) B with A triangular, into another matrix: C may be B.
template <class T>
void trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
          cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n, const T* alpha,
          const T* A, int64_t lda, const T* B, int64_t ldb, T* C, int64_t ldc) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha);
  char where = letter(side), fill = letter(uplo), op = letter(trans), unit = letter(diag);
  int rows = size(m), columns = size(n), la = leading(lda, where == 'L' ? m : n),
      lb = leading(ldb, m), lc = leading(ldc, m);
  require(B != C || lb == lc);
  need<E, "trmm_">();
  lib::submit(it.stream, "trmm", [=] {
    const E alpha_now = a();
    if (B != C)
      for (int64_t j = 0; j < columns; ++j)
        std::copy_n(elements(B) + j * lb, rows, elements(C) + j * lc);
    blas<E, "trmm_">(&where, &fill, &op, &unit, &rows, &columns, &alpha_now, elements(A), &la,
                     elements(C), &lc);
  });
}

struct Triangle {
  char side, fill, op, unit;
  int m, n, lda, ldb;
  Triangle(cublasSideMode_t where, cublasFillMode_t uplo, cublasOperation_t trans,
           cublasDiagType_t diag, int64_t rows, int64_t columns, int64_t la, int64_t lb)
      : side(letter(where)),
        fill(letter(uplo)),
        op(letter(trans)),
        unit(letter(diag)),
        m(size(rows)),
        n(size(columns)),
        lda(leading(la, side == 'L' ? rows : columns)),
        ldb(leading(lb, rows)) {}
  template <class E>
  void solve(const E& alpha, const E* A, E* B) const {
    blas<E, "trsm_">(&side, &fill, &op, &unit, &m, &n, &alpha, A, &lda, B, &ldb);
  }
};

template <class T>
void trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
          cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n, const T* alpha,
          const T* A, int64_t lda, T* B, int64_t ldb) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha);
  Triangle t(side, uplo, trans, diag, m, n, lda, ldb);
  need<E, "trsm_">();
  lib::submit(it.stream, "trsm", [=] { t.solve<E>(a(), elements(A), elements(B)); });
}

// C = alpha op(A) + beta op(B); A or B may be C where it is not transposed.
template <class T>
void geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
          int64_t n, const T* alpha, const T* A, int64_t lda, const T* beta, const T* B,
          int64_t ldb, T* C, int64_t ldc) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> a(it, alpha), b(it, beta);
  char opa = letter(transa), opb = letter(transb);
  size(m), size(n), leading(ldc, m);
  if (A) leading(lda, opa == 'N' ? m : n);
  if (B) leading(ldb, opb == 'N' ? m : n);
  require(A != C || (opa == 'N' && lda == ldc));
  require(B != C || (opb == 'N' && ldb == ldc));
  lib::submit(it.stream, "geam", [=] {
    const E alpha_now = a(), beta_now = b();
    auto term = [](char op, const E& factor, const E* matrix, int64_t ld, int64_t i,
                   int64_t j) -> E {
      if (factor == E(0)) return 0;  // as documented the matrix is not read
      E value = op == 'N' ? matrix[i + j * ld] : matrix[j + i * ld];
      if constexpr (kComplex<E>)
        if (op == 'C') value = std::conj(value);
      return factor * value;
    };
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i)
        elements(C)[i + j * ldc] = term(opa, alpha_now, elements(A), lda, i, j) +
                                   term(opb, beta_now, elements(B), ldb, i, j);
  });
}

// C = A diag(x) or diag(x) A
template <class T>
void dgmm(cublasHandle_t handle, cublasSideMode_t mode, int64_t m, int64_t n, const T* A,
          int64_t lda, const T* x, int64_t incx, T* C, int64_t ldc) {
  auto& it = use(handle);
  bool left = letter(mode) == 'L';
  size(m), size(n), leading(lda, m), leading(ldc, m);
  int64_t count = left ? m : n;
  auto* at = first_of(elements(x), count, incx);
  lib::submit(it.stream, "dgmm", [=] {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i)
        elements(C)[i + j * ldc] = elements(A)[i + j * lda] * at[(left ? i : j) * incx];
  });
}

// Triangles between packed and full storage.
template <class T>
void tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const T* AP, T* A,
           int64_t lda) {
  bool lower = letter(uplo) == 'L';
  size(n), leading(lda, n);
  lib::submit(use(handle).stream, "tpttr", [=] {
    const T* next = AP;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) A[i + j * lda] = *next++;
  });
}
template <class T>
void trttp(cublasHandle_t handle, cublasFillMode_t uplo, int64_t n, const T* A, int64_t lda,
           T* AP) {
  bool lower = letter(uplo) == 'L';
  size(n), leading(lda, n);
  lib::submit(use(handle).stream, "trttp", [=] {
    T* next = AP;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) *next++ = A[i + j * lda];
  });
}

}  // namespace aw::cublas
