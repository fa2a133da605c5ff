// As much of cuBLASLt's interface as the headers of torch name; there is no cuBLASLt to call.
#pragma once
#include <cublas_v2.h>
typedef struct cublasLtContext* cublasLtHandle_t;
