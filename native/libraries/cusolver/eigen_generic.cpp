// cuSOLVER, dense: symmetric eigenvalues in the 64-bit interface (Xsyevd, Xsyevdx, XsyevBatched,
// Xsygvd, Xsygvdx, XsygvStridedBatched, Xstedc).
#include "libraries/cusolver/eigen.h"

using namespace aw::cusolver;

namespace {

// Bounds are passed by address, in the type of eigenvalues, and read where they are used.
template <class R>
Range range_at(cusolverEigRange_t kind, const void* low, const void* high, int64_t first,
               int64_t last, int64_t n) {
  bool values = kind == CUSOLVER_EIG_RANGE_V;
  require(!values || (low && high));
  return range_of(kind, values ? *static_cast<const R*>(low) : 0,
                  values ? *static_cast<const R*>(high) : 0, first, last, n);
}

}  // namespace

AW_DN(Xsyevd)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
              cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A, int64_t lda,
              cudaDataType type_w, void* W, cudaDataType compute, void* device, size_t device_bytes,
              void*, size_t, int* info) {
  return api<"cusolverDnXsyevd">(
      [&] {
        auto& it = use(handle);
        one_type(type, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "syevd", {device, device_bytes}, info,
                  syevd_of(jobz, uplo, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(W)));
        });
      },
      n, lda);
}

AW_DN(Xsyevd_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
                         cublasFillMode_t uplo, int64_t n, cudaDataType type, const void*,
                         int64_t lda, cudaDataType type_w, const void*, cudaDataType compute,
                         size_t* device, size_t* host) {
  return api<"cusolverDnXsyevd_bufferSize">([&] {
    use(handle);
    one_type(type, compute), one_type(real_type(type), type_w);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, syevd_of<T>(jobz, uplo, n, nullptr, lda, nullptr));
    });
  });
}

AW_DN(Xsyevdx)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
               cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType type,
               void* A, int64_t lda, void* vl, void* vu, int64_t il, int64_t iu, int64_t* found,
               cudaDataType type_w, void* W, cudaDataType compute, void* device,
               size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXsyevdx">(
      [&] {
        auto& it = use(handle);
        require(found);
        one_type(type, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          Range wanted = range_at<Real<T>>(range, vl, vu, il, iu, n);
          auto* a = static_cast<T*>(A);
          auto* w = static_cast<Real<T>*>(W);
          perform_selected(
              it.stream, "syevdx", wanted, {device, device_bytes}, info,
              selected_of(syevd_of(jobz, uplo, n, a, lda, w), jobz, wanted, n, a, lda, w, found));
        });
      },
      n, lda);
}

AW_DN(Xsyevdx_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params,
                          cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                          int64_t n, cudaDataType type, const void* A, int64_t lda, void*, void*,
                          int64_t il, int64_t iu, int64_t*, cudaDataType type_w, const void* W,
                          cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXsyevdx_bufferSize">([&] {
    range_of(range, 0, 1, il, iu, n);
    return cusolverDnXsyevd_bufferSize(handle, params, jobz, uplo, n, type, A, lda, type_w, W,
                                       compute, device, host);
  });
}

AW_DN(XsyevBatched)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
                    cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A, int64_t lda,
                    cudaDataType type_w, void* W, cudaDataType compute, void*, size_t, void*,
                    size_t, int* infos, int64_t count) {
  return api<"cusolverDnXsyevBatched">(
      [&] {
        auto& it = use(handle);
        one_type(type, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          auto* a = static_cast<T*>(A);
          auto* w = static_cast<Real<T>*>(W);
          syevd_of(jobz, uplo, n, a, lda, w);
          perform_all(it.stream, "syevBatched", infos, count, [=](Memory& memory, uint64_t i) {
            return syevd_of(jobz, uplo, n, a + i * lda * n, lda, w + i * n)(memory);
          });
        });
      },
      n, lda, count);
}

AW_DN(XsyevBatched_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t,
                               cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                               cudaDataType type, const void*, int64_t lda, cudaDataType type_w,
                               const void*, cudaDataType compute, size_t* device, size_t* host,
                               int64_t count) {
  return api<"cusolverDnXsyevBatched_bufferSize">([&] {
    use(handle);
    require(count >= 0);
    one_type(type, compute), one_type(real_type(type), type_w);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      syevd_of<T>(jobz, uplo, n, nullptr, lda, nullptr);
      count_bytes(device, host, [](Memory&) { return 0; });
    });
  });
}

