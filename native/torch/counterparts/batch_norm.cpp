// The parts of batch norm that SyncBatchNorm calls between its collectives. Statistics are float
// where the input is narrower, as on CUDA.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>

#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;

std::vector<int64_t> all_but_channels(const Tensor& input) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < input.dim(); ++i)
    if (i != 1) dims.push_back(i);
  return dims;
}

// One number per channel, shaped to meet the input.
Tensor per_channel(const Tensor& numbers, const Tensor& input, at::ScalarType type) {
  std::vector<int64_t> sizes(size_t(input.dim()), 1);
  sizes[1] = numbers.numel();
  return numbers.to(type).reshape(sizes);
}

std::tuple<Tensor, Tensor> stats(const Tensor& input, double eps) {
  const Tensor wide = input.to(wide_type(input));
  const auto dims = all_but_channels(input);
  const Tensor mean = wide.mean(dims);
  const Tensor spread = wide - per_channel(mean, input, wide.scalar_type());
  return {mean, (spread * spread).mean(dims).add(eps).rsqrt()};
}

Tensor normalized(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                  const Tensor& mean, const Tensor& invstd, double) {
  const auto type = wide_type(input);
  Tensor out = (input.to(type) - per_channel(mean, input, type)) * per_channel(invstd, input, type);
  if (given(weight)) out = out * per_channel(*weight, input, type);
  if (given(bias)) out = out + per_channel(*bias, input, type);
  return out.to(input.scalar_type());
}

Tensor& normalized_out(const Tensor& input, const OptionalTensor& weight,
                       const OptionalTensor& bias, const Tensor& mean, const Tensor& invstd,
                       double eps, Tensor& out) {
  if (out.sizes() != input.sizes()) out.resize_(input.sizes());
  return out.copy_(normalized(input, weight, bias, mean, invstd, eps));
}

void move_towards(const OptionalTensor& running, const Tensor& now, double momentum) {
  if (!given(running)) return;
  const Tensor moved = running->to(now.scalar_type()) * (1 - momentum) + now * momentum;
  Tensor(*running).copy_(moved);
}

// Means and deviations of several processes (one row each) become those of all.
std::tuple<Tensor, Tensor> gathered(const Tensor& input, const Tensor& mean, const Tensor& invstd,
                                    const OptionalTensor& running_mean,
                                    const OptionalTensor& running_var, double momentum, double eps,
                                    const Tensor& counts) {
  const auto type = wide_type(mean);
  const Tensor means = mean.to(type), deviation = invstd.to(type).reciprocal();
  const Tensor rows = counts.to(type).reshape({-1, 1});
  const Tensor total = rows.sum();
  const Tensor all = (means * rows).sum(0) / total;
  const Tensor apart = means - all.unsqueeze(0);
  const Tensor squares = ((deviation * deviation - eps + apart * apart) * rows).sum(0);
  move_towards(running_mean, all, momentum);
  move_towards(running_var, squares / (total - 1), momentum);
  return {all, (squares / total).add(eps).rsqrt()};
}

std::tuple<Tensor, Tensor> gathered_alike(const Tensor& input, const Tensor& mean,
                                          const Tensor& invstd, const OptionalTensor& running_mean,
                                          const OptionalTensor& running_var, double momentum,
                                          double eps, int64_t count) {
  const Tensor counts = at::full({mean.size(0)}, double(count), at::kDouble);
  return gathered(input, mean, invstd, running_mean, running_var, momentum, eps, counts);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> backward_sums(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& invstd,
    const OptionalTensor& weight, bool for_input, bool for_weight, bool for_bias) {
  const auto type = wide_type(input);
  const auto dims = all_but_channels(input);
  const Tensor grad = grad_out.to(type);
  const Tensor sum = grad.sum(dims);
  const Tensor product = (grad * (input.to(type) - per_channel(mean, input, type))).sum(dims);
  const auto kind = given(weight) ? weight->scalar_type() : input.scalar_type();
  return {for_input ? sum : Tensor(), for_input ? product : Tensor(),
          for_weight ? (product * invstd.to(type)).to(kind) : Tensor(),
          for_bias ? sum.to(kind) : Tensor()};
}

Tensor backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                const Tensor& invstd, const OptionalTensor& weight, const Tensor& sum,
                const Tensor& product, const Tensor& count) {
  const auto type = wide_type(input);
  const Tensor share = count.to(type).sum().reciprocal();
  const Tensor deviation = invstd.to(type);
  const Tensor mean_grad = per_channel(sum.to(type) * share, input, type);
  const Tensor slope = per_channel(deviation * deviation * product.to(type) * share, input, type);
  const Tensor factor = given(weight) ? deviation * weight->to(type) : deviation;
  const Tensor apart = input.to(type) - per_channel(mean, input, type);
  return ((grad_out.to(type) - mean_grad - apart * slope) * per_channel(factor, input, type))
      .to(input.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "batch_norm_stats", TORCH_FN(stats));
  counterpart(library, "batch_norm_elemt", TORCH_FN(normalized));
  counterpart(library, "batch_norm_elemt.out", TORCH_FN(normalized_out));
  counterpart(library, "batch_norm_gather_stats", TORCH_FN(gathered_alike));
  counterpart(library, "batch_norm_gather_stats_with_counts", TORCH_FN(gathered));
  counterpart(library, "batch_norm_backward_reduce", TORCH_FN(backward_sums));
  counterpart(library, "batch_norm_backward_elemt", TORCH_FN(backward));
}

}  // namespace awt
