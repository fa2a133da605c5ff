// cuBLAS: functions that are told the types of their operands, and those of 16-bit types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "libraries/cublas/batched.h"

namespace aw::cublas {

// One operand as a program describes it: its type is a number, it may be one of a batch.
struct Operand {
  const void* data;
  cudaDataType type;
  int64_t ld;
  long long stride = 0;
};

// A batch of products; `arrays`: the operands are arrays of pointers on the device.
struct Products {
  cublasOperation_t transa, transb;
  int64_t m, n, k;
  const void* alpha;
  Operand a, b;
  const void* beta;
  Operand c;
  int64_t count = 1;
  bool arrays = false;
};

// Computes them as a compute type asks for: whatever is less exact than f32 is only permitted by
// NVIDIA's manual, so that f32 stays f32 and sums of 16-bit products are in f32.
void multiply(cublasHandle_t handle, const Products& products, cublasComputeType_t compute);

// The type of alpha and beta; throws NOT_SUPPORTED for types that the manual's table has not.
cudaDataType scalars_of(cublasComputeType_t compute, cudaDataType c);

inline void GemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                   int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                   cudaDataType Atype, int64_t lda, const void* B, cudaDataType Btype, int64_t ldb,
                   const void* beta, void* C, cudaDataType Ctype, int64_t ldc,
                   cublasComputeType_t compute, cublasGemmAlgo_t) {
  multiply(
      handle,
      {transa, transb, m, n, k, alpha, {A, Atype, lda}, {B, Btype, ldb}, beta, {C, Ctype, ldc}},
      compute);
}

inline void GemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const void* alpha, const void* A, cudaDataType Atype, int64_t lda,
                                 long long strideA, const void* B, cudaDataType Btype, int64_t ldb,
                                 long long strideB, const void* beta, void* C, cudaDataType Ctype,
                                 int64_t ldc, long long strideC, int64_t count,
                                 cublasComputeType_t compute, cublasGemmAlgo_t) {
  multiply(handle,
           {transa,
            transb,
            m,
            n,
            k,
            alpha,
            {A, Atype, lda, strideA},
            {B, Btype, ldb, strideB},
            beta,
            {C, Ctype, ldc, strideC},
            count},
           compute);
}

inline void GemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                          int64_t m, int64_t n, int64_t k, const void* alpha, const void* const* A,
                          cudaDataType Atype, int64_t lda, const void* const* B, cudaDataType Btype,
                          int64_t ldb, const void* beta, void* const* C, cudaDataType Ctype,
                          int64_t ldc, int64_t count, cublasComputeType_t compute,
                          cublasGemmAlgo_t) {
  multiply(handle,
           {transa,
            transb,
            m,
            n,
            k,
            alpha,
            {A, Atype, lda},
            {B, Btype, ldb},
            beta,
            {C, Ctype, ldc},
            count,
            true},
           compute);
}

// The pointers of all groups lie behind each other on the device, shapes and scalars on the host.
inline void GemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t* transa,
                                 const cublasOperation_t* transb, auto* m, auto* n, auto* k,
                                 const void* alpha, const void* const* A, cudaDataType Atype,
                                 auto* lda, const void* const* B, cudaDataType Btype, auto* ldb,
                                 const void* beta, void* const* C, cudaDataType Ctype, auto* ldc,
                                 int64_t groups, auto* sizes, cublasComputeType_t compute) {
  require(use(handle).pointer_mode == CUBLAS_POINTER_MODE_HOST, CUBLAS_STATUS_NOT_SUPPORTED);
  size_t step = scalars_of(compute, Ctype) == CUDA_R_64F ? 8 : 4, first = 0;
  for (uint64_t g = 0; g < batch(groups); ++g) {
    auto count = static_cast<int64_t>(batch(sizes[g]));
    auto number = [&](const void* from) { return static_cast<const char*>(from) + g * step; };
    multiply(handle,
             {transa[g],
              transb[g],
              m[g],
              n[g],
              k[g],
              number(alpha),
              {A + first, Atype, lda[g]},
              {B + first, Btype, ldb[g]},
              number(beta),
              {C + first, Ctype, ldc[g]},
              count,
              true},
             compute);
    first += static_cast<size_t>(count);
  }
}

