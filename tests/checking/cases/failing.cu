// Kernels that fail on any device.
extern "C" {

__device__ __forceinline__ float deep(const float* p, int i) {
  return p[i] * 2.0f;  // the line of the fault, inlined twice
}

__global__ void reads_nothing(const float* in, float* out) {
  int i = threadIdx.x;
  float before = out[i];
  float here = deep(in, i);  // the call
  out[i] = here + before;
}

__global__ void writes_nothing(float* out, int many) {
  for (int i = 0; i < many; ++i) out[i * blockDim.x + threadIdx.x] = 1.0f;
}

__global__ void traps(int* out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t == 5) __trap();
  out[t] += 1;
}

__global__ void waits(int* out) {
  int t = threadIdx.x;
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[t] = t;
}
}
