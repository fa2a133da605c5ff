// Driver API reference, as of CUDA 3: execution control by setting a kernel's parameters one by
// one, which programs of today find only as exports. Contexts by use count likewise.
#include <cstring>

#include "cuda/contexts.h"
#include "cuda/module.h"
#include "cuda/texture_references.h"

using namespace aw;

extern "C" {
CUresult cuCtxDestroy_v2(CUcontext handle);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** params,
                        void** extra);
CUresult cuTexRefGetFlags(unsigned* out, CUtexref handle);
}

namespace {

constexpr uint64_t kMostParams = 32764;  // bytes that kernels may take (PTX ISA, .param)
constexpr int kDefaultUnit = -1;         // CU_PARAM_TR_DEFAULT

template <class Body>
void change_launch(CUfunction handle, Body body) {
  current_context();
  auto function = function_of(handle);
  std::lock_guard lock(function->mutex);
  body(function->old_launch);
}

void set_bytes(CUfunction handle, int offset, const void* from, uint64_t bytes) {
  require(offset >= 0 && (from || bytes == 0));
  auto begin = static_cast<uint64_t>(offset);
  require(begin <= kMostParams && bytes <= kMostParams - begin);
  change_launch(handle, [&](OldLaunch& l) {
    if (l.params.size() < begin + bytes) l.params.resize(begin + bytes);
    if (bytes) memcpy(l.params.data() + begin, from, bytes);
  });
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream) {
  require(width > 0 && height > 0);
  OldLaunch l;
  change_launch(handle, [&](OldLaunch& set) { l = set; });
  size_t size = l.params.size();
  // CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END
  void* extra[] = {reinterpret_cast<void*>(1), l.params.data(), reinterpret_cast<void*>(2), &size,
                   nullptr};
  return cuLaunchKernel(handle, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        l.block[0], l.block[1], l.block[2], l.shared, stream, nullptr, extra);
}

}  // namespace

AW_EXPORT CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return api<"cuFuncSetBlockShape">([&] {
    require(x > 0 && y > 0 && z > 0);
    change_launch(function, [&](OldLaunch& l) {
      l.block[0] = static_cast<unsigned>(x), l.block[1] = static_cast<unsigned>(y),
      l.block[2] = static_cast<unsigned>(z);
    });
  });
}

AW_EXPORT CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return api<"cuFuncSetSharedSize">(
      [&] { change_launch(function, [&](OldLaunch& l) { l.shared = bytes; }); });
}

AW_EXPORT CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return api<"cuParamSetSize">([&] {
    require(bytes <= kMostParams);
    change_launch(function, [&](OldLaunch& l) { l.params.resize(bytes); });
  });
}

AW_EXPORT CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return api<"cuParamSeti">([&] { set_bytes(function, offset, &value, sizeof value); });
}

AW_EXPORT CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return api<"cuParamSetf">([&] { set_bytes(function, offset, &value, sizeof value); });
}

AW_EXPORT CUresult cuParamSetv(CUfunction function, int offset, void* from, unsigned bytes) {
  return api<"cuParamSetv">([&] { set_bytes(function, offset, from, bytes); });
}

AW_EXPORT CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
  return api<"cuParamSetTexRef">([&] {
    require(unit == kDefaultUnit);
    change_launch(function, [](OldLaunch&) {});
    unsigned flags;
    return cuTexRefGetFlags(&flags, reference);  // kernels find it by its name in the module
  });
}

AW_EXPORT CUresult cuLaunch(CUfunction function) {
  return api<"cuLaunch">([&] { return launch(function, 1, 1, nullptr); });
}

AW_EXPORT CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return api<"cuLaunchGrid">([&] { return launch(function, width, height, nullptr); });
}

AW_EXPORT CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return api<"cuLaunchGridAsync">([&] { return launch(function, width, height, stream); });
}

AW_EXPORT CUresult cuCtxAttach(CUcontext* out, unsigned flags) {
  return api<"cuCtxAttach">([&] {
    require(out && flags == 0);
    auto context = current_context();
    ++context->attached;
    *out = as_handle<CUcontext>(context->handle);
  });
}

AW_EXPORT CUresult cuCtxDetach(CUcontext handle) {
  return api<"cuCtxDetach">([&] {
    auto context = context_of(handle);
    require(context == peek_context(), CUDA_ERROR_INVALID_CONTEXT);
    return --context->attached == 0 ? cuCtxDestroy_v2(handle) : CUDA_SUCCESS;
  });
}
