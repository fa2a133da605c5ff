// cuSOLVER, dense: Cholesky's factorization, what follows from it, and triangular matrices (potrf,
// potrs, potri, lauum, trtri).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

template <class T>
auto potrf_of(cublasFillMode_t fill, int64_t n_, T* A, int64_t lda_) {
  char uplo = letter(fill);
  int n = size_of(n_), lda = leading(lda_, n_);
  return [=](Memory& memory) { return memory.counts() ? 0 : lapack<T, "potrf">(uplo, n, A, lda); };
}

template <class T>
auto potrs_of(cublasFillMode_t fill, int64_t n_, int64_t nrhs_, const T* A, int64_t lda_, T* B,
              int64_t ldb_) {
  char uplo = letter(fill);
  int n = size_of(n_), nrhs = size_of(nrhs_), lda = leading(lda_, n_), ldb = leading(ldb_, n_);
  return [=](Memory&) { return lapack<T, "potrs">(uplo, n, nrhs, A, lda, B, ldb); };
}

template <class T>
auto potri_of(cublasFillMode_t fill, int n, T* A, int lda) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  return [=](Memory& memory) { return memory.counts() ? 0 : lapack<T, "potri">(uplo, n, A, lda); };
}

template <class T>
auto lauum_of(cublasFillMode_t fill, int n, T* A, int lda) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  return [=](Memory& memory) { return memory.counts() ? 0 : lapack<T, "lauum">(uplo, n, A, lda); };
}

template <class T>
auto trtri_of(cublasFillMode_t fill, cublasDiagType_t diagonal, int64_t n_, T* A, int64_t lda_) {
  char uplo = letter(fill);
  require(diagonal == CUBLAS_DIAG_NON_UNIT || diagonal == CUBLAS_DIAG_UNIT);
  char diag = diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N';
  int n = size_of(n_), lda = leading(lda_, n_);
  return [=](Memory& memory) {
    return memory.counts() ? 0 : lapack<T, "trtri">(uplo, diag, n, A, lda);
  };
}

template <class T>
void potrf_batch(cusolverDnContext& it, cublasFillMode_t fill, int n, T* const* A, int lda,
                 int* infos, int count) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  require(A || count <= 0);
  perform_all(it.stream, "potrfBatched", infos, count,
              [=](Memory&, uint64_t i) { return lapack<T, "potrf">(uplo, n, A[i], lda); });
}

// One info for all of them, as documented: only arguments can be wrong.
template <class T>
void potrs_batch(cusolverDnContext& it, cublasFillMode_t fill, int n, int nrhs, T* const* A,
                 int lda, T* const* B, int ldb, int* info, int count) {
  char uplo = letter(fill);
  size_of(n), size_of(nrhs), leading(lda, n), leading(ldb, n);
  require((A && B) || count <= 0);
  perform_all(it.stream, "potrsBatched", nullptr, count, [=](Memory&, uint64_t i) {
    return lapack<T, "potrs">(uplo, n, nrhs, A[i], lda, B[i], ldb);
  });
  perform(it.stream, "potrsBatched", {}, info, [](Memory&) { return 0; });
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                 \
  AW_DN(name##potrf)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, T* work, int lwork,   \
   int* info) {                                                                                  \
    return api<"cusolverDn" #name "potrf">(                                                      \
        [&] {                                                                                    \
          perform(use(handle).stream, "potrf", given(work, lwork), info,                         \
                  potrf_of(uplo, n, own(A), lda));                                               \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##potrf_bufferSize)                                                                  \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, int* lwork) {         \
    return api<"cusolverDn" #name "potrf_bufferSize">([&] {                                      \
      use(handle);                                                                               \
      count_work<T>(lwork, potrf_of(uplo, n, own(A), lda));                                      \
    });                                                                                          \
  }                                                                                              \
  AW_DN(name##potrs)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const T* A, int lda, T* B, \
   int ldb, int* info) {                                                                         \
    return api<"cusolverDn" #name "potrs">(                                                      \
        [&] {                                                                                    \
          perform(use(handle).stream, "potrs", {}, info,                                         \
                  potrs_of(uplo, n, nrhs, own(A), lda, own(B), ldb));                            \
        },                                                                                       \
        n, nrhs, lda, ldb);                                                                      \
  }                                                                                              \
  AW_DN(name##potri)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, T* work, int lwork,   \
   int* info) {                                                                                  \
    return api<"cusolverDn" #name "potri">(                                                      \
        [&] {                                                                                    \
          perform(use(handle).stream, "potri", given(work, lwork), info,                         \
                  potri_of(uplo, n, own(A), lda));                                               \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##potri_bufferSize)                                                                  \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, int* lwork) {         \
    return api<"cusolverDn" #name "potri_bufferSize">([&] {                                      \
      use(handle);                                                                               \
      count_work<T>(lwork, potri_of(uplo, n, own(A), lda));                                      \
    });                                                                                          \
  }                                                                                              \
  AW_DN(name##lauum)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, T* work, int lwork,   \
   int* info) {                                                                                  \
    return api<"cusolverDn" #name "lauum">(                                                      \
        [&] {                                                                                    \
          perform(use(handle).stream, "lauum", given(work, lwork), info,                         \
                  lauum_of(uplo, n, own(A), lda));                                               \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##lauum_bufferSize)                                                                  \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, int* lwork) {         \
    return api<"cusolverDn" #name "lauum_bufferSize">([&] {                                      \
      use(handle);                                                                               \
      count_work<T>(lwork, lauum_of(uplo, n, own(A), lda));                                      \
    });                                                                                          \
  }                                                                                              \
  AW_DN(name##potrfBatched)                                                                      \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A[], int lda, int* infos,         \
   int count) {                                                                                  \
    return api<"cusolverDn" #name "potrfBatched">(                                               \
        [&] { potrf_batch(use(handle), uplo, n, own(A), lda, infos, count); }, n, lda, count);   \
  }                                                                                              \
  AW_DN(name##potrsBatched)                                                                      \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, T* A[], int lda, T* B[],   \
   int ldb, int* info, int count) {                                                              \
    return api<"cusolverDn" #name "potrsBatched">(                                               \
        [&] { potrs_batch(use(handle), uplo, n, nrhs, own(A), lda, own(B), ldb, info, count); }, \
        n, nrhs, count);                                                                         \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS

