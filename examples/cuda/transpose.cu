// Transposes matrices: naive, through a tile of shared memory, and through a tile with one column
// of padding; any shape.
//
// expect: transpose: right
#include <vector>

#include "example.h"

constexpr int kTile = 32;
constexpr int kRows = 8;  // rows of threads: each thread moves four elements

__global__ void naive(const double* in, double* out, int width, int height) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  for (int y = blockIdx.y * kTile + threadIdx.y; y < min(height, int(blockIdx.y + 1) * kTile);
       y += kRows) {
    if (x < width) out[x * height + y] = in[y * width + x];
  }
}

template <int Padding>
__global__ void tiled(const double* in, double* out, int width, int height) {
  __shared__ double tile[kTile][kTile + Padding];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

template <typename Kernel>
bool run(const char* name, Kernel kernel, int width, int height) {
  const size_t bytes = sizeof(double) * width * height;
  std::vector<double> matrix(width * height), result(width * height);
  for (int i = 0; i < width * height; ++i) matrix[i] = i + 0.25;
  double *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, bytes));
  const dim3 blocks((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  kernel<<<blocks, dim3(kTile, kRows)>>>(in, out, width, height);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  int wrong = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) wrong += result[x * height + y] != matrix[y * width + x];
  }
  std::printf("%s, %d x %d: %d wrong\n", name, width, height, wrong);
  return wrong == 0;
}

int main() {
  bool right = run("naive", naive, 100, 67);
  right = run("tile", tiled<0>, 128, 96) && right;
  right = run("padded tile", tiled<1>, 131, 77) && right;
  return verdict("transpose", right);
}
