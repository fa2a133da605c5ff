// cuSOLVER, dense: singular values (gesvd, gesvdj, gesvdaStridedBatched).
#include "libraries/cusolver/svd.h"

using namespace aw::cusolver;

namespace {

template <class T>
Svd checked(cusolverEigMode_t jobz, bool full, int m, int n, int lda, int ldu, int ldv) {
  bool vectors = letter(jobz) == 'V';
  size_of(m), size_of(n), leading(lda, m);
  if (vectors) leading(ldu, m), leading(ldv, n);
  return shape_of(m, n, vectors, full);
}

// LAPACK's method in the place of Jacobi's. It reports |A - U S V^H|, which is what U and V leave
// off the diagonal.
template <class T>
auto gesvdj_of(cusolverEigMode_t jobz, int economy, int m, int n, T* A, int lda, Real<T>* S, T* U,
               int ldu, T* V, int ldv, gesvdjInfo_t info) {
  require(info);
  Svd shape = checked<T>(jobz, !economy, m, n, lda, ldu, ldv);
  info->report->batched = false;
  return [=, report = info->report](Memory& memory) {
    T* before = memory.take<T>(shape.vectors ? size_t(m) * n : 0);
    int ld = std::max(1, m);
    if (!memory.counts() && shape.vectors) copy(m, n, A, lda, before, ld);
    int result = divide(memory, shape, A, lda, S, U, ldu, V, ldv);
    if (shape.vectors)
      report->residual = remainder(memory, m, n, std::min(m, n), before, ld, S, U, ldu, V, ldv);
    return result;
  };
}

template <class T>
void gesvdj_batch(CUstream stream, cusolverEigMode_t jobz, int m, int n, T* A, int lda, Real<T>* S,
                  T* U, int ldu, T* V, int ldv, int* infos, gesvdjInfo_t info, int count) {
  require(info);
  Svd shape = checked<T>(jobz, true, m, n, lda, ldu, ldv);
  info->report->batched = true;
  int k = std::min(m, n);
  perform_all(stream, "gesvdjBatched", infos, count, [=](Memory& memory, uint64_t i) {
    return divide(memory, shape, A + i * lda * n, lda, S + i * k, U + i * ldu * m, ldu,
                  V + i * ldv * n, ldv);
  });
}

// As documented A stays as it is, and `norms` is the host's.
template <class T>
void gesvda_batch(CUstream stream, cusolverEigMode_t jobz, int rank, int m, int n, const T* A,
                  int lda, long long stride_a, Real<T>* S, long long stride_s, T* U, int ldu,
                  long long stride_u, T* V, int ldv, long long stride_v, int* infos, double* norms,
                  int count) {
  Svd shape = checked<T>(jobz, false, m, n, lda, ldu, ldv);
  int k = std::min(m, n);
  require(rank >= 0 && rank <= k);
  auto one = [=](Memory& memory, uint64_t i) {
    int ld = std::max(1, m);
    T *rest = memory.take<T>(size_t(m) * n), *left = memory.take<T>(size_t(m) * k),
      *right = memory.take<T>(size_t(n) * k);
    Real<T>* values = memory.take<Real<T>>(k);
    copy(m, n, A + i * stride_a, lda, rest, ld);
    int result = divide(memory, shape, rest, ld, values, left, ld, right, std::max(1, n));
    std::copy_n(values, rank, S + i * stride_s);
    if (!shape.vectors) return result;
    copy(m, rank, left, ld, U + i * stride_u, ldu);
    copy(n, rank, right, std::max(1, n), V + i * stride_v, ldv);
    if (norms) {
      copy(m, n, A + i * stride_a, lda, rest, ld);
      norms[i] = remainder(memory, m, n, rank, rest, ld, values, left, ld, right, std::max(1, n));
    }
    return result;
  };
  auto submit = [&] { perform_all(stream, "gesvdaStridedBatched", infos, count, one); };
  if (norms && shape.vectors)
    and_wait(stream, submit);
  else
    submit();
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                   \
  /* As documented, for m >= n only. */                                                            \
  AW_DN(name##gesvd)                                                                               \
  (cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T* A, int lda,    \
   R* S, T* U, int ldu, T* VT, int ldvt, T* work, int lwork, R* rest, int* info) {                 \
    return api<"cusolverDn" #name "gesvd">(                                                        \
        [&] {                                                                                      \
          auto& it = use(handle);                                                                  \
          require(m >= n);                                                                         \
          perform(it.stream, "gesvd", given(work, lwork), info,                                    \
                  gesvd_of(jobu, jobvt, m, n, own(A), lda, S, own(U), ldu, own(VT), ldvt, rest));  \
        },                                                                                         \
        m, n, lda);                                                                                \
  }                                                                                                \
  AW_DN(name##gesvd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int* lwork) {             \
    return api<"cusolverDn" #name "gesvd_bufferSize">([&] {                                        \
      use(handle);                                                                                 \
      require(m >= n);                                                                             \
      auto* none = own(static_cast<T*>(nullptr));                                                  \
      R* real = nullptr;                                                                           \
      int rows = std::max(1, m);                                                                   \
      count_work<T>(lwork,                                                                         \
                    gesvd_of('A', 'A', m, n, none, rows, real, none, rows, none, rows, real));     \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##gesvdj)                                                                              \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n, T* A, int lda, R* S, \
   T* U, int ldu, T* V, int ldv, T* work, int lwork, int* info, gesvdjInfo_t params) {             \
    return api<"cusolverDn" #name "gesvdj">(                                                       \
        [&] {                                                                                      \
          perform(use(handle).stream, "gesvdj", given(work, lwork), info,                          \
                  gesvdj_of(jobz, econ, m, n, own(A), lda, S, own(U), ldu, own(V), ldv, params));  \
        },                                                                                         \
        m, n, lda);                                                                                \
  }                                                                                                \
  AW_DN(name##gesvdj_bufferSize)                                                                   \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n, const T* A, int lda, \
   const R* S, const T* U, int ldu, const T* V, int ldv, int* lwork, gesvdjInfo_t params) {        \
    return api<"cusolverDn" #name "gesvdj_bufferSize">([&] {                                       \
      use(handle);                                                                                 \
      count_work<T>(lwork, gesvdj_of(jobz, econ, m, n, own(A), lda, own(S), own(U), ldu, own(V),   \
                                     ldv, params));                                                \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##gesvdjBatched)                                                                       \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, T* A, int lda, R* S, T* U,     \
   int ldu, T* V, int ldv, T*, int, int* infos, gesvdjInfo_t params, int count) {                  \
    return api<"cusolverDn" #name "gesvdjBatched">(                                                \
        [&] {                                                                                      \
          gesvdj_batch(use(handle).stream, jobz, m, n, own(A), lda, S, own(U), ldu, own(V), ldv,   \
                       infos, params, count);                                                      \
        },                                                                                         \
        m, n, count);                                                                              \
  }                                                                                                \
  AW_DN(name##gesvdjBatched_bufferSize)                                                            \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, const T*, int lda, const R*,   \
   const T*, int ldu, const T*, int ldv, int* lwork, gesvdjInfo_t params, int count) {             \
    return api<"cusolverDn" #name "gesvdjBatched_bufferSize">([&] {                                \
      use(handle);                                                                                 \
      require(lwork && params && count >= 0);                                                      \
      checked<T>(jobz, true, m, n, lda, ldu, ldv);                                                 \
      *lwork = 1;                                                                                  \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##gesvdaStridedBatched)                                                                \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T* A, int lda, \
   long long stride_a, R* S, long long stride_s, T* U, int ldu, long long stride_u, T* V, int ldv, \
   long long stride_v, T*, int, int* infos, double* norms, int count) {                            \
    return api<"cusolverDn" #name "gesvdaStridedBatched">(                                         \
        [&] {                                                                                      \
          gesvda_batch(use(handle).stream, jobz, rank, m, n, own(A), lda, stride_a, S, stride_s,   \
                       own(U), ldu, stride_u, own(V), ldv, stride_v, infos, norms, count);         \
        },                                                                                         \
        m, n, count);                                                                              \
  }                                                                                                \
  AW_DN(name##gesvdaStridedBatched_bufferSize)                                                     \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T*, int lda,   \
   long long, const R*, long long, const T*, int ldu, long long, const T*, int ldv, long long,     \
   int* lwork, int count) {                                                                        \
    return api<"cusolverDn" #name "gesvdaStridedBatched_bufferSize">([&] {                         \
      use(handle);                                                                                 \
      require(lwork && count >= 0 && rank >= 0 && rank <= std::min(m, n));                         \
      checked<T>(jobz, false, m, n, lda, ldu, ldv);                                                \
      *lwork = 1;                                                                                  \
    });                                                                                            \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS
