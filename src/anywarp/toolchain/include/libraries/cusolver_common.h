// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUSOLVER_COMMON_H
#define ANYWARP_CUSOLVER_COMMON_H

#include "driver_types.h"
#include "library_types.h"
#include "cuComplex.h"
#include "cublas_api.h"
#include "cusparse.h"

#define CUSOLVER_VERSION ( CUSOLVER_VER_MAJOR * 1000 + CUSOLVER_VER_MINOR * 100 + CUSOLVER_VER_PATCH )
#ifdef AW_CUDA_12
#define CUSOLVER_VER_BUILD 82
#else
#define CUSOLVER_VER_BUILD 2
#endif
#ifdef AW_CUDA_12
#define CUSOLVER_VER_MAJOR 11
#else
#define CUSOLVER_VER_MAJOR 12
#endif
#ifdef AW_CUDA_12
#define CUSOLVER_VER_MINOR 7
#else
#define CUSOLVER_VER_MINOR 4
#endif
#ifdef AW_CUDA_12
#define CUSOLVER_VER_PATCH 5
#else
#define CUSOLVER_VER_PATCH 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csrcholInfoHost * csrcholInfoHost_t;
typedef struct csrcholInfo * csrcholInfo_t;
typedef struct csrluInfoHost * csrluInfoHost_t;
typedef struct csrqrInfoHost * csrqrInfoHost_t;
typedef struct csrqrInfo * csrqrInfo_t;
typedef void * cudaLibMgGrid_t;
typedef void * cudaLibMgMatrixDesc_t;
typedef enum cusolverAlgMode_t {
  CUSOLVER_ALG_0 = 0,
  CUSOLVER_ALG_1 = 1,
  CUSOLVER_ALG_2 = 2,
} cusolverAlgMode_t;
typedef enum cusolverDeterministicMode_t {
  CUSOLVER_DETERMINISTIC_RESULTS = 1,
  CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2,
} cusolverDeterministicMode_t;
typedef enum cusolverDirectMode_t {
  CUBLAS_DIRECT_FORWARD = 0,
  CUBLAS_DIRECT_BACKWARD = 1,
} cusolverDirectMode_t;
typedef enum cusolverDnFunction_t {
  CUSOLVERDN_GETRF = 0,
  CUSOLVERDN_POTRF = 1,
#ifndef AW_CUDA_12
  CUSOLVERDN_SYEVBATCHED = 2,
#endif
#ifndef AW_CUDA_12
  CUSOLVERDN_GEQRF = 3,
#endif
#ifndef AW_CUDA_12
  CUSOLVERDN_SYEVD = 4,
#endif
#ifndef AW_CUDA_12
  CUSOLVERDN_GESVD = 5,
#endif
#ifndef AW_CUDA_12
  CUSOLVERDN_GEEV = 6,
#endif
} cusolverDnFunction_t;
typedef struct cusolverDnContext * cusolverDnHandle_t;
typedef struct cusolverDnIRSInfos * cusolverDnIRSInfos_t;
typedef struct cusolverDnIRSParams * cusolverDnIRSParams_t;
typedef struct cusolverDnParams * cusolverDnParams_t;
#ifndef AW_CUDA_12
typedef enum cusolverEigComp_t {
#ifndef AW_CUDA_12
  CUSOLVER_EIG_COMP_N = 10,
#endif
#ifndef AW_CUDA_12
  CUSOLVER_EIG_COMP_I = 11,
#endif
#ifndef AW_CUDA_12
  CUSOLVER_EIG_COMP_V = 12,
#endif
} cusolverEigComp_t;
#endif
typedef enum cusolverEigMode_t {
  CUSOLVER_EIG_MODE_NOVECTOR = 0,
  CUSOLVER_EIG_MODE_VECTOR = 1,
} cusolverEigMode_t;
typedef enum cusolverEigRange_t {
  CUSOLVER_EIG_RANGE_ALL = 1001,
  CUSOLVER_EIG_RANGE_I = 1002,
  CUSOLVER_EIG_RANGE_V = 1003,
} cusolverEigRange_t;
typedef enum cusolverEigType_t {
  CUSOLVER_EIG_TYPE_1 = 1,
  CUSOLVER_EIG_TYPE_2 = 2,
  CUSOLVER_EIG_TYPE_3 = 3,
} cusolverEigType_t;
typedef enum cusolverIRSRefinement_t {
  CUSOLVER_IRS_REFINE_NOT_SET = 1100,
  CUSOLVER_IRS_REFINE_NONE = 1101,
  CUSOLVER_IRS_REFINE_CLASSICAL = 1102,
  CUSOLVER_IRS_REFINE_CLASSICAL_GMRES = 1103,
  CUSOLVER_IRS_REFINE_GMRES = 1104,
  CUSOLVER_IRS_REFINE_GMRES_GMRES = 1105,
  CUSOLVER_IRS_REFINE_GMRES_NOPCOND = 1106,
  CUSOLVER_PREC_DD = 1150,
  CUSOLVER_PREC_SS = 1151,
  CUSOLVER_PREC_SHT = 1152,
} cusolverIRSRefinement_t;
#ifndef AW_CUDA_12
typedef enum cusolverMathMode_t {
#ifndef AW_CUDA_12
  CUSOLVER_DEFAULT_MATH = 1,
#endif
#ifndef AW_CUDA_12
  CUSOLVER_FP32_EMULATED_BF16X9_MATH = 2,
#endif
#ifndef AW_CUDA_12
  CUSOLVER_FP64_EMULATED_FIXEDPOINT_MATH = 4,
#endif
#ifndef AW_CUDA_12
  CUSOLVER_FP32_FP64_EMULATED_MATH = 6,
#endif
} cusolverMathMode_t;
#endif
typedef enum cusolverMgGridMapping_t {
  CUDALIBMG_GRID_MAPPING_ROW_MAJOR = 1,
  CUDALIBMG_GRID_MAPPING_COL_MAJOR = 0,
} cusolverMgGridMapping_t;
typedef struct cusolverMgContext * cusolverMgHandle_t;
typedef enum cusolverNorm_t {
  CUSOLVER_INF_NORM = 104,
  CUSOLVER_MAX_NORM = 105,
  CUSOLVER_ONE_NORM = 106,
  CUSOLVER_FRO_NORM = 107,
} cusolverNorm_t;
typedef enum cusolverPrecType_t {
  CUSOLVER_R_8I = 1201,
  CUSOLVER_R_8U = 1202,
  CUSOLVER_R_64F = 1203,
  CUSOLVER_R_32F = 1204,
  CUSOLVER_R_16F = 1205,
  CUSOLVER_R_16BF = 1206,
  CUSOLVER_R_TF32 = 1207,
  CUSOLVER_R_AP = 1208,
  CUSOLVER_C_8I = 1211,
  CUSOLVER_C_8U = 1212,
  CUSOLVER_C_64F = 1213,
  CUSOLVER_C_32F = 1214,
  CUSOLVER_C_16F = 1215,
  CUSOLVER_C_16BF = 1216,
  CUSOLVER_C_TF32 = 1217,
  CUSOLVER_C_AP = 1218,
} cusolverPrecType_t;
typedef enum cusolverRfFactorization_t {
  CUSOLVERRF_FACTORIZATION_ALG0 = 0,
  CUSOLVERRF_FACTORIZATION_ALG1 = 1,
  CUSOLVERRF_FACTORIZATION_ALG2 = 2,
} cusolverRfFactorization_t;
typedef struct cusolverRfCommon * cusolverRfHandle_t;
typedef enum cusolverRfMatrixFormat_t {
  CUSOLVERRF_MATRIX_FORMAT_CSR = 0,
  CUSOLVERRF_MATRIX_FORMAT_CSC = 1,
} cusolverRfMatrixFormat_t;
typedef enum cusolverRfNumericBoostReport_t {
  CUSOLVERRF_NUMERIC_BOOST_NOT_USED = 0,
  CUSOLVERRF_NUMERIC_BOOST_USED = 1,
} cusolverRfNumericBoostReport_t;
typedef enum cusolverRfResetValuesFastMode_t {
  CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF = 0,
  CUSOLVERRF_RESET_VALUES_FAST_MODE_ON = 1,
} cusolverRfResetValuesFastMode_t;
typedef enum cusolverRfTriangularSolve_t {
  CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 = 1,
  CUSOLVERRF_TRIANGULAR_SOLVE_ALG2 = 2,
  CUSOLVERRF_TRIANGULAR_SOLVE_ALG3 = 3,
} cusolverRfTriangularSolve_t;
typedef enum cusolverRfUnitDiagonal_t {
  CUSOLVERRF_UNIT_DIAGONAL_STORED_L = 0,
  CUSOLVERRF_UNIT_DIAGONAL_STORED_U = 1,
  CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L = 2,
  CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U = 3,
} cusolverRfUnitDiagonal_t;
typedef struct cusolverSpContext * cusolverSpHandle_t;
typedef enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_MAPPING_ERROR = 5,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
  CUSOLVER_STATUS_ZERO_PIVOT = 10,
  CUSOLVER_STATUS_INVALID_LICENSE = 11,
  CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED = 12,
  CUSOLVER_STATUS_IRS_PARAMS_INVALID = 13,
  CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC = 14,
  CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE = 15,
  CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER = 16,
  CUSOLVER_STATUS_IRS_INTERNAL_ERROR = 20,
  CUSOLVER_STATUS_IRS_NOT_SUPPORTED = 21,
  CUSOLVER_STATUS_IRS_OUT_OF_RANGE = 22,
  CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES = 23,
  CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED = 25,
  CUSOLVER_STATUS_IRS_INFOS_NOT_DESTROYED = 26,
  CUSOLVER_STATUS_IRS_MATRIX_SINGULAR = 30,
  CUSOLVER_STATUS_INVALID_WORKSPACE = 31,
} cusolverStatus_t;
typedef enum cusolverStorevMode_t {
  CUBLAS_STOREV_COLUMNWISE = 0,
  CUBLAS_STOREV_ROWWISE = 1,
} cusolverStorevMode_t;
typedef struct gesvdjInfo * gesvdjInfo_t;
typedef struct syevjInfo * syevjInfo_t;
typedef void (*cusolverDnLoggerCallback_t)(int, const char *, const char *);
typedef int cusolver_int_t;


#ifdef __cplusplus
}
#endif

#endif
