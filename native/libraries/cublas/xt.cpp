// cublasXt: handles, devices and settings (cublasXt.h).
#include "libraries/cublas/xt.h"

using namespace aw::cublas;

namespace {

int devices() {
  int count = 0;
  bool fine = cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS;
  require(fine, CUBLAS_STATUS_NOT_INITIALIZED);
  return count;
}

void check(int count, const int* chosen) {
  require(count > 0 && chosen);
  for (int i = 0; i < count; ++i) require(chosen[i] >= 0 && chosen[i] < devices());
}

// Routines of the host for a part of the work: all of it is the host's already, so they are checked
// and not called.
void check(cublasXtHandle_t handle, cublasXtBlasOp_t routine, cublasXtOpType_t type) {
  use(handle);
  require(static_cast<unsigned>(routine) < CUBLASXT_ROUTINE_MAX &&
          static_cast<unsigned>(type) <= CUBLASXT_DOUBLECOMPLEX);
}

}  // namespace

AW_EXPORT cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  return api<"cublasXtCreate">([&] {
    require(handle);
    *handle = new cublasXtContext{kXtMagic, create()};
  });
}

AW_EXPORT cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  return api<"cublasXtDestroy">([&] {
    auto& it = use(handle);
    destroy(it.own);
    it.magic = 0;
    delete handle;
  });
}

AW_EXPORT cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int* chosen) {
  return api<"cublasXtDeviceSelect">([&] {
    use(handle);
    check(count, chosen);
  });
}

// Each device is a board of its own.
AW_EXPORT cublasStatus_t cublasXtGetNumBoards(int count, int* chosen, int* boards) {
  return api<"cublasXtGetNumBoards">([&] {
    check(count, chosen);
    require(boards);
    *boards = count;
  });
}
AW_EXPORT cublasStatus_t cublasXtMaxBoards(int* boards) {
  return api<"cublasXtMaxBoards">([&] {
    require(boards);
    *boards = devices();
  });
}

AW_EXPORT cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block) {
  return api<"cublasXtSetBlockDim">([&] {
    auto& it = use(handle);
    require(block > 0);
    it.block = block;
  });
}
AW_EXPORT cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* block) {
  return api<"cublasXtGetBlockDim">([&] {
    auto& it = use(handle);
    require(block);
    *block = it.block;
  });
}

AW_EXPORT cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle,
                                                   cublasXtPinnedMemMode_t mode) {
  return api<"cublasXtSetPinningMemMode">([&] {
    auto& it = use(handle);
    require(mode == CUBLASXT_PINNING_DISABLED || mode == CUBLASXT_PINNING_ENABLED);
    it.pinning = mode;
  });
}
AW_EXPORT cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle,
                                                   cublasXtPinnedMemMode_t* mode) {
  return api<"cublasXtGetPinningMemMode">([&] {
    auto& it = use(handle);
    require(mode);
    *mode = it.pinning;
  });
}

AW_EXPORT cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t routine,
                                               cublasXtOpType_t type, void* function) {
  return api<"cublasXtSetCpuRoutine">([&] {
    check(handle, routine, type);
    require(function);
  });
}
AW_EXPORT cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t routine,
                                             cublasXtOpType_t type, float ratio) {
  return api<"cublasXtSetCpuRatio">([&] {
    check(handle, routine, type);
    require(ratio >= 0 && ratio <= 1);
  });
}
