// A cooperative launch: the whole grid meets between the steps of a power iteration, in one kernel.
//
// expect: grid_sync: right
#include <cooperative_groups.h>

#include <cmath>
#include <vector>

#include "example.h"

namespace cg = cooperative_groups;

// Multiplies by the matrix and normalises by the largest element, `steps` times; largest[step] must
// be 0 at first.
__global__ void iterate(const float* matrix, float* x, float* y, unsigned* largest, int size,
                        int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int row = grid.thread_rank(); row < size; row += grid.size()) {
      float sum = 0;
      for (int k = 0; k < size; ++k) sum += matrix[row * size + k] * x[k];
      y[row] = sum;
      atomicMax(&largest[step], __float_as_uint(sum));  // positive floats order as their bits do
    }
    grid.sync();
    for (int row = grid.thread_rank(); row < size; row += grid.size())
      x[row] = y[row] / __uint_as_float(largest[step]);
    grid.sync();
  }
}

int main() {
  int size = 64, steps = 30, device = 0, cooperative = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  std::vector<float> matrix(size * size), vector(size, 1.0f), largest(steps);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j)
      matrix[i * size + j] = noise(std::min(i, j) * size + std::max(i, j));
  }
  float *device_matrix, *x, *y;
  unsigned* device_largest;
  CHECK(cudaMalloc(&device_matrix, matrix.size() * sizeof(float)));
  CHECK(cudaMalloc(&x, size * sizeof(float)));
  CHECK(cudaMalloc(&y, size * sizeof(float)));
  CHECK(cudaMalloc(&device_largest, steps * sizeof(unsigned)));
  CHECK(cudaMemcpy(device_matrix, matrix.data(), matrix.size() * sizeof(float),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(x, vector.data(), size * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_largest, 0, steps * sizeof(unsigned)));
  void* arguments[] = {&device_matrix, &x, &y, &device_largest, &size, &steps};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(iterate), dim3(4), dim3(32), arguments,
                                    0, nullptr));
  CHECK(cudaMemcpy(largest.data(), device_largest, steps * sizeof(float), cudaMemcpyDeviceToHost));

  std::vector<double> exact(size, 1.0), next(size);
  double worst = 0, eigenvalue = 0;
  for (int step = 0; step < steps; ++step) {
    eigenvalue = 0;
    for (int i = 0; i < size; ++i) {
      next[i] = 0;
      for (int k = 0; k < size; ++k) next[i] += double(matrix[i * size + k]) * exact[k];
      eigenvalue = std::fmax(eigenvalue, next[i]);
    }
    for (int i = 0; i < size; ++i) exact[i] = next[i] / eigenvalue;
    worst = std::fmax(worst, std::fabs(largest[step] - eigenvalue) / eigenvalue);
  }
  std::printf("largest eigenvalue %.3f\n", largest[steps - 1]);
  for (float* pointer : {device_matrix, x, y}) CHECK(cudaFree(pointer));
  CHECK(cudaFree(device_largest));
  return verdict("grid_sync", cooperative && worst < 1e-5);
}
