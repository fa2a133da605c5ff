// Half precision under NVRTC, whosever header the program brings.
//
// From version 12.3 on NVIDIA's cuda_fp16.h and cuda_bf16.h only declare functions to NVRTC, whose library of built-ins defines them when
// the program is linked (said in those headers). Here there is no such library: as to older versions, they define all they have.
#pragma push_macro("__CUDACC_VER_MAJOR__")
#pragma push_macro("__CUDACC_VER_MINOR__")
#undef __CUDACC_VER_MAJOR__
#undef __CUDACC_VER_MINOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 2
#include_next <cuda_fp16.h>
#pragma pop_macro("__CUDACC_VER_MINOR__")
#pragma pop_macro("__CUDACC_VER_MAJOR__")
