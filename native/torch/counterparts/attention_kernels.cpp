#include "attention_kernels.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>

#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool has_window(const Attention& given) { return given.left >= 0 || given.right >= 0; }

bool square(const Attention& given) { return given.query.size(2) == given.key.size(2); }

bool bias_fits_flash(const Attention& given) {
  const Tensor& bias = *given.bias;
  return (bias.dim() == 2 || bias.dim() == 4) &&
         (bias.scalar_type() == given.query.scalar_type() || bias.scalar_type() == at::kFloat) &&
         given.query.scalar_type() != at::kDouble;
}

// What the CPU's flash kernel does as CUDA's do.
bool fits_flash(const Attention& given) {
  if (given.dropout > 0 || has_window(given)) return false;
  if (given.causal && given.bottom_right && !square(given)) return false;
  if (given.causal && given.bias) return false;
  if (given.query.size(3) != given.value.size(3) || given.query.size(3) != given.key.size(3))
    return false;
  if (given.query.numel() == 0 || given.key.numel() == 0) return false;
  if (given.bias && !bias_fits_flash(given)) return false;
  return given.query.stride(3) == 1 && given.key.stride(3) == 1 && given.value.stride(3) == 1;
}

// Keys or values for every head of the queries.
Tensor spread(const Tensor& grouped, int64_t heads) {
  if (grouped.size(1) == heads) return grouped;
  TORCH_CHECK(heads % grouped.size(1) == 0,
              "Number of heads in key/value must divide number of heads in query");
  return grouped.repeat_interleave(heads / grouped.size(1), 1);
}

// Sums gradients of spread heads back to those given.
Tensor gather_heads(const Tensor& spread_gradient, const Tensor& like) {
  const int64_t heads = like.size(1);
  if (spread_gradient.size(1) == heads) return spread_gradient.to(like.scalar_type());
  auto sizes = spread_gradient.sizes().vec();
  const int64_t group = sizes[1] / heads;
  sizes[1] = heads;
  sizes.insert(sizes.begin() + 2, group);
  return spread_gradient.reshape(sizes).sum(2).to(like.scalar_type());
}

// True where a query may see a key; undefined when it may see all.
Tensor seen(const Attention& given) {
  if (!given.causal && !has_window(given)) return {};
  const int64_t rows = given.query.size(2), columns = given.key.size(2);
  const int64_t diagonal = given.bottom_right ? columns - rows : 0;
  const Tensor row = at::arange(rows, at::kLong).unsqueeze(1) + diagonal;
  const Tensor column = at::arange(columns, at::kLong).unsqueeze(0);
  Tensor allowed = at::ones({rows, columns}, at::kBool);
  if (given.causal || given.right >= 0) {
    const int64_t right = given.causal ? 0 : given.right;
    allowed = allowed.logical_and(column <= row + right);
  }
  if (given.left >= 0) allowed = allowed.logical_and(column >= row - given.left);
  return allowed;
}

struct WideInputs {
  Tensor query, key, value;
};

WideInputs widen(const Attention& given) {
  const auto type = wide_type(given.query);
  const int64_t heads = given.query.size(1);
  return {given.query.to(type), spread(given.key, heads).to(type),
          spread(given.value, heads).to(type)};
}

Tensor scores(const Attention& given, const WideInputs& wide) {
  Tensor found = at::matmul(wide.query, wide.key.transpose(-2, -1)).mul_(given.scale);
  if (given.bias) found.add_(given.bias->to(found.scalar_type()));
  const Tensor allowed = seen(given);
  if (allowed.defined()) found.masked_fill_(allowed.logical_not(), kNever);
  return found;
}

// exp(scores - logsumexp), 0 in rows that see nothing.
Tensor softmax_of(const Tensor& scores, const Tensor& logsumexp) {
  const Tensor sums = logsumexp.to(scores.scalar_type()).unsqueeze(-1);
  return (scores - sums).exp_().masked_fill_(sums.isinf(), 0);
}

