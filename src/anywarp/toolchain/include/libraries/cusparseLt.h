// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUSPARSELT_H
#define ANYWARP_CUSPARSELT_H

#include <stddef.h>
#include <stdint.h>
#include <stdalign.h>
#include "driver_types.h"
#include "library_types.h"
#include "cusparse.h"

#define CUSPARSELT_VER_MAJOR 0
#define CUSPARSELT_VER_MINOR 10
#define CUSPARSELT_VER_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cusparseLtSparsity_t {
  CUSPARSELT_SPARSITY_50_PERCENT = 0,
} cusparseLtSparsity_t;
typedef enum cusparseLtMatDescAttribute_t {
  CUSPARSELT_MAT_NUM_BATCHES = 0,
  CUSPARSELT_MAT_BATCH_STRIDE = 1,
} cusparseLtMatDescAttribute_t;
typedef enum cusparseComputeType {
  CUSPARSE_COMPUTE_32I = 0,
  CUSPARSE_COMPUTE_16F = 1,
  CUSPARSE_COMPUTE_32F = 2,
} cusparseComputeType;
typedef enum cusparseLtMatmulDescAttribute_t {
  CUSPARSELT_MATMUL_ACTIVATION_RELU = 0,
  CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND = 1,
  CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD = 2,
  CUSPARSELT_MATMUL_ACTIVATION_GELU = 3,
  CUSPARSELT_MATMUL_ACTIVATION_GELU_SCALING = 4,
  CUSPARSELT_MATMUL_ALPHA_VECTOR_SCALING = 5,
  CUSPARSELT_MATMUL_BETA_VECTOR_SCALING = 6,
  CUSPARSELT_MATMUL_BIAS_STRIDE = 7,
  CUSPARSELT_MATMUL_BIAS_POINTER = 8,
  CUSPARSELT_MATMUL_SPARSE_MAT_POINTER = 9,
  CUSPARSELT_MATMUL_A_SCALE_MODE = 10,
  CUSPARSELT_MATMUL_B_SCALE_MODE = 11,
  CUSPARSELT_MATMUL_C_SCALE_MODE = 12,
  CUSPARSELT_MATMUL_D_SCALE_MODE = 13,
  CUSPARSELT_MATMUL_D_OUT_SCALE_MODE = 14,
  CUSPARSELT_MATMUL_A_SCALE_POINTER = 15,
  CUSPARSELT_MATMUL_B_SCALE_POINTER = 16,
  CUSPARSELT_MATMUL_C_SCALE_POINTER = 17,
  CUSPARSELT_MATMUL_D_SCALE_POINTER = 18,
  CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER = 19,
} cusparseLtMatmulDescAttribute_t;
typedef enum cusparseLtMatmulMatrixScale_t {
  CUSPARSELT_MATMUL_SCALE_NONE = 0,
  CUSPARSELT_MATMUL_MATRIX_SCALE_SCALAR_32F = 1,
  CUSPARSELT_MATMUL_MATRIX_SCALE_VEC32_UE4M3 = 2,
  CUSPARSELT_MATMUL_MATRIX_SCALE_VEC64_UE8M0 = 3,
} cusparseLtMatmulMatrixScale_t;
typedef enum cusparseLtMatmulAlg_t {
  CUSPARSELT_MATMUL_ALG_DEFAULT = 0,
} cusparseLtMatmulAlg_t;
typedef enum cusparseLtMatmulAlgAttribute_t {
  CUSPARSELT_MATMUL_ALG_CONFIG_ID = 0,
  CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID = 1,
  CUSPARSELT_MATMUL_SEARCH_ITERATIONS = 2,
  CUSPARSELT_MATMUL_SPLIT_K = 3,
  CUSPARSELT_MATMUL_SPLIT_K_MODE = 4,
  CUSPARSELT_MATMUL_SPLIT_K_BUFFERS = 5,
} cusparseLtMatmulAlgAttribute_t;
typedef enum cusparseLtSplitKMode_t {
  CUSPARSELT_INVALID_MODE = 0,
  CUSPARSELT_SPLIT_K_MODE_ONE_KERNEL = 1,
  CUSPARSELT_SPLIT_K_MODE_TWO_KERNELS = 2,
  CUSPARSELT_HEURISTIC = 3,
  CUSPARSELT_DATAPARALLEL = 4,
  CUSPARSELT_SPLITK = 5,
  CUSPARSELT_STREAMK = 6,
} cusparseLtSplitKMode_t;
typedef enum cusparseLtPruneAlg_t {
  CUSPARSELT_PRUNE_SPMMA_TILE = 0,
  CUSPARSELT_PRUNE_SPMMA_STRIP = 1,
} cusparseLtPruneAlg_t;
typedef struct cusparseLtHandle_t { alignas(16) uint8_t data[512]; } cusparseLtHandle_t;
typedef struct cusparseLtMatDescriptor_t { alignas(16) uint8_t data[512]; } cusparseLtMatDescriptor_t;
typedef struct cusparseLtMatmulDescriptor_t { alignas(16) uint8_t data[512]; } cusparseLtMatmulDescriptor_t;
typedef struct cusparseLtMatmulAlgSelection_t { alignas(16) uint8_t data[512]; } cusparseLtMatmulAlgSelection_t;
typedef struct cusparseLtMatmulPlan_t { alignas(16) uint8_t data[512]; } cusparseLtMatmulPlan_t;

