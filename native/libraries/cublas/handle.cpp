// cuBLAS: helper functions about the handle, versions and names of codes.
#include <atomic>
#include <string>

#include "libraries/cublas/cublas.h"

using namespace aw::cublas;

namespace {

const char* name_of(cublasStatus_t status) {
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
  return nullptr;
}

// Where cuBLAS's logger goes: it has no levels, and a callback of its own form.
struct LogGoes {
  std::atomic<bool> on = false, to_files = false;
  std::atomic<cublasLogCallback> callback = nullptr;

  // On without any place to go it is silent.
  void apply() const { aw::lib::set_log_level(on && (to_files || callback.load()) ? 5 : 0); }
} log_goes;

void tell(int, const char* function, const char* message) {
  if (cublasLogCallback callback = log_goes.callback)
    callback((std::string("cuBLAS: ") + function + " " + message + "\n").c_str());
}

}  // namespace

namespace aw::cublas {

cublasContext* create() {
  lib::ensure_context();
  return new cublasContext{kMagic};
}

void destroy(cublasContext* handle) {
  auto& it = use(handle);
  it.magic = 0;
  // Errors of the work belong to the context. To wait for a stream would end its capture.
  auto status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (cuStreamIsCapturing(it.stream, &status) == CUDA_SUCCESS &&
      status == CU_STREAM_CAPTURE_STATUS_NONE)
    static_cast<void>(cuStreamSynchronize(it.stream));
  delete handle;
}

}  // namespace aw::cublas

AW_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return api<"cublasCreate_v2">([&] {
    require(handle);
    *handle = create();
  });
}

AW_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return api<"cublasDestroy_v2">([&] { destroy(handle); });
}

AW_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return api<"cublasGetVersion_v2">([&] {
    require(version);
    const auto& own = aw::lib::version;
    *version = own.major * 10000 + own.minor * 100 + own.patch;
  });
}

AW_EXPORT cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return api<"cublasGetProperty">([&] {
    require(value && type <= PATCH_LEVEL);
    const int parts[] = {aw::lib::version.major, aw::lib::version.minor, aw::lib::version.patch};
    *value = parts[type];
  });
}

AW_EXPORT size_t cublasGetCudartVersion() { return aw::lib::cudart_version(); }

AW_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return api<"cublasSetStream_v2">([&] {
    auto& it = use(handle);
    it.stream = stream;
    it.workspace = nullptr, it.workspace_bytes = 0;  // as documented: back to the default one
  });
}

AW_EXPORT cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return api<"cublasGetStream_v2">([&] {
    require(stream);
    *stream = use(handle).stream;
  });
}

AW_EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return api<"cublasSetPointerMode_v2">([&] {
    require(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
    use(handle).pointer_mode = mode;
  });
}

AW_EXPORT cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return api<"cublasGetPointerMode_v2">([&] {
    require(mode);
    *mode = use(handle).pointer_mode;
  });
}

AW_EXPORT cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return api<"cublasSetAtomicsMode">([&] { use(handle).atomics = mode; });
}

AW_EXPORT cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return api<"cublasGetAtomicsMode">([&] {
    require(mode);
    *mode = use(handle).atomics;
  });
}

AW_EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return api<"cublasSetMathMode">([&] {
    unsigned kind = mode & 0xfu;
    require(kind <= CUBLAS_TF32_TENSOR_OP_MATH + 1u);
    use(handle).math = mode;
  });
}

AW_EXPORT cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return api<"cublasGetMathMode">([&] {
    require(mode);
    *mode = static_cast<cublasMath_t>(use(handle).math);
  });
}

AW_EXPORT cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return api<"cublasSetSmCountTarget">([&] {
    require(count >= 0);
    use(handle).sm_count = count;
  });
}

AW_EXPORT cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return api<"cublasGetSmCountTarget">([&] {
    require(count);
    *count = use(handle).sm_count;
  });
}

// Kept and not used: what is computed here needs no memory of the device.
AW_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* memory, size_t bytes) {
  return api<"cublasSetWorkspace_v2">([&] {
    auto& it = use(handle);
    require(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
    it.workspace = memory, it.workspace_bytes = bytes;
  });
}

AW_EXPORT const char* cublasGetStatusName(cublasStatus_t status) {
  const char* name = name_of(status);
  return name ? name : "CUBLAS_STATUS_UNKNOWN";
}

AW_EXPORT const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle was not made by cublasCreate";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "there is no memory left";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "a parameter has a value that is not allowed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "this is not supported";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the work could not be done";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    default:
      return name_of(status) ? name_of(status) : "unknown status";
  }
}

AW_EXPORT cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr,
                                               const char* path) {
  return api<"cublasLoggerConfigure">([&] {
    aw::lib::set_log_places(to_stdout != 0, to_stderr != 0, path);
    log_goes.on = on != 0, log_goes.to_files = to_stdout || to_stderr || path;
    log_goes.apply();
  });
}
AW_EXPORT cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  return api<"cublasSetLoggerCallback">([&] {
    log_goes.callback = callback;
    aw::lib::set_log_callback(callback ? tell : nullptr);
    log_goes.apply();
  });
}
AW_EXPORT cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  return api<"cublasGetLoggerCallback">([&] {
    require(callback);
    *callback = log_goes.callback;
  });
}
