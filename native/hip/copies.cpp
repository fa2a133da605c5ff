// Driver API reference: memory management, copies and sets.
#include <algorithm>
#include <cstring>

#include "cuda/copy_order.h"
#include "cuda/copy_shapes.h"
#include "cuda/driver.h"
#include "hip/capture.h"
#include "hip/copying.h"
#include "hip/devices.h"
#include "hip/services.h"

namespace aw {

hipMemcpy3DParms copy_parameters(const CopyWork& w) {
  hipMemcpy3DParms p{};
  // Rows and layers of one side may lie anyhow apart, as HIP has it, if a layer is a whole number
  // of rows.
  p.dstPtr = {w.to, w.to_pitch, w.width, w.to_pitch ? w.to_layer / w.to_pitch : 0};
  p.srcPtr = {const_cast<uint8_t*>(w.from), w.from_pitch, w.width,
              w.from_pitch ? w.from_layer / w.from_pitch : 0};
  p.extent = {w.width, w.height, w.depth};
  p.kind = hipMemcpyDefault;
  return p;
}

namespace {

hipError_t give_copy(const CopyWork& w, hipStream_t stream) {
  if (w.depth == 1 && w.height == 1)
    return hip.hipMemcpyAsync(w.to, w.from, w.width, hipMemcpyDefault, stream);
  if (w.depth == 1)
    return hip.hipMemcpy2DAsync(w.to, w.to_pitch, w.from, w.from_pitch, w.width, w.height,
                                hipMemcpyDefault, stream);
  hipMemcpy3DParms p = copy_parameters(w);
  return hip.hipMemcpy3DAsync(&p, stream);
}

void finish(hipStream_t stream, Context& context) {
  check(hip.hipStreamSynchronize(stream));
  drain_services(context);
  context.check();
}

}  // namespace

void copy_now(CopyWork work) {
  Context& context = require_context();
  if (work.is_empty()) return;
  hipStream_t stream = stream_for(nullptr);
  check(give_copy(work, stream));
  finish(stream, context);
}

void copy_async(CopyWork work, CUstream stream) {
  hipStream_t where = stream_for(stream);
  if (!work.is_empty()) check(give_copy(work, where));
}

bool is_legacy_stream(CUstream stream) { return stream_for(stream) == nullptr; }

void check_copy(uint64_t to, uint64_t from, uint64_t bytes, Direction) {
  if (bytes) require(to && from);
}

void copy_in_order(CopyWork work, CUmemcpySrcAccessOrder order, CUstream stream) {
  copy_async(std::move(work), stream);
  if (order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL) return;
  hipStream_t where = handle_of(stream);
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hip.hipStreamIsCapturing(where, &status) != hipSuccess) return;
  if (status == hipStreamCaptureStatusNone) check(hip.hipStreamSynchronize(where));
}

// A copy that has been done when it returns, as far as CUDA's rules say so: HIP's of the same kind
// has the same rules.
CUresult copy_linear(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  Context& context = require_context();
  if (bytes) require(to && from);
  hipError_t error = __builtin_expect(thread_state.per_thread, 0)
                         ? AW_HIP(hipMemcpy_spt)(to, from, bytes, kind)
                         : hip.hipMemcpy(to, from, bytes, kind);
  if (kind != hipMemcpyDeviceToDevice) drain_services(context);
  if (error == hipSuccess) context.check();
  return to_cuda(error);
}

CUresult copy_linear_async(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                           CUstream stream) {
  require_context();
  if (bytes) require(to && from);
  return to_cuda(hip.hipMemcpyAsync(to, from, bytes, kind, stream_for(stream)));
}

inline void* memory(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
  return api<"cuMemcpy">([&] { return copy_linear(memory(to), memory(from), n, hipMemcpyDefault); },
                         to, from, n);
}
AW_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t n) {
  return api<"cuMemcpyHtoD_v2">(
      [&] { return copy_linear(memory(to), from, n, hipMemcpyHostToDevice); }, to, from, n);
}
AW_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t n) {
  return api<"cuMemcpyDtoH_v2">(
      [&] { return copy_linear(to, memory(from), n, hipMemcpyDeviceToHost); }, to, from, n);
}
AW_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) {
  return api<"cuMemcpyDtoD_v2">(
      [&] { return copy_linear(memory(to), memory(from), n, hipMemcpyDeviceToDevice); }, to, from,
      n);
}
AW_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream) {
  return api<"cuMemcpyAsync">(
      [&] { return copy_linear_async(memory(to), memory(from), n, hipMemcpyDefault, stream); }, to,
      from, n, stream);
}
AW_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t n,
                                        CUstream stream) {
  return api<"cuMemcpyHtoDAsync_v2">(
      [&] { return copy_linear_async(memory(to), from, n, hipMemcpyHostToDevice, stream); }, to,
      from, n, stream);
}
AW_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t n, CUstream stream) {
  return api<"cuMemcpyDtoHAsync_v2">(
      [&] { return copy_linear_async(to, memory(from), n, hipMemcpyDeviceToHost, stream); }, to,
      from, n, stream);
}
AW_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n,
                                        CUstream stream) {
  return api<"cuMemcpyDtoDAsync_v2">(
      [&] {
        return copy_linear_async(memory(to), memory(from), n, hipMemcpyDeviceToDevice, stream);
      },
      to, from, n, stream);
}

AW_EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t n) {
  return api<"cuMemcpyPeer">([&] {
    require_context();
    int there = hip_device(context_of(to_context)->device),
        here = hip_device(context_of(from_context)->device);
    return to_cuda(AW_HIP(hipMemcpyPeer)(memory(to), there, memory(from), here, n));
  });
}

