// The variants of functions for programs whose null stream is the per-thread default stream: the
// same, in that light.
#include "cuda/api.h"
#include "cuda/stream.h"

using namespace aw;

extern "C" {
CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags);
CUresult cuEventRecord(CUevent handle, CUstream stream);
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params);
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream);
CUresult cuGraphUpload(CUgraphExec handle, CUstream stream);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   CUstream stream, void** params);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data);
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** params,
                        void** extra);
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool,
                                 CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice dev, CUstream stream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned flags,
                               CUstream stream);
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* places, size_t* indices, size_t place_count,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* shape, CUstream stream);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* shape);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* shape);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* shape, CUstream stream);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D* shape, CUstream stream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D* shape);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* shape);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            void* attributes, size_t* indices, size_t attribute_count,
                            size_t* failed, CUstream stream);
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               void* attributes, size_t* indices, size_t attribute_count,
                               CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream);
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height);
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream);
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data,
                             unsigned flags);
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t, unsigned flags);
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, void* operations, unsigned flags);
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, void* operations, unsigned flags);
CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData*, size_t count, int mode);
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamCopyAttributes(CUstream to, CUstream from);
CUresult cuStreamEndCapture(CUstream handle, CUgraph* out);
CUresult cuStreamGetAttribute(CUstream handle, int id, CUlaunchAttributeValue* value);
CUresult cuStreamGetCaptureInfo(CUstream handle, int* status, uint64_t* id);
CUresult cuStreamGetCaptureInfo_v2(CUstream handle, int* status, uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, size_t* count);
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, int* status, uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, const CUgraphEdgeData** edges,
                                   size_t* count);
CUresult cuStreamGetCtx(CUstream handle, CUcontext* out);
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* out, void** green);
CUresult cuStreamGetDevice(CUstream handle, CUdevice* out);
CUresult cuStreamGetFlags(CUstream handle, unsigned* flags);
CUresult cuStreamGetId(CUstream handle, unsigned long long* id);
CUresult cuStreamGetPriority(CUstream handle, int* priority);
CUresult cuStreamIsCapturing(CUstream handle, int* status);
CUresult cuStreamQuery(CUstream handle);
CUresult cuStreamSetAttribute(CUstream handle, int id, const CUlaunchAttributeValue* value);
CUresult cuStreamSynchronize(CUstream handle);
CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, size_t count,
                                           unsigned flags);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                              const CUgraphEdgeData*, size_t count, unsigned flags);
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags);
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                unsigned flags);
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                unsigned flags);
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                 unsigned flags);
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                 unsigned flags);
}

AW_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent handle, CUstream stream, unsigned flags) {
  return api<"cuEventRecordWithFlags_ptsz">([&] {
    PerThreadDefault scope;
    return cuEventRecordWithFlags(handle, stream, flags);
  });
}

AW_EXPORT CUresult cuEventRecord_ptsz(CUevent handle, CUstream stream) {
  return api<"cuEventRecord_ptsz">([&] {
    PerThreadDefault scope;
    return cuEventRecord(handle, stream);
  });
}

AW_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* out, CUgraph graph,
                                                     CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return api<"cuGraphInstantiateWithParams_ptsz">([&] {
    PerThreadDefault scope;
    return cuGraphInstantiateWithParams(out, graph, params);
  });
}

AW_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec handle, CUstream stream) {
  return api<"cuGraphLaunch_ptsz">([&] {
    PerThreadDefault scope;
    return cuGraphLaunch(handle, stream);
  });
}

AW_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec handle, CUstream stream) {
  return api<"cuGraphUpload_ptsz">([&] {
    PerThreadDefault scope;
    return cuGraphUpload(handle, stream);
  });
}

AW_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned gx, unsigned gy,
                                                  unsigned gz, unsigned bx, unsigned by,
                                                  unsigned bz, unsigned shared, CUstream stream,
                                                  void** params) {
  return api<"cuLaunchCooperativeKernel_ptsz">([&] {
    PerThreadDefault scope;
    return cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params);
  });
}

