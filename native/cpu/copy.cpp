// Driver API reference: memory management, copies of linear memory.
#include "cpu/copying.h"
#include "cuda/context.h"
#include "cuda/copy_shapes.h"

using namespace aw;

namespace {

void copy_bytes(uint64_t to, uint64_t from, size_t bytes, Direction direction) {
  current_context();
  check_copy(to, from, bytes, direction);
  copy_now(linear_copy(to, from, bytes));
}

void copy_bytes_async(uint64_t to, uint64_t from, size_t bytes, CUstream stream,
                      Direction direction) {
  current_context();
  auto target = stream_of(stream);
  check_copy(to, from, bytes, direction);
  copy_async(linear_copy(to, from, bytes), *target);
}

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace

AW_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpy">([&] { copy_bytes(to, from, bytes, Direction::any); }, to, from, bytes);
}

AW_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return api<"cuMemcpyAsync">([&] { copy_bytes_async(to, from, bytes, stream, Direction::any); },
                              to, from, bytes, stream);
}

AW_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return api<"cuMemcpyHtoD_v2">(
      [&] { copy_bytes(to, number(from), bytes, Direction::host_to_device); }, to, from, bytes);
}

AW_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpyDtoH_v2">(
      [&] { copy_bytes(number(to), from, bytes, Direction::device_to_host); }, to, from, bytes);
}

AW_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpyDtoD_v2">([&] { copy_bytes(to, from, bytes, Direction::device_to_device); },
                                to, from, bytes);
}

AW_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                        CUstream stream) {
  return api<"cuMemcpyHtoDAsync_v2">(
      [&] { copy_bytes_async(to, number(from), bytes, stream, Direction::host_to_device); }, to,
      from, bytes, stream);
}

AW_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return api<"cuMemcpyDtoHAsync_v2">(
      [&] { copy_bytes_async(number(to), from, bytes, stream, Direction::device_to_host); }, to,
      from, bytes, stream);
}

AW_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                        CUstream stream) {
  return api<"cuMemcpyDtoDAsync_v2">(
      [&] { copy_bytes_async(to, from, bytes, stream, Direction::device_to_device); }, to, from,
      bytes, stream);
}

AW_EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t bytes) {
  return api<"cuMemcpyPeer">([&] {
    // As documented, it comes behind all work of both contexts and of the current one.
    for (auto& context : {context_of(to_context), context_of(from_context)})
      context->wait_for_streams();
    copy_bytes(to, from, bytes, Direction::device_to_device);
  });
}

AW_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t bytes, CUstream stream) {
  return api<"cuMemcpyPeerAsync">([&] {
    context_of(to_context);
    context_of(from_context);
    copy_bytes_async(to, from, bytes, stream, Direction::device_to_device);
  });
}

AW_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2D_v2">([&] {
    current_context();
    copy_now(plan_copy(shape));
  });
}

AW_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* shape) {
  return api<"cuMemcpy2DUnaligned_v2">([&] {
    current_context();
    copy_now(plan_copy(shape));
  });
}

AW_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* shape, CUstream stream) {
  return api<"cuMemcpy2DAsync_v2">([&] {
    current_context();
    copy_async(plan_copy(shape), *stream_of(stream));
  });
}

AW_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3D_v2">([&] {
    current_context();
    copy_now(plan_copy(shape));
  });
}

AW_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DAsync_v2">([&] {
    current_context();
    copy_async(plan_copy(shape), *stream_of(stream));
  });
}

AW_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D* shape) {
  return api<"cuMemcpy3DPeer">([&] {
    current_context();
    copy_now(plan_copy(shape));
  });
}

AW_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D* shape, CUstream stream) {
  return api<"cuMemcpy3DPeerAsync">([&] {
    current_context();
    copy_async(plan_copy(shape), *stream_of(stream));
  });
}
