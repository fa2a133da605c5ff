// The interface of CUDA before 3.2, in which device addresses and sizes have 32 bits: memory. What
// it allocates lies where such addresses reach; each function then does what its successor does.
#include <algorithm>

#include "cuda/memory.h"
#include "cuda/narrow.h"

using namespace aw;

extern "C" {
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address);
CUresult cuMemGetInfo_v2(size_t* available, size_t* total);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* address, unsigned flags);
CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags);
CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, size_t* bytes, CUmodule module, const char* name);
}

namespace {

constexpr uint32_t kPitchAlign = 512;

uint32_t allocate(uint64_t bytes, MemoryKind kind) {
  return narrow(allocate_in(current_context(), bytes, kind, 0, nullptr, true));
}

// Sizes that do not fit are given as the largest that does.
uint32_t at_most(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

}  // namespace

AW_EXPORT CUresult cuDeviceTotalMem(unsigned* bytes, CUdevice dev) {
  return api<"cuDeviceTotalMem">([&] {
    require(bytes);
    size_t all = 0;
    CUresult code = cuDeviceTotalMem_v2(&all, dev);
    if (!code) *bytes = at_most(all);
    return code;
  });
}

AW_EXPORT CUresult cuMemGetInfo(unsigned* available, unsigned* total) {
  return api<"cuMemGetInfo">([&] {
    require(available && total);
    size_t some = 0, all = 0;
    CUresult code = cuMemGetInfo_v2(&some, &all);
    if (!code) *available = at_most(some), *total = at_most(all);
    return code;
  });
}

AW_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1* out, unsigned bytes) {
  return api<"cuMemAlloc">([&] {
    require(out);
    *out = allocate(bytes, MemoryKind::device);
  });
}

AW_EXPORT CUresult cuMemAllocPitch(CUdeviceptr_v1* out, unsigned* pitch, unsigned width,
                                   unsigned height, unsigned element) {
  return api<"cuMemAllocPitch">([&] {
    require(out && pitch && width && height);
    require(element == 4 || element == 8 || element == 16);
    uint64_t row = (uint64_t{width} + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
    require(row * height <= UINT32_MAX, CUDA_ERROR_OUT_OF_MEMORY);
    *out = allocate(row * height, MemoryKind::device);
    *pitch = static_cast<uint32_t>(row);
  });
}

AW_EXPORT CUresult cuMemFree(CUdeviceptr_v1 address) {
  return api<"cuMemFree">([&] { return cuMemFree_v2(address); });
}

AW_EXPORT CUresult cuMemAllocHost(void** out, unsigned bytes) {
  return api<"cuMemAllocHost">([&] {
    require(out);
    *out = reinterpret_cast<void*>(uint64_t{allocate(bytes, MemoryKind::host)});
  });
}

AW_EXPORT CUresult cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return api<"cuMemHostRegister">([&] { return cuMemHostRegister_v2(address, bytes, flags); });
}

AW_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1* out, void* address, unsigned flags) {
  return api<"cuMemHostGetDevicePointer">([&] {
    require(out);
    CUdeviceptr wide = 0;
    CUresult code = cuMemHostGetDevicePointer_v2(&wide, address, flags);
    if (!code) *out = narrow(wide);
    return code;
  });
}

AW_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr_v1* base, unsigned* bytes,
                                        CUdeviceptr_v1 address) {
  return api<"cuMemGetAddressRange">([&] {
    CUdeviceptr begin = 0;
    size_t size = 0;
    CUresult code = cuMemGetAddressRange_v2(&begin, &size, address);
    if (!code && base) *base = narrow(begin);
    if (!code && bytes) *bytes = narrow(size);
    return code;
  });
}

AW_EXPORT CUresult cuModuleGetGlobal(CUdeviceptr_v1* out, unsigned* bytes, CUmodule module,
                                     const char* name) {
  return api<"cuModuleGetGlobal">([&] {
    CUdeviceptr begin = 0;
    size_t size = 0;
    CUresult code = cuModuleGetGlobal_v2(&begin, &size, module, name);
    if (!code && out) *out = narrow(begin);
    if (!code && bytes) *bytes = narrow(size);
    return code;
  });
}
