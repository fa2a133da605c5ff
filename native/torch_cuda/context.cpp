// at::cuda's context: what is known of devices, and handles of libraries.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Sleep.h>

#include <deque>
#include <map>
#include <mutex>

#include "stand_in.h"

namespace at::cuda {
namespace {

template <class Status>
void require_success(Status status, const char* name) {
  TORCH_CHECK(status == Status(), name, " returned ", int(status));
}

// One per thread and device; it lasts as long as the process, as in torch.
template <class Handle, class Status>
Handle& handle_of_thread(Status (*create)(Handle*), const char* name) {
  thread_local std::map<c10::DeviceIndex, Handle> handles;
  Handle& handle = handles[c10::cuda::current_device()];
  if (!handle) require_success(create(&handle), name);
  return handle;
}

}  // namespace

cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::deque<std::pair<bool, cudaDeviceProp>> known;  // its elements stay where they are
  const c10::DeviceIndex index = awt::device_or_current(device).index(),
                         count = c10::cuda::device_count();
  TORCH_CHECK(index < count, "device=", int(index), ", num_gpus=", int(count));
  const std::lock_guard lock(mutex);
  while (known.size() <= size_t(index)) known.emplace_back();
  auto& [filled, properties] = known[size_t(index)];
  if (!filled) C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  filled = true;
  return &properties;
}

cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(-1); }

int warp_size() { return getCurrentDeviceProperties()->warpSize; }

bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer) {
  int yes = 0;
  awt::require(awt_device_can_access(awt::device_or_current(device).index(), peer, &yes));
  return yes;
}

c10::Allocator* getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

// With the current stream, all but cuBLASLt's, whose calls name one.
cublasHandle_t getCurrentCUDABlasHandle(bool) {
  cublasHandle_t handle = handle_of_thread(&cublasCreate, "cublasCreate");
  require_success(cublasSetStream(handle, c10::cuda::getCurrentCUDAStream()), "cublasSetStream");
  return handle;
}

cublasLtHandle_t getCurrentCUDABlasLtHandle() {
  return handle_of_thread(&cublasLtCreate, "cublasLtCreate");
}

cusparseHandle_t getCurrentCUDASparseHandle() {
  cusparseHandle_t handle = handle_of_thread(&cusparseCreate, "cusparseCreate");
  require_success(cusparseSetStream(handle, c10::cuda::getCurrentCUDAStream()),
                  "cusparseSetStream");
  return handle;
}

cusolverDnHandle_t getCurrentCUDASolverDnHandle() {
  cusolverDnHandle_t handle = handle_of_thread(&cusolverDnCreate, "cusolverDnCreate");
  require_success(cusolverDnSetStream(handle, c10::cuda::getCurrentCUDAStream()),
                  "cusolverDnSetStream");
  return handle;
}

void sleep(int64_t cycles) { awt::require(awt_sleep(cycles)); }

}  // namespace at::cuda

// What inline code of torch's headers calls errors of these libraries.
namespace at::cuda::blas {
C10_EXPORT const char* _cublasGetErrorEnum(cublasStatus_t status) {
  return cublasGetStatusName(status);
}
}  // namespace at::cuda::blas
namespace at::cuda::solver {
C10_EXPORT const char* cusolverGetErrorMessage(cusolverStatus_t status) {
  switch (status) {
#define AWT_NAMED(name) \
  case name:            \
    return #name
    AWT_NAMED(CUSOLVER_STATUS_SUCCESS);
    AWT_NAMED(CUSOLVER_STATUS_NOT_INITIALIZED);
    AWT_NAMED(CUSOLVER_STATUS_ALLOC_FAILED);
    AWT_NAMED(CUSOLVER_STATUS_INVALID_VALUE);
    AWT_NAMED(CUSOLVER_STATUS_ARCH_MISMATCH);
    AWT_NAMED(CUSOLVER_STATUS_EXECUTION_FAILED);
    AWT_NAMED(CUSOLVER_STATUS_INTERNAL_ERROR);
    AWT_NAMED(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
    AWT_NAMED(CUSOLVER_STATUS_NOT_SUPPORTED);
#undef AWT_NAMED
    default:
      return "Unknown cusolver error number";
  }
}
}  // namespace at::cuda::solver
