// Runtime API reference: texture and surface object management.
#include <algorithm>

#include "cudart/array_formats.h"
#include "cudart/forward.h"
#include "cudart/locations.h"

namespace aw {
namespace {

CUDA_RESOURCE_DESC driver_resource(const cudaResourceDesc* p) {
  require(p);
  CUDA_RESOURCE_DESC d = {};
  d.resType = static_cast<CUresourcetype>(p->resType);
  switch (p->resType) {
    case cudaResourceTypeArray:
      d.res.array.hArray = reinterpret_cast<CUarray>(p->res.array.array);
      return d;
    case cudaResourceTypeMipmappedArray:
      d.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(p->res.mipmap.mipmap);
      return d;
    case cudaResourceTypeLinear: {
      ArrayFormat f = format_of(p->res.linear.desc);
      d.res.linear.devPtr = address_of(p->res.linear.devPtr);
      d.res.linear.format = f.format, d.res.linear.numChannels = f.channels;
      d.res.linear.sizeInBytes = p->res.linear.sizeInBytes;
      return d;
    }
    case cudaResourceTypePitch2D: {
      ArrayFormat f = format_of(p->res.pitch2D.desc);
      d.res.pitch2D.devPtr = address_of(p->res.pitch2D.devPtr);
      d.res.pitch2D.format = f.format, d.res.pitch2D.numChannels = f.channels;
      d.res.pitch2D.width = p->res.pitch2D.width, d.res.pitch2D.height = p->res.pitch2D.height;
      d.res.pitch2D.pitchInBytes = p->res.pitch2D.pitchInBytes;
      return d;
    }
    default:
      throw Failure(cudaErrorInvalidValue);
  }
}

cudaResourceDesc runtime_resource(const CUDA_RESOURCE_DESC& d) {
  cudaResourceDesc p = {};
  p.resType = static_cast<cudaResourceType>(d.resType);
  switch (d.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      p.res.array.array = reinterpret_cast<cudaArray_t>(d.res.array.hArray);
      return p;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      p.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(d.res.mipmap.hMipmappedArray);
      return p;
    case CU_RESOURCE_TYPE_LINEAR:
      p.res.linear.devPtr = reinterpret_cast<void*>(d.res.linear.devPtr);
      p.res.linear.desc = description_of(d.res.linear.format, d.res.linear.numChannels);
      p.res.linear.sizeInBytes = d.res.linear.sizeInBytes;
      return p;
    default:
      p.res.pitch2D.devPtr = reinterpret_cast<void*>(d.res.pitch2D.devPtr);
      p.res.pitch2D.desc = description_of(d.res.pitch2D.format, d.res.pitch2D.numChannels);
      p.res.pitch2D.width = d.res.pitch2D.width, p.res.pitch2D.height = d.res.pitch2D.height;
      p.res.pitch2D.pitchInBytes = d.res.pitch2D.pitchInBytes;
      return p;
  }
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc* p) {
  require(p);
  CUDA_TEXTURE_DESC d = {};
  for (int i = 0; i < 3; ++i) d.addressMode[i] = static_cast<CUaddress_mode>(p->addressMode[i]);
  d.filterMode = static_cast<CUfilter_mode>(p->filterMode);
  if (p->readMode == cudaReadModeElementType) d.flags |= CU_TRSF_READ_AS_INTEGER;
  if (p->normalizedCoords) d.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (p->sRGB) d.flags |= CU_TRSF_SRGB;
  if (p->disableTrilinearOptimization) d.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (p->seamlessCubemap) d.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  d.maxAnisotropy = p->maxAnisotropy;
  d.mipmapFilterMode = static_cast<CUfilter_mode>(p->mipmapFilterMode);
  d.mipmapLevelBias = p->mipmapLevelBias;
  d.minMipmapLevelClamp = p->minMipmapLevelClamp, d.maxMipmapLevelClamp = p->maxMipmapLevelClamp;
  std::copy_n(p->borderColor, 4, d.borderColor);
  return d;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& d) {
  cudaTextureDesc p = {};
  for (int i = 0; i < 3; ++i)
    p.addressMode[i] = static_cast<cudaTextureAddressMode>(d.addressMode[i]);
  p.filterMode = static_cast<cudaTextureFilterMode>(d.filterMode);
  p.readMode =
      d.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  p.normalizedCoords = d.flags & CU_TRSF_NORMALIZED_COORDINATES ? 1 : 0;
  p.sRGB = d.flags & CU_TRSF_SRGB ? 1 : 0;
  p.disableTrilinearOptimization = d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION ? 1 : 0;
  p.seamlessCubemap = d.flags & CU_TRSF_SEAMLESS_CUBEMAP ? 1 : 0;
  p.maxAnisotropy = d.maxAnisotropy;
  p.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.mipmapFilterMode);
  p.mipmapLevelBias = d.mipmapLevelBias;
  p.minMipmapLevelClamp = d.minMipmapLevelClamp, p.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  std::copy_n(d.borderColor, 4, p.borderColor);
  return p;
}

CUDA_RESOURCE_VIEW_DESC driver_view(const cudaResourceViewDesc& p) {
  CUDA_RESOURCE_VIEW_DESC d = {};
  d.format = static_cast<CUresourceViewFormat>(p.format);
  d.width = p.width, d.height = p.height, d.depth = p.depth;
  d.firstMipmapLevel = p.firstMipmapLevel, d.lastMipmapLevel = p.lastMipmapLevel;
  d.firstLayer = p.firstLayer, d.lastLayer = p.lastLayer;
  return d;
}

}  // namespace

