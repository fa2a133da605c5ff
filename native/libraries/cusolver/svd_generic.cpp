// cuSOLVER, dense: singular values in the 64-bit interface (Xgesvd, Xgesvdp, Xgesvdr).
#include "libraries/cusolver/svd.h"

using namespace aw::cusolver;

namespace {

void one_svd_type(cudaDataType type, cudaDataType type_s, cudaDataType type_u, cudaDataType type_v,
                  cudaDataType compute) {
  one_type(type, type_u, type_v, compute), one_type(real_type(type), type_s);
}

template <class T>
auto gesvdp_of(cusolverEigMode_t jobz, int economy, int64_t m_, int64_t n_, T* A, int64_t lda_,
               Real<T>* S, T* U, int64_t ldu_, T* V, int64_t ldv_) {
  bool vectors = letter(jobz) == 'V';
  int m = size_of(m_), n = size_of(n_), lda = leading(lda_, m_);
  int ldu = vectors ? leading(ldu_, m_) : 1, ldv = vectors ? leading(ldv_, n_) : 1;
  return [=, shape = shape_of(m, n, vectors, !economy)](Memory& memory) {
    return divide(memory, shape, A, lda, S, U, ldu, V, ldv);
  };
}

// The first k singular values, of all: the randomized method approximates them. Oversampling and
// iterations have no meaning.
template <class T>
auto gesvdr_of(signed char jobu, signed char jobv, int64_t m_, int64_t n_, int64_t k_, int64_t p,
               int64_t niters, T* A, int64_t lda_, Real<T>* S, T* U, int64_t ldu_, T* V,
               int64_t ldv_) {
  require((jobu == 'S' || jobu == 'N') && (jobv == 'S' || jobv == 'N') && p >= 0 && niters >= 0);
  bool left = jobu == 'S', right = jobv == 'S';
  int m = size_of(m_), n = size_of(n_), k = size_of(k_), lda = leading(lda_, m_),
      all = std::min(m, n);
  int ldu = left ? leading(ldu_, m_) : 1, ldv = right ? leading(ldv_, n_) : 1;
  require(k <= all && k + p <= all);
  return [=, shape = shape_of(m, n, left || right, false)](Memory& memory) {
    int ldUall = std::max(1, m), ldVall = std::max(1, n);
    T *Uall = memory.take<T>(shape.vectors ? size_t(m) * all : 0),
      *Vall = memory.take<T>(shape.vectors ? size_t(n) * all : 0);
    Real<T>* values = memory.take<Real<T>>(all);
    int info = divide(memory, shape, A, lda, values, Uall, ldUall, Vall, ldVall);
    if (memory.counts()) return 0;
    std::copy_n(values, k, S);
    if (left) copy(m, k, Uall, ldUall, U, ldu);
    if (right) copy(n, k, Vall, ldVall, V, ldv);
    return info;
  };
}

}  // namespace

AW_DN(Xgesvd)(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu, signed char jobvt,
              int64_t m, int64_t n, cudaDataType type, void* A, int64_t lda, cudaDataType type_s,
              void* S, cudaDataType type_u, void* U, int64_t ldu, cudaDataType type_vt, void* VT,
              int64_t ldvt, cudaDataType compute, void* device, size_t device_bytes, void*, size_t,
              int* info) {
  return api<"cusolverDnXgesvd">(
      [&] {
        auto& it = use(handle);
        one_svd_type(type, type_s, type_u, type_vt, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "gesvd", {device, device_bytes}, info,
                  gesvd_of<T>(jobu, jobvt, m, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(S),
                              static_cast<T*>(U), ldu, static_cast<T*>(VT), ldvt, nullptr));
        });
      },
      m, n, lda);
}

AW_DN(Xgesvd_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu,
                         signed char jobvt, int64_t m, int64_t n, cudaDataType type, const void*,
                         int64_t lda, cudaDataType type_s, const void*, cudaDataType type_u,
                         const void*, int64_t ldu, cudaDataType type_vt, const void*, int64_t ldvt,
                         cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXgesvd_bufferSize">([&] {
    use(handle);
    one_svd_type(type, type_s, type_u, type_vt, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host,
                  gesvd_of<T>(jobu, jobvt, m, n, nullptr, lda, nullptr, nullptr, ldu, nullptr, ldvt,
                              nullptr));
    });
  });
}

