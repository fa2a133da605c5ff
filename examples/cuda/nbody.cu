// Gravity between all pairs of bodies, tile by tile through shared memory; float4 loads, rsqrtf,
// and a kick-drift step.
//
// expect: nbody: right
#include <cmath>
#include <vector>

#include "example.h"

constexpr int kThreads = 128;
constexpr float kSoftening = 0.01f;

__device__ float3 pull(float4 other, float4 self, float3 sum) {
  const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
  const float strength = other.w * inverse * inverse * inverse;
  return make_float3(sum.x + dx * strength, sum.y + dy * strength, sum.z + dz * strength);
}

__global__ void advance(const float4* from, float4* to, float4* velocities, int count, float dt) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 self = from[i];
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < count; first += blockDim.x) {
    tile[threadIdx.x] = from[first + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < blockDim.x; ++j) sum = pull(tile[j], self, sum);
    __syncthreads();
  }
  float4 v = velocities[i];
  v.x += dt * sum.x;
  v.y += dt * sum.y;
  v.z += dt * sum.z;
  velocities[i] = v;
  to[i] = make_float4(self.x + dt * v.x, self.y + dt * v.y, self.z + dt * v.z, self.w);
}

int main() {
  const int count = 512, steps = 3;
  const float dt = 0.001f;
  std::vector<float4> bodies(count), result(count);
  for (int i = 0; i < count; ++i) {
    bodies[i] = make_float4(noise(4 * i), noise(4 * i + 1), noise(4 * i + 2),
                            (0.5f + noise(4 * i + 3)) / count);
  }
  float4 *from, *to, *velocities;
  CHECK(cudaMalloc(&from, count * sizeof(float4)));
  CHECK(cudaMalloc(&to, count * sizeof(float4)));
  CHECK(cudaMalloc(&velocities, count * sizeof(float4)));
  CHECK(cudaMemset(velocities, 0, count * sizeof(float4)));
  CHECK(cudaMemcpy(from, bodies.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
  for (int i = 0; i < steps; ++i) {
    advance<<<count / kThreads, kThreads, kThreads * sizeof(float4)>>>(from, to, velocities, count,
                                                                       dt);
    std::swap(from, to);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), from, count * sizeof(float4), cudaMemcpyDeviceToHost));
  for (float4* pointer : {from, to, velocities}) CHECK(cudaFree(pointer));

  std::vector<double> x(3 * count), v(3 * count);
  for (int i = 0; i < count; ++i)
    x[3 * i] = bodies[i].x, x[3 * i + 1] = bodies[i].y, x[3 * i + 2] = bodies[i].z;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        const double d[] = {x[3 * j] - x[3 * i], x[3 * j + 1] - x[3 * i + 1],
                            x[3 * j + 2] - x[3 * i + 2]};
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoftening;
        for (int k = 0; k < 3; ++k) v[3 * i + k] += dt * bodies[j].w * d[k] / (r2 * std::sqrt(r2));
      }
    }
    for (int i = 0; i < 3 * count; ++i) x[i] += dt * v[i];
  }
  double worst = 0, moved = 0;
  for (int i = 0; i < count; ++i) {
    worst = std::fmax(worst, std::fabs(result[i].x - x[3 * i]));
    worst = std::fmax(worst, std::fabs(result[i].y - x[3 * i + 1]));
    worst = std::fmax(worst, std::fabs(result[i].z - x[3 * i + 2]));
    moved = std::fmax(moved, std::fabs(result[i].x - bodies[i].x));
  }
  std::printf("%d bodies, %d steps, the farthest moved by %.1e along x\n", count, steps, moved);
  return verdict("nbody", worst < 1e-6 && moved > 1e-6);
}