AW_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
  return api<"cuLaunchHostFunc_ptsz">([&] {
    PerThreadDefault scope;
    return cuLaunchHostFunc(stream, function, data);
  });
}

AW_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function,
                                         void** params, void** extra) {
  return api<"cuLaunchKernelEx_ptsz">([&] {
    PerThreadDefault scope;
    return cuLaunchKernelEx(config, function, params, extra);
  });
}

AW_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                       unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                       CUstream stream, void** params, void** extra) {
  return api<"cuLaunchKernel_ptsz">([&] {
    PerThreadDefault scope;
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
  });
}

AW_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return api<"cuMemAllocAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemAllocAsync(out, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* out, size_t bytes, CUmemoryPool pool,
                                                CUstream stream) {
  return api<"cuMemAllocFromPoolAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemAllocFromPoolAsync(out, bytes, pool, stream);
  });
}

AW_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return api<"cuMemFreeAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemFreeAsync(address, stream);
  });
}

AW_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice dev,
                                           CUstream stream) {
  return api<"cuMemPrefetchAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemPrefetchAsync(address, bytes, dev, stream);
  });
}

AW_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, CUmemLocation a2,
                                              unsigned flags, CUstream stream) {
  return api<"cuMemPrefetchAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemPrefetchAsync_v2(address, bytes, a2, flags, stream);
  });
}

AW_EXPORT CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                                CUmemLocation* places, size_t* indices,
                                                size_t place_count, unsigned long long flags,
                                                CUstream stream) {
  return api<"cuMemPrefetchBatchAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemPrefetchBatchAsync(addresses, sizes, count, places, indices, place_count, flags,
                                   stream);
  });
}

AW_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D* shape, CUstream stream) {
  return api<"cuMemcpy2DAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy2DAsync_v2(shape, stream);
  });
}

AW_EXPORT CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2DUnaligned_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpy2DUnaligned_v2(shape);
  });
}

AW_EXPORT CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2D_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpy2D_v2(shape);
  });
}

AW_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DAsync_v2(shape, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DPeerAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DPeerAsync(shape, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3DPeer_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DPeer(shape);
  });
}

AW_EXPORT CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3D_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpy3D_v2(shape);
  });
}

AW_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                      CUstream stream) {
  return api<"cuMemcpyAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyAsync(to, from, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                           size_t count, void* attributes, size_t* indices,
                                           size_t attribute_count, size_t* failed,
                                           CUstream stream) {
  return api<"cuMemcpyBatchAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyBatchAsync(to, from, sizes, count, attributes, indices, attribute_count, failed,
                              stream);
  });
}

AW_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                              size_t count, void* attributes, size_t* indices,
                                              size_t attribute_count, CUstream stream) {
  return api<"cuMemcpyBatchAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, attribute_count,
                                 stream);
  });
}

AW_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                             CUstream stream) {
  return api<"cuMemcpyDtoDAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpyDtoD_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpyDtoD_v2(to, from, bytes);
  });
}

AW_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void* to, CUdeviceptr from, size_t bytes,
                                             CUstream stream) {
  return api<"cuMemcpyDtoHAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpyDtoH_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpyDtoH_v2(to, from, bytes);
  });
}

AW_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void* from, size_t bytes,
                                             CUstream stream) {
  return api<"cuMemcpyHtoDAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void* from, size_t bytes) {
  return api<"cuMemcpyHtoD_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpyHtoD_v2(to, from, bytes);
  });
}

AW_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                          CUcontext from_context, size_t bytes, CUstream stream) {
  return api<"cuMemcpyPeerAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream);
  });
}

AW_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t bytes) {
  return api<"cuMemcpyPeer_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpyPeer(to, to_context, from, from_context, bytes);
  });
}

