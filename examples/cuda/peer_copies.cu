// Two devices: each has its memory and streams, one reads the other's memory directly, copies go
// between them.
//
// run: ANYWARP_DEVICES=2
// expect: peer_copies: right
#include <vector>

#include "example.h"

__global__ void fill(int* data, int count, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = offset + i;
}

__global__ void add(int* sum, const int* other, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] += other[i];
}

int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    std::printf("this needs two devices, there are %d\n", devices);
    return 1;
  }
  const int count = 5'000, blocks = (count + 255) / 256;
  const size_t bytes = count * sizeof(int);
  int* data[2];
  int* landing;
  cudaStream_t streams[2];
  cudaEvent_t filled;
  for (int device : {0, 1}) {
    int can_access = 0;
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceCanAccessPeer(&can_access, device, 1 - device));
    if (!can_access) return verdict("peer_copies", false);
    CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
    CHECK(cudaMalloc(&data[device], bytes));
    CHECK(cudaStreamCreate(&streams[device]));
    fill<<<blocks, 256, 0, streams[device]>>>(data[device], count, 100'000 * (device + 1));
    CHECK(cudaGetLastError());
  }
  const bool enabled_once = cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled;
  cudaGetLastError();

  // Device 1 fills, device 0 waits for its event, adds from the peer's memory, and copies a piece
  // over as well.
  CHECK(cudaSetDevice(1));
  CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  CHECK(cudaEventRecord(filled, streams[1]));
  CHECK(cudaSetDevice(0));
  CHECK(cudaMalloc(&landing, bytes));
  CHECK(cudaStreamWaitEvent(streams[0], filled, 0));
  add<<<blocks, 256, 0, streams[0]>>>(data[0], data[1], count);
  CHECK(cudaMemcpyPeerAsync(landing, 0, data[1], 1, bytes, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));

  std::vector<int> sum(count), copied(count);
  CHECK(cudaMemcpy(sum.data(), data[0], bytes, cudaMemcpyDefault));
  CHECK(cudaMemcpy(copied.data(), landing, bytes, cudaMemcpyDefault));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, data[1]));
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += sum[i] != 300'000 + 2 * i || copied[i] != 200'000 + i;
  std::printf("two devices, %d wrong\n", wrong);

  CHECK(cudaFree(landing));
  CHECK(cudaEventDestroy(filled));
  for (int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceDisablePeerAccess(1 - device));
    CHECK(cudaStreamDestroy(streams[device]));
    CHECK(cudaFree(data[device]));
  }
  return verdict("peer_copies", wrong == 0 && attributes.device == 1 && enabled_once);
}
