// The functions of torch's stable C interface that a CUDA build has beside a CPU build's
// (torch/csrc/inductor/aoti_torch/c/shim.h, torch/csrc/stable/c/shim.h).
#define USE_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>
#if __has_include(<torch/csrc/stable/c/shim.h>)
#include <torch/csrc/stable/c/shim.h>
#endif

#include <cstring>

#include "stand_in.h"

namespace {

c10::cuda::CUDAStream external(void* stream, int32_t device) {
  return c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream),
                                          static_cast<c10::DeviceIndex>(device));
}

}  // namespace

AOTITorchError aoti_torch_create_cuda_guard(int32_t device, CUDAGuardHandle* made) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    *made = reinterpret_cast<CUDAGuardHandle>(
        new c10::cuda::CUDAGuard(static_cast<c10::DeviceIndex>(device)));
  });
}

AOTITorchError aoti_torch_delete_cuda_guard(CUDAGuardHandle guard) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE(
      { delete reinterpret_cast<c10::cuda::CUDAGuard*>(guard); });
}

AOTITorchError aoti_torch_cuda_guard_set_index(CUDAGuardHandle guard, int32_t device) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    reinterpret_cast<c10::cuda::CUDAGuard*>(guard)->set_index(
        static_cast<c10::DeviceIndex>(device));
  });
}

AOTITorchError aoti_torch_create_cuda_stream_guard(void* stream, int32_t device,
                                                   CUDAStreamGuardHandle* made) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    *made = reinterpret_cast<CUDAStreamGuardHandle>(
        new c10::cuda::CUDAStreamGuard(external(stream, device).unwrap()));
  });
}

AOTITorchError aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardHandle guard) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE(
      { delete reinterpret_cast<c10::cuda::CUDAStreamGuard*>(guard); });
}

AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device, void** stream) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    *stream = c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).stream();
  });
}

#if AWT_TORCH >= 210
AOTITorchError aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t bytes, void** memory) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE(
      { *memory = c10::cuda::CUDACachingAllocator::raw_alloc(bytes); });
}

AOTITorchError aoti_torch_cuda_caching_allocator_raw_delete(void* memory) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE(
      { c10::cuda::CUDACachingAllocator::raw_delete(memory); });
}

AOTITorchError torch_get_current_cuda_blas_handle(void** handle) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ *handle = at::cuda::getCurrentCUDABlasHandle(); });
}

AOTITorchError torch_set_current_cuda_stream(void* stream, int32_t device) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE(
      { c10::cuda::setCurrentCUDAStream(external(stream, device)); });
}

AOTITorchError torch_get_cuda_stream_from_pool(bool high, int32_t device, void** stream) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    *stream = c10::cuda::getStreamFromPool(high, static_cast<c10::DeviceIndex>(device)).stream();
  });
}

AOTITorchError torch_cuda_stream_synchronize(void* stream, int32_t device) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ external(stream, device).synchronize(); });
}

AOTITorchError torch_c10_cuda_check_msg(int32_t error, const char* file, const char* function,
                                        uint32_t line, bool assertions, char** message) {
  *message = nullptr;
  try {
    c10::cuda::c10_cuda_check_implementation(error, file, function, line, assertions);
  } catch (const c10::Error& raised) {
    *message = strdup(raised.what_without_backtrace());
    return AOTI_TORCH_FAILURE;
  }
  return AOTI_TORCH_SUCCESS;
}

void torch_c10_cuda_free_error_msg(char* message) { free(message); }
#endif
