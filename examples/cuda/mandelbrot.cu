// The Mandelbrot set: loops that end at another time in every lane, and a picture of a few lines
// of characters.
//
// expect: mandelbrot: right
#include <string>
#include <vector>

#include "example.h"

constexpr int kWidth = 192, kHeight = 96, kMost = 200;

// Fixed-point numbers with 24 fractional bits, so that host and device agree to the last bit.
__host__ __device__ inline int iterations(int px, int py) {
  const int64_t one = 1 << 24;
  const int64_t cx = -2 * one + 3 * one * px / kWidth, cy = -one + 2 * one * py / kHeight;
  int64_t x = 0, y = 0;
  int count = 0;
  while (count < kMost) {
    const int64_t xx = x * x >> 24, yy = y * y >> 24;
    if (xx + yy > 4 * one) break;
    y = (x * y >> 23) + cy;
    x = xx - yy + cx;
    ++count;
  }
  return count;
}

__global__ void mandelbrot(unsigned char* picture) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight)
    picture[y * kWidth + x] = static_cast<unsigned char>(iterations(x, y));
}

int main() {
  std::vector<unsigned char> picture(kWidth * kHeight);
  unsigned char* device;
  CHECK(cudaMalloc(&device, picture.size()));
  mandelbrot<<<dim3(kWidth / 16, kHeight / 16), dim3(16, 16)>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(picture.data(), device, picture.size(), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));

  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) wrong += picture[y * kWidth + x] != iterations(x, y);
  }
  for (int y = 0; y < kHeight; y += 12) {
    std::string line;
    for (int x = 0; x < kWidth; x += 4) {
      const int count = picture[y * kWidth + x];
      line += count == kMost ? '#' : count > 15 ? '+' : count > 6 ? '.' : ' ';
    }
    std::printf("%s\n", line.c_str());
  }
  return verdict("mandelbrot", wrong == 0);
}
