// Virtual memory management: reserve addresses, create and map memory piece by piece, so that an
// array grows in place.
//
// build: -lcuda
// expect: virtual_memory: right
#include <cuda.h>

#include <vector>

#include "example.h"

#define CHECK_DRIVER(call)                                                        \
  do {                                                                            \
    const CUresult status = (call);                                               \
    if (status != CUDA_SUCCESS) {                                                 \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

__global__ void fill(int* data, int from, int to) {
  for (int i = from + blockIdx.x * blockDim.x + threadIdx.x; i < to; i += gridDim.x * blockDim.x)
    data[i] = i * 7;
}

// An array whose address stays while it grows.
class Growing {
 public:
  explicit Growing(size_t most) {
    int device;
    CHECK(cudaFree(nullptr));  // the runtime's context is current from here on
    CHECK(cudaGetDevice(&device));
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = device;
    CHECK_DRIVER(
        cuMemGetAllocationGranularity(&piece_, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    reserved_ = (most + piece_ - 1) / piece_ * piece_;
    CHECK_DRIVER(cuMemAddressReserve(&base_, reserved_, 0, 0, 0));
  }
  ~Growing() {
    CHECK_DRIVER(cuMemUnmap(base_, mapped_));
    for (CUmemGenericAllocationHandle handle : handles_) CHECK_DRIVER(cuMemRelease(handle));
    CHECK_DRIVER(cuMemAddressFree(base_, reserved_));
  }
  void grow(size_t bytes) {
    CUmemAccessDesc access = {};
    access.location = properties_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    while (mapped_ < bytes) {
      CUmemGenericAllocationHandle handle;
      CHECK_DRIVER(cuMemCreate(&handle, piece_, &properties_, 0));
      CHECK_DRIVER(cuMemMap(base_ + mapped_, piece_, 0, handle, 0));
      CHECK_DRIVER(cuMemSetAccess(base_ + mapped_, piece_, &access, 1));
      handles_.push_back(handle);
      mapped_ += piece_;
    }
  }
  int* data() const { return reinterpret_cast<int*>(base_); }
  size_t piece() const { return piece_; }
  size_t pieces() const { return handles_.size(); }

 private:
  CUmemAllocationProp properties_ = {};
  CUdeviceptr base_ = 0;
  size_t piece_ = 0, reserved_ = 0, mapped_ = 0;
  std::vector<CUmemGenericAllocationHandle> handles_;
};

int main() {
  Growing array(64 << 20);
  int* const before = array.data();
  const int per_piece = static_cast<int>(array.piece() / sizeof(int));
  const int count = 2 * per_piece + 1000;
  array.grow(per_piece * sizeof(int));
  fill<<<4, 128>>>(array.data(), 0, per_piece);
  array.grow(count * sizeof(int));
  fill<<<4, 128>>>(array.data(), per_piece, count);
  CHECK(cudaGetLastError());

  std::vector<int> result(count);
  CHECK(cudaMemcpy(result.data(), array.data(), count * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += result[i] != i * 7;
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, array.data() + per_piece));
  std::printf("%zu pieces at one address, %d wrong\n", array.pieces(), wrong);
  return verdict("virtual_memory", wrong == 0 && before == array.data() && array.pieces() == 3 &&
                                       attributes.type == cudaMemoryTypeDevice);
}
