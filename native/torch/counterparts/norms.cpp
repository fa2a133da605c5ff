// RMS norm as one operator, which rms_norm takes on device tensors.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <limits>

#include "counterpart.h"

namespace awt {
namespace {

using at::IntArrayRef;
using at::Tensor;

std::vector<int64_t> last_dims(size_t count) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(int64_t(i) - int64_t(count));
  return dims;
}

double smallest_step(at::ScalarType type) {
  return type == at::kDouble ? std::numeric_limits<double>::epsilon()
                             : std::numeric_limits<float>::epsilon();
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, IntArrayRef shape,
                                    const OptionalTensor& weight, std::optional<double> eps) {
  const auto type = wide_type(input);
  const Tensor wide = input.to(type);
  const Tensor rstd = (wide * wide)
                          .mean(last_dims(shape.size()), true)
                          .add(eps.value_or(smallest_step(type)))
                          .rsqrt();
  Tensor out = wide * rstd;
  if (weight && weight->defined()) out = out * weight->to(type);
  return {out.to(input.scalar_type()), rstd};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad_out, const Tensor& input,
                                             IntArrayRef shape, const Tensor& rstd,
                                             const OptionalTensor& weight,
                                             std::array<bool, 2> wanted) {
  const auto type = wide_type(input);
  const auto dims = last_dims(shape.size());
  const bool weighted = weight && weight->defined();
  const Tensor normed = input.to(type) * rstd.to(type), grad = grad_out.to(type);
  Tensor of_input, of_weight;
  if (wanted[0]) {
    const Tensor scaled = weighted ? grad * weight->to(type) : grad;
    of_input = ((scaled - normed * (scaled * normed).mean(dims, true)) * rstd.to(type))
                   .to(input.scalar_type());
  }
  if (wanted[1] && weighted)
    of_weight = (grad * normed).sum_to_size(shape).to(weight->scalar_type());
  return {of_input, of_weight};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "_fused_rms_norm", TORCH_FN(rms_norm));
  counterpart(library, "_fused_rms_norm_backward", TORCH_FN(rms_norm_backward));
}

}  // namespace awt
