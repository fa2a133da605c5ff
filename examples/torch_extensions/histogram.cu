// An operator of torch in CUDA: counts of whole numbers, by atomics in shared memory and then in global memory.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

namespace {

__global__ void histogram_kernel(const int64_t* values, int* counts, int64_t count, int bins) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count; i += int64_t(gridDim.x) * blockDim.x)
    if (values[i] >= 0 && values[i] < bins) atomicAdd(&local[values[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    if (local[i]) atomicAdd(&counts[i], local[i]);
}

at::Tensor histogram(const at::Tensor& values, int64_t bins) {
  TORCH_CHECK(values.scalar_type() == at::kLong, "histogram counts numbers of 64 bits");
  TORCH_CHECK(bins > 0 && bins <= 4096, "from 1 to 4096 bins");
  const c10::cuda::CUDAGuard on(values.device());
  const at::Tensor row = values.contiguous();
  at::Tensor counts = at::zeros({bins}, row.options().dtype(at::kInt));
  const int64_t count = row.numel();
  if (count == 0) return counts;
  const int blocks = int(std::min<int64_t>((count + 255) / 256, 32));
  histogram_kernel<<<blocks, 256, bins * sizeof(int), at::cuda::getCurrentCUDAStream()>>>(
      row.data_ptr<int64_t>(), counts.data_ptr<int>(), count, int(bins));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return counts;
}

}  // namespace

TORCH_LIBRARY(counting, library) { library.def("histogram(Tensor values, int bins) -> Tensor"); }

TORCH_LIBRARY_IMPL(counting, CUDA, library) { library.impl("histogram", &histogram); }
