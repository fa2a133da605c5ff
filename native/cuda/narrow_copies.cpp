// The interface of CUDA before 3.2, in which device addresses and sizes have 32 bits: copies, sets,
// arrays and texture references. Each function is its successor with wider numbers.
#include "cuda/narrow.h"
#include "cuda/texture_references.h"

using namespace aw;

extern "C" {
CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* shape);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle);
CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* shape);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* shape);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* shape);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* shape, CUstream stream);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* shape);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* shape, CUstream stream);
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t bytes);
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes);
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes);
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes);
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                              CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height);
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height);
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height);
CUresult cuTexRefGetAddress_v2(CUdeviceptr* out, CUtexref handle);
CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref handle, CUdeviceptr address, size_t bytes);
CUresult cuTexRefSetAddress2D_v2(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* shape,
                                 CUdeviceptr address, size_t pitch);
}

namespace {

CUDA_MEMCPY2D widened(const CUDA_MEMCPY2D_v1* p) {
  require(p);
  return {p->srcXInBytes, p->srcY,          p->srcMemoryType, p->srcHost,
          p->srcDevice,   p->srcArray,      p->srcPitch,      p->dstXInBytes,
          p->dstY,        p->dstMemoryType, p->dstHost,       p->dstDevice,
          p->dstArray,    p->dstPitch,      p->WidthInBytes,  p->Height};
}

CUDA_MEMCPY3D widened(const CUDA_MEMCPY3D_v1* p) {
  require(p);
  return {p->srcXInBytes,   p->srcY,        p->srcZ,         p->srcLOD,    p->srcMemoryType,
          p->srcHost,       p->srcDevice,   p->srcArray,     p->reserved0, p->srcPitch,
          p->srcHeight,     p->dstXInBytes, p->dstY,         p->dstZ,      p->dstLOD,
          p->dstMemoryType, p->dstHost,     p->dstDevice,    p->dstArray,  p->reserved1,
          p->dstPitch,      p->dstHeight,   p->WidthInBytes, p->Height,    p->Depth};
}

}  // namespace

AW_EXPORT CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1* shape) {
  return api<"cuMemcpy2D">([&] {
    auto wide = widened(shape);
    return cuMemcpy2D_v2(&wide);
  });
}

AW_EXPORT CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1* shape) {
  return api<"cuMemcpy2DUnaligned">([&] {
    auto wide = widened(shape);
    return cuMemcpy2DUnaligned_v2(&wide);
  });
}

AW_EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1* shape, CUstream stream) {
  return api<"cuMemcpy2DAsync">([&] {
    auto wide = widened(shape);
    return cuMemcpy2DAsync_v2(&wide, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1* shape) {
  return api<"cuMemcpy3D">([&] {
    auto wide = widened(shape);
    return cuMemcpy3D_v2(&wide);
  });
}

AW_EXPORT CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1* shape, CUstream stream) {
  return api<"cuMemcpy3DAsync">([&] {
    auto wide = widened(shape);
    return cuMemcpy3DAsync_v2(&wide, stream);
  });
}

AW_EXPORT CUresult cuMemcpyAtoA(CUarray to, unsigned to_offset, CUarray from, unsigned from_offset,
                                unsigned bytes) {
  return api<"cuMemcpyAtoA">(
      [&] { return cuMemcpyAtoA_v2(to, to_offset, from, from_offset, bytes); });
}

AW_EXPORT CUresult cuMemcpyAtoD(CUdeviceptr_v1 to, CUarray from, unsigned offset, unsigned bytes) {
  return api<"cuMemcpyAtoD">([&] { return cuMemcpyAtoD_v2(to, from, offset, bytes); });
}

AW_EXPORT CUresult cuMemcpyAtoH(void* to, CUarray from, unsigned offset, unsigned bytes) {
  return api<"cuMemcpyAtoH">([&] { return cuMemcpyAtoH_v2(to, from, offset, bytes); });
}

AW_EXPORT CUresult cuMemcpyAtoHAsync(void* to, CUarray from, unsigned offset, unsigned bytes,
                                     CUstream stream) {
  return api<"cuMemcpyAtoHAsync">(
      [&] { return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, stream); });
}

AW_EXPORT CUresult cuMemcpyDtoA(CUarray to, unsigned offset, CUdeviceptr_v1 from, unsigned bytes) {
  return api<"cuMemcpyDtoA">([&] { return cuMemcpyDtoA_v2(to, offset, from, bytes); });
}

AW_EXPORT CUresult cuMemcpyDtoD(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned bytes) {
  return api<"cuMemcpyDtoD">([&] { return cuMemcpyDtoD_v2(to, from, bytes); });
}

AW_EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned bytes,
                                     CUstream stream) {
  return api<"cuMemcpyDtoDAsync">([&] { return cuMemcpyDtoDAsync_v2(to, from, bytes, stream); });
}

AW_EXPORT CUresult cuMemcpyDtoH(void* to, CUdeviceptr_v1 from, unsigned bytes) {
  return api<"cuMemcpyDtoH">([&] { return cuMemcpyDtoH_v2(to, from, bytes); });
}

AW_EXPORT CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr_v1 from, unsigned bytes,
                                     CUstream stream) {
  return api<"cuMemcpyDtoHAsync">([&] { return cuMemcpyDtoHAsync_v2(to, from, bytes, stream); });
}

