// cuSOLVER, dense: eigenvalues of general matrices (Xgeev).
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

// Vectors of a real matrix, as LAPACK packs them (a pair's real part in one column, its imaginary
// part in the next), as complex ones.
template <class R>
void unpack(int n, const R* packed, const R* imaginary, std::complex<R>* out, int ldo) {
  for (int j = 0; j < n; ++j) {
    const R* column = packed + size_t(j) * n;
    std::complex<R>* to = out + size_t(j) * ldo;
    bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) to[i] = {column[i], pair ? column[i + n] : 0};
    if (!pair) continue;
    for (int i = 0; i < n; ++i) to[i + ldo] = std::conj(to[i]);
    ++j;
  }
}

// Eigenvalues of a real matrix are real parts and then imaginary parts, or complex numbers; its
// vectors packed or complex numbers.
struct GeneralEigen {
  char left, right;
  int n, lda, ldvl, ldvr;
  bool complex_w, complex_vl, complex_vr;
};

template <class T>
int geev(Memory& memory, const GeneralEigen& it, T* A, void* W, void* VL, void* VR) {
  using R = Real<T>;
  int n = it.n, ldl = it.ldvl, ldr = it.ldvr;
  if (!memory.counts() && !finite(n, n, A, it.lda)) {
    // LAPACK's iterations need not end then.
    int numbers = kComplex<T> || it.complex_w ? n : 2 * n;
    std::fill_n(static_cast<R*>(W), kComplex<T> || it.complex_w ? 2 * numbers : numbers, kNan<T>);
    auto spoil = [&](void* V, int ld, bool wide) {
      if (kComplex<T> || wide)
        return fill(n, n, std::complex<R>(kNan<T>, kNan<T>), static_cast<std::complex<R>*>(V), ld);
      fill(n, n, kNan<T>, static_cast<R*>(V), ld);
    };
    if (it.left == 'V') spoil(VL, ldl, it.complex_vl);
    if (it.right == 'V') spoil(VR, ldr, it.complex_vr);
    return n;
  }
  if constexpr (kComplex<T>) {
    R* rwork = memory.take<R>(2 * size_t(n) + 1);
    return lapack_in<T, "geev">(memory, std::tuple(rwork), it.left, it.right, n, A, it.lda,
                                static_cast<T*>(W), static_cast<T*>(VL), ldl, static_cast<T*>(VR),
                                ldr);
  } else {
    auto packed = [&](char wanted, bool wide) {
      return memory.take<T>(wanted == 'V' && wide ? size_t(n) * n : 0);
    };
    T* wr = memory.take<T>(it.complex_w ? n : 0);
    T* wi = memory.take<T>(it.complex_w ? n : 0);
    T *vl = packed(it.left, it.complex_vl), *vr = packed(it.right, it.complex_vr);
    if (!it.complex_w) wr = static_cast<T*>(W), wi = wr + n;
    if (!it.complex_vl) vl = static_cast<T*>(VL);
    if (!it.complex_vr) vr = static_cast<T*>(VR);
    int info = lapack_in<T, "geev">(memory, it.left, it.right, n, A, it.lda, wr, wi, vl,
                                    it.complex_vl ? std::max(1, n) : ldl, vr,
                                    it.complex_vr ? std::max(1, n) : ldr);
    if (memory.counts()) return 0;
    if (it.complex_w)
      for (int i = 0; i < n; ++i) static_cast<std::complex<T>*>(W)[i] = {wr[i], wi[i]};
    if (it.left == 'V' && it.complex_vl) unpack(n, vl, wi, static_cast<std::complex<T>*>(VL), ldl);
    if (it.right == 'V' && it.complex_vr) unpack(n, vr, wi, static_cast<std::complex<T>*>(VR), ldr);
    return info;
  }
}

GeneralEigen checked_geev(cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                          cudaDataType type, int64_t lda, cudaDataType type_w, cudaDataType type_vl,
                          int64_t ldvl, cudaDataType type_vr, int64_t ldvr, cudaDataType compute) {
  char left = letter(jobvl), right = letter(jobvr);
  cudaDataType wide = type == CUDA_R_32F ? CUDA_C_32F : type == CUDA_R_64F ? CUDA_C_64F : type;
  one_type(type, compute);
  for (cudaDataType other : {type_w, type_vl, type_vr}) require(other == type || other == wide);
  return {left,
          right,
          size_of(n),
          leading(lda, n),
          leading(ldvl, left == 'V' ? n : 1),
          leading(ldvr, right == 'V' ? n : 1),
          type_w != type,
          type_vl != type,
          type_vr != type};
}

}  // namespace

AW_DN(Xgeev)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobvl,
             cusolverEigMode_t jobvr, int64_t n, cudaDataType type, void* A, int64_t lda,
             cudaDataType type_w, void* W, cudaDataType type_vl, void* VL, int64_t ldvl,
             cudaDataType type_vr, void* VR, int64_t ldvr, cudaDataType compute, void* device,
             size_t device_bytes, void*, size_t, int* info) {
  return api<"cusolverDnXgeev">(
      [&] {
        auto& it = use(handle);
        auto shape =
            checked_geev(jobvl, jobvr, n, type, lda, type_w, type_vl, ldvl, type_vr, ldvr, compute);
        with_type(type, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "geev", {device, device_bytes}, info, [=](Memory& memory) {
            return geev(memory, shape, static_cast<T*>(A), W, VL, VR);
          });
        });
      },
      n, lda);
}

AW_DN(Xgeev_bufferSize)(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobvl,
                        cusolverEigMode_t jobvr, int64_t n, cudaDataType type, const void*,
                        int64_t lda, cudaDataType type_w, const void*, cudaDataType type_vl,
                        const void*, int64_t ldvl, cudaDataType type_vr, const void*, int64_t ldvr,
                        cudaDataType compute, size_t* device, size_t* host) {
  return api<"cusolverDnXgeev_bufferSize">([&] {
    use(handle);
    auto shape =
        checked_geev(jobvl, jobvr, n, type, lda, type_w, type_vl, ldvl, type_vr, ldvr, compute);
    with_type(type, [&]<class T>(std::type_identity<T>) {
      count_bytes(device, host, [&](Memory& memory) {
        return geev<T>(memory, shape, nullptr, nullptr, nullptr, nullptr);
      });
    });
  });
}
