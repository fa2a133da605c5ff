// Half precision and bfloat16: a dot product with half2, conversions with their rounding, and
// operators.
//
// build: -arch=sm_80
// expect: half_arithmetic: right
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "example.h"

__global__ void to_half(const float* in, __half* halves, __nv_bfloat16* brains, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  halves[i] = __float2half(in[i]);
  brains[i] = __float2bfloat16(in[i]);
}

// Products in half2, sums in float.
__global__ void dot(const __half2* a, const __half2* b, float* sum, int pairs) {
  float own = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 product = __half22float2(__hmul2(a[i], b[i]));
    own += product.x + product.y;
  }
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(0xFFFFFFFF, own, offset);
  if (threadIdx.x == 0) *sum = own;
}

__global__ void operators(const __half* a, const __half* b, __half* sums, __nv_bfloat16* fused,
                          int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  sums[i] = a[i] > b[i] ? a[i] + b[i] : __hsub(a[i], b[i]);
  fused[i] = __hfma(__nv_bfloat16(3.0f), __float2bfloat16(__half2float(a[i])), __nv_bfloat16(0.5f));
}

// Rounds to a binary floating-point format with `bits` of significand, ties to even; no subnormals
// come up here.
double round_to(double x, int bits) {
  if (x == 0) return 0;
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(x, bits - exponent)), exponent - bits);
}

int main() {
  const int count = 1'024;
  std::vector<float> a(count), b(count);
  for (int i = 0; i < count; ++i) a[i] = noise(i) + 0.01f, b[i] = noise(i + count) + 0.01f;
  float *floats, *sum;
  __half *half_a, *half_b, *half_sums;
  __nv_bfloat16 *brain_a, *brain_b, *fused;
  CHECK(cudaMalloc(&floats, count * sizeof(float)));
  CHECK(cudaMalloc(&sum, sizeof(float)));
  for (__half** pointer : {&half_a, &half_b, &half_sums})
    CHECK(cudaMalloc(pointer, count * sizeof(__half)));
  for (__nv_bfloat16** pointer : {&brain_a, &brain_b, &fused})
    CHECK(cudaMalloc(pointer, count * sizeof(__nv_bfloat16)));
  CHECK(cudaMemcpy(floats, a.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  to_half<<<8, 128>>>(floats, half_a, brain_a, count);
  CHECK(cudaMemcpy(floats, b.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  to_half<<<8, 128>>>(floats, half_b, brain_b, count);
  dot<<<1, 32>>>(reinterpret_cast<__half2*>(half_a), reinterpret_cast<__half2*>(half_b), sum,
                 count / 2);
  operators<<<8, 128>>>(half_a, half_b, half_sums, fused, count);
  CHECK(cudaGetLastError());

  float dot_product;
  std::vector<__half> sums(count);
  std::vector<__nv_bfloat16> fused_values(count), brains(count);
  CHECK(cudaMemcpy(&dot_product, sum, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), half_sums, count * sizeof(__half), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(fused_values.data(), fused, count * sizeof(__nv_bfloat16),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(brains.data(), brain_b, count * sizeof(__nv_bfloat16), cudaMemcpyDeviceToHost));

  double exact = 0;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const double x = round_to(a[i], 11), y = round_to(b[i], 11);
    exact += round_to(x * y, 11);
    wrong += __half2float(sums[i]) != round_to(x > y ? x + y : x - y, 11);
    wrong += __bfloat162float(fused_values[i]) != round_to(3 * round_to(x, 8) + 0.5, 8);
    wrong += __bfloat162float(brains[i]) != round_to(b[i], 8);
  }
  std::printf("%d wrong, dot product %.2f\n", wrong, dot_product);
  for (void* pointer : {(void*)floats, (void*)sum, (void*)half_a, (void*)half_b, (void*)half_sums,
                        (void*)brain_a, (void*)brain_b, (void*)fused}) {
    CHECK(cudaFree(pointer));
  }
  return verdict("half_arithmetic", wrong == 0 && std::fabs(dot_product - exact) < 1e-6 * exact);
}
