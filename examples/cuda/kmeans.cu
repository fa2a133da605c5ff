// k-means: distances to centres in constant memory, sums by atomics in shared memory, centres
// moved on the device.
//
// expect: kmeans: right
#include <cmath>
#include <vector>

#include "example.h"

constexpr int kClusters = 5;

__constant__ float2 centres[kClusters];

struct Sums {
  int x[kClusters], y[kClusters],
      count[kClusters];  // coordinates are whole numbers: sums do not depend on the order
};

__global__ void assign(const int2* points, int* labels, Sums* sums, int count) {
  __shared__ Sums own;
  if (threadIdx.x < kClusters) own.x[threadIdx.x] = own.y[threadIdx.x] = own.count[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    int best = 0;
    float nearest = INFINITY;
    for (int k = 0; k < kClusters; ++k) {
      const float dx = points[i].x - centres[k].x, dy = points[i].y - centres[k].y;
      const float distance = dx * dx + dy * dy;
      if (distance < nearest) nearest = distance, best = k;
    }
    labels[i] = best;
    atomicAdd(&own.x[best], points[i].x);
    atomicAdd(&own.y[best], points[i].y);
    atomicAdd(&own.count[best], 1);
  }
  __syncthreads();
  if (threadIdx.x < kClusters) {
    atomicAdd(&sums->x[threadIdx.x], own.x[threadIdx.x]);
    atomicAdd(&sums->y[threadIdx.x], own.y[threadIdx.x]);
    atomicAdd(&sums->count[threadIdx.x], own.count[threadIdx.x]);
  }
}

__global__ void move_centres(const Sums* sums, float2* moved) {
  const int k = threadIdx.x;
  const int members = sums->count[k];
  if (members) moved[k] = make_float2(float(sums->x[k]) / members, float(sums->y[k]) / members);
}

int main() {
  const int count = 4'000, rounds = 8, threads = 128;
  std::vector<int2> points(count);
  for (int i = 0; i < count; ++i) {  // five crowds around five places
    const int crowd = i % kClusters;
    const float angle = 6.2831853f * noise(2 * i), distance = 900 * noise(2 * i + 1);
    points[i] = make_int2(int(5000 * crowd + distance * std::cos(angle)),
                          int(3000 * (crowd % 2) + distance * std::sin(angle)));
  }
  std::vector<float2> start(kClusters), found(kClusters);
  for (int k = 0; k < kClusters; ++k) start[k] = make_float2(4000 * k + 500, 1500);
  int2* device_points;
  int* labels;
  Sums* sums;
  float2* constant_address;
  CHECK(cudaMalloc(&device_points, count * sizeof(int2)));
  CHECK(cudaMalloc(&labels, count * sizeof(int)));
  CHECK(cudaMalloc(&sums, sizeof(Sums)));
  CHECK(cudaMemcpy(device_points, points.data(), count * sizeof(int2), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(centres, start.data(), kClusters * sizeof(float2)));
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&constant_address), centres));
  for (int round = 0; round < rounds; ++round) {
    CHECK(cudaMemsetAsync(sums, 0, sizeof(Sums)));
    assign<<<(count + threads - 1) / threads, threads>>>(device_points, labels, sums, count);
    move_centres<<<1, kClusters>>>(sums, constant_address);  // seen by the next launch
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyFromSymbol(found.data(), centres, kClusters * sizeof(float2)));
  std::vector<int> label(count);
  CHECK(cudaMemcpy(label.data(), labels, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_points));
  CHECK(cudaFree(labels));
  CHECK(cudaFree(sums));

  std::vector<double> x(kClusters), y(kClusters);
  std::vector<int> expected(count);
  for (int k = 0; k < kClusters; ++k) x[k] = start[k].x, y[k] = start[k].y;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> sx(kClusters), sy(kClusters), members(kClusters);
    for (int i = 0; i < count; ++i) {
      double nearest = INFINITY;
      for (int k = 0; k < kClusters; ++k) {
        const double distance = std::hypot(points[i].x - x[k], points[i].y - y[k]);
        if (distance < nearest) nearest = distance, expected[i] = k;
      }
      sx[expected[i]] += points[i].x, sy[expected[i]] += points[i].y, ++members[expected[i]];
    }
    for (int k = 0; k < kClusters; ++k) x[k] = sx[k] / members[k], y[k] = sy[k] / members[k];
  }
  double worst = 0;
  for (int k = 0; k < kClusters; ++k) {
    worst = std::fmax(worst, std::hypot(found[k].x - x[k], found[k].y - y[k]));
    std::printf("centre %d: %.0f %.0f\n", k, found[k].x, found[k].y);
  }
  return verdict("kmeans", worst < 0.01 && label == expected);
}
