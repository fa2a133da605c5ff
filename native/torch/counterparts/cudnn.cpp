// Operators that carry cuDNN's name, and CUDA's own kernels for special convolutions: the general
// operator of the CPU computes the same.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/relu.h>

#include "counterpart.h"

namespace awt {
namespace {

using at::IntArrayRef;
using at::Tensor;

Tensor convolution(const Tensor& self, const Tensor& weight, IntArrayRef padding,
                   IntArrayRef stride, IntArrayRef dilation, int64_t groups, bool, bool, bool) {
  const std::vector<int64_t> none(padding.size(), 0);
  return at::convolution(self, weight, {}, stride, padding, dilation, false, none, groups);
}

Tensor& convolution_out(const Tensor& self, const Tensor& weight, IntArrayRef padding,
                        IntArrayRef stride, IntArrayRef dilation, int64_t groups, bool a, bool b,
                        bool c, Tensor& out) {
  const Tensor found = convolution(self, weight, padding, stride, dilation, groups, a, b, c);
  if (out.sizes() != found.sizes()) out.resize_(found.sizes());
  return out.copy_(found);
}

Tensor transposed(const Tensor& self, const Tensor& weight, IntArrayRef padding,
                  IntArrayRef output_padding, IntArrayRef stride, IntArrayRef dilation,
                  int64_t groups, bool, bool, bool) {
  return at::convolution(self, weight, {}, stride, padding, dilation, true, output_padding, groups);
}

Tensor convolution_relu(const Tensor& self, const Tensor& weight, const OptionalTensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        int64_t groups) {
  const std::vector<int64_t> none(padding.size(), 0);
  return at::convolution(self, weight, bias, stride, padding, dilation, false, none, groups)
      .relu_();
}

Tensor convolution_add_relu(const Tensor& self, const Tensor& weight, const Tensor& z,
                            const std::optional<at::Scalar>& alpha, const OptionalTensor& bias,
                            IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                            int64_t groups) {
  const std::vector<int64_t> none(padding.size(), 0);
  return at::convolution(self, weight, bias, stride, padding, dilation, false, none, groups)
      .add_(z, alpha.value_or(1))
      .relu_();
}

template <size_t n>
Tensor depthwise(const Tensor& self, const Tensor& weight, IntArrayRef, const OptionalTensor& bias,
                 IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
  const std::vector<int64_t> none(n, 0);
  return at::convolution(self, weight, bias, stride, padding, dilation, false, none, self.size(1));
}

const Tensor& depthwise_out(const Tensor& self, const Tensor& weight, IntArrayRef size,
                            const OptionalTensor& bias, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, const Tensor& out) {
  const Tensor found = depthwise<2>(self, weight, size, bias, stride, padding, dilation);
  if (out.sizes() != found.sizes()) out.resize_(found.sizes());
  return out.copy_(found);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const Tensor& weight,
                                                      const OptionalTensor& bias,
                                                      const OptionalTensor& running_mean,
                                                      const OptionalTensor& running_var,
                                                      bool training, double momentum, double eps) {
  auto [out, mean, invstd] = at::native_batch_norm(input, weight, bias, running_mean, running_var,
                                                   training, momentum, eps);
  return {out, mean, invstd, at::empty({0}, at::kByte)};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(
    const Tensor& input, const Tensor& grad_out, const Tensor& weight,
    const OptionalTensor& running_mean, const OptionalTensor& running_var,
    const OptionalTensor& mean, const OptionalTensor& invstd, double eps, const Tensor&) {
  return at::native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, mean,
                                        invstd, true, eps, {true, true, true});
}

// Bilinear, zeros outside, corners aligned: what cuDNN's sampler does.
Tensor grid_sampler(const Tensor& self, const Tensor& grid) {
  return at::grid_sampler_2d(self, grid, 0, 0, true);
}

std::tuple<Tensor, Tensor> grid_sampler_backward(const Tensor& self, const Tensor& grid,
                                                 const Tensor& grad_out) {
  return at::grid_sampler_2d_backward(grad_out, self, grid, 0, 0, true, {true, true});
}

Tensor affine_grid(const Tensor& theta, int64_t n, int64_t c, int64_t h, int64_t w) {
  return at::affine_grid_generator(theta, {n, c, h, w}, true);
}

// The native loss is taken instead: cuDNN's is chosen only where it would be faster.
bool use_ctc(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t) { return false; }
bool use_ctc_tensors(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t) {
  return false;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "cudnn_convolution", TORCH_FN(convolution));
  counterpart(library, "cudnn_convolution.out", TORCH_FN(convolution_out));
  counterpart(library, "cudnn_convolution_transpose", TORCH_FN(transposed));
  counterpart(library, "cudnn_convolution_relu", TORCH_FN(convolution_relu));
  counterpart(library, "cudnn_convolution_add_relu", TORCH_FN(convolution_add_relu));
  counterpart(library, "_conv_depthwise2d", TORCH_FN(depthwise<2>));
  counterpart(library, "_conv_depthwise2d.out", TORCH_FN(depthwise_out));
  counterpart(library, "conv_depthwise3d", TORCH_FN(depthwise<3>));
  counterpart(library, "cudnn_batch_norm", TORCH_FN(batch_norm));
  counterpart(library, "cudnn_batch_norm_backward", TORCH_FN(batch_norm_backward));
  counterpart(library, "cudnn_grid_sampler", TORCH_FN(grid_sampler));
  counterpart(library, "cudnn_grid_sampler_backward", TORCH_FN(grid_sampler_backward));
  counterpart(library, "cudnn_affine_grid_generator", TORCH_FN(affine_grid));
  counterpart(library, "_use_cudnn_ctc_loss", TORCH_FN(use_ctc));
  counterpart(library, "_use_cudnn_ctc_loss.Tensor", TORCH_FN(use_ctc_tensors));
  counterpart(library, "_use_miopen_ctc_loss", TORCH_FN(use_ctc));
  counterpart(library, "_use_miopen_ctc_loss.Tensor", TORCH_FN(use_ctc_tensors));
}

}  // namespace awt
