// cuSOLVER, dense: LU factorization, with and without pivoting (getrf, getrs, laswp).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

// A = L U in place, without exchanging rows, by halves of the columns. Returns the number of the
// first pivot that is zero, as LAPACK does; 0: none.
template <class T>
int unpivoted(int m, int n, T* A, int lda) {
  int k = std::min(m, n), first = 0;
  if (k == 0) return 0;
  if (n == 1) {
    if (A[0] == T(0)) return 1;
    for (int i = 1; i < m; ++i) A[i] /= A[0];
    return 0;
  }
  int left = std::max(1, k / 2), right = n - left;
  T *A12 = A + size_t(left) * lda, *A21 = A + left, *A22 = A12 + left;
  first = unpivoted(m, left, A, lda);
  blas<T, "trsm">('L', 'L', 'N', 'U', left, right, T(1), A, lda, A12, lda);
  if (m == left) return first;
  product('N', 'N', m - left, right, left, T(-1), A21, lda, A12, lda, T(1), A22, lda);
  int later = unpivoted(m - left, right, A22, lda);
  return first ? first : later ? later + left : 0;
}

// Pivots are of 32 or of 64 bits; none: without pivoting.
template <class T, class Pivot>
auto getrf_of(int64_t m_, int64_t n_, T* A, int64_t lda_, Pivot* pivots) {
  int m = size_of(m_), n = size_of(n_), lda = leading(lda_, m_);
  return [=](Memory& memory) {
    if constexpr (sizeof(Pivot) == sizeof(int)) {
      if (memory.counts()) return 0;
      return pivots ? lapack<T, "getrf">(m, n, A, lda, pivots) : unpivoted(m, n, A, lda);
    } else {
      int count = std::min(m, n);
      int* narrow = memory.take<int>(count);
      if (memory.counts()) return 0;
      if (!pivots) return unpivoted(m, n, A, lda);
      int info = lapack<T, "getrf">(m, n, A, lda, narrow);
      std::copy_n(narrow, count, pivots);
      return info;
    }
  };
}

template <class T, class Pivot>
auto getrs_of(cublasOperation_t operation, int64_t n_, int64_t nrhs_, const T* A, int64_t lda_,
              const Pivot* pivots, T* B, int64_t ldb_) {
  char trans = letter<T>(operation);
  int n = size_of(n_), nrhs = size_of(nrhs_), lda = leading(lda_, n_), ldb = leading(ldb_, n_);
  return [=](Memory& memory) {
    if (!pivots) {
      bool plain = trans == 'N';
      blas<T, "trsm">('L', plain ? 'L' : 'U', trans, plain ? 'U' : 'N', n, nrhs, T(1), A, lda, B,
                      ldb);
      blas<T, "trsm">('L', plain ? 'U' : 'L', trans, plain ? 'N' : 'U', n, nrhs, T(1), A, lda, B,
                      ldb);
      return 0;
    }
    if constexpr (sizeof(Pivot) == sizeof(int)) {
      return lapack<T, "getrs">(trans, n, nrhs, A, lda, pivots, B, ldb);
    } else {
      int* narrow = memory.take<int>(n);
      std::copy_n(pivots, n, narrow);
      return lapack<T, "getrs">(trans, n, nrhs, A, lda, narrow, B, ldb);
    }
  };
}