AW_EXPORT CUresult cuMemcpyHtoA(CUarray to, unsigned offset, const void* from, unsigned bytes) {
  return api<"cuMemcpyHtoA">([&] { return cuMemcpyHtoA_v2(to, offset, from, bytes); });
}

AW_EXPORT CUresult cuMemcpyHtoAAsync(CUarray to, unsigned offset, const void* from, unsigned bytes,
                                     CUstream stream) {
  return api<"cuMemcpyHtoAAsync">(
      [&] { return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, stream); });
}

AW_EXPORT CUresult cuMemcpyHtoD(CUdeviceptr_v1 to, const void* from, unsigned bytes) {
  return api<"cuMemcpyHtoD">([&] { return cuMemcpyHtoD_v2(to, from, bytes); });
}

AW_EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 to, const void* from, unsigned bytes,
                                     CUstream stream) {
  return api<"cuMemcpyHtoDAsync">([&] { return cuMemcpyHtoDAsync_v2(to, from, bytes, stream); });
}

AW_EXPORT CUresult cuMemsetD8(CUdeviceptr_v1 to, unsigned char value, unsigned count) {
  return api<"cuMemsetD8">([&] { return cuMemsetD8_v2(to, value, count); });
}

AW_EXPORT CUresult cuMemsetD16(CUdeviceptr_v1 to, unsigned short value, unsigned count) {
  return api<"cuMemsetD16">([&] { return cuMemsetD16_v2(to, value, count); });
}

AW_EXPORT CUresult cuMemsetD32(CUdeviceptr_v1 to, unsigned value, unsigned count) {
  return api<"cuMemsetD32">([&] { return cuMemsetD32_v2(to, value, count); });
}

AW_EXPORT CUresult cuMemsetD2D8(CUdeviceptr_v1 to, unsigned pitch, unsigned char value,
                                unsigned width, unsigned height) {
  return api<"cuMemsetD2D8">([&] { return cuMemsetD2D8_v2(to, pitch, value, width, height); });
}

AW_EXPORT CUresult cuMemsetD2D16(CUdeviceptr_v1 to, unsigned pitch, unsigned short value,
                                 unsigned width, unsigned height) {
  return api<"cuMemsetD2D16">([&] { return cuMemsetD2D16_v2(to, pitch, value, width, height); });
}

AW_EXPORT CUresult cuMemsetD2D32(CUdeviceptr_v1 to, unsigned pitch, unsigned value, unsigned width,
                                 unsigned height) {
  return api<"cuMemsetD2D32">([&] { return cuMemsetD2D32_v2(to, pitch, value, width, height); });
}

AW_EXPORT CUresult cuArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR_v1* shape) {
  return api<"cuArrayCreate">([&] {
    require(shape);
    CUDA_ARRAY_DESCRIPTOR wide = {shape->Width, shape->Height, shape->Format, shape->NumChannels};
    return cuArrayCreate_v2(out, &wide);
  });
}

AW_EXPORT CUresult cuArray3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR_v1* shape) {
  return api<"cuArray3DCreate">([&] {
    require(shape);
    CUDA_ARRAY3D_DESCRIPTOR wide = {shape->Width,  shape->Height,      shape->Depth,
                                    shape->Format, shape->NumChannels, shape->Flags};
    return cuArray3DCreate_v2(out, &wide);
  });
}

AW_EXPORT CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1* out, CUarray handle) {
  return api<"cuArrayGetDescriptor">([&] {
    require(out);
    CUDA_ARRAY_DESCRIPTOR d{};
    CUresult code = cuArrayGetDescriptor_v2(&d, handle);
    if (!code) *out = {narrow(d.Width), narrow(d.Height), d.Format, d.NumChannels};
    return code;
  });
}

AW_EXPORT CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1* out, CUarray handle) {
  return api<"cuArray3DGetDescriptor">([&] {
    require(out);
    CUDA_ARRAY3D_DESCRIPTOR d{};
    CUresult code = cuArray3DGetDescriptor_v2(&d, handle);
    if (!code)
      *out = {narrow(d.Width), narrow(d.Height), narrow(d.Depth), d.Format, d.NumChannels, d.Flags};
    return code;
  });
}

AW_EXPORT CUresult cuTexRefGetAddress(CUdeviceptr_v1* out, CUtexref handle) {
  return api<"cuTexRefGetAddress">([&] {
    require(out);
    CUdeviceptr wide = 0;
    CUresult code = cuTexRefGetAddress_v2(&wide, handle);
    if (!code) *out = narrow(wide);
    return code;
  });
}

AW_EXPORT CUresult cuTexRefSetAddress(unsigned* offset, CUtexref handle, CUdeviceptr_v1 address,
                                      unsigned bytes) {
  return api<"cuTexRefSetAddress">([&] {
    size_t wide = 0;
    CUresult code = cuTexRefSetAddress_v2(offset ? &wide : nullptr, handle, address, bytes);
    if (!code && offset) *offset = narrow(wide);
    return code;
  });
}

AW_EXPORT CUresult cuTexRefSetAddress2D(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR_v1* shape,
                                        CUdeviceptr_v1 address, unsigned pitch) {
  return api<"cuTexRefSetAddress2D">([&] {
    require(shape);
    CUDA_ARRAY_DESCRIPTOR wide = {shape->Width, shape->Height, shape->Format, shape->NumChannels};
    return cuTexRefSetAddress2D_v2(handle, &wide, address, pitch);
  });
}
