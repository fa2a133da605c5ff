// cuBLAS: factorisations of many small matrices, by LAPACK. `info` on the device says of each what
// LAPACK says; on the host, which argument was wrong.
#pragma once

#include "libraries/cublas/batched.h"

namespace aw::cublas {

// LU. Without pivots (P null) the rows stay where they are: LAPACK has no such, so that it is
// computed here.
template <class E>
int factor_without_pivots(int n, E* a, int64_t ld) {
  int info = 0;
  for (int64_t j = 0; j < n; ++j) {
    if (a[j + j * ld] == E(0)) {
      if (!info) info = static_cast<int>(j + 1);
      continue;
    }
    for (int64_t i = j + 1; i < n; ++i) a[i + j * ld] /= a[j + j * ld];
    for (int64_t c = j + 1; c < n; ++c)
      for (int64_t i = j + 1; i < n; ++i) a[i + c * ld] -= a[i + j * ld] * a[j + c * ld];
  }
  return info;
}

template <class T>
void getrfBatched(cublasHandle_t handle, int64_t n, T* const* A, int64_t lda, int* P, int* info,
                  int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  int order = size(n), ld = leading(lda, n);
  uint64_t all = batch(count);
  require(info || !all);
  need<E, "getrf_">();
  if (!all) return;
  lib::submit(it.stream, "getrfBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      if (P)
        blas<E, "getrf_">(&order, &order, elements(A[i]), &ld, P + i * static_cast<uint64_t>(order),
                          info + i);
      else
        info[i] = factor_without_pivots(order, elements(A[i]), ld);
    });
  });
}

template <class E>
void solve_factored(char op, int n, int columns, const E* a, int ld, const int* pivots, E* b,
                    int ldb, int* info) {
  if (pivots) return blas<E, "getrs_">(&op, &n, &columns, a, &ld, pivots, b, &ldb, info);
  const E one = 1;
  const char left = 'L', lower = 'L', upper = 'U', unit = 'U', given = 'N';
  auto half = [&](const char& fill, const char& diagonal) {
    blas<E, "trsm_">(&left, &fill, const_cast<const char*>(&op), &diagonal,
                     const_cast<const int*>(&n), const_cast<const int*>(&columns), &one, a,
                     const_cast<const int*>(&ld), b, const_cast<const int*>(&ldb));
  };
  if (op == 'N')
    half(lower, unit), half(upper, given);
  else
    half(upper, given), half(lower, unit);
  *info = 0;
}

template <class T>
void getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int64_t n, int64_t nrhs,
                  const T* const* A, int64_t lda, const int* P, T* const* B, int64_t ldb, int* info,
                  int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  require(info);
  *info = 0;  // on the host: the arguments are right
  char op = letter(trans);
  int order = size(n), columns = size(nrhs), la = leading(lda, n), lb = leading(ldb, n);
  uint64_t all = batch(count);
  need<E, "getrs_">();
  if (!all || !order || !columns) return;
  lib::submit(it.stream, "getrsBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      int said;
      solve_factored<E>(op, order, columns, elements(A[i]), la,
                        P ? P + i * static_cast<uint64_t>(order) : nullptr, elements(B[i]), lb,
                        &said);
    });
  });
}

// The inverse of a factored matrix, into another one: the solution for the columns of the identity.
template <class E>
void invert_factored(int n, const E* a, int ld, const int* pivots, E* c, int ldc, int* info) {
  *info = 0;
  for (int64_t i = 0; i < n && !*info; ++i)
    if (a[i + i * ld] == E(0)) *info = static_cast<int>(i + 1);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) c[i + j * ldc] = i == j ? 1 : 0;
  int said;
  if (!*info) solve_factored<E>('N', n, n, a, ld, pivots, c, ldc, &said);
}

template <class T>
void getriBatched(cublasHandle_t handle, int64_t n, const T* const* A, int64_t lda, const int* P,
                  T* const* C, int64_t ldc, int* info, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  int order = size(n), la = leading(lda, n), lc = leading(ldc, n);
  uint64_t all = batch(count);
  require(info || !all);
  need<E, "getrs_">();
  if (!all) return;
  lib::submit(it.stream, "getriBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      invert_factored<E>(order, elements(A[i]), la,
                         P ? P + i * static_cast<uint64_t>(order) : nullptr, elements(C[i]), lc,
                         info + i);
    });
  });
}

// As documented for matrices of at most 32 rows; A stays.
template <class T>
void matinvBatched(cublasHandle_t handle, int64_t n, const T* const* A, int64_t lda, T* const* C,
                   int64_t ldc, int* info, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  require(n <= 32);
  int order = size(n), la = leading(lda, n), lc = leading(ldc, n);
  uint64_t all = batch(count);
  require(info || !all);
  need<E, "getrf_">(), need<E, "getrs_">();
  if (!all) return;
  lib::submit(it.stream, "matinvBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      std::vector<E> kept(static_cast<size_t>(order) * order);
      std::vector<int> pivots(static_cast<size_t>(order));
      for (int64_t j = 0; j < order; ++j)
        std::copy_n(elements(A[i]) + j * la, order, kept.data() + j * order);
      blas<E, "getrf_">(&order, &order, kept.data(), &order, pivots.data(), info + i);
      if (!info[i])
        invert_factored<E>(order, kept.data(), order, pivots.data(), elements(C[i]), lc, info + i);
    });
  });
}

template <class T>
void geqrfBatched(cublasHandle_t handle, int64_t m, int64_t n, T* const* A, int64_t lda,
                  T* const* Tau, int* info, int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  require(info);
  *info = 0;
  int rows = size(m), columns = size(n), ld = leading(lda, m);
  uint64_t all = batch(count);
  need<E, "geqrf_">();
  if (!all || !rows || !columns) return;
  lib::submit(it.stream, "geqrfBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      int room = columns * 32, said;
      std::vector<E> work(static_cast<size_t>(room));
      blas<E, "geqrf_">(&rows, &columns, elements(A[i]), &ld, elements(Tau[i]), work.data(), &room,
                        &said);
    });
  });
}

// Least squares of full rank, m >= n.
template <class T>
void gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, int64_t nrhs,
                 T* const* A, int64_t lda, T* const* C, int64_t ldc, int* info, int* dev_info,
                 int64_t count) {
  using E = Element<T>;
  auto& it = use(handle);
  require(info);
  *info = 0;
  char op = letter(trans);
  int rows = size(m), columns = size(n), right = size(nrhs), la = leading(lda, m),
      lc = leading(ldc, m);
  if (op != 'N' || m < n) throw Failure(CUBLAS_STATUS_NOT_SUPPORTED);  // as documented
  uint64_t all = batch(count);
  need<E, "gels_">();
  if (!all) return;
  lib::submit(it.stream, "gelsBatched", [=] {
    lib::parallel(all, [&](uint64_t i) {
      int room = (columns + right) * 32 + rows, said = 0;
      std::vector<E> work(static_cast<size_t>(room));
      blas<E, "gels_">(&op, &rows, &columns, &right, elements(A[i]), &la, elements(C[i]), &lc,
                       work.data(), &room, &said);
      if (dev_info) dev_info[i] = said;
    });
  });
}

}  // namespace aw::cublas
