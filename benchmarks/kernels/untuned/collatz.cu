// steps to reach 1, for blocks of 96 threads
extern "C" __global__ void collatz(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = i + 1;
  int steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v >> 1;
    steps++;
  }
  out[i] = steps;
}
