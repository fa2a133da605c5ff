// Unified addressing: what the runtime says about pointers of every kind, mapped host memory, and
// cudaMemcpyDefault.
//
// expect: pointer_attributes: right
#include <string>
#include <vector>

#include "example.h"

__device__ int symbol[4];

__global__ void add(const int* a, const int* b, int* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

const char* kind(const void* pointer) {
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, pointer));
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return "host";
    case cudaMemoryTypeDevice:
      return "device";
    case cudaMemoryTypeManaged:
      return "managed";
    default:
      return "unregistered";
  }
}

int main() {
  const int count = 1'024;
  const size_t bytes = count * sizeof(int);
  int *device, *managed, *pinned, *mapped, *mapped_device;
  void* of_symbol;
  std::vector<int> plain(count), registered(count);
  CHECK(cudaMalloc(&device, bytes));
  CHECK(cudaMallocManaged(&managed, bytes));
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped_device, mapped, 0));
  CHECK(cudaHostRegister(registered.data(), bytes, cudaHostRegisterDefault));
  CHECK(cudaGetSymbolAddress(&of_symbol, symbol));

  const std::string kinds = std::string(kind(device + 5)) + " " + kind(managed) + " " +
                            kind(pinned) + " " + kind(mapped) + " " + kind(registered.data() + 9) +
                            " " + kind(of_symbol) + " " + kind(plain.data());
  std::printf("%s\n", kinds.c_str());
  cudaPointerAttributes inside, on_host;
  CHECK(cudaPointerGetAttributes(&inside, device + 100));
  CHECK(cudaPointerGetAttributes(&on_host, mapped));
  bool right = kinds == "device managed host host host device unregistered" && inside.device == 0 &&
               inside.devicePointer == device + 100 && on_host.hostPointer == mapped &&
               on_host.devicePointer == mapped_device;

  // A kernel reads host memory through its device pointer, and copies find their direction by
  // themselves.
  for (int i = 0; i < count; ++i) mapped[i] = i, plain[i] = 5 * i, registered[i] = 0;
  CHECK(cudaMemcpy(managed, plain.data(), bytes, cudaMemcpyDefault));
  add<<<4, 256>>>(mapped_device, managed, device, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(registered.data(), device, bytes, cudaMemcpyDefault));
  for (int i = 0; i < count; ++i) right = right && registered[i] == 6 * i;

  CHECK(cudaHostUnregister(registered.data()));
  right = right && std::string(kind(registered.data())) == "unregistered";
  CHECK(cudaFree(device));
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(mapped));
  return verdict("pointer_attributes", right);
}
