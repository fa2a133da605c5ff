// Driver API reference: memory management, copies from and to one-dimensional CUDA arrays.
#include "cuda/arrays.h"
#include "cuda/copy_shapes.h"
#include "cuda/copying.h"

using namespace aw;

namespace {

// One end of a copy: an array and an offset into it, or an address.
struct End {
  CUmemorytype type;
  uint64_t address;
  CUarray array;
  size_t offset;
};

End in(CUarray array, size_t offset) { return {CU_MEMORYTYPE_ARRAY, 0, array, offset}; }
End host(const void* address) {
  return {CU_MEMORYTYPE_HOST, reinterpret_cast<uint64_t>(address), nullptr, 0};
}
End device(CUdeviceptr address) { return {CU_MEMORYTYPE_DEVICE, address, nullptr, 0}; }

void check(const End& end, size_t bytes) {
  if (end.type != CU_MEMORYTYPE_ARRAY) return;
  auto array = array_of(end.array);
  require(array->rows == 1 && array->layers == 1);  // these functions are for 1D arrays
  require(end.offset <= array->pitch && bytes <= array->pitch - end.offset);
}

CopyWork planned(const End& to, const End& from, size_t bytes) {
  current_context();
  check(to, bytes), check(from, bytes);
  CUDA_MEMCPY2D shape = {};
  shape.dstMemoryType = to.type, shape.srcMemoryType = from.type;
  shape.dstHost = reinterpret_cast<void*>(to.address), shape.dstDevice = to.address;
  shape.srcHost = reinterpret_cast<const void*>(from.address), shape.srcDevice = from.address;
  shape.dstArray = to.array, shape.dstXInBytes = to.offset;
  shape.srcArray = from.array, shape.srcXInBytes = from.offset;
  shape.WidthInBytes = bytes, shape.Height = 1;
  return plan_copy(&shape);
}

// cuMemcpyAtoD and cuMemcpyAtoA copy whole elements.
void require_whole_elements(CUarray array, size_t bytes) {
  require(bytes % array_of(array)->element == 0);
}

}  // namespace

AW_EXPORT CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return api<"cuMemcpyHtoA_v2">([&] { copy_now(planned(in(to, offset), host(from), bytes)); });
}

AW_EXPORT CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return api<"cuMemcpyAtoH_v2">([&] { copy_now(planned(host(to), in(from, offset), bytes)); });
}

AW_EXPORT CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return api<"cuMemcpyDtoA_v2">([&] { copy_now(planned(in(to, offset), device(from), bytes)); });
}

AW_EXPORT CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return api<"cuMemcpyAtoD_v2">([&] {
    current_context();
    require_whole_elements(from, bytes);
    require(to % array_of(from)->element == 0);
    copy_now(planned(device(to), in(from, offset), bytes));
  });
}

AW_EXPORT CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                                   size_t bytes) {
  return api<"cuMemcpyAtoA_v2">([&] {
    current_context();
    require_whole_elements(from, bytes);
    copy_now(planned(in(to, to_offset), in(from, from_offset), bytes));
  });
}

AW_EXPORT CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                                        CUstream stream) {
  return api<"cuMemcpyHtoAAsync_v2">(
      [&] { copy_async(planned(in(to, offset), host(from), bytes), stream); });
}

AW_EXPORT CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                                        CUstream stream) {
  return api<"cuMemcpyAtoHAsync_v2">(
      [&] { copy_async(planned(host(to), in(from, offset), bytes), stream); });
}
