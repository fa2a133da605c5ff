// The stream-ordered allocator: memory that belongs to the order of a stream, the default pool and
// one of our own, and trims.
//
// expect: memory_pools: right
#include <vector>

#include "example.h"

__global__ void fill(int* data, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = value + i;
}

__global__ void accumulate(int* sum, const int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] += data[i];
}

size_t attribute(cudaMemPool_t pool, cudaMemPoolAttr name) {
  uint64_t value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, name, &value));
  return value;
}

int main() {
  int device = 0, supported = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  const int count = 20'000, blocks = (count + 255) / 256, rounds = 6;
  const size_t bytes = count * sizeof(int);
  cudaStream_t stream, other;
  cudaEvent_t ready;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));

  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  uint64_t keep = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  int* sum;
  CHECK(cudaMallocAsync(&sum, bytes, stream));
  CHECK(cudaMemsetAsync(sum, 0, bytes, stream));
  for (int i = 0; i < rounds; ++i) {
    int* scratch;
    CHECK(cudaMallocAsync(&scratch, bytes, stream));
    fill<<<blocks, 256, 0, stream>>>(scratch, count, i);
    accumulate<<<blocks, 256, 0, stream>>>(sum, scratch, count);
    CHECK(cudaFreeAsync(scratch, stream));  // behind the kernels that use it
  }

  // A pool of our own; its memory is used in another stream, after an event.
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &properties));
  int* extra;
  CHECK(cudaMallocFromPoolAsync(&extra, bytes, own, stream));
  fill<<<blocks, 256, 0, stream>>>(extra, count, 1000);
  CHECK(cudaEventRecord(ready, stream));
  CHECK(cudaStreamWaitEvent(other, ready, 0));
  accumulate<<<blocks, 256, 0, other>>>(sum, extra, count);
  CHECK(cudaFreeAsync(extra, other));
  std::vector<int> result(count);
  CHECK(cudaMemcpyAsync(result.data(), sum, bytes, cudaMemcpyDeviceToHost, other));
  CHECK(cudaStreamSynchronize(other));

  const bool in_use = attribute(pool, cudaMemPoolAttrUsedMemCurrent) >= bytes;
  CHECK(cudaFreeAsync(sum, other));
  CHECK(cudaDeviceSynchronize());
  const bool all_free = attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0;
  const bool kept = attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= bytes;
  const bool peak = attribute(pool, cudaMemPoolAttrUsedMemHigh) >= 2 * bytes;
  CHECK(cudaMemPoolTrimTo(pool, 0));
  const bool trimmed = attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0;
  CHECK(cudaMemPoolDestroy(own));

  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += result[i] != (rounds + 1) * i + rounds * (rounds - 1) / 2 + 1000;
  std::printf("%d wrong; used %s, kept %s, trimmed %s\n", wrong, in_use && peak ? "yes" : "NO",
              kept ? "yes" : "NO", trimmed ? "yes" : "NO");
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(other));
  return verdict("memory_pools",
                 supported && wrong == 0 && in_use && all_free && kept && peak && trimmed);
}
