// cuSOLVER, dense: symmetric and Hermitian indefinite matrices (sytrf, sytri, sytrs, hetrf, hetrs).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

// Pivots of the width that the interface has; LAPACK's are of 32 bits. None: each row is its own.
template <class Pivot>
class Pivots {
 public:
  Pivots(Memory& memory, Pivot* at, int count) : at_(at), count_(count) {
    if (sizeof(Pivot) != sizeof(int) || !at) narrow_ = memory.take<int>(count);
  }
  int* get() {
    if constexpr (sizeof(Pivot) == sizeof(int))
      if (at_) return const_cast<int*>(at_);
    return narrow_;
  }
  int* filled() {
    if (!at_)
      for (int i = 0; i < count_; ++i) narrow_[i] = i + 1;
    else if (get() == narrow_)
      std::copy_n(at_, count_, narrow_);
    return get();
  }
  void written() {
    if (at_ && get() == narrow_) std::copy_n(narrow_, count_, at_);
  }

 private:
  Pivot* at_;
  int count_;
  int* narrow_ = nullptr;
};

// A = L D L^T or U D U^T (for Hermitian matrices L^H and U^H) without exchanging rows, in place,
// column by column. Returns the number of the first pivot that is zero; 0: none.
template <class T, bool Hermitian>
int unpivoted_symmetric(char uplo, int n, T* A, int lda) {
  int first = 0, step = uplo == 'L' ? 1 : -1;
  for (int j = uplo == 'L' ? 0 : n - 1; j >= 0 && j < n; j += step) {
    T* column = A + size_t(j) * lda;
    T pivot = Hermitian ? T(std::real(column[j])) : column[j];
    column[j] = pivot;
    if (pivot == T(0)) {
      if (!first) first = j + 1;
      continue;
    }
    int begin = uplo == 'L' ? j + 1 : 0, end = uplo == 'L' ? n : j;
    for (int k = begin; k < end; ++k) {
      T factor = (Hermitian ? conjugate(column[k]) : column[k]) / pivot;
      T* other = A + size_t(k) * lda;
      for (int i = uplo == 'L' ? k : begin; i < (uplo == 'L' ? end : k + 1); ++i)
        other[i] -= column[i] * factor;
    }
    for (int i = begin; i < end; ++i) column[i] /= pivot;
  }
  return first;
}

// A real symmetric matrix is Hermitian too; a complex one is one or the other.
template <class T, bool Hermitian, class Pivot>
auto sytrf_of(cublasFillMode_t fill, int64_t n_, T* A, int64_t lda_, Pivot* pivots) {
  char uplo = letter(fill);
  int n = size_of(n_), lda = leading(lda_, n_);
  return [=](Memory& memory) {
    Pivots<Pivot> kept(memory, pivots, n);
    if (!memory.counts() && !pivots) return unpivoted_symmetric<T, Hermitian>(uplo, n, A, lda);
    int info = Hermitian ? lapack_in<T, "sytrf", "hetrf">(memory, uplo, n, A, lda, kept.get())
                         : lapack_in<T, "sytrf">(memory, uplo, n, A, lda, kept.get());
    if (!memory.counts()) kept.written();
    return info;
  };
}

template <class T, bool Hermitian>
auto sytrs_of(cublasFillMode_t fill, int64_t n_, int64_t nrhs_, const T* A, int64_t lda_,
              const int64_t* pivots, T* B, int64_t ldb_) {
  char uplo = letter(fill);
  int n = size_of(n_), nrhs = size_of(nrhs_), lda = leading(lda_, n_), ldb = leading(ldb_, n_);
  return [=](Memory& memory) {
    Pivots<const int64_t> kept(memory, pivots, n);
    if (memory.counts()) return 0;
    return Hermitian ? lapack<T, "sytrs", "hetrs">(uplo, n, nrhs, A, lda, kept.filled(), B, ldb)
                     : lapack<T, "sytrs">(uplo, n, nrhs, A, lda, kept.filled(), B, ldb);
  };
}

template <class T>
auto sytri_of(cublasFillMode_t fill, int n, T* A, int lda, const int* pivots) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  return [=](Memory& memory) {
    Pivots<const int> kept(memory, pivots, n);
    T* work = memory.take<T>(2 * size_t(n));
    return memory.counts() ? 0 : lapack<T, "sytri">(uplo, n, A, lda, kept.filled(), work);
  };
}

template <bool Hermitian>
void factorize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, cudaDataType type,
               void* A, int64_t lda, int64_t* pivots, cudaDataType compute, Given work, int* info) {
  auto& it = use(handle);
  one_type(type, compute);
  with_type(type, [&]<class T>(std::type_identity<T>) {
    perform(it.stream, Hermitian ? "hetrf" : "sytrf", work, info,
            sytrf_of<T, Hermitian>(uplo, n, static_cast<T*>(A), lda, pivots));
  });
}

template <bool Hermitian>
void count_factorize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                     int64_t lda, cudaDataType compute, size_t* device, size_t* host) {
  use(handle);
  one_type(type, compute);
  with_type(type, [&]<class T>(std::type_identity<T>) {
    count_bytes(device, host, sytrf_of<T, Hermitian, int64_t>(uplo, n, nullptr, lda, nullptr));
  });
}

template <bool Hermitian>
void solve(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
           cudaDataType type, const void* A, int64_t lda, const int64_t* pivots,
           cudaDataType type_b, void* B, int64_t ldb, Given work, int* info) {
  auto& it = use(handle);
  one_type(type, type_b);
  with_type(type, [&]<class T>(std::type_identity<T>) {
    perform(it.stream, Hermitian ? "hetrs" : "sytrs", work, info,
            sytrs_of<T, Hermitian>(uplo, n, nrhs, static_cast<const T*>(A), lda, pivots,
                                   static_cast<T*>(B), ldb));
  });
}

