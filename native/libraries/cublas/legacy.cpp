// cuBLAS of before CUDA 4: what does not compute (cublas.h).
#include "libraries/cublas/legacy.h"

#include <atomic>

#include "core/own_functions.h"

using namespace aw::cublas;

namespace {

std::mutex& mutex = *new std::mutex;
std::atomic<cublasContext*> the_handle;
std::atomic<int> last_error;

}  // namespace

namespace aw::cublas {

cublasContext& legacy_handle() { return use(the_handle.load()); }

void keep_legacy_error(cublasStatus_t status) { last_error = status; }

}  // namespace aw::cublas

AW_EXPORT cublasStatus_t cublasInit() {
  return api<"cublasInit">([] {
    std::lock_guard lock(mutex);
    if (!the_handle) the_handle = create();
  });
}

AW_EXPORT cublasStatus_t cublasShutdown() {
  return api<"cublasShutdown">([] {
    std::lock_guard lock(mutex);
    destroy(the_handle.exchange(nullptr));
  });
}

AW_EXPORT cublasStatus_t cublasGetError() {
  return static_cast<cublasStatus_t>(last_error.exchange(CUBLAS_STATUS_SUCCESS));
}

AW_EXPORT cublasStatus_t cublasGetVersion(int* version) {
  return cublasGetVersion_v2(nullptr, version);
}

AW_EXPORT cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  return api<"cublasSetKernelStream">([&] { legacy_handle().stream = stream; });
}

AW_EXPORT cublasStatus_t cublasAlloc(int n, int bytes, void** memory) {
  return api<"cublasAlloc">([&] {
    legacy_handle();
    require(n > 0 && bytes > 0 && memory);
    CUdeviceptr made = 0;
    auto size = static_cast<size_t>(n) * static_cast<size_t>(bytes);
    require(cuMemAlloc(&made, size) == CUDA_SUCCESS, CUBLAS_STATUS_ALLOC_FAILED);
    *memory = reinterpret_cast<void*>(made);
  });
}

AW_EXPORT cublasStatus_t cublasFree(void* memory) {
  return api<"cublasFree">([&] {
    legacy_handle();
    bool freed = cuMemFree(reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS;
    require(freed || !memory, CUBLAS_STATUS_INTERNAL_ERROR);
  });
}

AW_EXPORT void cublasXerbla(const char* function, int parameter) {
  std::string text = std::string("On entry to ") + (function ? function : "a function of cuBLAS") +
                     " parameter number " + std::to_string(parameter) + " had an illegal value";
  anywarp_diagnose(text.c_str());
}
