// A sparse matrix times a vector: rows by threads and rows by warps in compressed form, and in
// ELLPACK form by columns.
//
// expect: sparse_product: right
#include <algorithm>
#include <cmath>
#include <vector>

#include "example.h"

__global__ void by_thread(const int* starts, const int* columns, const double* values,
                          const double* x, double* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

__global__ void by_warp(const int* starts, const int* columns, const double* values,
                        const double* x, double* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 32)
    sum += __ldg(&values[k]) * __ldg(&x[__ldg(&columns[k])]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, offset);
  if (lane == 0) y[row] = sum;
}

__global__ void ellpack(const int* columns, const double* values, const double* x, double* y,
                        int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int k = 0; k < width; ++k) {
    const int column = columns[k * rows + row];
    if (column >= 0) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

template <typename T>
T* upload(const std::vector<T>& values) {
  T* memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

int main() {
  const int rows = 1'000;
  std::vector<int> starts{0}, columns;
  std::vector<double> values, x(rows), exact(rows), y(rows);
  int width = 0;
  for (int i = 0; i < rows; ++i) x[i] = noise(i) - 0.5;
  for (int row = 0; row < rows; ++row) {
    const int count =
        row % 40 == 7 ? 0
                      : 1 + static_cast<int>(noise(row) * noise(row) * 60);  // uneven, some empty
    for (int k = 0; k < count; ++k) {
      columns.push_back((row * 31 + k * 17) % rows);
      values.push_back(noise(row * 64 + k));
      exact[row] += values.back() * x[columns.back()];
    }
    starts.push_back(static_cast<int>(columns.size()));
    width = std::max(width, count);
  }
  std::vector<int> ell_columns(width * rows, -1);
  std::vector<double> ell_values(width * rows);
  for (int row = 0; row < rows; ++row) {
    for (int k = starts[row]; k < starts[row + 1]; ++k) {
      ell_columns[(k - starts[row]) * rows + row] = columns[k];
      ell_values[(k - starts[row]) * rows + row] = values[k];
    }
  }
  int *d_starts = upload(starts), *d_columns = upload(columns),
      *d_ell_columns = upload(ell_columns);
  double *d_values = upload(values), *d_ell_values = upload(ell_values), *d_x = upload(x),
         *d_y = upload(y);

  bool right = true;
  const auto compare = [&](const char* name) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(d_y, 0xFF, rows * sizeof(double)));
    bool same = true;
    for (int row = 0; row < rows; ++row)
      same = same && std::fabs(y[row] - exact[row]) < 1e-13;  // also false for NaN
    std::printf("%s: %s\n", name, same ? "right" : "WRONG");
    right = right && same;
  };
  by_thread<<<(rows + 127) / 128, 128>>>(d_starts, d_columns, d_values, d_x, d_y, rows);
  compare("a thread a row");
  by_warp<<<(rows + 3) / 4, 128>>>(d_starts, d_columns, d_values, d_x, d_y, rows);
  compare("a warp a row");
  ellpack<<<(rows + 127) / 128, 128>>>(d_ell_columns, d_ell_values, d_x, d_y, rows, width);
  compare("ELLPACK");
  for (void* pointer : {(void*)d_starts, (void*)d_columns, (void*)d_ell_columns, (void*)d_values,
                        (void*)d_ell_values, (void*)d_x, (void*)d_y}) {
    CHECK(cudaFree(pointer));
  }
  return verdict("sparse_product", right);
}
