// Threads that wait for other threads. progress.ptx: nvcc -ptx -arch=sm_80 progress.cu
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Every lane of a warp takes the same lock, and releases it behind the loop.
extern "C" __global__ void spin_lock(int *lock, int *count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *(volatile int *)count = *(volatile int *)count + (int)threadIdx.x + 1;
  __threadfence();
  atomicExch(lock, 0);
}

extern "C" __global__ void ticket_lock(unsigned *next, volatile unsigned *serving, int *order, int *at) {
  unsigned mine = atomicAdd(next, 1u);
  while (*serving != mine) __nanosleep(20);
  __threadfence();
  order[(*at)++] = blockIdx.x * blockDim.x + threadIdx.x;
  __threadfence();
  *serving = mine + 1;
}

// Warp 0 produces, the last warp consumes, through a ring in shared memory.
extern "C" __global__ void ring(int *out, int items) {
  __shared__ volatile int slots[4][32];
  __shared__ volatile int head, tail;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, last = (blockDim.x - 1) / 32;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < items; i++) {
      while (i - tail >= 4) {
      }
      slots[i % 4][lane] = i * 100 + lane;
      __threadfence_block();
      __syncwarp();
      if (lane == 0) head = i + 1;
    }
  } else if (warp == last) {
    int sum = 0;
    for (int i = 0; i < items; i++) {
      while (head <= i) {
      }
      sum += slots[i % 4][lane];
      __threadfence_block();
      __syncwarp();
      if (lane == 0) tail = i + 1;
    }
    out[blockIdx.x * 32 + lane] = sum;
  }
}

// Inclusive prefix sum in one pass: each block looks back at what those before it have published.
extern "C" __global__ void look_back(const int *in, int *out, volatile unsigned long long *state, int reversed) {
  __shared__ int part[256];
  __shared__ int before;
  int block = reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x, t = threadIdx.x, i = block * blockDim.x + t;
  part[t] = in[i];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int add = t >= d ? part[t - d] : 0;
    __syncthreads();
    part[t] += add;
    __syncthreads();
  }
  if (t == 0) {
    unsigned total = part[blockDim.x - 1];
    state[block] = (1ull << 32) | total;
    __threadfence();
    int sum = 0;
    for (int look = block - 1; look >= 0; look--) {
      unsigned long long s;
      do {
        s = state[look];
      } while (s >> 32 == 0);
      sum += (int)(unsigned)s;
      if (s >> 32 == 2) break;
    }
    state[block] = (2ull << 32) | (unsigned)(sum + (int)total);
    before = sum;
  }
  __syncthreads();
  out[i] = part[t] + before;
}

// A barrier of the whole grid, as the runtime's own headers have it.
extern "C" __global__ void grid_sums(int *values, int *out, int rounds) {
  cg::grid_group grid = cg::this_grid();
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    int next = values[(i + 1) % n] + r;
    grid.sync();
    values[i] = next;
    grid.sync();
  }
  out[i] = values[i];
}

// Waits for another block without more than a loop that stores what it saw for all its threads.
extern "C" __global__ void shared_flag(volatile int *flags, int *out) {
  __shared__ int seen;
  if (threadIdx.x == 0) flags[blockIdx.x] = 1;
  do {
    if (threadIdx.x == 0) seen = flags[(blockIdx.x + 1) % gridDim.x];
    __syncthreads();
  } while (!seen);
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen + threadIdx.x;
}

// No waiting: a retry loop and a queue of work, which must not be slowed down.
extern "C" __global__ void float_max(float *greatest, const float *in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int old = *(int *)greatest, seen;
    do {
      seen = old;
      old = atomicCAS((int *)greatest, seen, __float_as_int(fmaxf(__int_as_float(seen), in[i])));
    } while (old != seen);
  }
}
extern "C" __global__ void work_queue(unsigned *next, int *out, unsigned n) {
  for (unsigned i = atomicAdd(next, 1u); i < n; i = atomicAdd(next, 1u)) out[i] = i * 3;
}
// The lock is a bit of a word that holds more.
extern "C" __global__ void bit_lock(unsigned *word, int *count) {
  unsigned old;
  do {
    old = *(volatile unsigned *)word & ~1u;
  } while (atomicCAS(word, old, old | 1u) != old);
  *(volatile int *)count = *(volatile int *)count + 1;
  __threadfence();
  atomicAdd(word, 1u);
}