// cublasSgemmEx and cublasCgemmEx: sums in f32.
template <class T>
void gemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
            int64_t n, int64_t k, const T* alpha, const void* A, cudaDataType Atype, int64_t lda,
            const void* B, cudaDataType Btype, int64_t ldb, const T* beta, void* C,
            cudaDataType Ctype, int64_t ldc) {
  multiply(
      handle,
      {transa, transb, m, n, k, alpha, {A, Atype, lda}, {B, Btype, ldb}, beta, {C, Ctype, ldc}},
      CUBLAS_COMPUTE_32F);
}
template <class... Args>
void gemm3mEx(Args... args) {
  gemmEx(args...);
}

inline void Hgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                  int64_t m, int64_t n, int64_t k, const __half* alpha, const __half* A,
                  int64_t lda, const __half* B, int64_t ldb, const __half* beta, __half* C,
                  int64_t ldc) {
  multiply(handle,
           {transa,
            transb,
            m,
            n,
            k,
            alpha,
            {A, CUDA_R_16F, lda},
            {B, CUDA_R_16F, ldb},
            beta,
            {C, CUDA_R_16F, ldc}},
           CUBLAS_COMPUTE_16F);
}
inline void HgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                const __half* alpha, const __half* A, int64_t lda,
                                long long strideA, const __half* B, int64_t ldb, long long strideB,
                                const __half* beta, __half* C, int64_t ldc, long long strideC,
                                int64_t count) {
  multiply(handle,
           {transa,
            transb,
            m,
            n,
            k,
            alpha,
            {A, CUDA_R_16F, lda, strideA},
            {B, CUDA_R_16F, ldb, strideB},
            beta,
            {C, CUDA_R_16F, ldc, strideC},
            count},
           CUBLAS_COMPUTE_16F);
}
inline void HgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                         int64_t m, int64_t n, int64_t k, const __half* alpha,
                         const __half* const* A, int64_t lda, const __half* const* B, int64_t ldb,
                         const __half* beta, __half* const* C, int64_t ldc, int64_t count) {
  multiply(handle,
           {transa,
            transb,
            m,
            n,
            k,
            alpha,
            {A, CUDA_R_16F, lda},
            {B, CUDA_R_16F, ldb},
            beta,
            {C, CUDA_R_16F, ldc},
            count,
            true},
           CUBLAS_COMPUTE_16F);
}

template <class T>
constexpr cudaDataType kType = std::is_same_v<T, __half>          ? CUDA_R_16F
                               : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                                  : CUDA_R_32F;