template <class T>
auto laswp_of(int n, T* A, int lda, int k1, int k2, const int* pivots, int step) {
  size_of(n), leading(lda, 1);
  require(k1 >= 1 && k2 >= k1 && pivots);
  return [=](Memory&) {
    blas<T, "laswp">(n, A, lda, k1, k2, pivots, step);
    return 0;
  };
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                   \
  AW_DN(name##getrf)                                                                               \
  (cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* work, int* pivots, int* info) {      \
    return api<"cusolverDn" #name "getrf">(                                                        \
        [&] {                                                                                      \
          static_cast<void>(work);                                                                 \
          perform(use(handle).stream, "getrf", {}, info, getrf_of(m, n, own(A), lda, pivots));     \
        },                                                                                         \
        m, n, lda);                                                                                \
  }                                                                                                \
  AW_DN(name##getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T* A, int lda,            \
                                int* lwork) {                                                      \
    return api<"cusolverDn" #name "getrf_bufferSize">([&] {                                        \
      use(handle);                                                                                 \
      count_work<T>(lwork, getrf_of<std::remove_pointer_t<decltype(own(A))>, int>(m, n, own(A),    \
                                                                                  lda, nullptr));  \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##getrs)                                                                               \
  (cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T* A, int lda,       \
   const int* pivots, T* B, int ldb, int* info) {                                                  \
    return api<"cusolverDn" #name "getrs">(                                                        \
        [&] {                                                                                      \
          perform(use(handle).stream, "getrs", {}, info,                                           \
                  getrs_of(trans, n, nrhs, own(A), lda, pivots, own(B), ldb));                     \
        },                                                                                         \
        n, nrhs, lda, ldb);                                                                        \
  }                                                                                                \
  AW_DN(name##laswp)                                                                               \
  (cusolverDnHandle_t handle, int n, T* A, int lda, int k1, int k2, const int* pivots, int step) { \
    return api<"cusolverDn" #name "laswp">(                                                        \
        [&] {                                                                                      \
          perform(use(handle).stream, "laswp", {}, nullptr,                                        \
                  laswp_of(n, own(A), lda, k1, k2, pivots, step));                                 \
        },                                                                                         \
        n, lda);                                                                                   \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS

// ---- the 64-bit interface ----

AW_DN(Xgetrf)(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
              cudaDataType type, void* A, int64_t lda, int64_t* pivots, cudaDataType compute,
              void* device, size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXgetrf">(
      [&] {
        auto& it = use(handle);
        one_type(type, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "getrf", {device, device_bytes}, info,
                  getrf_of(m, n, static_cast<T*>(A), lda, pivots));
        });
      },
      m, n, lda);
}

AW_DN(Xgetrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                         cudaDataType type, const void*, int64_t lda, cudaDataType compute,
                         size_t* device, size_t* host) {
  return api<"cusolverDnXgetrf_bufferSize">([&] {
    use(handle);
    one_type(type, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, getrf_of<T, int64_t>(m, n, nullptr, lda, nullptr));
    });
  });
}

AW_DN(Xgetrs)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t trans, int64_t n,
              int64_t nrhs, cudaDataType type, const void* A, int64_t lda, const int64_t* pivots,
              cudaDataType type_b, void* B, int64_t ldb, int* info) {
  return api<"cusolverDnXgetrs">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_b);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "getrs", {}, info,
                  getrs_of(trans, n, nrhs, static_cast<const T*>(A), lda, pivots,
                           static_cast<T*>(B), ldb));
        });
      },
      n, nrhs);
}

#ifdef AW_CUDA_12
// The first form of it, which CUDA 13 has no more.
AW_DN(Getrf)(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
             cudaDataType type, void* A, int64_t lda, int64_t* pivots, cudaDataType compute,
             void* work, size_t bytes, int* info) {
  return cusolverDnXgetrf(handle, params, m, n, type, A, lda, pivots, compute, work, bytes, nullptr,
                          0, info);
}

AW_DN(Getrf_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                        cudaDataType type, const void* A, int64_t lda, cudaDataType compute,
                        size_t* bytes) {
  size_t host;
  return cusolverDnXgetrf_bufferSize(handle, params, m, n, type, A, lda, compute, bytes, &host);
}

AW_DN(Getrs)(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
             int64_t n, int64_t nrhs, cudaDataType type, const void* A, int64_t lda,
             const int64_t* pivots, cudaDataType type_b, void* B, int64_t ldb, int* info) {
  return cusolverDnXgetrs(handle, params, trans, n, nrhs, type, A, lda, pivots, type_b, B, ldb,
                          info);
}
#endif