AW_EXPORT CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpy_ptds">([&] {
    PerThreadDefault scope;
    return cuMemcpy(to, from, bytes);
  });
}

AW_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count,
                                         CUstream stream) {
  return api<"cuMemsetD16Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD16Async(to, value, count, stream);
  });
}

AW_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count) {
  return api<"cuMemsetD16_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD16_v2(to, value, count);
  });
}

AW_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value,
                                           size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D16Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D16Async(to, pitch, value, width, height, stream);
  });
}

AW_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch, unsigned short value,
                                         size_t width, size_t height) {
  return api<"cuMemsetD2D16_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D16_v2(to, pitch, value, width, height);
  });
}

AW_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned value,
                                           size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D32Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D32Async(to, pitch, value, width, height, stream);
  });
}

AW_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                         size_t height) {
  return api<"cuMemsetD2D32_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D32_v2(to, pitch, value, width, height);
  });
}

AW_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value,
                                          size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D8Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D8Async(to, pitch, value, width, height, stream);
  });
}

AW_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value,
                                        size_t width, size_t height) {
  return api<"cuMemsetD2D8_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD2D8_v2(to, pitch, value, width, height);
  });
}

AW_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value, size_t count,
                                         CUstream stream) {
  return api<"cuMemsetD32Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD32Async(to, value, count, stream);
  });
}

AW_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, size_t count) {
  return api<"cuMemsetD32_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD32_v2(to, value, count);
  });
}

AW_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count,
                                        CUstream stream) {
  return api<"cuMemsetD8Async_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemsetD8Async(to, value, count, stream);
  });
}

AW_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count) {
  return api<"cuMemsetD8_v2_ptds">([&] {
    PerThreadDefault scope;
    return cuMemsetD8_v2(to, value, count);
  });
}

AW_EXPORT CUresult cuStreamAddCallback_ptsz(CUstream handle, CUstreamCallback function, void* data,
                                            unsigned flags) {
  return api<"cuStreamAddCallback_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamAddCallback(handle, function, data, flags);
  });
}

AW_EXPORT CUresult cuStreamAttachMemAsync_ptsz(CUstream handle, CUdeviceptr address, size_t a2,
                                               unsigned flags) {
  return api<"cuStreamAttachMemAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamAttachMemAsync(handle, address, a2, flags);
  });
}

AW_EXPORT CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count, void* operations,
                                           unsigned flags) {
  return api<"cuStreamBatchMemOp_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamBatchMemOp(stream, count, operations, flags);
  });
}

AW_EXPORT CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count, void* operations,
                                              unsigned flags) {
  return api<"cuStreamBatchMemOp_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamBatchMemOp_v2(stream, count, operations, flags);
  });
}

AW_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream handle, CUgraph graph,
                                                    const CUgraphNode* after,
                                                    const CUgraphEdgeData* a3, size_t count,
                                                    int mode) {
  return api<"cuStreamBeginCaptureToGraph_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamBeginCaptureToGraph(handle, graph, after, a3, count, mode);
  });
}

AW_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
  return api<"cuStreamBeginCapture_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamBeginCapture(stream);
  });
}

AW_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode) {
  return api<"cuStreamBeginCapture_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamBeginCapture_v2(stream, mode);
  });
}

AW_EXPORT CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from) {
  return api<"cuStreamCopyAttributes_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamCopyAttributes(to, from);
  });
}

AW_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream handle, CUgraph* out) {
  return api<"cuStreamEndCapture_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamEndCapture(handle, out);
  });
}

