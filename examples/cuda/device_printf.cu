// printf in a kernel: formats, order within a thread, and what it returns; the text comes out when
// the host waits.
//
// expect: thread 5 of block 0:  1.25 low f 0003baab -1099511627781 %
// expect: thread 53 of block 0: 13.25 high b 0027877b -1099511627829 %
// expect: device_printf: right
#include "example.h"

__global__ void speak(int* returned) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 16 != 5) return;
  returned[i / 16] =
      printf("thread %d of block %u: %5.2f %s %c %08x %lld %%\n", threadIdx.x, blockIdx.x, i * 0.25,
             i < 32 ? "low" : "high", 'a' + i % 26, 0xBEEFu * i, -(1LL << 40) - i);
}

int main() {
  int* returned;
  CHECK(cudaMalloc(&returned, 4 * sizeof(int)));
  CHECK(cudaMemset(returned, 0, 4 * sizeof(int)));
  size_t buffer = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  CHECK(cudaDeviceGetLimit(&buffer, cudaLimitPrintfFifoSize));
  speak<<<1, 64>>>(returned);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int counts[4];
  CHECK(cudaMemcpy(counts, returned, sizeof counts, cudaMemcpyDeviceToHost));
  bool right = buffer >= 1 << 20;
  for (int count : counts)
    right = right && count == 7;  // the number of arguments, not of characters
  CHECK(cudaFree(returned));
  return verdict("device_printf", right);
}
