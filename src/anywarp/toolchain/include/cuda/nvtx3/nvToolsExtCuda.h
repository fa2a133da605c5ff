// Names of the driver interface's devices, contexts, streams and events, for a tool (NVTX).
#ifndef NVTOOLSEXT_CUDA_V3
#define NVTOOLSEXT_CUDA_V3

#include "cuda.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4
typedef enum nvtxResourceCUDAType_t {
  NVTX_RESOURCE_TYPE_CUDA_DEVICE = 0x40001,
  NVTX_RESOURCE_TYPE_CUDA_CONTEXT = 0x40002,
  NVTX_RESOURCE_TYPE_CUDA_STREAM = 0x40003,
  NVTX_RESOURCE_TYPE_CUDA_EVENT = 0x40004
} nvtxResourceCUDAType_t;

#ifdef __cplusplus
extern "C" {
#endif

AW_NVTX_DOES(CUDA, 1, nvtxNameCuDeviceA, (CUdevice device, const char *name), (device, name))
AW_NVTX_DOES(CUDA, 2, nvtxNameCuDeviceW, (CUdevice device, const wchar_t *name), (device, name))
AW_NVTX_DOES(CUDA, 3, nvtxNameCuContextA, (CUcontext context, const char *name), (context, name))
AW_NVTX_DOES(CUDA, 4, nvtxNameCuContextW, (CUcontext context, const wchar_t *name), (context, name))
AW_NVTX_DOES(CUDA, 5, nvtxNameCuStreamA, (CUstream stream, const char *name), (stream, name))
AW_NVTX_DOES(CUDA, 6, nvtxNameCuStreamW, (CUstream stream, const wchar_t *name), (stream, name))
AW_NVTX_DOES(CUDA, 7, nvtxNameCuEventA, (CUevent event, const char *name), (event, name))
AW_NVTX_DOES(CUDA, 8, nvtxNameCuEventW, (CUevent event, const wchar_t *name), (event, name))

#ifdef __cplusplus
}
#endif

#define nvtxNameCuDevice AW_NVTX_CHARACTERS(nvtxNameCuDevice)
#define nvtxNameCuContext AW_NVTX_CHARACTERS(nvtxNameCuContext)
#define nvtxNameCuStream AW_NVTX_CHARACTERS(nvtxNameCuStream)
#define nvtxNameCuEvent AW_NVTX_CHARACTERS(nvtxNameCuEvent)

#endif
