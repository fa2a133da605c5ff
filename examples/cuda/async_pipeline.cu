// Copies from global to shared memory that run ahead of the arithmetic: a pipeline of three stages
// by the primitives of cp.async.
//
// build: -arch=sm_80
// expect: async_pipeline: right
#include <cuda_pipeline.h>

#include <cmath>
#include <vector>

#include "example.h"

constexpr int kThreads = 64;
constexpr int kStages = 3;

// A weighted sum over `pieces` pieces for each block; thread t copies four floats at a time.
__global__ void weigh(const float4* in, const float* weights, float* out, int pieces) {
  __shared__ float4 stage[kStages][kThreads];
  __shared__ float results[kThreads];
  const float4* own = in + size_t(blockIdx.x) * pieces * kThreads;
  const auto fetch = [&](int piece) {
    if (piece < pieces) {
      __pipeline_memcpy_async(&stage[piece % kStages][threadIdx.x],
                              &own[piece * kThreads + threadIdx.x], sizeof(float4));
    }
    __pipeline_commit();
  };
  for (int piece = 0; piece < kStages - 1; ++piece) fetch(piece);
  float sum = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    fetch(piece + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    // Another thread's copy, so that waiting and the barrier matter.
    const float4 v = stage[piece % kStages][(threadIdx.x + 1) % kThreads];
    sum += weights[piece] * (v.x + v.y + v.z + v.w);
    __syncthreads();
  }
  results[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (int(threadIdx.x) < half) results[threadIdx.x] += results[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = results[0];
}

int main() {
  const int blocks = 6, pieces = 20, count = blocks * pieces * kThreads * 4;
  std::vector<float> values(count), weights(pieces), result(blocks);
  for (int i = 0; i < count; ++i) values[i] = noise(i);
  for (int i = 0; i < pieces; ++i) weights[i] = 0.25f * (i + 1);
  float *in, *device_weights, *out;
  CHECK(cudaMalloc(&in, count * sizeof(float)));
  CHECK(cudaMalloc(&device_weights, pieces * sizeof(float)));
  CHECK(cudaMalloc(&out, blocks * sizeof(float)));
  CHECK(cudaMemcpy(in, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_weights, weights.data(), pieces * sizeof(float), cudaMemcpyHostToDevice));
  weigh<<<blocks, kThreads>>>(reinterpret_cast<float4*>(in), device_weights, out, pieces);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), out, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  for (float* pointer : {in, device_weights, out}) CHECK(cudaFree(pointer));

  double worst = 0;
  for (int block = 0; block < blocks; ++block) {
    double sum = 0;
    for (int i = 0; i < pieces * kThreads * 4; ++i) {
      sum += double(weights[i / (kThreads * 4)]) * values[block * pieces * kThreads * 4 + i];
    }
    worst = std::fmax(worst, std::fabs(result[block] - sum) / sum);
  }
  std::printf("%d blocks of %d pieces, the first sums to %.0f\n", blocks, pieces, result[0]);
  return verdict("async_pipeline", worst < 1e-5);
}
