// Each lane keeps numbers in memory of its own, in a grid whose waves would want more such memory at once than the card has; ends with how many lanes lost one.
#include <cstdio>
#include <hip/hip_runtime.h>

constexpr int numbers = 1600, lanes = 256, blocks = 110, written = 8;

__global__ void kept(int *lost, int step) {
  int own[numbers]; // step is unknown here, so that they lie in memory
  const int lane = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < written; ++i)
    own[i * step % numbers] = lane ^ i;
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < written; ++i)
    if (own[i * step % numbers] != (lane ^ i)) {
      atomicAdd(lost, 1);
      break;
    }
}

int main() {
  int *lost, found = -1;
  if (hipMalloc(&lost, sizeof *lost) != hipSuccess || hipMemset(lost, 0, sizeof *lost) != hipSuccess)
    return 2;
  kept<<<blocks, lanes>>>(lost, 199);
  if (hipDeviceSynchronize() != hipSuccess || hipMemcpy(&found, lost, sizeof found, hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::printf("%d lanes lost a number\n", found);
  return found != 0;
}
