// A wave in a box: a 3D stencil that marches along z and keeps its neighbours of that direction in
// registers.
//
// expect: wave3d: right
#include <cmath>
#include <utility>
#include <vector>

#include "example.h"

constexpr int kSize = 40;
constexpr int kPlane = kSize * kSize;

__global__ void step(const float* now, float* other, float speed) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= kSize - 1 || y >= kSize - 1) return;
  int i = y * kSize + x;
  float below, centre = now[i], above = now[i + kPlane];
  for (int z = 1; z < kSize - 1; ++z) {
    i += kPlane;
    below = centre;
    centre = above;
    above = now[i + kPlane];
    const float around = now[i - 1] + now[i + 1] + now[i - kSize] + now[i + kSize] + below + above;
    other[i] =
        2 * centre - other[i] + speed * (around - 6 * centre);  // other held the state before
  }
}

int main() {
  const int steps = 20;
  const float speed = 0.25f;
  std::vector<float> start(kSize * kPlane);
  for (int z = 1; z < kSize - 1; ++z) {
    for (int y = 1; y < kSize - 1; ++y) {
      for (int x = 1; x < kSize - 1; ++x) {
        const float r2 = float((x - 18) * (x - 18) + (y - 20) * (y - 20) + (z - 22) * (z - 22));
        start[z * kPlane + y * kSize + x] = std::exp(-r2 / 18);
      }
    }
  }
  const size_t bytes = start.size() * sizeof(float);
  float *now, *other;
  CHECK(cudaMalloc(&now, bytes));
  CHECK(cudaMalloc(&other, bytes));
  CHECK(cudaMemcpy(now, start.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(other, now, bytes, cudaMemcpyDeviceToDevice));
  const dim3 threads(32, 4), blocks((kSize + 31) / 32, (kSize + 3) / 4);
  for (int i = 0; i < steps; ++i) {
    step<<<blocks, threads>>>(now, other, speed);
    std::swap(now, other);
  }
  CHECK(cudaGetLastError());
  std::vector<float> result(start.size());
  CHECK(cudaMemcpy(result.data(), now, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(now));
  CHECK(cudaFree(other));

  std::vector<double> a(start.begin(), start.end()), b = a;
  for (int i = 0; i < steps; ++i) {
    for (int z = 1; z < kSize - 1; ++z) {
      for (int y = 1; y < kSize - 1; ++y) {
        for (int x = 1; x < kSize - 1; ++x) {
          const int c = z * kPlane + y * kSize + x;
          const double around =
              a[c - 1] + a[c + 1] + a[c - kSize] + a[c + kSize] + a[c - kPlane] + a[c + kPlane];
          b[c] = 2 * a[c] - b[c] + speed * (around - 6 * a[c]);
        }
      }
    }
    std::swap(a, b);
  }
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::fmax(worst, std::fabs(result[i] - a[i]));
  std::printf("%d steps in a box of %d^3, %.4f at its source\n", steps, kSize,
              result[22 * kPlane + 20 * kSize + 18]);
  return verdict("wave3d", worst < 1e-5);
}
