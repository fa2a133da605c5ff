// Kernels as templates over what they do: extended lambdas with captures, functors, fold
// expressions, if constexpr.
//
// build: --extended-lambda
// expect: lambdas: right
#include <type_traits>
#include <vector>

#include "example.h"

template <typename Body>
__global__ void for_each_index(int count, Body body) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    body(i);
}

template <typename Body>
void launch(int count, Body body) {
  for_each_index<<<(count + 127) / 128, 128>>>(count, body);
  CHECK(cudaGetLastError());
}

// The same expression on either side.
template <typename T>
struct Clamp {
  T low, high;
  __host__ __device__ T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < low ? low : x > high ? high : x;
    } else {
      return fmin(fmax(x, low), high);
    }
  }
};

template <typename... Parts>
__host__ __device__ auto total(Parts... parts) {
  return (parts + ... + 0);
}

int main() {
  const int count = 3'000;
  std::vector<double> host(count);
  double* data;
  int* integers;
  CHECK(cudaMalloc(&data, count * sizeof(double)));
  CHECK(cudaMalloc(&integers, count * sizeof(int)));

  const double factor = 0.125;
  const int offset = -40;
  launch(count, [=] __device__(int i) {
    data[i] = i * factor;
    integers[i] = i + offset;
  });
  const Clamp<double> clamp{10, 200};
  const Clamp<int> clamp_integers{0, 1000};
  launch(count, [=] __device__(int i) {
    data[i] = total(clamp(data[i]), clamp_integers(integers[i]), 1);
  });

  // A lambda for both sides, used on both.
  const auto wave = [factor] __host__ __device__(double x) { return x * x - factor * x; };
  launch(count, [=] __device__(int i) { data[i] = wave(data[i]); });
  CHECK(cudaMemcpy(host.data(), data, count * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  CHECK(cudaFree(integers));

  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong += host[i] !=
             wave(total(clamp(i * factor), clamp_integers(i + offset), 1));  // all of it is exact
  }
  std::printf("%d elements, %d wrong\n", count, wrong);
  return verdict("lambdas", wrong == 0);
}
