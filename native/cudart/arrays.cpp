// Runtime API reference: memory management, CUDA arrays and mipmapped arrays.
#include "cudart/array_formats.h"
#include "cudart/forward.h"
#include "cudart/state.h"

namespace aw {
namespace {

static_assert(sizeof(cudaArraySparseProperties) == sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) &&
              sizeof(cudaArrayMemoryRequirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS));

CUarray driver_array(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array));
}

// The flags have the same bits.
CUDA_ARRAY3D_DESCRIPTOR shape_of(const cudaChannelFormatDesc* description, cudaExtent extent,
                                 unsigned flags) {
  require(description);
  ArrayFormat f = format_of(*description);
  CUDA_ARRAY3D_DESCRIPTOR shape = {};
  shape.Width = extent.width, shape.Height = extent.height, shape.Depth = extent.depth;
  shape.Format = f.format, shape.NumChannels = f.channels, shape.Flags = flags;
  return shape;
}

CUDA_ARRAY3D_DESCRIPTOR shape_of(cudaArray_const_t array) {
  require(array != nullptr, cudaErrorInvalidResourceHandle);
  CUDA_ARRAY3D_DESCRIPTOR shape = {};
  check(cuArray3DGetDescriptor_v2(&shape, driver_array(array)));
  return shape;
}

}  // namespace

cudaError_t rt::cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                                size_t width, size_t height, unsigned flags) {
  require(array);
  CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(description, {width, height, 0}, flags);
  return forward(cuArray3DCreate_v2, array, &shape);
}

cudaError_t rt::cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                                  cudaExtent extent, unsigned flags) {
  require(array);
  CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(description, extent, flags);
  return forward(cuArray3DCreate_v2, array, &shape);
}

cudaError_t rt::cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                         const cudaChannelFormatDesc* description,
                                         cudaExtent extent, unsigned levels, unsigned flags) {
  require(array);
  CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(description, extent, flags);
  return forward(cuMipmappedArrayCreate, array, &shape, levels);
}

cudaError_t rt::cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  return forward(cuArrayDestroy, array);
}

cudaError_t rt::cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  if (!array) return cudaSuccess;
  return forward(cuMipmappedArrayDestroy, array);
}

cudaError_t rt::cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                           unsigned number) {
  return forward(cuMipmappedArrayGetLevel, level, array, number);
}

cudaChannelFormatDesc rt::cudaCreateChannelDesc(int x, int y, int z, int w,
                                                cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t rt::cudaGetChannelDesc(cudaChannelFormatDesc* description, cudaArray_const_t array) {
  require(description);
  CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(array);
  *description = description_of(shape.Format, shape.NumChannels);
  return cudaSuccess;
}

cudaError_t rt::cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent,
                                 unsigned* flags, cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(array);
  if (description) *description = description_of(shape.Format, shape.NumChannels);
  if (extent) *extent = {shape.Width, shape.Height, shape.Depth};
  if (flags) *flags = shape.Flags;
  return cudaSuccess;
}

cudaError_t rt::cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned number) {
  return forward(cuArrayGetPlane, plane, array, number);
}

cudaError_t rt::cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaArray_t array,
                                               int device) {
  check_device(device);
  return forward(cuArrayGetMemoryRequirements, out, array, device);
}

cudaError_t rt::cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out,
                                                        cudaMipmappedArray_t array, int device) {
  check_device(device);
  return forward(cuMipmappedArrayGetMemoryRequirements, out, array, device);
}

cudaError_t rt::cudaArrayGetSparseProperties(cudaArraySparseProperties* out, cudaArray_t array) {
  return forward(cuArrayGetSparseProperties, out, array);
}

cudaError_t rt::cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* out,
                                                      cudaMipmappedArray_t array) {
  return forward(cuMipmappedArrayGetSparseProperties, out, array);
}

cudaError_t rt::cudaDeviceGetTexture1DLinearMaxWidth(size_t* width,
                                                     const cudaChannelFormatDesc* description,
                                                     int device) {
  require(width && description);
  check_device(device);
  ArrayFormat f = format_of(*description);
  return forward(cuDeviceGetTexture1DLinearMaxWidth, width, f.format, f.channels, device);
}

}  // namespace aw
