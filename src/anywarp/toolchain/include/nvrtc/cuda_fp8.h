// Includes the others from its own folder: those of this folder come first.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include_next <cuda_fp8.h>