// What each probability is multiplied by: 0 or 1 / (1 - p); undefined without dropout.
Tensor kept(const Attention& given, const Tensor& like) {
  if (given.dropout <= 0) return {};
  const Tensor keep = dropout_numbers(like.sizes(), given.seed) >= given.dropout;
  return keep.to(like.scalar_type()).mul_(given.dropout < 1 ? 1 / (1 - given.dropout) : 0);
}

// Results lie as CUDA's do: (batch, length, heads, size) seen transposed.
Tensor laid_out(const Tensor& result, at::ScalarType type) {
  return result.transpose(1, 2).to(type).contiguous().transpose(1, 2);
}

}  // namespace

double scale_of(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1.0 / std::sqrt(double(query.size(-1))));
}

Tensor dropout_numbers(at::IntArrayRef sizes, uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::empty(sizes, at::kFloat).uniform_(0, 1, generator);
}

Attended attend(const Attention& given) {
  if (fits_flash(given)) {
    const int64_t heads = given.query.size(1);
    auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
        given.query, spread(given.key, heads), spread(given.value, heads), 0, given.causal,
        given.bias, given.scale);
    return {out, sums.to(at::kFloat).contiguous()};
  }
  const WideInputs wide = widen(given);
  const Tensor found = scores(given, wide);
  const Tensor sums = found.size(-1)
                          ? at::logsumexp(found, {-1})
                          : at::empty(found.sizes().slice(0, 3), found.options()).fill_(kNever);
  Tensor weights = softmax_of(found, sums);
  const Tensor mask = kept(given, weights);
  if (mask.defined()) weights.mul_(mask);
  return {laid_out(at::matmul(weights, wide.value), given.query.scalar_type()),
          sums.to(at::kFloat).contiguous()};
}

AttentionGradients attend_backward(const Attention& given, const Tensor& grad_out,
                                   const Tensor& out, const Tensor& logsumexp, bool with_bias) {
  if (fits_flash(given) && !with_bias && given.query.size(1) == given.key.size(1)) {
    auto [query, key, value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out.stride(-1) == 1 ? grad_out : grad_out.contiguous(), given.query, given.key,
        given.value, out, logsumexp.to(wide_type(given.query)), 0, given.causal, given.bias,
        given.scale);
    return {query, key, value, {}};
  }
  const WideInputs wide = widen(given);
  const Tensor grad = grad_out.to(wide.query.scalar_type());
  const Tensor weights = softmax_of(scores(given, wide), logsumexp);
  const Tensor mask = kept(given, weights);
  const Tensor dropped = mask.defined() ? weights * mask : weights;
  Tensor of_weights = at::matmul(grad, wide.value.transpose(-2, -1));
  if (mask.defined()) of_weights.mul_(mask);
  const Tensor balance = (grad * out.to(grad.scalar_type())).sum(-1, true);
  const Tensor of_scores = weights * (of_weights - balance);
  AttentionGradients found;
  found.query = at::matmul(of_scores, wide.key).mul_(given.scale).to(given.query.scalar_type());
  found.key = gather_heads(at::matmul(of_scores.transpose(-2, -1), wide.query).mul_(given.scale),
                           given.key);
  found.value = gather_heads(at::matmul(dropped.transpose(-2, -1), grad), given.value);
  if (with_bias)
    found.bias = of_scores.sum_to_size(given.bias->sizes()).to(given.bias->scalar_type());
  return found;
}

Tensor probabilities(const Attention& given, const Tensor& logsumexp) {
  const Tensor weights = softmax_of(scores(given, widen(given)), logsumexp);
  if (given.dropout <= 0) return weights.to(given.query.scalar_type());
  const Tensor keep = dropout_numbers(weights.sizes(), given.seed) >= given.dropout;
  return at::where(keep, weights, -weights).to(given.query.scalar_type());
}

}  // namespace awt
