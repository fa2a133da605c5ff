// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUFFT_H
#define ANYWARP_CUFFT_H

#include "driver_types.h"
#include "library_types.h"
#include "cuComplex.h"

#define CUDA_XT_DESCRIPTOR_VERSION 0x01000000
#define CUFFT_COMPATIBILITY_DEFAULT CUFFT_COMPATIBILITY_FFTW_PADDING
#define CUFFT_FORWARD - 1
#define CUFFT_INVERSE 1
#ifdef AW_CUDA_12
#define CUFFT_VERSION 11401
#else
#define CUFFT_VERSION 12500
#endif
#ifdef AW_CUDA_12
#define CUFFT_VER_BUILD 4
#else
#define CUFFT_VER_BUILD 14
#endif
#ifdef AW_CUDA_12
#define CUFFT_VER_MAJOR 11
#else
#define CUFFT_VER_MAJOR 12
#endif
#ifdef AW_CUDA_12
#define CUFFT_VER_MINOR 4
#else
#define CUFFT_VER_MINOR 5
#endif
#ifdef AW_CUDA_12
#define CUFFT_VER_PATCH 1
#else
#define CUFFT_VER_PATCH 0
#endif
#define MAX_CUDA_DESCRIPTOR_GPUS 64
#ifdef AW_CUDA_12
#define MAX_CUFFT_ERROR 0x11
#else
#define MAX_CUFFT_ERROR 0x15
#endif
#define MAX_SHIM_RANK 3

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaXtCopyType_t {
  LIB_XT_COPY_HOST_TO_DEVICE = 0,
  LIB_XT_COPY_DEVICE_TO_HOST = 1,
  LIB_XT_COPY_DEVICE_TO_DEVICE = 2,
} cudaXtCopyType_t;
typedef enum cufftCompatibility_t {
  CUFFT_COMPATIBILITY_FFTW_PADDING = 1,
} cufftCompatibility_t;
typedef enum cufftProperty_t {
  NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT = 1,
  NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS = 2,
#ifndef AW_CUDA_12
  NVFFT_PLAN_PROPERTY_INT64_BLUESTEIN_ONLY = 3,
#endif
#ifndef AW_CUDA_12
  NVFFT_PLAN_PROPERTY_INT64_DISABLE_FMA = 4,
#endif
} cufftProperty_t;
typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
#ifdef AW_CUDA_12
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
#endif
  CUFFT_INVALID_DEVICE = 11,
#ifdef AW_CUDA_12
  CUFFT_PARSE_ERROR = 12,
#endif
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
#ifdef AW_CUDA_12
  CUFFT_LICENSE_ERROR = 15,
#endif
  CUFFT_NOT_SUPPORTED = 16,
#ifndef AW_CUDA_12
  CUFFT_MISSING_DEPENDENCY = 17,
#endif
#ifndef AW_CUDA_12
  CUFFT_NVRTC_FAILURE = 18,
#endif
#ifndef AW_CUDA_12
  CUFFT_NVJITLINK_FAILURE = 19,
#endif
#ifndef AW_CUDA_12
  CUFFT_NVSHMEM_FAILURE = 20,
