// CUDA kernels and the same computations as plain loops of the host, timed in turn; prints a line
// for each: name, milliseconds of the kernel, milliseconds of the loop, largest relative
// difference.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t status = (call);                                           \
    if (status != cudaSuccess) {                                                 \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(status)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

constexpr int kRepeats = 7;

__host__ __device__ inline float noise(uint32_t i) {
  uint32_t x = i * 0x9E3779B9u + 0x7F4A7C15u;
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return static_cast<float>((x ^ x >> 16) >> 8) * (1.0f / 16777216.0f);
}

// The fastest of several runs of each, in turn, and how far their results are apart.
void compare(const char* name, const std::function<void()>& kernel,
             const std::function<void()>& loop, const float* from_kernel, const float* from_loop,
             size_t count) {
  using Clock = std::chrono::steady_clock;
  double best[2] = {1e30, 1e30};
  kernel();
  CHECK(cudaDeviceSynchronize());  // the kernel is compiled now
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = Clock::now();
    kernel();
    CHECK(cudaDeviceSynchronize());
    const auto middle = Clock::now();
    loop();
    const auto stop = Clock::now();
    best[0] = std::min(best[0], std::chrono::duration<double, std::milli>(middle - start).count());
    best[1] = std::min(best[1], std::chrono::duration<double, std::milli>(stop - middle).count());
  }
  double apart = 0;
  for (size_t i = 0; i < count; ++i) {
    apart = std::max(
        apart, std::fabs(double(from_kernel[i]) - from_loop[i]) / (1e-3 + std::fabs(from_loop[i])));
  }
  std::printf("%s %.4f %.4f %.1e\n", name, best[0], best[1], apart);
}

float* floats(size_t count) {
  float* memory;
  CHECK(cudaMallocManaged(&memory, count * sizeof(float)));
  for (size_t i = 0; i < count; ++i) memory[i] = noise(static_cast<uint32_t>(i));
  return memory;
}

__global__ void add_kernel(const float* a, const float* b, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}

void add() {
  const int count = 1 << 20;
  float *a = floats(count), *b = floats(count), *x = floats(count), *y = floats(count);
  compare(
      "vector_add", [=] { add_kernel<<<count / 256, 256>>>(a, b, x, count); },
      [=] {
        for (int i = 0; i < count; ++i) y[i] = a[i] + b[i];
      },
      x, y, count);
}

constexpr int kTile = 16;

__global__ void multiply_kernel(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < size; first += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * size + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

void multiply() {
  const int size = 256;
  float *a = floats(size * size), *b = floats(size * size), *x = floats(size * size),
        *y = floats(size * size);
  compare(
      "matmul_shared",
      [=] {
        multiply_kernel<<<dim3(size / kTile, size / kTile), dim3(kTile, kTile)>>>(a, b, x, size);
      },
      [=] {
        for (int i = 0; i < size; ++i) {
          for (int j = 0; j < size; ++j) y[i * size + j] = 0;
          for (int k = 0; k < size; ++k) {  // the order that compilers make vectors of
            for (int j = 0; j < size; ++j) y[i * size + j] += a[i * size + k] * b[k * size + j];
          }
        }
      },
      x, y, size * size);
}

__host__ __device__ inline float call_price(float price, float strike, float years) {
  const float rate = 0.02f, volatility = 0.3f, spread = volatility * sqrtf(years);
  const float d1 =
      (logf(price / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
  const float d2 = d1 - spread, half = 0.70710678f;
  return price * 0.5f * erfcf(-d1 * half) - strike * expf(-rate * years) * 0.5f * erfcf(-d2 * half);
}

__global__ void price_kernel(const float* a, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = call_price(5 + 25 * a[3 * i], 1 + 99 * a[3 * i + 1], 0.25f + 9 * a[3 * i + 2]);
}

void price() {
  const int count = 1 << 16;
  float *a = floats(3 * count), *x = floats(count), *y = floats(count);
  compare(
      "black_scholes", [=] { price_kernel<<<count / 256, 256>>>(a, x, count); },
      [=] {
        for (int i = 0; i < count; ++i) {
          y[i] = call_price(5 + 25 * a[3 * i], 1 + 99 * a[3 * i + 1], 0.25f + 9 * a[3 * i + 2]);
        }
      },
      x, y, count);
}

__global__ void pull_kernel(const float4* bodies, float* out, int count) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 self = bodies[i];
  float sum = 0;
  for (int first = 0; first < count; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < blockDim.x; ++j) {
      const float dx = tile[j].x - self.x, dy = tile[j].y - self.y, dz = tile[j].z - self.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      sum += dx * tile[j].w * inverse * inverse * inverse;
    }
    __syncthreads();
  }
  out[i] = sum;
}

void pull() {
  const int count = 2048;
  float *flat = floats(4 * count), *x = floats(count), *y = floats(count);
  const float4* bodies = reinterpret_cast<const float4*>(flat);
  compare(
      "nbody", [=] { pull_kernel<<<count / 128, 128, 128 * sizeof(float4)>>>(bodies, x, count); },
      [=] {
        for (int i = 0; i < count; ++i) {
          float sum = 0;
          for (int j = 0; j < count; ++j) {
            const float dx = flat[4 * j] - flat[4 * i], dy = flat[4 * j + 1] - flat[4 * i + 1];
            const float dz = flat[4 * j + 2] - flat[4 * i + 2];
            const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            sum += dx * flat[4 * j + 3] * inverse * inverse * inverse;
          }
          y[i] = sum;
        }
      },
      x, y, count);
}

__host__ __device__ inline float escape(int px, int py, int size) {
  const float cx = -2 + 3.0f * px / size, cy = -1.5f + 3.0f * py / size;
  float x = 0, y = 0;
  int count = 0;
  while (count < 200 && x * x + y * y <= 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++count;
  }
  return static_cast<float>(count);
}

__global__ void escape_kernel(float* out, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * size + x] = escape(x, y, size);
}

