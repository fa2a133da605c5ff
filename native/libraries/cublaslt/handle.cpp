// cuBLASLt: the handle, versions, names of codes, logging and the cache of heuristics.
#include <atomic>

#include "libraries/cublaslt/cublaslt.h"

using namespace aw::cublaslt;

AW_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return api<"cublasLtCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cublasLtContext{kMagic};
  });
}

AW_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return api<"cublasLtDestroy">([&] {
    require(handle && handle->magic == kMagic, CUBLAS_STATUS_NOT_INITIALIZED);
    handle->magic = 0;
    delete handle;
  });
}

AW_EXPORT size_t cublasLtGetVersion() {
  return CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH;
}

AW_EXPORT size_t cublasLtGetCudartVersion() { return aw::lib::cudart_version(); }

AW_EXPORT cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return api<"cublasLtGetProperty">([&] {
    require(value && type <= PATCH_LEVEL);
    const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    *value = parts[type];
  });
}

AW_EXPORT const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
#define AW_CASE(code) \
  case code:          \
    return #code
    AW_CASE(CUBLAS_STATUS_SUCCESS);
    AW_CASE(CUBLAS_STATUS_NOT_INITIALIZED);
    AW_CASE(CUBLAS_STATUS_ALLOC_FAILED);
    AW_CASE(CUBLAS_STATUS_INVALID_VALUE);
    AW_CASE(CUBLAS_STATUS_ARCH_MISMATCH);
    AW_CASE(CUBLAS_STATUS_MAPPING_ERROR);
    AW_CASE(CUBLAS_STATUS_EXECUTION_FAILED);
    AW_CASE(CUBLAS_STATUS_INTERNAL_ERROR);
    AW_CASE(CUBLAS_STATUS_NOT_SUPPORTED);
    AW_CASE(CUBLAS_STATUS_LICENSE_ERROR);
#undef AW_CASE
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

AW_EXPORT const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle was not made by cublasLtCreate or cublasCreate";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "there is no memory left";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "a parameter has a value that is not allowed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "this is not supported";
    default:
      return cublasLtGetStatusName(status);
  }
}

AW_LOGGER(cublasLt, cublasStatus_t)

// There is no heuristic worth keeping; what a program asks for here changes no result.
AW_EXPORT unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask) {
  static std::atomic<unsigned> kept{0};
  return kept.exchange(mask);
}

static std::atomic<size_t> capacity{8192};

AW_EXPORT cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* value) {
  return api<"cublasLtHeuristicsCacheGetCapacity">([&] {
    require(value);
    *value = capacity;
  });
}
AW_EXPORT cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t value) {
  return api<"cublasLtHeuristicsCacheSetCapacity">([&] { capacity = value; });
}
