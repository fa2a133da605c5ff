// The C++ library for device code: atomics, barriers, pipelines, and what cuda::std takes from the standard library.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier.h>

namespace cg = cooperative_groups;

extern "C" __global__ void atomics(int *i, unsigned long long *u, float *f, int *seen) {
  int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> a(i[0]), b(i[1]), c(i[2]);
  a.fetch_add(t, cuda::memory_order_relaxed);
  b.fetch_max(t * 3);
  seen[t] = c++;
  auto *whole = (cuda::atomic<unsigned long long, cuda::thread_scope_block> *)u;
  whole->fetch_xor(1ull << t, cuda::memory_order_acq_rel);
  cuda::atomic_ref<float, cuda::thread_scope_system> sum(*f);
  float now = sum.load();
  while (!sum.compare_exchange_weak(now, now * 1.0f + 0.5f)) {
  }
}

extern "C" __global__ void barriers(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int room[96];
  int t = threadIdx.x, sum = 0;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    room[t] = in[t] + round;
    auto token = bar.arrive();
    int own = t;
    bar.wait(static_cast<decltype(token) &&>(token));
    sum += room[(own + 40) % 96];
    bar.arrive_and_wait();
  }
  __shared__ nvcuda::experimental::awbarrier old;
  if (t == 0) init(&old, blockDim.x);
  __syncthreads();
  room[t] = in[t] * 2;
  old.arrive_and_wait();
  out[t] = sum + room[95 - t];
}

// A global barrier of all threads of the grid, and phases.
extern "C" __global__ void wide_barrier(cuda::barrier<cuda::thread_scope_device> *bar, int *room, int *out) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    room[i] = i + round;
    __threadfence();
    bar->arrive_and_wait();
    out[round * n + i] = room[n - 1 - i];
    bar->arrive_and_wait();
  }
}

// Two stages: while one is used the next is brought.
extern "C" __global__ void pipelines(const int *in, int *out, int batches) {
  constexpr int stages = 2;
  __shared__ int room[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, sum = 0, brought = 0;
  for (int k = 0; k < batches; ++k) {
    for (; brought < batches && brought < k + stages; ++brought) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, room[brought % stages], in + 64 * brought, sizeof(int) * 64, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += room[k % stages][63 - t] * (k + 1);
    pipe.consumer_release();
  }
  out[t] = sum;
}

#include <curand_kernel.h>
extern "C" __global__ void random_numbers(unsigned long long seed, unsigned *xorwow, unsigned *philox, float *normal, double *uniform) {
  int t = threadIdx.x;
  curandState x;
  curandStatePhilox4_32_10_t p;
  curand_init(seed, t, 3 * t, &x);
  curand_init(seed, t, 3 * t, &p);
  for (int k = 0; k < 8; ++k) xorwow[8 * t + k] = curand(&x), philox[8 * t + k] = curand(&p);
  curand_init(seed, t, 0, &p);
  curand_init(seed, t, 0, &x);
  for (int k = 0; k < 64; ++k) normal[64 * t + k] = curand_normal(&p), uniform[64 * t + k] = curand_uniform_double(&x);
}
extern "C" __global__ void philox_blocks(const uint4 *counters, const uint2 *keys, uint4 *out) {
  out[threadIdx.x] = curand_Philox4x32_10(counters[threadIdx.x], keys[threadIdx.x]);
}
extern "C" __global__ void counts(unsigned long long seed, double lambda, unsigned *out) {
  curandStatePhilox4_32_10_t p;
  curand_init(seed, threadIdx.x, 0, &p);
  for (int k = 0; k < 64; ++k) out[64 * threadIdx.x + k] = curand_poisson(&p, lambda);
}

#include <cuda_fp8.h>
extern "C" __global__ void eights(const float *x, unsigned char *to, float *back, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) {
    to[t] = __nv_fp8_e4m3(x[t]).__x, to[n + t] = __nv_fp8_e5m2(x[t]).__x;
    to[4 * n + t] = __nv_fp8_e8m0(x[t]).__x, to[5 * n + t] = __nv_cvt_float_to_e8m0(x[t], __NV_NOSAT, cudaRoundZero);
    to[2 * n + t] = __nv_cvt_float_to_fp8(x[t], __NV_NOSAT, __NV_E4M3);
    to[3 * n + t] = __nv_cvt_float_to_fp8(x[t], __NV_NOSAT, __NV_E5M2);
  }
  if (t < 256) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = (unsigned char)t;
    back[t] = (float)a, back[256 + t] = (float)b;
    __nv_fp8_e8m0 c;
    c.__x = (unsigned char)t;
    back[512 + t] = (float)c;
  }
}

extern "C" __global__ void more_random_numbers(unsigned long long seed, unsigned *vectors, unsigned long long *wide, unsigned *bits, double *uniform,
                                               float *normal, unsigned *points, unsigned long long *wide_points, double *quasi) {
  int t = threadIdx.x;
  curandStateMRG32k3a m;
  curand_init(seed, t, 5 * t, &m);
  for (int k = 0; k < 4; ++k) bits[4 * t + k] = curand(&m);
  uniform[2 * t] = curand_uniform_double(&m);
  skipahead_sequence(t, &m);
  uniform[2 * t + 1] = curand_uniform_double(&m);
  for (int k = 0; k < 2; ++k) normal[2 * t + k] = curand_normal(&m);
  curandStateSobol32 s;
  curandStateScrambledSobol32 c;
  curandStateScrambledSobol64 w;
  curand_init(vectors, 7 * t, &s);
  curand_init(vectors, 0x12345678u, 0, &c);
  curand_init(wide, 0ull, 7 * t, &w);
  for (int k = 0; k < 4; ++k) points[8 * t + k] = curand(&s), wide_points[4 * t + k] = curand(&w);
  skipahead(7u * t, &c);
  for (int k = 0; k < 4; ++k) points[8 * t + 4 + k] = curand(&c);
  quasi[2 * t] = curand_uniform(&s), quasi[2 * t + 1] = curand_normal_double(&w);
}
extern "C" __global__ void discrete(unsigned long long seed, const curandDiscreteDistribution_st *from, unsigned *out) {
  curandStatePhilox4_32_10_t p;
  curandStateXORWOW x;
  curand_init(seed, threadIdx.x, 0, &p);
  curand_init(seed, threadIdx.x, 0, &x);
  out[2 * threadIdx.x] = curand_discrete(&p, (curandDiscreteDistribution_t)from);
  out[2 * threadIdx.x + 1] = curand_discrete(&x, (curandDiscreteDistribution_t)from);
}