cudaError_t rt::cudaCreateTextureObject(cudaTextureObject_t* texture,
                                        const cudaResourceDesc* resource,
                                        const cudaTextureDesc* sampling,
                                        const cudaResourceViewDesc* view) {
  require(texture);
  CUDA_RESOURCE_DESC r = driver_resource(resource);
  CUDA_TEXTURE_DESC t = driver_texture(sampling);
  CUDA_RESOURCE_VIEW_DESC v = view ? driver_view(*view) : CUDA_RESOURCE_VIEW_DESC{};
  return forward(cuTexObjectCreate, texture, &r, &t, view ? &v : nullptr);
}

cudaError_t rt::cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return forward(cuTexObjectDestroy, texture);
}

cudaError_t rt::cudaGetTextureObjectResourceDesc(cudaResourceDesc* out,
                                                 cudaTextureObject_t texture) {
  require(out);
  CUDA_RESOURCE_DESC d = {};
  check(cuTexObjectGetResourceDesc(&d, texture));
  *out = runtime_resource(d);
  return cudaSuccess;
}

cudaError_t rt::cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  require(out);
  CUDA_TEXTURE_DESC d = {};
  check(cuTexObjectGetTextureDesc(&d, texture));
  *out = runtime_texture(d);
  return cudaSuccess;
}

cudaError_t rt::cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                     cudaTextureObject_t texture) {
  require(out);
  CUDA_RESOURCE_VIEW_DESC d = {};
  check(cuTexObjectGetResourceViewDesc(&d, texture));
  cudaResourceViewDesc p = {};
  p.format = static_cast<cudaResourceViewFormat>(d.format);
  p.width = d.width, p.height = d.height, p.depth = d.depth;
  p.firstMipmapLevel = d.firstMipmapLevel, p.lastMipmapLevel = d.lastMipmapLevel;
  p.firstLayer = d.firstLayer, p.lastLayer = d.lastLayer;
  *out = p;
  return cudaSuccess;
}

cudaError_t rt::cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                        const cudaResourceDesc* resource) {
  require(surface);
  CUDA_RESOURCE_DESC r = driver_resource(resource);
  return forward(cuSurfObjectCreate, surface, &r);
}

cudaError_t rt::cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return forward(cuSurfObjectDestroy, surface);
}

cudaError_t rt::cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out,
                                                 cudaSurfaceObject_t surface) {
  require(out);
  CUDA_RESOURCE_DESC d = {};
  check(cuSurfObjectGetResourceDesc(&d, surface));
  *out = runtime_resource(d);
  return cudaSuccess;
}

}  // namespace aw
