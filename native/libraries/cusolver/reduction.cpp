// cuSOLVER, dense: reduction to bidiagonal and tridiagonal form, and the orthogonal factors of it
// (gebrd, orgbr, sytrd, orgtr, ormtr).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

template <class T>
auto gebrd_of(int m, int n, T* A, int lda, Real<T>* D, Real<T>* E, T* tauq, T* taup) {
  size_of(m), size_of(n), leading(lda, m);
  return
      [=](Memory& memory) { return lapack_in<T, "gebrd">(memory, m, n, A, lda, D, E, tauq, taup); };
}

template <class T>
auto orgbr_of(cublasSideMode_t side, int m, int n, int k, T* A, int lda, const T* tau) {
  char which = letter(side) == 'L' ? 'Q' : 'P';
  size_of(m), size_of(n), size_of(k), leading(lda, m);
  require(which == 'Q' ? m >= n && n >= std::min(m, k) : n >= m && m >= std::min(n, k));
  return [=](Memory& memory) {
    return lapack_in<T, "orgbr", "ungbr">(memory, which, m, n, k, A, lda, tau);
  };
}

template <class T>
auto sytrd_of(cublasFillMode_t fill, int n, T* A, int lda, Real<T>* D, Real<T>* E, T* tau) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  return [=](Memory& memory) {
    return lapack_in<T, "sytrd", "hetrd">(memory, uplo, n, A, lda, D, E, tau);
  };
}

template <class T>
auto orgtr_of(cublasFillMode_t fill, int n, T* A, int lda, const T* tau) {
  char uplo = letter(fill);
  size_of(n), leading(lda, n);
  return
      [=](Memory& memory) { return lapack_in<T, "orgtr", "ungtr">(memory, uplo, n, A, lda, tau); };
}

template <class T>
auto ormtr_of(cublasSideMode_t where, cublasFillMode_t fill, cublasOperation_t operation, int m,
              int n, T* A, int lda, const T* tau, T* C, int ldc) {
  char side = letter(where), uplo = letter(fill), trans = letter<T>(operation);
  if (kComplex<T> && trans == 'T') unsupported("unmtr with a transpose that is not conjugate");
  size_of(m), size_of(n), leading(lda, side == 'L' ? m : n), leading(ldc, m);
  return [=](Memory& memory) {
    return lapack_in<T, "ormtr", "unmtr">(memory, side, uplo, trans, m, n, A, lda, tau, C, ldc);
  };
}

}  // namespace

#define AW_FUNCTIONS(name, T, R)                                                                  \
  AW_DN(name##gebrd)                                                                              \
  (cusolverDnHandle_t handle, int m, int n, T* A, int lda, R* D, R* E, T* tauq, T* taup, T* work, \
   int lwork, int* info) {                                                                        \
    return api<"cusolverDn" #name "gebrd">(                                                       \
        [&] {                                                                                     \
          perform(use(handle).stream, "gebrd", given(work, lwork), info,                          \
                  gebrd_of(m, n, own(A), lda, D, E, own(tauq), own(taup)));                       \
        },                                                                                        \
        m, n, lda);                                                                               \
  }                                                                                               \
  AW_DN(name##gebrd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int* lwork) {            \
    return api<"cusolverDn" #name "gebrd_bufferSize">([&] {                                       \
      use(handle);                                                                                \
      auto* none = own(static_cast<T*>(nullptr));                                                 \
      R* real = nullptr;                                                                          \
      count_work<T>(lwork, gebrd_of(m, n, none, std::max(1, m), real, real, none, none));         \
    });                                                                                           \
  }
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                               \
  AW_DN(name)                                                                                  \
  (cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, T* A, int lda,       \
   const T* tau, T* work, int lwork, int* info) {                                              \
    return api<"cusolverDn" #name>(                                                            \
        [&] {                                                                                  \
          perform(use(handle).stream, "orgbr", given(work, lwork), info,                       \
                  orgbr_of(side, m, n, k, own(A), lda, own(tau)));                             \
        },                                                                                     \
        m, n, k);                                                                              \
  }                                                                                            \
  AW_DN(name##_bufferSize)                                                                     \
  (cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, const T* A, int lda, \
   const T* tau, int* lwork) {                                                                 \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                         \
      use(handle);                                                                             \
      count_work<T>(lwork, orgbr_of(side, m, n, k, own(A), lda, own(tau)));                    \
    });                                                                                        \
  }
AW_FOUR(AW_FUNCTIONS, orgbr, ungbr)
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                               \
  AW_DN(name)                                                                                  \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, R* D, R* E, T* tau, \
   T* work, int lwork, int* info) {                                                            \
    return api<"cusolverDn" #name>(                                                            \
        [&] {                                                                                  \
          perform(use(handle).stream, "sytrd", given(work, lwork), info,                       \
                  sytrd_of(uplo, n, own(A), lda, D, E, own(tau)));                             \
        },                                                                                     \
        n, lda);                                                                               \
  }                                                                                            \
  AW_DN(name##_bufferSize)                                                                     \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, const T* A, int lda, const R* D,   \
   const R* E, const T* tau, int* lwork) {                                                     \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                         \
      use(handle);                                                                             \
      count_work<T>(lwork, sytrd_of(uplo, n, own(A), lda, own(D), own(E), own(tau)));          \
    });                                                                                        \
  }
AW_FOUR(AW_FUNCTIONS, sytrd, hetrd)
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                                  \
  AW_DN(name)                                                                                     \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda, const T* tau, T* work, \
   int lwork, int* info) {                                                                        \
    return api<"cusolverDn" #name>(                                                               \
        [&] {                                                                                     \
          perform(use(handle).stream, "orgtr", given(work, lwork), info,                          \
                  orgtr_of(uplo, n, own(A), lda, own(tau)));                                      \
        },                                                                                        \
        n, lda);                                                                                  \
  }                                                                                               \
  AW_DN(name##_bufferSize)                                                                        \
  (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, const T* A, int lda, const T* tau,    \
   int* lwork) {                                                                                  \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                            \
      use(handle);                                                                                \
      count_work<T>(lwork, orgtr_of(uplo, n, own(A), lda, own(tau)));                             \
    });                                                                                           \
  }
AW_FOUR(AW_FUNCTIONS, orgtr, ungtr)
#undef AW_FUNCTIONS

#define AW_FUNCTIONS(name, T, R)                                                                   \
  AW_DN(name)                                                                                      \
  (cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                        \
   cublasOperation_t trans, int m, int n, T* A, int lda, T* tau, T* C, int ldc, T* work,           \
   int lwork, int* info) {                                                                         \
    return api<"cusolverDn" #name>(                                                                \
        [&] {                                                                                      \
          perform(use(handle).stream, "ormtr", given(work, lwork), info,                           \
                  ormtr_of(side, uplo, trans, m, n, own(A), lda, own(tau), own(C), ldc));          \
        },                                                                                         \
        m, n);                                                                                     \
  }                                                                                                \
  AW_DN(name##_bufferSize)                                                                         \
  (cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                        \
   cublasOperation_t trans, int m, int n, const T* A, int lda, const T* tau, const T* C, int ldc,  \
   int* lwork) {                                                                                   \
    return api<"cusolverDn" #name "_bufferSize">([&] {                                             \
      use(handle);                                                                                 \
      count_work<T>(lwork, ormtr_of(side, uplo, trans, m, n, own(A), lda, own(tau), own(C), ldc)); \
    });                                                                                            \
  }
AW_FOUR(AW_FUNCTIONS, ormtr, unmtr)
#undef AW_FUNCTIONS