void mandelbrot() {
  const int size = 256;
  float *x = floats(size * size), *y = floats(size * size);
  compare(
      "mandelbrot", [=] { escape_kernel<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(x, size); },
      [=] {
        for (int i = 0; i < size * size; ++i) y[i] = escape(i % size, i / size, size);
      },
      x, y, 0);  // the last trip may differ by a rounding
}

__global__ void heat_kernel(const float* from, float* to, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= size - 1 || y >= size - 1) return;
  const int i = y * size + x;
  to[i] =
      from[i] + 0.2f * (from[i - 1] + from[i + 1] + from[i - size] + from[i + size] - 4 * from[i]);
}

void heat() {
  const int size = 1024;
  float *a = floats(size * size), *x = floats(size * size), *y = floats(size * size);
  compare(
      "heat2d", [=] { heat_kernel<<<dim3(size / 32, size / 8), dim3(32, 8)>>>(a, x, size); },
      [=] {
        for (int j = 1; j < size - 1; ++j) {
          for (int i = j * size + 1; i < j * size + size - 1; ++i) {
            y[i] = a[i] + 0.2f * (a[i - 1] + a[i + 1] + a[i - size] + a[i + size] - 4 * a[i]);
          }
        }
      },
      x, y, size * size);
}

__global__ void count_kernel(const uint8_t* data, unsigned* bins, int count) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[data[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

void histogram() {
  const int count = 1 << 20;
  uint8_t* data;
  unsigned *bins, *again;
  CHECK(cudaMallocManaged(&data, count));
  CHECK(cudaMallocManaged(&bins, 256 * sizeof(unsigned)));
  CHECK(cudaMallocManaged(&again, 256 * sizeof(unsigned)));
  for (int i = 0; i < count; ++i) data[i] = static_cast<uint8_t>(noise(i) * 256);
  compare(
      "histogram",
      [=] {
        CHECK(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)));
        count_kernel<<<16, 256>>>(data, bins, count);
      },
      [=] {
        std::fill(again, again + 256, 0u);
        for (int i = 0; i < count; ++i) ++again[data[i]];
      },
      nullptr, nullptr, 0);
  for (int i = 0; i < 256; ++i) {
    if (bins[i] != again[i]) std::printf("histogram: bin %d differs\n", i);
  }
}

int main() {
  add();
  multiply();
  price();
  pull();
  mandelbrot();
  heat();
  histogram();
}
