// Prices European options: the cumulative normal distribution by normcdf and exp and log in float,
// against erfc in double.
//
// expect: black_scholes: right
#include <cmath>
#include <vector>

#include "example.h"

struct Option {
  float price, strike, years;
};

__global__ void black_scholes(const Option* options, float* calls, float* puts, int count,
                              float rate, float volatility) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Option option = options[i];
    const float spread = volatility * sqrtf(option.years);
    const float d1 = (logf(option.price / option.strike) +
                      (rate + 0.5f * volatility * volatility) * option.years) /
                     spread;
    const float d2 = d1 - spread;
    const float discounted = option.strike * expf(-rate * option.years);
    calls[i] = option.price * normcdff(d1) - discounted * normcdff(d2);
    puts[i] = discounted * normcdff(-d2) - option.price * normcdff(-d1);
  }
}

double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

int main() {
  const int count = 5'000;
  const float rate = 0.02f, volatility = 0.30f;
  std::vector<Option> options(count);
  for (int i = 0; i < count; ++i) {
    options[i] = {5 + 25 * noise(3 * i), 1 + 99 * noise(3 * i + 1),
                  0.25f + 9.75f * noise(3 * i + 2)};
  }
  Option* device_options;
  float *calls, *puts;
  CHECK(cudaMalloc(&device_options, count * sizeof(Option)));
  CHECK(cudaMalloc(&calls, count * sizeof(float)));
  CHECK(cudaMalloc(&puts, count * sizeof(float)));
  CHECK(cudaMemcpy(device_options, options.data(), count * sizeof(Option), cudaMemcpyHostToDevice));
  black_scholes<<<10, 128>>>(device_options, calls, puts, count, rate, volatility);
  CHECK(cudaGetLastError());
  std::vector<float> call(count), put(count);
  CHECK(cudaMemcpy(call.data(), calls, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(put.data(), puts, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_options));
  CHECK(cudaFree(calls));
  CHECK(cudaFree(puts));

  double worst = 0, sum = 0;
  for (int i = 0; i < count; ++i) {
    const double s = options[i].price, k = options[i].strike, t = options[i].years, r = rate,
                 v = volatility;
    const double d1 = (std::log(s / k) + (r + v * v / 2) * t) / (v * std::sqrt(t)),
                 d2 = d1 - v * std::sqrt(t);
    const double exact_call = s * normal(d1) - k * std::exp(-r * t) * normal(d2);
    const double exact_put = k * std::exp(-r * t) * normal(-d2) - s * normal(-d1);
    worst =
        std::fmax(worst, std::fmax(std::fabs(call[i] - exact_call), std::fabs(put[i] - exact_put)));
    sum += exact_call;
  }
  std::printf("%d options, calls of %.2f in the mean\n", count, sum / count);
  return verdict("black_scholes", worst < 5e-5);
}
