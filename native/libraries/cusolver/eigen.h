// Eigenvalues of symmetric and Hermitian matrices, by LAPACK's divide and conquer: what the
// interfaces of 32 and of 64 bits share.
#pragma once

#include "libraries/cusolver/cusolver.h"

namespace aw::cusolver {

// Routines whose last parameters are work, lwork, [rwork, lrwork,] iwork, liwork, info.
template <class T, Name Routine, Name Complex, class... Args>
int conquer(Memory& memory, Args... args) {
  auto run = [&](T* work, int lwork, Real<T>* rwork, int lrwork, int* iwork, int liwork) {
    if constexpr (kComplex<T>)
      return lapack<T, Routine, Complex>(args..., work, lwork, rwork, lrwork, iwork, liwork);
    else
      return static_cast<void>(rwork), static_cast<void>(lrwork),
             lapack<T, Routine, Complex>(args..., work, lwork, iwork, liwork);
  };
  T first;
  Real<T> second;
  int third;
  auto ask = [&] { run(&first, -1, &second, -1, &third, -1); };
  int lwork = asked<T>([&](T* answer) { ask(), *answer = first; }, key_of(args)...);
  int lrwork = kComplex<T> ? asked<Real<T>>([&](Real<T>* answer) { ask(), *answer = second; },
                                            key_of(args)...)
                           : 0;
  int liwork = asked<int>([&](int* answer) { ask(), *answer = third; }, key_of(args)...);
  T* work = memory.take<T>(lwork);
  Real<T>* rwork = memory.take<Real<T>>(lrwork);
  int* iwork = memory.take<int>(liwork);
  return memory.counts() ? 0 : run(work, lwork, rwork, lrwork, iwork, liwork);
}

// What LAPACK counts in 32 bits: 2 n^2 numbers to work in.
inline void small_enough(char job, int n) {
  if (job == 'V' && n > 32000)
    unsupported("eigenvectors of more than 32000 rows: LAPACK counts in 32 bits");
}

template <class T>
auto syevd_of(cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n_, T* A, int64_t lda_,
              Real<T>* W) {
  char job = letter(mode), uplo = letter(fill);
  int n = size_of(n_), lda = leading(lda_, n_);
  small_enough(job, n);
  return
      [=](Memory& memory) { return conquer<T, "syevd", "heevd">(memory, job, uplo, n, A, lda, W); };
}

inline int problem_of(cusolverEigType_t type) {
  require(type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3);
  return type;
}

template <class T>
auto sygvd_of(cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n_,
              T* A, int64_t lda_, T* B, int64_t ldb_, Real<T>* W) {
  char job = letter(mode), uplo = letter(fill);
  int problem = problem_of(type), n = size_of(n_), lda = leading(lda_, n_), ldb = leading(ldb_, n_);
  small_enough(job, n);
  return [=](Memory& memory) {
    return conquer<T, "sygvd", "hegvd">(memory, problem, job, uplo, n, A, lda, B, ldb, W);
  };
}

// Which eigenvalues are wanted: all, those in (low, high], or those with the numbers first ...
// last, from 1.
struct Range {
  cusolverEigRange_t kind;
  double low, high;
  int first, last;
};
inline Range range_of(cusolverEigRange_t kind, double low, double high, int64_t first, int64_t last,
                      int64_t n) {
  require(kind >= CUSOLVER_EIG_RANGE_ALL && kind <= CUSOLVER_EIG_RANGE_V);
  if (kind == CUSOLVER_EIG_RANGE_V) require(n <= 0 || low < high);
  if (kind == CUSOLVER_EIG_RANGE_I)
    require(n == 0 ? true : first >= 1 && first <= last && last <= n);
  return {kind, low, high, static_cast<int>(first), static_cast<int>(last)};
}

// All are computed by `solve`; those that are wanted move to the front of W and of A's columns.
// That is as exact as it gets, and orthogonal in any case; methods that compute some of them are
// neither.
template <class T, class Solve, class Count>
auto selected_of(Solve solve, cusolverEigMode_t mode, Range range, int64_t n_, T* A, int64_t lda_,
                 Real<T>* W, Count* found) {
  int n = static_cast<int>(n_), lda = static_cast<int>(lda_);
  bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  return [=](Memory& memory) {
    int info = solve(memory);
    if (memory.counts()) return info;
    int begin = 0, end = n;
    if (range.kind == CUSOLVER_EIG_RANGE_I && n) begin = range.first - 1, end = range.last;
    if (range.kind == CUSOLVER_EIG_RANGE_V && info == 0) {
      begin = static_cast<int>(std::upper_bound(W, W + n, static_cast<Real<T>>(range.low)) - W);
      end = static_cast<int>(std::upper_bound(W, W + n, static_cast<Real<T>>(range.high)) - W);
    }
    if (begin > 0 && info == 0) {
      std::copy(W + begin, W + end, W);
      if (vectors) copy(n, end - begin, A + size_t(begin) * lda, lda, A, lda);
    }
    *found = end - begin;
    return info;
  };
}

// The number found is the host's, who reads it when the call returns.
template <class Op>
void perform_selected(CUstream stream, const char* name, const Range& range, Given work, int* info,
                      Op op) {
  if (range.kind != CUSOLVER_EIG_RANGE_V) return perform(stream, name, work, info, op);
  and_wait(stream, [&] { perform(stream, name, work, info, op); });
}

}  // namespace aw::cusolver
