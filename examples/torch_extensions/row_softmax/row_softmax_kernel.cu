// Softmax over rows: a block per row, sums and maxima by shuffles within warps and shared memory between them.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

namespace {

constexpr int kThreads = 128, kWarp = 32;

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Combine>
__device__ float over_block(float value, float start, Combine combine, float* shared) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  float all = start;
  for (int i = 0; i < kThreads / kWarp; ++i) all = combine(all, shared[i]);
  __syncthreads();  // before the next use of the same memory
  return all;
}

template <typename scalar_t>
__global__ void row_softmax_kernel(const scalar_t* values, scalar_t* results, int64_t columns) {
  __shared__ float shared[kThreads / kWarp];
  extern __shared__ float row[];
  values += blockIdx.x * columns;
  results += blockIdx.x * columns;
  float largest = -INFINITY;
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) {
    row[i] = static_cast<float>(values[i]);
    largest = fmaxf(largest, row[i]);
  }
  largest = over_block(largest, -INFINITY, Larger(), shared);
  float total = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) {
    row[i] = __expf(row[i] - largest);
    total += row[i];
  }
  total = over_block(total, 0.0f, Sum(), shared);
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) results[i] = static_cast<scalar_t>(row[i] / total);
}

}  // namespace

at::Tensor row_softmax_cuda(const at::Tensor& values) {
  const c10::cuda::CUDAGuard on(values.device());
  auto results = at::empty_like(values);
  const int64_t rows = values.size(0), columns = values.size(1);
  const size_t bytes = columns * sizeof(float);
  TORCH_CHECK(bytes + 1024 <= at::cuda::getCurrentDeviceProperties()->sharedMemPerBlock, "a row does not fit into shared memory");
  if (rows == 0 || columns == 0) return results;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, values.scalar_type(), "row_softmax", [&] {
    row_softmax_kernel<scalar_t><<<rows, kThreads, bytes, at::cuda::getCurrentCUDAStream()>>>(
        values.data_ptr<scalar_t>(), results.data_ptr<scalar_t>(), columns);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return results;
}
