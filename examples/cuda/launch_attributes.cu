// Launches by function: cudaLaunchKernelEx with attributes (cooperative, priority),
// cudaLaunchKernelExC, cudaLaunchKernel.
//
// expect: launch_attributes: right
#include <cooperative_groups.h>

#include <cmath>

#include "example.h"

struct Range {
  double from, to;
};

// Adds the midpoints' values of f(x) = x^3 over a range; a struct, a pointer, and numbers of
// several sizes as parameters.
__global__ void integrate(Range range, double* sum, short pieces, char power) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pieces) return;
  const double width = (range.to - range.from) / pieces, x = range.from + (i + 0.5) * width;
  double value = width;
  for (char k = 0; k < power; ++k) value *= x;
  atomicAdd(sum, value);
}

__global__ void meet(int* steps) {
  const auto grid = cooperative_groups::this_grid();
  atomicAdd(&steps[0], 1);
  grid.sync();
  if (steps[0] == int(grid.size())) atomicAdd(&steps[1], 1);
}

int main() {
  double* sum;
  int* steps;
  cudaStream_t stream;
  CHECK(cudaMallocManaged(&sum, sizeof(double)));
  CHECK(cudaMallocManaged(&steps, 2 * sizeof(int)));
  CHECK(cudaStreamCreate(&stream));
  *sum = 0;
  steps[0] = steps[1] = 0;

  cudaLaunchAttribute attributes[1];
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[0].val.priority = 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(64);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 1;
  const Range range{0, 2};
  const short pieces = 500;
  const char power = 3;
  CHECK(cudaLaunchKernelEx(&config, integrate, range, sum, pieces, power));

  void* arguments[] = {(void*)&range, &sum, (void*)&pieces, (void*)&power};
  CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(integrate), arguments));
  CHECK(cudaLaunchKernel(reinterpret_cast<void*>(integrate), dim3(4), dim3(128), arguments, 0,
                         stream));

  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  config.gridDim = dim3(2);
  CHECK(cudaLaunchKernelEx(&config, meet, steps));
  CHECK(cudaStreamSynchronize(stream));

  std::printf("three times the integral of x^3 from 0 to 2: %.4f; %d threads met\n", *sum,
              steps[1]);
  const double n = pieces, exact = 3 * (4 - 2 / (n * n));  // what midpoints give for this power
  const bool right = std::fabs(*sum - exact) < 1e-10 && steps[1] == 128;
  CHECK(cudaFree(sum));
  CHECK(cudaFree(steps));
  CHECK(cudaStreamDestroy(stream));
  return verdict("launch_attributes", right);
}
