// Relocatable device code: a kernel here calls functions and reads variables that other files
// define, also through pointers.
//
// sources: functions.cu variables.cu
// build: -rdc=true
// expect: separate_files: right
#include <cmath>
#include <vector>

#include "../example.h"
#include "functions.h"

__global__ void integrate(Shape shape, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Function function =
      functions[shape];  // device function pointers in a table of another file
  float sum = 0;
  for (int k = 0; k < kSteps; ++k) sum += function((i + (k + 0.5f) / kSteps) / count);
  out[i] = scale * sum / kSteps;
  count_call();
}

double exact(Shape shape, double x) {
  if (shape == kLinear) return x;
  if (shape == kParabola) return x * x;
  return std::sin(x);
}

int main() {
  const int count = 300;
  float* out;
  std::vector<float> result(count);
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  bool right = true;
  for (const Shape shape : {kLinear, kParabola, kSine}) {
    const float factor = 1.0f + shape;
    CHECK(cudaMemcpyToSymbol(scale, &factor, sizeof factor));
    integrate<<<3, 128>>>(shape, out, count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < count; ++i) {
      double sum = 0;
      for (int k = 0; k < kSteps; ++k) sum += exact(shape, (i + (k + 0.5) / kSteps) / count);
      worst = std::fmax(worst, std::fabs(result[i] - factor * sum / kSteps));
    }
    right = right && worst < 1e-6;
    std::printf("function %d: %s\n", shape, worst < 1e-6 ? "right" : "WRONG");
  }
  CHECK(cudaFree(out));
  std::printf("%u calls counted\n", calls_so_far());
  return verdict("separate_files", right && calls_so_far() == 3u * count);
}
