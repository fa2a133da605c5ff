// What a program tells a handle of cuBLAS and hipBLAS cannot keep: math modes, hints, loggers;
// versions and names.
#include <cstdio>
#include <map>
#include <mutex>

#include AW_TABLES

using namespace aw::rocm;

namespace {

struct Kept {
  int math = cuda::CUBLAS_DEFAULT_MATH;
  int multiprocessors = 0;
};

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::map<void*, Kept>& kept() {
  static auto& made = *new std::map<void*, Kept>;
  return made;
}
std::atomic<void*> logger;

}  // namespace

AW_EXPORT int cublasDestroy_v2(void* handle) {
  {
    std::lock_guard lock(mutex());
    kept().erase(handle);
  }
  return AW_CALL(cublasDestroy_v2, (void*), handle);
}

// Modes permit less precision (TF32) or forbid it. hipBLAS's backend knows the default and, on some
// devices, xf32; a permission that it cannot use is none the worse for being kept only.
AW_EXPORT int cublasSetMathMode(void* handle, int mode) {
  if (!handle) return count(at_cublasSetMathMode), cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  constexpr int kFlag = cuda::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  const int base = mode & ~kFlag;
  int ignored = 0;
  if (base == kFlag || to_cublasMath_t(base, &ignored) == 1) {
    count(at_cublasSetMathMode);
    return cuda::CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool reduced = base == cuda::CUBLAS_TF32_TENSOR_OP_MATH;
  int result = AW_CALL(cublasSetMathMode, (void*, int), handle,
                       reduced ? hip::HIPBLAS_XF32_XDL_MATH : hip::HIPBLAS_DEFAULT_MATH);
  if (reduced && result != cuda::CUBLAS_STATUS_SUCCESS &&
      result != cuda::CUBLAS_STATUS_NOT_INITIALIZED)
    result = AW_CALL(cublasSetMathMode, (void*, int), handle, hip::HIPBLAS_DEFAULT_MATH);
  if (result != cuda::CUBLAS_STATUS_SUCCESS) return result;
  std::lock_guard lock(mutex());
  kept()[handle].math = mode;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasGetMathMode(void* handle, int* mode) {
  count(at_cublasGetMathMode);
  if (!handle) return cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  if (!mode) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  std::lock_guard lock(mutex());
  const auto found = kept().find(handle);
  *mode = found == kept().end() ? Kept().math : found->second.math;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasSetSmCountTarget(void* handle, int multiprocessors) {
  count(at_cublasSetSmCountTarget);
  if (!handle) return cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  if (multiprocessors < 0) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  std::lock_guard lock(mutex());
  kept()[handle].multiprocessors = multiprocessors;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasGetSmCountTarget(void* handle, int* multiprocessors) {
  count(at_cublasGetSmCountTarget);
  if (!handle) return cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  if (!multiprocessors) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  std::lock_guard lock(mutex());
  const auto found = kept().find(handle);
  *multiprocessors = found == kept().end() ? 0 : found->second.multiprocessors;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

// An offer of memory: versions of hipBLAS that do not take it use their own.
AW_EXPORT int cublasSetWorkspace_v2(void* handle, void* workspace, size_t bytes) {
  void* const target = enter(at_cublasSetWorkspace_v2);
  if (target)
    return status(
        reinterpret_cast<int (*)(void*, void*, size_t)>(target)(handle, workspace, bytes));
  if (!runtime_major()) return missing(at_cublasSetWorkspace_v2);
  return handle ? cuda::CUBLAS_STATUS_SUCCESS : cuda::CUBLAS_STATUS_NOT_INITIALIZED;
}

AW_EXPORT int cublasGetVersion_v2(void* handle, int* version) {
  count(at_cublasGetVersion_v2);
  if (!handle) return cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  if (!version) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  *version = cuda::CUBLAS_VER_MAJOR * 10000 + cuda::CUBLAS_VER_MINOR * 100 + cuda::CUBLAS_VER_PATCH;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasGetProperty(int property, int* value) {
  count(at_cublasGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  const int parts[] = {cuda::CUBLAS_VER_MAJOR, cuda::CUBLAS_VER_MINOR, cuda::CUBLAS_VER_PATCH};
  *value = parts[property];
  return cuda::CUBLAS_STATUS_SUCCESS;
}

// CUDART_VERSION of the toolkits that these versions of cuBLAS belong to.
AW_EXPORT size_t cublasGetCudartVersion() {
  count(at_cublasGetCudartVersion);
  return AW_VERSION == 12 ? 12090 : 13050;
}

AW_EXPORT const char* cublasGetStatusName(int code) {
  count(at_cublasGetStatusName);
  const char* name = status_name(code);
  return name ? name : "unknown status of cuBLAS";
}

AW_EXPORT const char* cublasGetStatusString(int code) {
  count(at_cublasGetStatusString);
  switch (code) {
    case cuda::CUBLAS_STATUS_SUCCESS:
      return "success";
    case cuda::CUBLAS_STATUS_NOT_INITIALIZED:
      return "cuBLAS is not initialized";
    case cuda::CUBLAS_STATUS_ALLOC_FAILED:
      return "memory could not be allocated";
    case cuda::CUBLAS_STATUS_INVALID_VALUE:
      return "an argument has a value that is not allowed";
    case cuda::CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device lacks a feature that is needed";
    case cuda::CUBLAS_STATUS_MAPPING_ERROR:
      return "device memory could not be reached";
    case cuda::CUBLAS_STATUS_EXECUTION_FAILED:
      return "a kernel failed";
    case cuda::CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case cuda::CUBLAS_STATUS_NOT_SUPPORTED:
      return "the operation is not supported";
    case cuda::CUBLAS_STATUS_LICENSE_ERROR:
      return "a license is missing";
    default:
      return "unknown status of cuBLAS";
  }
}

AW_EXPORT int cublasLoggerConfigure(int, int, int, const char*) {
  count(at_cublasLoggerConfigure);
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasSetLoggerCallback(void* callback) {
  count(at_cublasSetLoggerCallback);
  logger = callback;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasGetLoggerCallback(void** callback) {
  count(at_cublasGetLoggerCallback);
  if (!callback) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  *callback = logger;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT void cublasXerbla(const char* function, int parameter) {
  count(at_cublasXerbla);
  fprintf(stderr, "anywarp: parameter %d of %s has a value that is not allowed\n", parameter,
          function ? function : "?");
}