#ifdef AW_CUDA_12

// The first form of it, which CUDA 13 has no more.
AW_DN(Syevd)(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
             cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A, int64_t lda,
             cudaDataType type_w, void* W, cudaDataType compute, void* work, size_t bytes,
             int* info) {
  return cusolverDnXsyevd(handle, params, jobz, uplo, n, type, A, lda, type_w, W, compute, work,
                          bytes, nullptr, 0, info);
}

AW_DN(Syevd_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params,
                        cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                        const void* A, int64_t lda, cudaDataType type_w, const void* W,
                        cudaDataType compute, size_t* bytes) {
  size_t host;
  return cusolverDnXsyevd_bufferSize(handle, params, jobz, uplo, n, type, A, lda, type_w, W,
                                     compute, bytes, &host);
}

AW_DN(Syevdx)(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
              cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType type,
              void* A, int64_t lda, void* vl, void* vu, int64_t il, int64_t iu, int64_t* found,
              cudaDataType type_w, void* W, cudaDataType compute, void* work, size_t bytes,
              int* info) {
  return cusolverDnXsyevdx(handle, params, jobz, range, uplo, n, type, A, lda, vl, vu, il, iu,
                           found, type_w, W, compute, work, bytes, nullptr, 0, info);
}

AW_DN(Syevdx_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params,
                         cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                         int64_t n, cudaDataType type, const void* A, int64_t lda, void* vl,
                         void* vu, int64_t il, int64_t iu, int64_t* found, cudaDataType type_w,
                         const void* W, cudaDataType compute, size_t* bytes) {
  size_t host;
  return cusolverDnXsyevdx_bufferSize(handle, params, jobz, range, uplo, n, type, A, lda, vl, vu,
                                      il, iu, found, type_w, W, compute, bytes, &host);
}

#else

AW_DN(Xsygvd)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigType_t problem,
              cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A,
              int64_t lda, cudaDataType type_b, void* B, int64_t ldb, cudaDataType type_w, void* W,
              cudaDataType compute, void* device, size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXsygvd">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_b, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "sygvd", {device, device_bytes}, info,
                  sygvd_of(problem, jobz, uplo, n, static_cast<T*>(A), lda, static_cast<T*>(B), ldb,
                           static_cast<Real<T>*>(W)));
        });
      },
      n, lda);
}

AW_DN(Xsygvd_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigType_t problem,
                         cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                         cudaDataType type, const void*, int64_t lda, cudaDataType type_b,
                         const void*, int64_t ldb, cudaDataType type_w, const void*,
                         cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXsygvd_bufferSize">([&] {
    use(handle);
    one_type(type, type_b, compute), one_type(real_type(type), type_w);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host,
                  sygvd_of<T>(problem, jobz, uplo, n, nullptr, lda, nullptr, ldb, nullptr));
    });
  });
}

AW_DN(Xsygvdx)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigType_t problem,
               cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
               cudaDataType type, void* A, int64_t lda, cudaDataType type_b, void* B, int64_t ldb,
               void* vl, void* vu, int64_t il, int64_t iu, int64_t* found, cudaDataType type_w,
               void* W, cudaDataType compute, void* device, size_t device_bytes, void*, size_t,
               int* info) {
  return api<"cusolverDnXsygvdx">(
      [&] {
        auto& it = use(handle);
        require(found);
        one_type(type, type_b, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          Range wanted = range_at<Real<T>>(range, vl, vu, il, iu, n);
          auto* a = static_cast<T*>(A);
          auto* w = static_cast<Real<T>*>(W);
          perform_selected(
              it.stream, "sygvdx", wanted, {device, device_bytes}, info,
              selected_of(sygvd_of(problem, jobz, uplo, n, a, lda, static_cast<T*>(B), ldb, w),
                          jobz, wanted, n, a, lda, w, found));
        });
      },
      n, lda);
}

AW_DN(Xsygvdx_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t params,
                          cusolverEigType_t problem, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                          int64_t n, cudaDataType type, const void* A, int64_t lda,
                          cudaDataType type_b, const void* B, int64_t ldb, void*, void*, int64_t,
                          int64_t, int64_t*, cudaDataType type_w, const void* W,
                          cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXsygvdx_bufferSize">([&] {
    return cusolverDnXsygvd_bufferSize(handle, params, problem, jobz, uplo, n, type, A, lda, type_b,
                                       B, ldb, type_w, W, compute, device, host);
  });
}

