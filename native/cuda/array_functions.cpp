// Driver API reference: memory management, CUDA arrays.
#include "cuda/arrays.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

CUresult create_array(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  require(out);
  auto context = current_context();
  check_shape(shape, false);
  auto array = array_over(shape, std::make_shared<ArrayMemory>(array_bytes(shape)), 0);
  array->handle = arrays().add(array);
  *out = as_handle<CUarray>(array->handle);
  return CUDA_SUCCESS;
}

// Copies under way keep the memory; those who asked for them expect them done, as for cuMemFree.
void destroy(CUarray handle) {
  auto context = current_context();
  auto array = array_of(handle);
  require(!array->is_level, CUDA_ERROR_INVALID_HANDLE);
  auto owner = array->context.lock();
  (owner ? owner : context)->wait_for_streams();
  require(arrays().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

AW_EXPORT CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* shape) {
  return api<"cuArrayCreate_v2">([&] {
    require(shape);
    return create_array(out,
                        {shape->Width, shape->Height, 0, shape->Format, shape->NumChannels, 0});
  });
}

AW_EXPORT CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  return api<"cuArray3DCreate_v2">([&] {
    require(shape);
    return create_array(out, *shape);
  });
}

AW_EXPORT CUresult cuArrayDestroy(CUarray array) {
  return api<"cuArrayDestroy">([&] { destroy(array); });
}

AW_EXPORT CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  return api<"cuArrayGetDescriptor_v2">([&] {
    current_context();
    require(out);
    const auto& s = array_of(handle)->shape;
    *out = {s.Width, s.Height, s.Format, s.NumChannels};
  });
}

AW_EXPORT CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  return api<"cuArray3DGetDescriptor_v2">([&] {
    current_context();
    require(out);
    *out = array_of(handle)->shape;
  });
}

// The next three answer for arrays of kinds that cannot be created here (planar, mapped later,
// sparse); for all others INVALID_VALUE is the documented answer.
AW_EXPORT CUresult cuArrayGetPlane(CUarray* out, CUarray handle, unsigned) {
  return api<"cuArrayGetPlane">([&] {
    current_context();
    require(out);
    array_of(handle);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}

AW_EXPORT CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray handle,
                                                CUdevice dev) {
  return api<"cuArrayGetMemoryRequirements">([&] {
    require(out);
    check_device(dev);
    array_of(handle);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}

AW_EXPORT CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUarray handle) {
  return api<"cuArrayGetSparseProperties">([&] {
    require(out);
    array_of(handle);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}