AW_DN(Xgesvdp)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz, int econ,
               int64_t m, int64_t n, cudaDataType type, void* A, int64_t lda, cudaDataType type_s,
               void* S, cudaDataType type_u, void* U, int64_t ldu, cudaDataType type_v, void* V,
               int64_t ldv, cudaDataType compute, void* device, size_t device_bytes, void*, size_t,
               int* info, double* error) {
  return api<"cusolverDnXgesvdp">(
      [&] {
        auto& it = use(handle);
        one_svd_type(type, type_s, type_u, type_v, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "gesvdp", {device, device_bytes}, info,
                  gesvdp_of(jobz, econ, m, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(S),
                            static_cast<T*>(U), ldu, static_cast<T*>(V), ldv));
        });
        if (error)
          *error = 0;  // by how much the matrix was perturbed, which only the polar method does
      },
      m, n, lda);
}

AW_DN(Xgesvdp_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
                          int econ, int64_t m, int64_t n, cudaDataType type, const void*,
                          int64_t lda, cudaDataType type_s, const void*, cudaDataType type_u,
                          const void*, int64_t ldu, cudaDataType type_v, const void*, int64_t ldv,
                          cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXgesvdp_bufferSize">([&] {
    use(handle);
    one_svd_type(type, type_s, type_u, type_v, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(
          device, host,
          gesvdp_of<T>(jobz, econ, m, n, nullptr, lda, nullptr, nullptr, ldu, nullptr, ldv));
    });
  });
}

AW_DN(Xgesvdr)(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu, signed char jobv,
               int64_t m, int64_t n, int64_t k, int64_t p, int64_t niters, cudaDataType type,
               void* A, int64_t lda, cudaDataType type_s, void* S, cudaDataType type_u, void* U,
               int64_t ldu, cudaDataType type_v, void* V, int64_t ldv, cudaDataType compute,
               void* device, size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXgesvdr">(
      [&] {
        auto& it = use(handle);
        one_svd_type(type, type_s, type_u, type_v, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "gesvdr", {device, device_bytes}, info,
                  gesvdr_of(jobu, jobv, m, n, k, p, niters, static_cast<T*>(A), lda,
                            static_cast<Real<T>*>(S), static_cast<T*>(U), ldu, static_cast<T*>(V),
                            ldv));
        });
      },
      m, n, k);
}

AW_DN(Xgesvdr_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu,
                          signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                          int64_t niters, cudaDataType type, const void*, int64_t lda,
                          cudaDataType type_s, const void*, cudaDataType type_u, const void*,
                          int64_t ldu, cudaDataType type_v, const void*, int64_t ldv,
                          cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXgesvdr_bufferSize">([&] {
    use(handle);
    one_svd_type(type, type_s, type_u, type_v, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host,
                  gesvdr_of<T>(jobu, jobv, m, n, k, p, niters, nullptr, lda, nullptr, nullptr, ldu,
                               nullptr, ldv));
    });
  });
}

#ifdef AW_CUDA_12
// The first form of it, which CUDA 13 has no more.
AW_DN(Gesvd)(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
             signed char jobvt, int64_t m, int64_t n, cudaDataType type, void* A, int64_t lda,
             cudaDataType type_s, void* S, cudaDataType type_u, void* U, int64_t ldu,
             cudaDataType type_vt, void* VT, int64_t ldvt, cudaDataType compute, void* work,
             size_t bytes, int* info) {
  return cusolverDnXgesvd(handle, params, jobu, jobvt, m, n, type, A, lda, type_s, S, type_u, U,
                          ldu, type_vt, VT, ldvt, compute, work, bytes, nullptr, 0, info);
}

AW_DN(Gesvd_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                        signed char jobvt, int64_t m, int64_t n, cudaDataType type, const void* A,
                        int64_t lda, cudaDataType type_s, const void* S, cudaDataType type_u,
                        const void* U, int64_t ldu, cudaDataType type_vt, const void* VT,
                        int64_t ldvt, cudaDataType compute, size_t* bytes) {
  size_t host;
  return cusolverDnXgesvd_bufferSize(handle, params, jobu, jobvt, m, n, type, A, lda, type_s, S,
                                     type_u, U, ldu, type_vt, VT, ldvt, compute, bytes, &host);
}
#endif
