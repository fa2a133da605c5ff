// Multiplies matrices by tiles: each block loads two tiles into shared memory and reuses them; any
// shape is allowed.
//
// expect: matmul_shared: right
#include <cmath>
#include <vector>

#include "example.h"

template <int Tile>
__global__ void multiply(const float* a, const float* b, float* c, int rows, int inner,
                         int columns) {
  __shared__ float tile_a[Tile][Tile];
  __shared__ float tile_b[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < inner; first += Tile) {
    const int k_a = first + threadIdx.x;
    const int k_b = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < rows && k_a < inner ? a[row * inner + k_a] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        k_b < inner && column < columns ? b[k_b * columns + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Tile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

// The largest error of a product of matrices, relative to the sum of the magnitudes that went into
// it.
double largest_error(const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& c, int rows, int inner, int columns) {
  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      double exact = 0, magnitude = 0;
      for (int k = 0; k < inner; ++k) {
        const double product = double(a[row * inner + k]) * b[k * columns + column];
        exact += product;
        magnitude += std::fabs(product);
      }
      worst = std::fmax(worst, std::fabs(c[row * columns + column] - exact) / magnitude);
    }
  }
  return worst;
}

template <int Tile>
bool run(int rows, int inner, int columns) {
  std::vector<float> a(rows * inner), b(inner * columns), c(rows * columns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = noise(i) - 0.5f;
  for (size_t i = 0; i < b.size(); ++i) b[i] = noise(i + 77'777) - 0.5f;

  float *device_a, *device_b, *device_c;
  CHECK(cudaMalloc(&device_a, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

  const dim3 threads(Tile, Tile);
  const dim3 blocks((columns + Tile - 1) / Tile, (rows + Tile - 1) / Tile);
  multiply<Tile><<<blocks, threads>>>(device_a, device_b, device_c, rows, inner, columns);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));

  const bool right = largest_error(a, b, c, rows, inner, columns) < 1e-6;
  std::printf("%d x %d x %d in tiles of %d: %s\n", rows, inner, columns, Tile,
              right ? "right" : "WRONG");
  return right;
}

int main() {
  const bool aligned = run<16>(96, 128, 64);
  const bool ragged = run<16>(75, 101, 53);
  const bool large = run<32>(70, 65, 96);
  return verdict("matmul_shared", aligned && ragged && large);
}