template <bool Hermitian>
void count_solve(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                 cudaDataType type, int64_t lda, cudaDataType type_b, int64_t ldb, size_t* device,
                 size_t* host) {
  use(handle);
  one_type(type, type_b);
  with_type(type, [&]<class T>(std::type_identity<T>) {
    count_bytes(device, host,
                sytrs_of<T, Hermitian>(uplo, n, nrhs, nullptr, lda, nullptr, nullptr, ldb));
  });
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                 \
  AW_DN(name##sytrf)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, int* pivots, T* work, \
   int lwork, int* info) {                                                                       \
    return api<"cusolverDn" #name "sytrf">(                                                      \
        [&] {                                                                                    \
          using Own = std::remove_pointer_t<decltype(own(A))>;                                   \
          perform(use(handle).stream, "sytrf", given(work, lwork), info,                         \
                  sytrf_of<Own, false>(uplo, n, own(A), lda, pivots));                           \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##sytrf_bufferSize)(cusolverDnHandle_t handle, int n, T* A, int lda, int* lwork) {   \
    return api<"cusolverDn" #name "sytrf_bufferSize">([&] {                                      \
      using Own = std::remove_pointer_t<decltype(own(A))>;                                       \
      use(handle);                                                                               \
      count_work<T>(lwork,                                                                       \
                    sytrf_of<Own, false, int>(CUBLAS_FILL_MODE_LOWER, n, own(A), lda, nullptr)); \
    });                                                                                          \
  }                                                                                              \
  AW_DN(name##sytri)                                                                             \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, const int* pivots,    \
   T* work, int lwork, int* info) {                                                              \
    return api<"cusolverDn" #name "sytri">(                                                      \
        [&] {                                                                                    \
          perform(use(handle).stream, "sytri", given(work, lwork), info,                         \
                  sytri_of(uplo, n, own(A), lda, pivots));                                       \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##sytri_bufferSize)                                                                  \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, const int* pivots,    \
   int* lwork) {                                                                                 \
    return api<"cusolverDn" #name "sytri_bufferSize">([&] {                                      \
      use(handle);                                                                               \
      count_work<T>(lwork, sytri_of(uplo, n, own(A), lda, pivots));                              \
    });                                                                                          \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS

// ---- the 64-bit interface ----

#define AW_FUNCTIONS(name, hermitian)                                                            \
  AW_DN(name##trf)                                                                               \
  (cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,              \
   cudaDataType type, void* A, int64_t lda, int64_t* pivots, cudaDataType compute, void* device, \
   size_t device_bytes, void*, size_t, int* info) {                                              \
    return api<"cusolverDn" #name "trf">(                                                        \
        [&] {                                                                                    \
          factorize<hermitian>(handle, uplo, n, type, A, lda, pivots, compute,                   \
                               {device, device_bytes}, info);                                    \
        },                                                                                       \
        n, lda);                                                                                 \
  }                                                                                              \
  AW_DN(name##trf_bufferSize)                                                                    \
  (cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,              \
   cudaDataType type, const void*, int64_t lda, const int64_t*, cudaDataType compute,            \
   size_t* device, size_t* host) {                                                               \
    return api<"cusolverDn" #name "trf_bufferSize">(                                             \
        [&] { count_factorize<hermitian>(handle, uplo, n, type, lda, compute, device, host); }); \
  }
#ifndef AW_CUDA_12
AW_FUNCTIONS(Xsy, false)
AW_FUNCTIONS(Xhe, true)
#endif
#undef AW_FUNCTIONS

AW_DN(Xsytrs)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
              cudaDataType type, const void* A, int64_t lda, const int64_t* pivots,
              cudaDataType type_b, void* B, int64_t ldb, void* device, size_t device_bytes, void*,
              size_t, int* info) {
  return api<"cusolverDnXsytrs">(
      [&] {
        solve<false>(handle, uplo, n, nrhs, type, A, lda, pivots, type_b, B, ldb,
                     {device, device_bytes}, info);
      },
      n, nrhs);
}

AW_DN(Xsytrs_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                         cudaDataType type, const void*, int64_t lda, const int64_t*,
                         cudaDataType type_b, void*, int64_t ldb, size_t* device, size_t* host) {
  return api<"cusolverDnXsytrs_bufferSize">(
      [&] { count_solve<false>(handle, uplo, n, nrhs, type, lda, type_b, ldb, device, host); });
}

#ifndef AW_CUDA_12
AW_DN(Xhetrs)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n,
              int64_t nrhs, cudaDataType type, const void* A, int64_t lda, const int64_t* pivots,
              cudaDataType type_b, void* B, int64_t ldb, void* device, size_t device_bytes, void*,
              size_t, int* info) {
  return api<"cusolverDnXhetrs">(
      [&] {
        solve<true>(handle, uplo, n, nrhs, type, A, lda, pivots, type_b, B, ldb,
                    {device, device_bytes}, info);
      },
      n, nrhs);
}

AW_DN(Xhetrs_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo,
                         int64_t n, int64_t nrhs, cudaDataType type, const void*, int64_t lda,
                         const int64_t*, cudaDataType type_b, void*, int64_t ldb, size_t* device,
                         size_t* host) {
  return api<"cusolverDnXhetrs_bufferSize">(
      [&] { count_solve<true>(handle, uplo, n, nrhs, type, lda, type_b, ldb, device, host); });
}
#endif
