// A matrix product on tensor cores: fragments of 16 x 16 x 16 in half precision with sums in
// float, and eight-bit integers.
//
// build: -arch=sm_80
// expect: wmma_product: right
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <vector>

#include "example.h"

using namespace nvcuda;

constexpr int kTile = 16;

// One warp computes one tile: d = alpha * a b + c, with a by rows and b by columns.
__global__ void multiply(const __half* a, const __half* b, const float* c, float* d, int rows,
                         int columns, int inner, float alpha) {
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum, addend;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < inner; k += kTile) {
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major> right;
    wmma::load_matrix_sync(left, a + row * inner + k, inner);
    wmma::load_matrix_sync(right, b + column * inner + k, inner);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::load_matrix_sync(addend, c + row * columns + column, columns, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + addend.x[i];
  wmma::store_matrix_sync(d + row * columns + column, sum, columns, wmma::mem_row_major);
}

__global__ void multiply_bytes(const signed char* a, const signed char* b, int* d) {
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, signed char, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, int> sum;
  wmma::fill_fragment(sum, 5);
  wmma::load_matrix_sync(left, a, kTile);
  wmma::load_matrix_sync(right, b, kTile);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, kTile, wmma::mem_col_major);
}

template <typename T>
T* upload(const std::vector<T>& values) {
  T* memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

bool halves() {
  const int rows = 64, columns = 48, inner = 80;
  const float alpha = 0.5f;
  std::vector<__half> a(rows * inner), b(inner * columns);
  std::vector<float> c(rows * columns), d(rows * columns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = __float2half(noise(i) - 0.5f);
  for (size_t i = 0; i < b.size(); ++i) b[i] = __float2half(noise(i + 9'999) - 0.5f);
  for (size_t i = 0; i < c.size(); ++i) c[i] = noise(i + 55'555);
  __half *device_a = upload(a), *device_b = upload(b);
  float *device_c = upload(c), *device_d = upload(d);
  multiply<<<dim3(columns / kTile, rows / kTile), 32>>>(device_a, device_b, device_c, device_d,
                                                        rows, columns, inner, alpha);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(d.data(), device_d, d.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (void* pointer : {(void*)device_a, (void*)device_b, (void*)device_c, (void*)device_d})
    CHECK(cudaFree(pointer));
  double worst = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < inner; ++k)
        sum += double(__half2float(a[i * inner + k])) * __half2float(b[j * inner + k]);
      worst = std::fmax(worst, std::fabs(d[i * columns + j] - (alpha * sum + c[i * columns + j])));
    }
  }
  std::printf("%d x %d x %d in half precision: %s\n", rows, inner, columns,
              worst < 1e-5 ? "right" : "WRONG");
  return worst < 1e-5;
}

bool bytes() {
  std::vector<signed char> a(kTile * kTile), b(kTile * kTile);
  std::vector<int> d(kTile * kTile);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = int(noise(i) * 256) - 128, b[i] = int(noise(i + 300) * 256) - 128;
  signed char *device_a = upload(a), *device_b = upload(b);
  int* device_d = upload(d);
  multiply_bytes<<<1, 32>>>(device_a, device_b, device_d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(d.data(), device_d, d.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (void* pointer : {(void*)device_a, (void*)device_b, (void*)device_d})
    CHECK(cudaFree(pointer));
  int wrong = 0;
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) {
      int sum = 5;
      for (int k = 0; k < kTile; ++k) sum += a[i * kTile + k] * b[k * kTile + j];
      wrong += d[j * kTile + i] != sum;
    }
  }
  std::printf("eight-bit integers: %d wrong\n", wrong);
  return wrong == 0;
}

int main() {
  const bool right = halves();
  return verdict("wmma_product", bytes() && right);
}