// ---- the 64-bit interface ----

AW_DN(Xpotrf)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,
              cudaDataType type, void* A, int64_t lda, cudaDataType compute, void* device,
              size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXpotrf">(
      [&] {
        auto& it = use(handle);
        one_type(type, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "potrf", {device, device_bytes}, info,
                  potrf_of(uplo, n, static_cast<T*>(A), lda));
        });
      },
      n, lda);
}

AW_DN(Xpotrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo,
                         int64_t n, cudaDataType type, const void*, int64_t lda,
                         cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXpotrf_bufferSize">([&] {
    use(handle);
    one_type(type, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, potrf_of<T>(uplo, n, nullptr, lda));
    });
  });
}

AW_DN(Xpotrs)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,
              int64_t nrhs, cudaDataType type, const void* A, int64_t lda, cudaDataType type_b,
              void* B, int64_t ldb, int* info) {
  return api<"cusolverDnXpotrs">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_b);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "potrs", {}, info,
                  potrs_of(uplo, n, nrhs, static_cast<const T*>(A), lda, static_cast<T*>(B), ldb));
        });
      },
      n, nrhs);
}

AW_DN(Xtrtri)(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
              cudaDataType type, void* A, int64_t lda, void* device, size_t device_bytes, void*,
              size_t, int* info) {
  return api<"cusolverDnXtrtri">(
      [&] {
        auto& it = use(handle);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "trtri", {device, device_bytes}, info,
                  trtri_of(uplo, diag, n, static_cast<T*>(A), lda));
        });
      },
      n, lda);
}

AW_DN(Xtrtri_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                         int64_t n, cudaDataType type, void*, int64_t lda, size_t* device,
                         size_t* host) {
  return api<"cusolverDnXtrtri_bufferSize">([&] {
    use(handle);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, trtri_of<T>(uplo, diag, n, nullptr, lda));
    });
  });
}

#ifdef AW_CUDA_12
// The first form of it, which CUDA 13 has no more.
AW_DN(Potrf)(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo, int64_t n,
             cudaDataType type, void* A, int64_t lda, cudaDataType compute, void* work,
             size_t bytes, int* info) {
  return cusolverDnXpotrf(handle, params, uplo, n, type, A, lda, compute, work, bytes, nullptr, 0,
                          info);
}

AW_DN(Potrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                        int64_t n, cudaDataType type, const void* A, int64_t lda,
                        cudaDataType compute, size_t* bytes) {
  size_t host;
  return cusolverDnXpotrf_bufferSize(handle, params, uplo, n, type, A, lda, compute, bytes, &host);
}

AW_DN(Potrs)(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo, int64_t n,
             int64_t nrhs, cudaDataType type, const void* A, int64_t lda, cudaDataType type_b,
             void* B, int64_t ldb, int* info) {
  return cusolverDnXpotrs(handle, params, uplo, n, nrhs, type, A, lda, type_b, B, ldb, info);
}
#endif
