// As much of cuSPARSE's interface as the headers of torch name; there is no cuSPARSE to call.
#pragma once
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct cusparseContext* cusparseHandle_t;
typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10
} cusparseStatus_t;
const char* cusparseGetErrorString(cusparseStatus_t status);
#ifdef __cplusplus
}
#endif
