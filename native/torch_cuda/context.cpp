// at::cuda's context: what is known of devices. Libraries that are not there say so when they are
// asked for.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Sleep.h>
#include <dlfcn.h>

#include <deque>
#include <map>
#include <mutex>

#include "stand_in.h"

namespace at::cuda {
namespace {

[[noreturn]] void absent(const char* library) {
  TORCH_CHECK(false, library,
              " is not there: this device has none, and anywarp brings none for extensions");
}

// Whoever calls cuBLAS is linked to it: the handle is one of the library that is in the process.
void* cublas() {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"})
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return library;
  absent("cuBLAS");
}

template <class Function>
Function* of_cublas(void* library, const char* name) {
  void* found = dlsym(library, name);
  TORCH_CHECK(found, name, " is not in cuBLAS");
  return reinterpret_cast<Function*>(found);
}

void require_success(int status, const char* name) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, name, " returned ", status);
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

// One per thread and device, with the current stream; it lasts as long as the process, as in torch.
cublasHandle_t getCurrentCUDABlasHandle(bool) {
  thread_local std::map<c10::DeviceIndex, cublasHandle_t> handles;
  void* const library = cublas();
  cublasHandle_t& handle = handles[c10::cuda::current_device()];
  if (!handle)
    require_success(of_cublas<int(cublasHandle_t*)>(library, "cublasCreate_v2")(&handle),
                    "cublasCreate");
  require_success(of_cublas<int(cublasHandle_t, cudaStream_t)>(library, "cublasSetStream_v2")(
                      handle, c10::cuda::getCurrentCUDAStream()),
                  "cublasSetStream");
  return handle;
}
cublasLtHandle_t getCurrentCUDABlasLtHandle() { absent("cuBLASLt"); }
cusparseHandle_t getCurrentCUDASparseHandle() { absent("cuSPARSE"); }
cusolverDnHandle_t getCurrentCUDASolverDnHandle() { absent("cuSOLVER"); }

void sleep(int64_t cycles) { awt::require(awt_sleep(cycles)); }

}  // namespace at::cuda

// Inline code of torch's headers formats the errors of these libraries, of which there can be none.
namespace at::cuda::blas {
C10_EXPORT const char* _cublasGetErrorEnum(cublasStatus_t) { return "cuBLAS is not there"; }
}  // namespace at::cuda::blas
namespace at::cuda::solver {
C10_EXPORT const char* cusolverGetErrorMessage(cusolverStatus_t) { return "cuSOLVER is not there"; }
}  // namespace at::cuda::solver
extern "C" C10_EXPORT const char* cusparseGetErrorString(cusparseStatus_t) {
  return "cuSPARSE is not there";
}
