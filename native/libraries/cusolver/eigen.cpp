// cuSOLVER, dense: symmetric eigenvalues (syevd, syevdx, syevj, sygvd, sygvdx, sygvj), for 32-bit
// sizes.
#include "libraries/cusolver/eigen.h"

using namespace aw::cusolver;

namespace {

// Jacobi's method reports n + 1 where it did not converge.
int as_jacobi(int info, int n) { return info > 0 && info <= n ? n + 1 : info; }

// syevd in the place of Jacobi's method. It reports |A V - V W|, which is what V leaves off the
// diagonal of A.
template <class T>
auto syevj_of(cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* A, int lda, Real<T>* W,
              syevjInfo_t info) {
  require(info);
  auto solve = syevd_of(mode, fill, n, A, lda, W);
  info->report->batched = false;
  bool lower = fill == CUBLAS_FILL_MODE_LOWER, vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  return [=, report = info->report](Memory& memory) {
    size_t size = vectors ? size_t(n) * n : 0;
    T *before = memory.take<T>(size), *rest = memory.take<T>(size);
    if (!memory.counts() && vectors) copy(n, n, A, lda, before, std::max(1, n));
    int result = solve(memory);
    if (memory.counts()) return 0;
    report->residual = 0;
    if (vectors && result == 0 && n) {
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) rest[i + size_t(j) * n] = A[i + size_t(j) * lda] * W[j];
      blas<T, "symm", "hemm">('L', lower ? 'L' : 'U', n, n, T(1), static_cast<const T*>(before), n,
                              static_cast<const T*>(A), lda, T(-1), rest, n);
      report->residual = frobenius(n, n, rest, n);
    }
    return as_jacobi(result, n);
  };
}

template <class T>
void syevj_batch(CUstream stream, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* A,
                 int lda, Real<T>* W, int* infos, syevjInfo_t info, int count) {
  require(info);
  syevd_of(mode, fill, n, A, lda, W);
  info->report->batched = true;
  perform_all(stream, "syevjBatched", infos, count, [=](Memory& memory, uint64_t i) {
    return as_jacobi(syevd_of(mode, fill, n, A + i * lda * n, lda, W + i * n)(memory), n);
  });
}

template <class T>
auto sygvj_of(cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* A,
              int lda, T* B, int ldb, Real<T>* W, syevjInfo_t info) {
  require(info);
  auto solve = sygvd_of(type, mode, fill, n, A, lda, B, ldb, W);
  info->report->batched = false;
  return [=](Memory& memory) { return as_jacobi(solve(memory), n); };
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                   \
  AW_DN(name##d)                                                                                   \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, \
   R* W, T* work, int lwork, int* info) {                                                          \
    return api<"cusolverDn" #name "d">(                                                            \
        [&] {                                                                                      \
          perform(use(handle).stream, "syevd", given(work, lwork), info,                           \
                  syevd_of(jobz, uplo, n, own(A), lda, W));                                        \
        },                                                                                         \
        n, lda);                                                                                   \
  }                                                                                                \
  AW_DN(name##d_bufferSize)                                                                        \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A,    \
   int lda, const R* W, int* lwork) {                                                              \
    return api<"cusolverDn" #name "d_bufferSize">([&] {                                            \
      use(handle);                                                                                 \
      count_work<T>(lwork, syevd_of(jobz, uplo, n, own(A), lda, own(W)));                          \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##dx)                                                                                  \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,                    \
   cublasFillMode_t uplo, int n, T* A, int lda, R vl, R vu, int il, int iu, int* found, R* W,      \
   T* work, int lwork, int* info) {                                                                \
    return api<"cusolverDn" #name "dx">(                                                           \
        [&] {                                                                                      \
          auto& it = use(handle);                                                                  \
          require(found);                                                                          \
          Range wanted = range_of(range, vl, vu, il, iu, n);                                       \
          perform_selected(it.stream, "syevdx", wanted, given(work, lwork), info,                  \
                           selected_of(syevd_of(jobz, uplo, n, own(A), lda, W), jobz, wanted, n,   \
                                       own(A), lda, W, found));                                    \
        },                                                                                         \
        n, lda);                                                                                   \
  }                                                                                                \
  AW_DN(name##dx_bufferSize)                                                                       \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,                    \
   cublasFillMode_t uplo, int n, const T* A, int lda, R vl, R vu, int il, int iu, int*,            \
   const R* W, int* lwork) {                                                                       \
    return api<"cusolverDn" #name "dx_bufferSize">([&] {                                           \
      use(handle);                                                                                 \
      range_of(range, vl, vu, il, iu, n);                                                          \
      count_work<T>(lwork, syevd_of(jobz, uplo, n, own(A), lda, own(W)));                          \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##j)                                                                                   \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, \
   R* W, T* work, int lwork, int* info, syevjInfo_t params) {                                      \
    return api<"cusolverDn" #name "j">(                                                            \
        [&] {                                                                                      \
          perform(use(handle).stream, "syevj", given(work, lwork), info,                           \
                  syevj_of(jobz, uplo, n, own(A), lda, W, params));                                \
        },                                                                                         \
        n, lda);                                                                                   \
  }                                                                                                \
  AW_DN(name##j_bufferSize)                                                                        \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A,    \
   int lda, const R* W, int* lwork, syevjInfo_t params) {                                          \
    return api<"cusolverDn" #name "j_bufferSize">([&] {                                            \
      use(handle);                                                                                 \
      count_work<T>(lwork, syevj_of(jobz, uplo, n, own(A), lda, own(W), params));                  \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##jBatched)                                                                            \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, \
   R* W, T*, int, int* infos, syevjInfo_t params, int count) {                                     \
    return api<"cusolverDn" #name "jBatched">(                                                     \
        [&] {                                                                                      \
          syevj_batch(use(handle).stream, jobz, uplo, n, own(A), lda, W, infos, params, count);    \
        },                                                                                         \
        n, lda, count);                                                                            \
  }                                                                                                \
  AW_DN(name##jBatched_bufferSize)                                                                 \
  (cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A,    \
   int lda, const R* W, int* lwork, syevjInfo_t params, int count) {                               \
    return api<"cusolverDn" #name "jBatched_bufferSize">([&] {                                     \
      use(handle);                                                                                 \
      require(lwork && params && count >= 0);                                                      \
      syevd_of(jobz, uplo, n, own(A), lda, own(W));                                                \
      *lwork = 1;                                                                                  \
    });                                                                                            \
  }