// Of a tridiagonal matrix; with COMP_V, Z comes with what made it tridiagonal.
namespace {

template <class T>
auto stedc_of(cusolverEigComp_t which, int64_t n_, Real<T>* D, Real<T>* E, T* Z, int64_t ldz_) {
  require(which >= CUSOLVER_EIG_COMP_N && which <= CUSOLVER_EIG_COMP_V);
  char compz = which == CUSOLVER_EIG_COMP_N ? 'N' : which == CUSOLVER_EIG_COMP_I ? 'I' : 'V';
  int n = size_of(n_), ldz = leading(ldz_, compz == 'N' ? 1 : n_);
  return [=](Memory& memory) {
    if (!kComplex<T> || compz != 'V' || ldz == n)
      return conquer<T, "stedc", "stedc">(memory, compz, n, D, E, Z, ldz);
    // cstedc and zstedc write to rows of Z that are not its own (LAPACK 3.12).
    T* own = memory.take<T>(size_t(n) * n);
    int ld = std::max(1, n);
    if (!memory.counts()) copy(n, n, Z, ldz, own, ld);
    int info = conquer<T, "stedc", "stedc">(memory, compz, n, D, E, own, ld);
    if (!memory.counts()) copy(n, n, own, ld, Z, ldz);
    return info;
  };
}

}  // namespace

AW_DN(Xstedc)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigComp_t which, int64_t n,
              cudaDataType type_de, void* D, void* E, cudaDataType type, void* Z, int64_t ldz,
              cudaDataType compute, void* device, size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXstedc">(
      [&] {
        auto& it = use(handle);
        one_type(type, compute), one_type(real_type(type), type_de);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "stedc", {device, device_bytes}, info,
                  stedc_of(which, n, static_cast<Real<T>*>(D), static_cast<Real<T>*>(E),
                           static_cast<T*>(Z), ldz));
        });
      },
      n, ldz);
}

AW_DN(Xstedc_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigComp_t which,
                         int64_t n, cudaDataType type_de, const void*, const void*,
                         cudaDataType type, const void*, int64_t ldz, cudaDataType compute,
                         size_t* device, size_t* host) {
  return api<"cusolverDnXstedc_bufferSize">([&] {
    use(handle);
    one_type(type, compute), one_type(real_type(type), type_de);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, stedc_of<T>(which, n, nullptr, nullptr, nullptr, ldz));
    });
  });
}

AW_DN(XsygvStridedBatched)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigType_t problem,
                           cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                           cudaDataType type, void* A, int64_t lda, int64_t stride_a,
                           cudaDataType type_b, void* B, int64_t ldb, int64_t stride_b,
                           cudaDataType type_w, void* W, int64_t stride_w, cudaDataType compute,
                           int64_t count, void*, size_t, void*, size_t, int* infos) {
  return api<"cusolverDnXsygvStridedBatched">(
      [&] {
        auto& it = use(handle);
        one_type(type, type_b, compute), one_type(real_type(type), type_w);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          auto *a = static_cast<T*>(A), *b = static_cast<T*>(B);
          auto* w = static_cast<Real<T>*>(W);
          sygvd_of(problem, jobz, uplo, n, a, lda, b, ldb, w);
          perform_all(it.stream, "sygvStridedBatched", infos, count,
                      [=](Memory& memory, uint64_t i) {
                        return sygvd_of(problem, jobz, uplo, n, a + i * stride_a, lda,
                                        b + i * stride_b, ldb, w + i * stride_w)(memory);
                      });
        });
      },
      n, lda, count);
}

AW_DN(XsygvStridedBatched_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t,
                                      cusolverEigType_t problem, cusolverEigMode_t jobz,
                                      cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                      const void*, int64_t lda, int64_t, cudaDataType type_b,
                                      const void*, int64_t ldb, int64_t, cudaDataType type_w,
                                      const void*, int64_t, cudaDataType compute, int64_t count,
                                      size_t* device, size_t* host) {
  return api<"cusolverDnXsygvStridedBatched_bufferSize">([&] {
    use(handle);
    require(count >= 0);
    one_type(type, type_b, compute), one_type(real_type(type), type_w);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      sygvd_of<T>(problem, jobz, uplo, n, nullptr, lda, nullptr, ldb, nullptr);
      count_bytes(device, host, [](Memory&) { return 0; });
    });
  });
}

#endif