#endif
} cufftResult_t;
typedef enum cufftType_t {
  CUFFT_R2C = 42,
  CUFFT_C2R = 44,
  CUFFT_C2C = 41,
  CUFFT_D2Z = 106,
  CUFFT_Z2D = 108,
  CUFFT_Z2Z = 105,
} cufftType_t;
typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0,
  CUFFT_CB_LD_COMPLEX_DOUBLE = 1,
  CUFFT_CB_LD_REAL = 2,
  CUFFT_CB_LD_REAL_DOUBLE = 3,
  CUFFT_CB_ST_COMPLEX = 4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 5,
  CUFFT_CB_ST_REAL = 6,
  CUFFT_CB_ST_REAL_DOUBLE = 7,
  CUFFT_CB_UNDEFINED = 8,
} cufftXtCallbackType_t;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0,
  CUFFT_COPY_DEVICE_TO_HOST = 1,
  CUFFT_COPY_DEVICE_TO_DEVICE = 2,
  CUFFT_COPY_UNDEFINED = 3,
} cufftXtCopyType_t;
typedef enum cufftXtQueryType_t {
  CUFFT_QUERY_1D_FACTORS = 0,
  CUFFT_QUERY_UNDEFINED = 1,
} cufftXtQueryType_t;
typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0,
  CUFFT_XT_FORMAT_OUTPUT = 1,
  CUFFT_XT_FORMAT_INPLACE = 2,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 3,
  CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 4,
  CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 5,
  CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 6,
  CUFFT_FORMAT_UNDEFINED = 7,
} cufftXtSubFormat_t;
typedef enum cufftXtWorkAreaPolicy_t {
  CUFFT_WORKAREA_MINIMAL = 0,
  CUFFT_WORKAREA_USER = 1,
  CUFFT_WORKAREA_PERFORMANCE = 2,
} cufftXtWorkAreaPolicy_t;
typedef enum libFormat_t {
  LIB_FORMAT_CUFFT = 0,
  LIB_FORMAT_UNDEFINED = 1,
} libFormat_t;
typedef struct cudaXtDesc_t { int version; int nGPUs; int GPUs[64]; void * data[64]; size_t size[64]; void *cudaXtState; } cudaXtDesc_t;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef double cufftDoubleReal;
typedef int cufftHandle;
typedef float cufftReal;
typedef struct cufftXt1dFactors_t { long long size; long long stringCount; long long stringLength; long long substringLength; long long factor1; long long factor2; long long stringMask; long long substringMask; long long factor1Mask; long long factor2Mask; int stringShift; int substringShift; int factor1Shift; int factor2Shift; } cufftXt1dFactors_t;
typedef cudaXtCopyType_t cudaLibXtCopyType;
typedef struct cudaXtDesc_t cudaXtDesc;
typedef cufftComplex (*cufftCallbackLoadC)(void *, size_t, void *, void *);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void *, size_t, void *, void *);
typedef cufftReal (*cufftCallbackLoadR)(void *, size_t, void *, void *);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void *, size_t, void *, void *);
typedef void (*cufftCallbackStoreC)(void *, size_t, cufftComplex, void *, void *);
typedef void (*cufftCallbackStoreD)(void *, size_t, cufftDoubleReal, void *, void *);
typedef void (*cufftCallbackStoreR)(void *, size_t, cufftReal, void *, void *);
typedef void (*cufftCallbackStoreZ)(void *, size_t, cufftDoubleComplex, void *, void *);
typedef cufftCompatibility_t cufftCompatibility;
typedef cufftComplex (*cufftJITCallbackLoadC)(void *, unsigned long long, void *, void *);
typedef cufftDoubleReal (*cufftJITCallbackLoadD)(void *, unsigned long long, void *, void *);
typedef cufftReal (*cufftJITCallbackLoadR)(void *, unsigned long long, void *, void *);
typedef cufftDoubleComplex (*cufftJITCallbackLoadZ)(void *, unsigned long long, void *, void *);
typedef void (*cufftJITCallbackStoreC)(void *, unsigned long long, cufftComplex, void *, void *);
typedef void (*cufftJITCallbackStoreD)(void *, unsigned long long, cufftDoubleReal, void *, void *);
typedef void (*cufftJITCallbackStoreR)(void *, unsigned long long, cufftReal, void *, void *);
typedef void (*cufftJITCallbackStoreZ)(void *, unsigned long long, cufftDoubleComplex, void *, void *);
typedef cufftProperty_t cufftProperty;
typedef cufftResult_t cufftResult;
typedef cufftType_t cufftType;
typedef struct cufftXt1dFactors_t cufftXt1dFactors;
typedef cufftXtCallbackType_t cufftXtCallbackType;
typedef cufftXtCopyType_t cufftXtCopyType;
typedef cufftXtQueryType_t cufftXtQueryType;
typedef cufftXtSubFormat_t cufftXtSubFormat;
typedef cufftXtWorkAreaPolicy_t cufftXtWorkAreaPolicy;
typedef libFormat_t libFormat;
typedef struct cudaLibXtDesc_t { int version; cudaXtDesc *descriptor; libFormat library; int subFormat; void *libDescriptor; } cudaLibXtDesc_t;
typedef struct cudaLibXtDesc_t cudaLibXtDesc;

#ifdef AW_CUDA_12
cufftResult __cufftXtSetJITCallback_12_7(cufftHandle plan, const char *lto_callback_symbol_name, const void *lto_callback_fatbin, size_t lto_callback_fatbin_size, cufftXtCallbackType type, void **caller_info);
#endif
cufftResult cufftCreate(cufftHandle *handle);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *workSize);
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *workSize);
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *workSize);
cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch, size_t *workSize);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *idata, cufftComplex *odata, int direction);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *idata, cufftReal *odata);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *idata, cufftDoubleComplex *odata);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal *idata, cufftComplex *odata);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *idata, cufftDoubleReal *odata);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *idata, cufftDoubleComplex *odata, int direction);
cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long *returnPtrValue);
cufftResult cufftGetProperty(libraryPropertyType type, int *value);
cufftResult cufftGetSize(cufftHandle handle, size_t *workSize);
cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch, size_t *workSize);
cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type, size_t *workSize);
cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type, size_t *workSize);
cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch, size_t *workArea);
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist, cufftType type, long long batch, size_t *workSize);
cufftResult cufftGetVersion(int *version);
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize);
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize);
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch, size_t *workSize);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist, cufftType type, long long batch, size_t *workSize);
cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch);
cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type);
cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type);
cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, cufftType type, int batch);
cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate);
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, const long long inputValueInt);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftSetWorkArea(cufftHandle plan, void *workArea);

#ifdef __cplusplus
}
#endif

#endif
