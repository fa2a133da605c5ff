// The name of toolkits before CUDA 13; NVTX 3 declares all that NVTX 2 did.
#include "nvtx3/nvToolsExtCudaRt.h"
