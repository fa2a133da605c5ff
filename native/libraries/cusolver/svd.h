// Singular values by LAPACK's divide and conquer, for the interfaces whose own methods it stands in
// for.
#pragma once

#include "libraries/cusolver/cusolver.h"

namespace aw::cusolver {

struct Svd {
  int m, n;
  bool vectors;
  bool full;  // U is m x m and V n x n; else both have min(m, n) columns
};

inline Svd shape_of(int m, int n, bool vectors, bool full) {
  if (vectors && std::min(m, n) > 20000)
    unsupported("singular vectors of more than 20000 values: LAPACK counts in 32 bits");
  return {m, n, vectors, full};
}

// LAPACK does nothing where there is nothing to decompose; the bases are there all the same.
template <class T>
void identity(int n, T* A, int lda) {
  fill(n, n, T(0), A, lda);
  for (int i = 0; i < n; ++i) A[i + size_t(i) * lda] = 1;
}

// A = U S V^H; A is lost. V, not its transpose, is what these interfaces want. Returns what LAPACK
// does, but min(m, n)
// + 1 where numbers are not finite, which LAPACK refuses: then nothing is computed, and all results
// are NaN.
template <class T>
int divide(Memory& memory, const Svd& it, T* A, int lda, Real<T>* S, T* U, int ldu, T* V, int ldv) {
  int m = it.m, n = it.n, k = std::min(m, n), rows = it.full ? n : k;
  char job = !it.vectors ? 'N' : it.full ? 'A' : 'S';
  if (k == 0 && !memory.counts()) {
    if (it.vectors && it.full) identity(m, U, ldu), identity(n, V, ldv);
    return 0;
  }
  size_t small = k, large = std::max(m, n);
  T* VT = memory.take<T>(it.vectors ? size_t(rows) * n : 0);
  int* iwork = memory.take<int>(8 * small);
  Real<T>* rwork = nullptr;
  if constexpr (kComplex<T>)
    rwork = memory.take<Real<T>>(std::max<size_t>(
        1, it.vectors ? small * std::max(5 * small + 7, 2 * large + 2 * small + 1) : 7 * small));
  int ldvt = std::max(1, rows), ldU = it.vectors ? ldu : 1;
  int info;
  if constexpr (kComplex<T>)
    info = lapack_in<T, "gesdd">(memory, std::tuple(rwork, iwork), job, m, n, A, lda, S, U, ldU, VT,
                                 ldvt);
  else
    info = lapack_in<T, "gesdd">(memory, std::tuple(iwork), job, m, n, A, lda, S, U, ldU, VT, ldvt);
  if (memory.counts()) return 0;
  if (info < 0) {
    std::fill_n(S, k, kNan<T>);
    if (it.vectors) {
      fill(m, it.full ? m : k, T(kNan<T>), U, ldu);
      fill(n, rows, T(kNan<T>), V, ldv);
    }
    return k + 1;
  }
  if (it.vectors) adjoint(rows, n, VT, ldvt, V, ldv);
  return info > 0 ? k + 1 : 0;
}

// |A - U S V^H| in the norm of Frobenius, over the first `rank` singular values; `rest` is a copy
// of A, and lost.
template <class T>
double remainder(Memory& memory, int m, int n, int rank, T* rest, int ldr, const Real<T>* S,
                 const T* U, int ldu, const T* V, int ldv) {
  T* scaled = memory.take<T>(size_t(m) * rank);
  if (memory.counts() || m == 0 || n == 0) return 0;
  for (int j = 0; j < rank; ++j)
    for (int i = 0; i < m; ++i) scaled[i + size_t(j) * m] = U[i + size_t(j) * ldu] * S[j];
  product('N', kComplex<T> ? 'C' : 'T', m, n, rank, T(-1), static_cast<const T*>(scaled), m, V, ldv,
          T(1), rest, ldr);
  return frobenius(m, n, rest, ldr);
}

// LAPACK's method by QR steps, as it is.
inline bool job_of_svd(signed char job) {
  return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

// `rest`: where given, the elements above the diagonal that did not converge.
template <class T>
auto gesvd_of(signed char jobu, signed char jobvt, int64_t m_, int64_t n_, T* A, int64_t lda_,
              Real<T>* S, T* U, int64_t ldu_, T* VT, int64_t ldvt_, Real<T>* rest) {
  require(job_of_svd(jobu) && job_of_svd(jobvt) && !(jobu == 'O' && jobvt == 'O'));
  int m = size_of(m_), n = size_of(n_), lda = leading(lda_, m_);
  bool left = jobu == 'A' || jobu == 'S', right = jobvt == 'A' || jobvt == 'S';
  int ldu = leading(ldu_, left ? m_ : 1);
  int ldvt = leading(ldvt_, jobvt == 'A' ? n_ : right ? std::min(m_, n_) : 1);
  char first = static_cast<char>(jobu), second = static_cast<char>(jobvt);
  return [=](Memory& memory) {
    int k = std::min(m, n), info;
    if (k == 0 && !memory.counts()) {
      if (first == 'A') identity(m, U, ldu);
      if (second == 'A') identity(n, VT, ldvt);
      return 0;
    }
    Real<T>* above = nullptr;  // LAPACK leaves them in rwork, or behind the first number of work
    if constexpr (kComplex<T>) {
      above = memory.take<Real<T>>(5 * size_t(k) + 1);
      info = lapack_in<T, "gesvd">(memory, std::tuple(above), first, second, m, n, A, lda, S, U,
                                   ldu, VT, ldvt);
    } else {
      int lwork = asked<T>(
          [&](T* answer) {
            lapack<T, "gesvd">(first, second, m, n, A, lda, S, U, ldu, VT, ldvt, answer, -1);
          },
          first, second, m, n);
      T* work = memory.take<T>(lwork);
      if (memory.counts()) return 0;
      info = lapack<T, "gesvd">(first, second, m, n, A, lda, S, U, ldu, VT, ldvt, work, lwork);
      above = work + 1;
    }
    if (memory.counts()) return 0;
    if (info > 0 && rest) std::copy_n(above, k - 1, rest);
    return info;
  };
}

}  // namespace aw::cusolver
