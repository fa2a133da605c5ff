"""An element-wise function in CUDA with its gradient, from strings in the program: `load_inline` and an autograd function."""

import torch
from torch.utils.cpp_extension import load_inline

DECLARATIONS = """
torch::Tensor swish_forward(torch::Tensor values, double slope);
torch::Tensor swish_backward(torch::Tensor gradient, torch::Tensor values, double slope);
"""

KERNELS = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

template <typename scalar_t>
__global__ void forward_kernel(const scalar_t* values, scalar_t* results, double slope, int64_t count) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count) results[i] = values[i] / (scalar_t(1) + exp(-scalar_t(slope) * values[i]));
}

template <typename scalar_t>
__global__ void backward_kernel(
    const scalar_t* gradient, const scalar_t* values, scalar_t* results, double slope, int64_t count) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const scalar_t share = scalar_t(1) / (scalar_t(1) + exp(-scalar_t(slope) * values[i]));
  results[i] = gradient[i] * (share + values[i] * scalar_t(slope) * share * (scalar_t(1) - share));
}

constexpr int kThreads = 256;

torch::Tensor swish_forward(torch::Tensor values, double slope) {
  TORCH_CHECK(values.is_cuda() && values.is_contiguous(), "swish wants a contiguous tensor on a CUDA device");
  const c10::cuda::CUDAGuard on(values.device());
  auto results = torch::empty_like(values);
  const int64_t count = values.numel();
  if (count == 0) return results;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "swish_forward", [&] {
    forward_kernel<scalar_t><<<(count + kThreads - 1) / kThreads, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        values.data_ptr<scalar_t>(), results.data_ptr<scalar_t>(), slope, count);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return results;
}

torch::Tensor swish_backward(torch::Tensor gradient, torch::Tensor values, double slope) {
  const c10::cuda::CUDAGuard on(values.device());
  auto results = torch::empty_like(values);
  const int64_t count = values.numel();
  if (count == 0) return results;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "swish_backward", [&] {
    backward_kernel<scalar_t><<<(count + kThreads - 1) / kThreads, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        gradient.data_ptr<scalar_t>(), values.data_ptr<scalar_t>(), results.data_ptr<scalar_t>(), slope, count);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return results;
}
"""

made = load_inline("swish", DECLARATIONS, KERNELS, functions=["swish_forward", "swish_backward"])


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(context, values, slope):
        context.save_for_backward(values)
        context.slope = slope
        return made.swish_forward(values, slope)

    @staticmethod
    def backward(context, gradient):
        return made.swish_backward(gradient.contiguous(), *context.saved_tensors, context.slope), None


def main() -> None:
    torch.manual_seed(0)
    values = torch.randn(1000, 33, device="cuda")
    torch.testing.assert_close(Swish.apply(values, 1.5), values * torch.sigmoid(1.5 * values))
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.testing.assert_close(Swish.apply(values * 2, 1.0), torch.nn.functional.silu(values * 2))
    small = torch.randn(7, 5, device="cuda", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: Swish.apply(each, 0.7), small)
    try:
        made.swish_forward(torch.ones(3), 1.0)
    except RuntimeError as error:
        assert "on a CUDA device" in str(error)
    else:
        raise SystemExit("a tensor of the CPU was taken")
    print("swish: as torch, and its gradient as by differences")


if __name__ == "__main__":
    main()
