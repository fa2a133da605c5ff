// Heat on a plate: a five-point stencil with its halo in shared memory, two buffers that change
// places.
//
// expect: heat2d: right
#include <cmath>
#include <utility>
#include <vector>

#include "example.h"

constexpr int kTile = 16;

__global__ void step(const float* from, float* to, int width, int height, float rate) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const auto at = [&](int i, int j) {
    return from[min(max(j, 0), height - 1) * width + min(max(i, 0), width - 1)];
  };
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0) tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == kTile - 1) tile[ty][kTile + 1] = at(x + 1, y);
  if (threadIdx.y == 0) tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == kTile - 1) tile[kTile + 1][tx] = at(x, y + 1);
  __syncthreads();
  if (x >= width || y >= height) return;
  const bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
  const float flow =
      tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4 * tile[ty][tx];
  to[y * width + x] = edge ? tile[ty][tx] : tile[ty][tx] + rate * flow;
}

int main() {
  const int width = 90, height = 70, steps = 40;
  const float rate = 0.2f;
  std::vector<float> plate(width * height, 20.0f);
  for (int x = 0; x < width; ++x) plate[x] = 100.0f;             // one hot edge
  for (int y = 20; y < 30; ++y) plate[y * width + 40] = 300.0f;  // and a hot wire
  std::vector<double> exact(plate.begin(), plate.end()), next = exact;

  float *from, *to;
  CHECK(cudaMalloc(&from, plate.size() * sizeof(float)));
  CHECK(cudaMalloc(&to, plate.size() * sizeof(float)));
  CHECK(cudaMemcpy(from, plate.data(), plate.size() * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 threads(kTile, kTile),
      blocks((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  for (int i = 0; i < steps; ++i) {
    step<<<blocks, threads>>>(from, to, width, height, rate);
    std::swap(from, to);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(plate.data(), from, plate.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));

  for (int i = 0; i < steps; ++i) {
    for (int y = 1; y < height - 1; ++y) {
      for (int x = 1; x < width - 1; ++x) {
        const int c = y * width + x;
        next[c] = exact[c] + rate * (exact[c - 1] + exact[c + 1] + exact[c - width] +
                                     exact[c + width] - 4 * exact[c]);
      }
    }
    std::swap(exact, next);
  }
  double worst = 0;
  for (size_t i = 0; i < plate.size(); ++i)
    worst = std::fmax(worst, std::fabs(plate[i] - exact[i]));
  std::printf("%d steps, %.2f degrees beside the wire\n", steps, plate[25 * width + 41]);
  return verdict("heat2d", worst < 1e-3);
}
