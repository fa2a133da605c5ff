// Variables that other files use, and one that is private to this file.
#include "../example.h"
#include "functions.h"

__device__ float scale = 1;
static __device__ unsigned calls;

__device__ void count_call() { atomicAdd(&calls, 1u); }

unsigned calls_so_far() {
  unsigned count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  return count;
}
