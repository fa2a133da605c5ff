// Kernels with one mistake each; the line of the mistake ends in a comment `BUG check: kind`.
#include <cstdint>
extern "C" {

__global__ void past_the_end_write(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1.0f;  // BUG memory: out of bounds
}

__global__ void past_the_end_read(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1];  // BUG memory: out of bounds
}

__global__ void negative_index(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i - 1];  // BUG memory: out of bounds
}

__global__ void misaligned_vector(const float* in, float* out) {
  const float4* wide = reinterpret_cast<const float4*>(in + 1);
  float4 v = wide[threadIdx.x];  // BUG memory: misaligned
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void use_after_free(int* gone) {
  gone[threadIdx.x] = 7;  // BUG memory: use after free
}

__global__ void shared_overrun(int* out, int shift) {
  __shared__ int first[64];
  __shared__ int second[64];
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = 0;
  __syncthreads();
  first[threadIdx.x + shift] = 5;  // BUG memory: out of bounds
  __syncthreads();
  out[threadIdx.x] = first[63 - threadIdx.x] + second[threadIdx.x];
}

__global__ void dynamic_shared_overrun(int* out) {
  extern __shared__ int room[];
  room[threadIdx.x * 2] = threadIdx.x;  // BUG memory: out of bounds
  __syncthreads();
  out[threadIdx.x] = room[0];
}

__global__ void local_overrun(int* out, int n) {
  int kept[8];
  for (int i = 0; i < n; ++i) kept[i] = i * threadIdx.x;  // BUG memory: out of bounds
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += kept[(i + threadIdx.x) % 8];
  out[threadIdx.x] = sum;
}

__constant__ int table[32] = {1, 2, 3};
__device__ int beside[32];

__global__ void write_to_constant(int* out, int zero) {
  int* p = zero ? out : const_cast<int*>(table);
  p[threadIdx.x] = 9;  // BUG memory: write to constant memory
}

__global__ void variable_overrun(int* out, int shift) {
  out[threadIdx.x] = beside[threadIdx.x + shift];  // BUG memory: out of bounds
}

__global__ void atomic_out_of_bounds(int* counters, const int* keys) {
  atomicAdd(&counters[keys[threadIdx.x]], 1);  // BUG memory: out of bounds
}

__global__ void pitch_overrun(char* image, size_t pitch, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  float* row = reinterpret_cast<float*>(image + (y + 1) * pitch);
  if (x < width && y < height) row[x] = 1.0f;  // BUG memory: out of bounds
}

__global__ void missing_syncthreads(const float* in, float* out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];  // BUG race: race: read of what another writes
  }
  if (t == 0) out[0] = s[0];
}

__global__ void missing_syncwarp(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t * t;
  out[t] = s[(t + 1) & 31];  // BUG race: race: read of what another writes
}

__global__ void plain_counter(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) count += 1 + threadIdx.x;  // BUG race: race: read of what another writes
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

__global__ void unready_counters(const int* in, int* out) {
  __shared__ int counts[64];
  int t = threadIdx.x;
  if (t < 64) counts[t] = 0;
  atomicAdd(&counts[in[t] % 64], 1);  // BUG race: race of two writes
  __syncthreads();
  if (t < 64) out[t] = counts[t];
}

__global__ void overtaken_reader(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int next = s[(t + 32) & 63];
  s[t] = next * 2 + t;  // BUG race: race: write of what another reads
  __syncthreads();
  out[t] = s[t];
}

__global__ void uninitialised_shared(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t % 2) s[t] = t;
  __syncthreads();
  out[t] = s[63 - t] + s[t ^ 1];  // BUG init: uninitialised
}

__global__ void uninitialised_global(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG init: uninitialised
}

__global__ void partly_initialised(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG init: uninitialised
}

__global__ void divergent_barrier(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < 40) {
    __syncthreads();  // BUG sync: barrier not reached by all
    out[t] = s[39 - t];
  }
}

__global__ void barrier_of_half_a_warp(int* out) {
  int t = threadIdx.x;
  if (t % 2) {
    out[t] = 1;
    __syncthreads();
    out[t] += 2;
  } else {
    out[t] = 3;
    __syncthreads();  // BUG sync: barrier in divergent code
    out[t] *= 4;
  }
}

__global__ void wrong_barrier_count(int* out) {
  out[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 48;" ::: "memory");  // BUG sync: wrong barrier count
  out[threadIdx.x] += 1;
}

__global__ void wrong_shuffle_mask(int* out) {
  int t = threadIdx.x, v = t;
  if (t < 16) v = __reduce_add_sync(0xffff0000u, t);  // BUG sync: wrong member mask
  out[t] = v;
}

__global__ void waits_for_ever(int* out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG sync: deadlock
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[t] += 1;
}
}

__global__ void counts_that_differ(int* out) {
  int t = threadIdx.x;
  out[t] = t;
  if (t < 32) {
    asm volatile("bar.sync 1, 32;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG sync: wrong barrier count
  }
  out[t] += 1;
}

__global__ void names_who_waits_elsewhere(int* out) {
  int t = threadIdx.x;
  if (t < 16) {
    out[t] = __reduce_add_sync(0xffffffffu, t);  // BUG sync: wrong member mask
  }
  __syncthreads();
  out[t] += 1;
}