cusparseStatus_t cusparseLtDenseDescriptorInit(const cusparseLtHandle_t* handle, cusparseLtMatDescriptor_t* matDescr, int64_t rows, int64_t cols, int64_t ld, uint32_t alignment, cudaDataType valueType, cusparseOrder_t order);
cusparseStatus_t cusparseLtDestroy(const cusparseLtHandle_t* handle);
const char* cusparseLtGetErrorName(cusparseStatus_t status);
const char* cusparseLtGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseLtGetProperty(libraryPropertyType propertyType, int* value);
cusparseStatus_t cusparseLtGetVersion(const cusparseLtHandle_t* handle, int* version);
cusparseStatus_t cusparseLtInit(cusparseLtHandle_t* handle);
cusparseStatus_t cusparseLtMatDescGetAttribute(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* matmulDescr, cusparseLtMatDescAttribute_t matAttribute, void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatDescSetAttribute(const cusparseLtHandle_t* handle, cusparseLtMatDescriptor_t* matmulDescr, cusparseLtMatDescAttribute_t matAttribute, const void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatDescriptorDestroy(const cusparseLtMatDescriptor_t* matDescr);
cusparseStatus_t cusparseLtMatmul(const cusparseLtHandle_t* handle, const cusparseLtMatmulPlan_t* plan, const void* alpha, const void* d_A, const void* d_B, const void* beta, const void* d_C, void* d_D, void* workspace, cudaStream_t* streams, int32_t numStreams);
cusparseStatus_t cusparseLtMatmulAlgGetAttribute(const cusparseLtHandle_t* handle, const cusparseLtMatmulAlgSelection_t* algSelection, cusparseLtMatmulAlgAttribute_t attribute, void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatmulAlgSelectionDestroy(const cusparseLtMatmulAlgSelection_t* algSelection);
cusparseStatus_t cusparseLtMatmulAlgSelectionInit(const cusparseLtHandle_t* handle, cusparseLtMatmulAlgSelection_t* algSelection, const cusparseLtMatmulDescriptor_t* matmulDescr, cusparseLtMatmulAlg_t alg);
cusparseStatus_t cusparseLtMatmulAlgSetAttribute(const cusparseLtHandle_t* handle, cusparseLtMatmulAlgSelection_t* algSelection, cusparseLtMatmulAlgAttribute_t attribute, const void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatmulDescGetAttribute(const cusparseLtHandle_t* handle, const cusparseLtMatmulDescriptor_t* matmulDescr, cusparseLtMatmulDescAttribute_t matmulAttribute, void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatmulDescSetAttribute(const cusparseLtHandle_t* handle, cusparseLtMatmulDescriptor_t* matmulDescr, cusparseLtMatmulDescAttribute_t matmulAttribute, const void* data, size_t dataSize);
cusparseStatus_t cusparseLtMatmulDescriptorInit(const cusparseLtHandle_t* handle, cusparseLtMatmulDescriptor_t* matmulDescr, cusparseOperation_t opA, cusparseOperation_t opB, const cusparseLtMatDescriptor_t* matA, const cusparseLtMatDescriptor_t* matB, const cusparseLtMatDescriptor_t* matC, const cusparseLtMatDescriptor_t* matD, cusparseComputeType computeType);
cusparseStatus_t cusparseLtMatmulGetWorkspace(const cusparseLtHandle_t* handle, const cusparseLtMatmulPlan_t* plan, size_t* workspaceSize);
cusparseStatus_t cusparseLtMatmulPlanDestroy(const cusparseLtMatmulPlan_t* plan);
cusparseStatus_t cusparseLtMatmulPlanInit(const cusparseLtHandle_t* handle, cusparseLtMatmulPlan_t* plan, const cusparseLtMatmulDescriptor_t* matmulDescr, const cusparseLtMatmulAlgSelection_t* algSelection);
cusparseStatus_t cusparseLtMatmulSearch(const cusparseLtHandle_t* handle, cusparseLtMatmulPlan_t* plan, const void* alpha, const void* d_A, const void* d_B, const void* beta, const void* d_C, void* d_D, void* workspace, cudaStream_t* streams, int32_t numStreams);
cusparseStatus_t cusparseLtSpMMACompress(const cusparseLtHandle_t* handle, const cusparseLtMatmulPlan_t* plan, const void* d_dense, void* d_compressed, void* d_compressed_buffer, cudaStream_t stream);
cusparseStatus_t cusparseLtSpMMACompress2(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* sparseMatDescr, int isSparseA, cusparseOperation_t op, const void* d_dense, void* d_compressed, void* d_compressed_buffer, cudaStream_t stream);
cusparseStatus_t cusparseLtSpMMACompressedSize(const cusparseLtHandle_t* handle, const cusparseLtMatmulPlan_t* plan, size_t* compressedSize, size_t* compressedBufferSize);
cusparseStatus_t cusparseLtSpMMACompressedSize2(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* sparseMatDescr, size_t* compressedSize, size_t* compressedBufferSize);
cusparseStatus_t cusparseLtSpMMAPrune(const cusparseLtHandle_t* handle, const cusparseLtMatmulDescriptor_t* matmulDescr, const void* d_in, void* d_out, cusparseLtPruneAlg_t pruneAlg, cudaStream_t stream);
cusparseStatus_t cusparseLtSpMMAPrune2(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* sparseMatDescr, int isSparseA, cusparseOperation_t op, const void* d_in, void* d_out, cusparseLtPruneAlg_t pruneAlg, cudaStream_t stream);
cusparseStatus_t cusparseLtSpMMAPruneCheck(const cusparseLtHandle_t* handle, const cusparseLtMatmulDescriptor_t* matmulDescr, const void* d_in, int* valid, cudaStream_t stream);
cusparseStatus_t cusparseLtSpMMAPruneCheck2(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* sparseMatDescr, int isSparseA, cusparseOperation_t op, const void* d_in, int* d_valid, cudaStream_t stream);
cusparseStatus_t cusparseLtStructuredDescriptorInit(const cusparseLtHandle_t* handle, cusparseLtMatDescriptor_t* matDescr, int64_t rows, int64_t cols, int64_t ld, uint32_t alignment, cudaDataType valueType, cusparseOrder_t order, cusparseLtSparsity_t sparsity);

#ifdef __cplusplus
}
#endif

#endif
