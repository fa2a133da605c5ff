// What the compiler calls for `kernel<<<grid, block, shared, stream>>>(...)`; libcudart exports it.
#ifndef ANYWARP_LAUNCH_SYNTAX_H
#define ANYWARP_LAUNCH_SYNTAX_H

#include "builtin_types.h"

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, struct CUstream_st* stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
}

#endif
