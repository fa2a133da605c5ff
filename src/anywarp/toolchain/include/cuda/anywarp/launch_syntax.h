// What the compiler calls for `kernel<<<grid, block, shared, stream>>>(...)`; libcudart exports it.
#ifndef ANYWARP_LAUNCH_SYNTAX_H
#define ANYWARP_LAUNCH_SYNTAX_H

#include "builtin_types.h"

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, struct CUstream_st* stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
}

// Questions that nvcc answers about the lambdas it takes apart; here they are ordinary types.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

#endif