AW_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t n, CUstream stream) {
  return api<"cuMemcpyPeerAsync">([&] {
    require_context();
    int there = hip_device(context_of(to_context)->device),
        here = hip_device(context_of(from_context)->device);
    hipStream_t where = stream_for(stream);
    if (is_captured(where))  // HIP captures this one; both copy by address
      return to_cuda(
          hip.hipMemcpyAsync(memory(to), memory(from), n, hipMemcpyDeviceToDevice, where));
    return to_cuda(AW_HIP(hipMemcpyPeerAsync)(memory(to), there, memory(from), here, n, where));
  });
}

AW_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2D_v2">([&] { require_context(), copy_now(plan_copy(shape)); });
}
AW_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2DUnaligned_v2">([&] { require_context(), copy_now(plan_copy(shape)); });
}
AW_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* shape, CUstream stream) {
  return api<"cuMemcpy2DAsync_v2">(
      [&] { require_context(), copy_async(plan_copy(shape), stream); });
}
AW_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3D_v2">([&] { require_context(), copy_now(plan_copy(shape)); });
}
AW_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DAsync_v2">(
      [&] { require_context(), copy_async(plan_copy(shape), stream); });
}

namespace {

// Addresses tell HIP which device memory is of: the contexts of the structure are looked at and not
// needed.
CopyWork plan_peer(const CUDA_MEMCPY3D* shape) {
  require_context();
  require(shape);
  if (shape->srcMemoryType != CU_MEMORYTYPE_HOST)
    context_of(static_cast<CUcontext>(shape->reserved0));
  if (shape->dstMemoryType != CU_MEMORYTYPE_HOST)
    context_of(static_cast<CUcontext>(shape->reserved1));
  return plan_copy(shape);
}

}  // namespace

AW_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3DPeer">([&] { copy_now(plan_peer(shape)); });
}
AW_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DPeerAsync">([&] { copy_async(plan_peer(shape), stream); });
}

namespace {

hipError_t set_row(void* to, uint32_t value, uint32_t element, size_t count, hipStream_t stream) {
  if (element == 1)
    return hip.hipMemsetD8Async(to, static_cast<unsigned char>(value), count, stream);
  if (element == 2)
    return hip.hipMemsetD16Async(to, static_cast<unsigned short>(value), count, stream);
  return hip.hipMemsetD32Async(to, static_cast<int>(value), count, stream);
}

CUresult set(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t element, size_t width,
             size_t height, hipStream_t stream) {
  require_context();
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  require(to && to % element == 0 && width <= SIZE_MAX / 8);
  size_t row = width * element;
  require(height == 1 || pitch >= row);
  if (height == 1 || pitch == row)
    return to_cuda(set_row(memory(to), value, element, width * height, stream));
  if (element == 1)
    return to_cuda(AW_HIP(hipMemset2DAsync)(memory(to), pitch, static_cast<int>(value), width,
                                            height, stream));
  // Elements of two and four bytes came with HIP 7; a row at a time does the same.
  if (element == 2 && hip.hipMemsetD2D16Async)
    return to_cuda(hip.hipMemsetD2D16Async(memory(to), pitch, static_cast<unsigned short>(value),
                                           width, height, stream));
  if (element == 4 && hip.hipMemsetD2D32Async)
    return to_cuda(hip.hipMemsetD2D32Async(memory(to), pitch, value, width, height, stream));
  for (size_t y = 0; y < height; ++y)
    check(set_row(memory(to + y * pitch), value, element, width, stream));
  return CUDA_SUCCESS;
}

// Sets of device memory do not wait for the device (CUDA Driver API, API synchronization behavior).
hipStream_t own() { return stream_for(nullptr); }

}  // namespace

AW_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) {
  return api<"cuMemsetD8_v2">([&] { return set(to, 0, value, 1, n, 1, own()); }, to, value, n);
}
AW_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n) {
  return api<"cuMemsetD16_v2">([&] { return set(to, 0, value, 2, n, 1, own()); }, to, value, n);
}
AW_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t n) {
  return api<"cuMemsetD32_v2">([&] { return set(to, 0, value, 4, n, 1, own()); }, to, value, n);
}
AW_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                   size_t height) {
  return api<"cuMemsetD2D8_v2">([&] { return set(to, pitch, value, 1, width, height, own()); });
}
AW_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value,
                                    size_t width, size_t height) {
  return api<"cuMemsetD2D16_v2">([&] { return set(to, pitch, value, 2, width, height, own()); });
}
AW_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                    size_t height) {
  return api<"cuMemsetD2D32_v2">([&] { return set(to, pitch, value, 4, width, height, own()); });
}
AW_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
  return api<"cuMemsetD8Async">([&] { return set(to, 0, value, 1, n, 1, stream_for(stream)); }, to,
                                value, n, stream);
}
AW_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n,
                                    CUstream stream) {
  return api<"cuMemsetD16Async">([&] { return set(to, 0, value, 2, n, 1, stream_for(stream)); }, to,
                                 value, n, stream);
}
AW_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
  return api<"cuMemsetD32Async">([&] { return set(to, 0, value, 4, n, 1, stream_for(stream)); }, to,
                                 value, n, stream);
}
AW_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value,
                                     size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D8Async">(
      [&] { return set(to, pitch, value, 1, width, height, stream_for(stream)); });
}
AW_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
                                      size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D16Async">(
      [&] { return set(to, pitch, value, 2, width, height, stream_for(stream)); });
}
AW_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                      size_t height, CUstream stream) {
  return api<"cuMemsetD2D32Async">(
      [&] { return set(to, pitch, value, 4, width, height, stream_for(stream)); });
}