AW_FOUR(AW_FUNCTIONS, syev, heev)
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                                   \
  AW_DN(name##d)                                                                                   \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cublasFillMode_t uplo, int n, T* A, int lda, T* B, int ldb, R* W, T* work, int lwork,           \
   int* info) {                                                                                    \
    return api<"cusolverDn" #name "d">(                                                            \
        [&] {                                                                                      \
          perform(use(handle).stream, "sygvd", given(work, lwork), info,                           \
                  sygvd_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, W));                     \
        },                                                                                         \
        n, lda, ldb);                                                                              \
  }                                                                                                \
  AW_DN(name##d_bufferSize)                                                                        \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cublasFillMode_t uplo, int n, const T* A, int lda, const T* B, int ldb, const R* W,             \
   int* lwork) {                                                                                   \
    return api<"cusolverDn" #name "d_bufferSize">([&] {                                            \
      use(handle);                                                                                 \
      count_work<T>(lwork, sygvd_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, own(W)));       \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##dx)                                                                                  \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cusolverEigRange_t range, cublasFillMode_t uplo, int n, T* A, int lda, T* B, int ldb, R vl,     \
   R vu, int il, int iu, int* found, R* W, T* work, int lwork, int* info) {                        \
    return api<"cusolverDn" #name "dx">(                                                           \
        [&] {                                                                                      \
          auto& it = use(handle);                                                                  \
          require(found);                                                                          \
          Range wanted = range_of(range, vl, vu, il, iu, n);                                       \
          perform_selected(it.stream, "sygvdx", wanted, given(work, lwork), info,                  \
                           selected_of(sygvd_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, W), \
                                       jobz, wanted, n, own(A), lda, W, found));                   \
        },                                                                                         \
        n, lda, ldb);                                                                              \
  }                                                                                                \
  AW_DN(name##dx_bufferSize)                                                                       \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cusolverEigRange_t range, cublasFillMode_t uplo, int n, const T* A, int lda, const T* B,        \
   int ldb, R vl, R vu, int il, int iu, int*, const R* W, int* lwork) {                            \
    return api<"cusolverDn" #name "dx_bufferSize">([&] {                                           \
      use(handle);                                                                                 \
      range_of(range, vl, vu, il, iu, n);                                                          \
      count_work<T>(lwork, sygvd_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, own(W)));       \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##j)                                                                                   \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cublasFillMode_t uplo, int n, T* A, int lda, T* B, int ldb, R* W, T* work, int lwork,           \
   int* info, syevjInfo_t params) {                                                                \
    return api<"cusolverDn" #name "j">(                                                            \
        [&] {                                                                                      \
          perform(use(handle).stream, "sygvj", given(work, lwork), info,                           \
                  sygvj_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, W, params));             \
        },                                                                                         \
        n, lda, ldb);                                                                              \
  }                                                                                                \
  AW_DN(name##j_bufferSize)                                                                        \
  (cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,                      \
   cublasFillMode_t uplo, int n, const T* A, int lda, const T* B, int ldb, const R* W, int* lwork, \
   syevjInfo_t params) {                                                                           \
    return api<"cusolverDn" #name "j_bufferSize">([&] {                                            \
      use(handle);                                                                                 \
      count_work<T>(lwork,                                                                         \
                    sygvj_of(type, jobz, uplo, n, own(A), lda, own(B), ldb, own(W), params));      \
    });                                                                                            \
  }
AW_FOUR(AW_FUNCTIONS, sygv, hegv)
#undef AW_FUNCTIONS