// Products of 16-bit matrices with vectors: a vector of step 1 is a matrix of one column, any other
// one of one row.
template <class In, class Out>
Products vector_products(cublasOperation_t trans, int64_t m, int64_t n, const float* alpha,
                         const void* A, int64_t lda, long long strideA, const void* x, int64_t incx,
                         long long stridex, const float* beta, const void* y, int64_t incy,
                         long long stridey, int64_t count, bool arrays) {
  letter(trans), leading(lda, m);
  require(incx != 0 && incy != 0);
  if (incx < 0 || incy < 0) unsupported("negative increments of vectors of 16-bit numbers");
  bool plain = trans == CUBLAS_OP_N;
  // y' = x' op(A)': one row, so that increments are leading dimensions.
  return {CUBLAS_OP_N,
          plain ? CUBLAS_OP_T : CUBLAS_OP_N,
          1,
          plain ? m : n,
          plain ? n : m,
          alpha,
          {x, kType<In>, incx, stridex},
          {A, kType<In>, lda, strideA},
          beta,
          {y, kType<Out>, incy, stridey},
          count,
          arrays};
}
#define AW_GEMV(name, In, Out)                                                                     \
  inline void name##gemvBatched(cublasHandle_t handle, cublasOperation_t trans, int64_t m,         \
                                int64_t n, const float* alpha, const In* const* A, int64_t lda,    \
                                const In* const* x, int64_t incx, const float* beta,               \
                                Out* const* y, int64_t incy, int64_t count) {                      \
    multiply(handle,                                                                               \
             vector_products<In, Out>(trans, m, n, alpha, A, lda, 0, x, incx, 0, beta, y, incy, 0, \
                                      count, true),                                                \
             CUBLAS_COMPUTE_32F);                                                                  \
  }                                                                                                \
  inline void name##gemvStridedBatched(                                                            \
      cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, const float* alpha,    \
      const In* A, int64_t lda, long long strideA, const In* x, int64_t incx, long long stridex,   \
      const float* beta, Out* y, int64_t incy, long long stridey, int64_t count) {                 \
    multiply(handle,                                                                               \
             vector_products<In, Out>(trans, m, n, alpha, A, lda, strideA, x, incx, stridex, beta, \
                                      y, incy, stridey, count, false),                             \
             CUBLAS_COMPUTE_32F);                                                                  \
  }
AW_GEMV(HSH, __half, __half)
AW_GEMV(HSS, __half, float)
AW_GEMV(TST, __nv_bfloat16, __nv_bfloat16)
AW_GEMV(TSS, __nv_bfloat16, float)
#undef AW_GEMV

// Level 1 with named types: sums of 16-bit numbers in f32.
void AxpyEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType,
            const void* x, cudaDataType xType, int64_t incx, void* y, cudaDataType yType,
            int64_t incy, cudaDataType execution);
void ScalEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType, void* x,
            cudaDataType xType, int64_t incx, cudaDataType execution);
void CopyEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* y, cudaDataType yType, int64_t incy);
void SwapEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
            cudaDataType yType, int64_t incy);
void DotEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
           const void* y, cudaDataType yType, int64_t incy, void* result, cudaDataType resultType,
           cudaDataType execution);
void DotcEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            const void* y, cudaDataType yType, int64_t incy, void* result, cudaDataType resultType,
            cudaDataType execution);
void Nrm2Ex(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* result, cudaDataType resultType, cudaDataType execution);
void AsumEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* result, cudaDataType resultType, cudaDataType execution);
void RotEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
           cudaDataType yType, int64_t incy, const void* c, const void* s, cudaDataType csType,
           cudaDataType execution);
void IamaxEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int* result);
void IamaxEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int64_t* result);
void IaminEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int* result);
void IaminEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int64_t* result);
void RotgEx(cublasHandle_t handle, void* a, void* b, cudaDataType abType, void* c, void* s,
            cudaDataType csType, cudaDataType execution);
void RotmEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
            cudaDataType yType, int64_t incy, const void* param, cudaDataType paramType,
            cudaDataType execution);
void RotmgEx(cublasHandle_t handle, void* d1, cudaDataType d1Type, void* d2, cudaDataType d2Type,
             void* x1, cudaDataType x1Type, const void* y1, cudaDataType y1Type, void* param,
             cudaDataType paramType, cudaDataType execution);

// Updates of rank k by complex matrices of f32 or 8-bit integers.
void CsyrkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const cuComplex* alpha, const void* A, cudaDataType Atype, int64_t lda,
             const cuComplex* beta, void* C, cudaDataType Ctype, int64_t ldc);
void CherkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const float* alpha, const void* A, cudaDataType Atype, int64_t lda,
             const float* beta, void* C, cudaDataType Ctype, int64_t ldc);
template <class... Args>
void Csyrk3mEx(Args... args) {
  CsyrkEx(args...);
}
template <class... Args>
void Cherk3mEx(Args... args) {
  CherkEx(args...);
}

}  // namespace aw::cublas
