// cuSOLVER, dense: QR factorization and products with its orthogonal factor (geqrf, orgqr, ormqr,
// larft).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

template <class T>
auto geqrf_of(int64_t m_, int64_t n_, T* A, int64_t lda_, T* tau) {
  int m = size_of(m_), n = size_of(n_), lda = leading(lda_, m_);
  return [=](Memory& memory) { return lapack_in<T, "geqrf">(memory, m, n, A, lda, tau); };
}

template <class T>
auto orgqr_of(int m, int n, int k, T* A, int lda, const T* tau) {
  size_of(m), size_of(n), size_of(k), leading(lda, m);
  require(m >= n && n >= k);
  return
      [=](Memory& memory) { return lapack_in<T, "orgqr", "ungqr">(memory, m, n, k, A, lda, tau); };
}

template <class T>
auto ormqr_of(cublasSideMode_t where, cublasOperation_t operation, int m, int n, int k, T* A,
              int lda, const T* tau, T* C, int ldc) {
  char side = letter(where), trans = letter<T>(operation);
  if (kComplex<T> && trans == 'T') unsupported("unmqr with a transpose that is not conjugate");
  int rows = side == 'L' ? m : n;
  size_of(m), size_of(n), size_of(k), leading(lda, rows), leading(ldc, m);
  require(k <= rows);
  return [=](Memory& memory) {
    return lapack_in<T, "ormqr", "unmqr">(memory, side, trans, m, n, k, A, lda, tau, C, ldc);
  };
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                        \
  AW_DN(name##geqrf)                                                                    \
  (cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* tau, T* work, int lwork,  \
   int* info) {                                                                         \
    return api<"cusolverDn" #name "geqrf">(                                             \
        [&] {                                                                           \
          perform(use(handle).stream, "geqrf", given(work, lwork), info,                \
                  geqrf_of(m, n, own(A), lda, own(tau)));                               \
        },                                                                              \
        m, n, lda);                                                                     \
  }                                                                                     \
  AW_DN(name##geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T* A, int lda, \
                                int* lwork) {                                           \
    return api<"cusolverDn" #name "geqrf_bufferSize">([&] {                             \
      use(handle);                                                                      \
      count_work<T>(lwork, geqrf_of(m, n, own(A), lda, own(A)));                        \
    });                                                                                 \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                         \
  AW_DN(name)                                                                            \
  (cusolverDnHandle_t handle, int m, int n, int k, T* A, int lda, const T* tau, T* work, \
   int lwork, int* info) {                                                               \
    return api<"cusolverDn" #name>(                                                      \
        [&] {                                                                            \
          perform(use(handle).stream, "orgqr", given(work, lwork), info,                 \
                  orgqr_of(m, n, k, own(A), lda, own(tau)));                             \
        },                                                                               \
        m, n, k);                                                                        \
  }                                                                                      \
  AW_DN(name##_bufferSize)                                                               \
  (cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, const T* tau,    \
   int* lwork) {                                                                         \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                   \
      use(handle);                                                                       \
      count_work<T>(lwork, orgqr_of(m, n, k, own(A), lda, own(tau)));                    \
    });                                                                                  \
  }
AW_FOUR(AW_FUNCTIONS, orgqr, ungqr)
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                                   \
  AW_DN(name)                                                                                      \
  (cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, \
   const T* A, int lda, const T* tau, T* C, int ldc, T* work, int lwork, int* info) {              \
    return api<"cusolverDn" #name>(                                                                \
        [&] {                                                                                      \
          perform(use(handle).stream, "ormqr", given(work, lwork), info,                           \
                  ormqr_of(side, trans, m, n, k, own(A), lda, own(tau), own(C), ldc));             \
        },                                                                                         \
        m, n, k);                                                                                  \
  }                                                                                                \
  AW_DN(name##_bufferSize)                                                                         \
  (cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, \
   const T* A, int lda, const T* tau, const T* C, int ldc, int* lwork) {                           \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                             \
      use(handle);                                                                                 \
      count_work<T>(lwork, ormqr_of(side, trans, m, n, k, own(A), lda, own(tau), own(C), ldc));    \
    });                                                                                            \
  }
AW_FOUR(AW_FUNCTIONS, ormqr, unmqr)
#undef AW_FUNCTIONS

// ---- the 64-bit interface ----

AW_DN(Xgeqrf)(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
              cudaDataType type, void* A, int64_t lda, cudaDataType type_tau, void* tau,
              cudaDataType compute, void* device, size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXgeqrf">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_tau, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "geqrf", {device, device_bytes}, info,
                  geqrf_of(m, n, static_cast<T*>(A), lda, static_cast<T*>(tau)));
        });
      },
      m, n, lda);
}

AW_DN(Xgeqrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                         cudaDataType type, const void*, int64_t lda, cudaDataType type_tau,
                         const void*, cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXgeqrf_bufferSize">([&] {
    use(handle);
    one_type(type, type_tau, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, geqrf_of<T>(m, n, nullptr, lda, nullptr));
    });
  });
}

// As documented: only forward, by columns, n >= k.
AW_DN(Xlarft)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverDirectMode_t direct,
              cusolverStorevMode_t storev, int64_t n, int64_t k, cudaDataType type, const void* V,
              int64_t ldv, cudaDataType type_tau, const void* tau, cudaDataType type_t,
              void* triangle, int64_t ldt, cudaDataType compute, void*, size_t, void*, size_t) {
  return api<"cusolverDnXlarft">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_tau, type_t, compute);
        if (direct != CUBLAS_DIRECT_FORWARD || storev != CUBLAS_STOREV_COLUMNWISE)
          unsupported("larft other than forward and by columns");
        require(n >= k);
        int rows = size_of(n), count = size_of(k), ldV = leading(ldv, n), ldT = leading(ldt, k);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "larft", {}, nullptr, [=](Memory&) {
            blas<T, "larft">('F', 'C', rows, count, static_cast<const T*>(V), ldV,
                             static_cast<const T*>(tau), static_cast<T*>(triangle), ldT);
            return 0;
          });
        });
      },
      n, k);
}

AW_DN(Xlarft_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverDirectMode_t,
                         cusolverStorevMode_t, int64_t, int64_t, cudaDataType type, const void*,
                         int64_t, cudaDataType type_tau, const void*, cudaDataType type_t, void*,
                         int64_t, cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXlarft_bufferSize">([&] {
    use(handle);
    one_type(type, type_tau, type_t, compute);
    count_bytes(device, host, [](Memory&) { return 0; });
  });
}

#ifdef AW_CUDA_12
// The first form of it, which CUDA 13 has no more.
AW_DN(Geqrf)(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
             cudaDataType type, void* A, int64_t lda, cudaDataType type_tau, void* tau,
             cudaDataType compute, void* work, size_t bytes, int* info) {
  return cusolverDnXgeqrf(handle, params, m, n, type, A, lda, type_tau, tau, compute, work, bytes,
                          nullptr, 0, info);
}

AW_DN(Geqrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                        cudaDataType type, const void* A, int64_t lda, cudaDataType type_tau,
                        const void* tau, cudaDataType compute, size_t* bytes) {
  size_t host;
  return cusolverDnXgeqrf_bufferSize(handle, params, m, n, type, A, lda, type_tau, tau, compute,
                                     bytes, &host);
}
#endif
