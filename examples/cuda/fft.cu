// A fast Fourier transform by hand: bit-reversed loads, radix-2 butterflies in shared memory, one
// transform per block.
//
// expect: fft: right
#include <cmath>
#include <complex>
#include <vector>

#include "example.h"

constexpr int kSize = 256;
constexpr int kBits = 8;

__global__ void transform(const float2* in, float2* out, float direction) {
  __shared__ float2 line[kSize];
  const float2* own = in + blockIdx.x * kSize;
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned i = threadIdx.x + half * blockDim.x;
    line[__brev(i) >> (32 - kBits)] = own[i];
  }
  for (int span = 1; span < kSize; span *= 2) {
    __syncthreads();
    const int k = threadIdx.x % span;
    const int low = 2 * (threadIdx.x - k) + k;
    float sine, cosine;
    sincospif(direction * k / span, &sine, &cosine);
    const float2 a = line[low], b = line[low + span];
    const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    line[low] = make_float2(a.x + turned.x, a.y + turned.y);
    line[low + span] = make_float2(a.x - turned.x, a.y - turned.y);
  }
  __syncthreads();
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned i = threadIdx.x + half * blockDim.x;
    out[blockIdx.x * kSize + i] = line[i];
  }
}

int main() {
  const int batch = 6, count = batch * kSize;
  const size_t bytes = count * sizeof(float2);
  std::vector<float2> signal(count), spectrum(count), back(count);
  for (int i = 0; i < count; ++i)
    signal[i] = make_float2(noise(2 * i) - 0.5f, noise(2 * i + 1) - 0.5f);

  float2 *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, signal.data(), bytes, cudaMemcpyHostToDevice));
  transform<<<batch, kSize / 2>>>(in, out, -1);
  CHECK(cudaMemcpy(spectrum.data(), out, bytes, cudaMemcpyDeviceToHost));
  transform<<<batch, kSize / 2>>>(out, in, 1);
  CHECK(cudaMemcpy(back.data(), in, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  double worst = 0, round_trip = 0;
  for (int b = 0; b < batch; ++b) {
    for (int k = 0; k < kSize; ++k) {
      std::complex<double> sum = 0;
      for (int n = 0; n < kSize; ++n) {
        const float2 s = signal[b * kSize + n];
        sum +=
            std::complex<double>(s.x, s.y) * std::polar(1.0, -2 * M_PI * (n * k % kSize) / kSize);
      }
      const float2 got = spectrum[b * kSize + k];
      worst = std::fmax(worst, std::abs(sum - std::complex<double>(got.x, got.y)));
    }
  }
  for (int i = 0; i < count; ++i) {
    round_trip = std::fmax(
        round_trip, std::hypot(back[i].x / kSize - signal[i].x, back[i].y / kSize - signal[i].y));
  }
  std::printf("%d transforms of %d points, there and back\n", batch, kSize);
  return verdict("fft", worst < 1e-4 && round_trip < 1e-6);
}