AW_EXPORT CUresult cuStreamGetAttribute_ptsz(CUstream handle, int id,
                                             CUlaunchAttributeValue* value) {
  return api<"cuStreamGetAttribute_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetAttribute(handle, id, value);
  });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo_ptsz(CUstream handle, int* status, uint64_t* id) {
  return api<"cuStreamGetCaptureInfo_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetCaptureInfo(handle, status, id);
  });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream handle, int* status, uint64_t* id,
                                                  CUgraph* graph, const CUgraphNode** nodes,
                                                  size_t* count) {
  return api<"cuStreamGetCaptureInfo_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetCaptureInfo_v2(handle, status, id, graph, nodes, count);
  });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream handle, int* status, uint64_t* id,
                                                  CUgraph* graph, const CUgraphNode** nodes,
                                                  const CUgraphEdgeData** edges, size_t* count) {
  return api<"cuStreamGetCaptureInfo_v3_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetCaptureInfo_v3(handle, status, id, graph, nodes, edges, count);
  });
}

AW_EXPORT CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext* out) {
  return api<"cuStreamGetCtx_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetCtx(handle, out);
  });
}

AW_EXPORT CUresult cuStreamGetCtx_v2_ptsz(CUstream handle, CUcontext* out, void** green) {
  return api<"cuStreamGetCtx_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetCtx_v2(handle, out, green);
  });
}

AW_EXPORT CUresult cuStreamGetDevice_ptsz(CUstream handle, CUdevice* out) {
  return api<"cuStreamGetDevice_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetDevice(handle, out);
  });
}

AW_EXPORT CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned* flags) {
  return api<"cuStreamGetFlags_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetFlags(handle, flags);
  });
}

AW_EXPORT CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long* id) {
  return api<"cuStreamGetId_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetId(handle, id);
  });
}

AW_EXPORT CUresult cuStreamGetPriority_ptsz(CUstream handle, int* priority) {
  return api<"cuStreamGetPriority_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamGetPriority(handle, priority);
  });
}

AW_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream handle, int* status) {
  return api<"cuStreamIsCapturing_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamIsCapturing(handle, status);
  });
}

AW_EXPORT CUresult cuStreamQuery_ptsz(CUstream handle) {
  return api<"cuStreamQuery_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamQuery(handle);
  });
}

AW_EXPORT CUresult cuStreamSetAttribute_ptsz(CUstream handle, int id,
                                             const CUlaunchAttributeValue* value) {
  return api<"cuStreamSetAttribute_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamSetAttribute(handle, id, value);
  });
}

AW_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream handle) {
  return api<"cuStreamSynchronize_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamSynchronize(handle);
  });
}

AW_EXPORT CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream handle, CUgraphNode* nodes,
                                                          size_t count, unsigned flags) {
  return api<"cuStreamUpdateCaptureDependencies_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamUpdateCaptureDependencies(handle, nodes, count, flags);
  });
}

AW_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream handle, CUgraphNode* nodes,
                                                             const CUgraphEdgeData* a2,
                                                             size_t count, unsigned flags) {
  return api<"cuStreamUpdateCaptureDependencies_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamUpdateCaptureDependencies_v2(handle, nodes, a2, count, flags);
  });
}

AW_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream handle, CUevent event, unsigned flags) {
  return api<"cuStreamWaitEvent_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWaitEvent(handle, event, flags);
  });
}

AW_EXPORT CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                            unsigned flags) {
  return api<"cuStreamWaitValue32_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWaitValue32(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                               unsigned flags) {
  return api<"cuStreamWaitValue32_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWaitValue32_v2(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                            unsigned flags) {
  return api<"cuStreamWaitValue64_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWaitValue64(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                               unsigned flags) {
  return api<"cuStreamWaitValue64_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWaitValue64_v2(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                             unsigned flags) {
  return api<"cuStreamWriteValue32_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWriteValue32(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address,
                                                uint32_t value, unsigned flags) {
  return api<"cuStreamWriteValue32_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWriteValue32_v2(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                             unsigned flags) {
  return api<"cuStreamWriteValue64_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWriteValue64(stream, address, value, flags);
  });
}

AW_EXPORT CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address,
                                                uint64_t value, unsigned flags) {
  return api<"cuStreamWriteValue64_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuStreamWriteValue64_v2(stream, address, value, flags);
  });
}
