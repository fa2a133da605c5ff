// cuSOLVER, dense: the polar decomposition (Xpolar), which CUDA 12 has not.
#include "libraries/cusolver/svd.h"

#ifndef AW_CUDA_12
using namespace aw::cusolver;

namespace {

struct Quality {
  double *residual, *norm, *rcond;  // on the device; each may be null
};

// A = U H by singular values: U = W V^H takes the place of A = W S V^H, and H = V S V^H. The whole
// of H is written, whichever half is asked for.
template <class T>
auto polar_of(cublasFillMode_t uplo, int64_t m_, int64_t n_, T* A, int64_t lda_, T* H, int64_t ldh_,
              Quality quality) {
  letter(uplo);
  int m = size_of(m_), n = size_of(n_), lda = leading(lda_, m_), ldh = leading(ldh_, n_);
  require(m >= n);
  return [=, shape = shape_of(m, n, true, false)](Memory& memory) {
    int ldm = std::max(1, m), ldn = std::max(1, n);
    T *given = memory.take<T>(size_t(m) * n), *W = memory.take<T>(size_t(m) * n),
      *V = memory.take<T>(size_t(n) * n), *scaled = memory.take<T>(size_t(n) * n);
    Real<T>* S = memory.take<Real<T>>(n);
    if (!memory.counts()) {
      copy(m, n, A, lda, given, ldm);
      if (quality.norm) *quality.norm = frobenius(m, n, A, lda);
    }
    int info = divide(memory, shape, given, ldm, S, W, ldm, V, ldn);
    if (!memory.counts()) {
      copy(m, n, A, lda, given, ldm);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) scaled[i + size_t(j) * n] = V[i + size_t(j) * n] * S[j];
      product('N', 'C', n, n, n, T(1), scaled, ldn, V, ldn, T(0), H, ldh);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i <= j; ++i) {
          T& upper = H[i + size_t(j) * ldh];
          T& lower = H[j + size_t(i) * ldh];
          upper = (upper + conjugate(lower)) / Real<T>(2);
          lower = conjugate(upper);
        }
      product('N', 'C', m, n, n, T(1), W, ldm, V, ldn, T(0), A, lda);
      if (quality.rcond) *quality.rcond = n && S[0] != 0 ? S[n - 1] / S[0] : 0;
      product('N', 'N', m, n, n, T(-1), A, lda, H, ldh, T(1), given, ldm);
    }
    int told = divide(memory, shape_of(m, n, false, false), given, ldm, S, static_cast<T*>(nullptr),
                      1, static_cast<T*>(nullptr), 1);
    if (!memory.counts() && quality.residual) *quality.residual = n ? S[0] : 0;
    return info ? info : told;
  };
}

}  // namespace

AW_DN(Xpolar)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, int64_t m,
              int64_t n, cudaDataType type, void* A, int64_t lda, cudaDataType type_h, void* H,
              int64_t ldh, cudaDataType compute, void* device, size_t device_bytes, void*, size_t,
              double* residual, double* norm, double* rcond, int* info) {
  return api<"cusolverDnXpolar">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_h, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "polar", {device, device_bytes}, info,
                  polar_of(uplo, m, n, static_cast<T*>(A), lda, static_cast<T*>(H), ldh,
                           {residual, norm, rcond}));
        });
      },
      m, n, lda);
}

AW_DN(Xpolar_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo,
                         int64_t m, int64_t n, cudaDataType type, const void*, int64_t lda,
                         cudaDataType type_h, const void*, int64_t ldh, cudaDataType compute,
                         size_t* device, size_t* host) {
  return api<"cusolverDnXpolar_bufferSize">([&] {
    use(handle);
    one_type(type, type_h, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, polar_of<T>(uplo, m, n, nullptr, lda, nullptr, ldh, {}));
    });
  });
}
#endif
