// Names of the runtime's devices, streams and events, for a tool (NVTX).
#ifndef NVTOOLSEXT_CUDART_V3
#define NVTOOLSEXT_CUDART_V3

#include "cuda.h"
#include "driver_types.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDART 5
typedef enum nvtxResourceCUDARTType_t {
  NVTX_RESOURCE_TYPE_CUDART_DEVICE = 0x50000,
  NVTX_RESOURCE_TYPE_CUDART_STREAM = 0x50001,
  NVTX_RESOURCE_TYPE_CUDART_EVENT = 0x50002
} nvtxResourceCUDARTType_t;

#ifdef __cplusplus
extern "C" {
#endif

AW_NVTX_DOES(CUDART, 1, nvtxNameCudaDeviceA, (int device, const char *name), (device, name))
AW_NVTX_DOES(CUDART, 2, nvtxNameCudaDeviceW, (int device, const wchar_t *name), (device, name))
AW_NVTX_DOES(CUDART, 3, nvtxNameCudaStreamA, (cudaStream_t stream, const char *name), (stream, name))
AW_NVTX_DOES(CUDART, 4, nvtxNameCudaStreamW, (cudaStream_t stream, const wchar_t *name), (stream, name))
AW_NVTX_DOES(CUDART, 5, nvtxNameCudaEventA, (cudaEvent_t event, const char *name), (event, name))
AW_NVTX_DOES(CUDART, 6, nvtxNameCudaEventW, (cudaEvent_t event, const wchar_t *name), (event, name))

#ifdef __cplusplus
}
#endif

#define nvtxNameCudaDevice AW_NVTX_CHARACTERS(nvtxNameCudaDevice)
#define nvtxNameCudaStream AW_NVTX_CHARACTERS(nvtxNameCudaStream)
#define nvtxNameCudaEvent AW_NVTX_CHARACTERS(nvtxNameCudaEvent)

#endif
