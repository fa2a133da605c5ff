// Scaled dot product attention by the names of CUDA's backends: flash, memory-efficient, cuDNN.
// What differs between them is what they return beside the result, and which corner a causal mask
// of an oblong block starts from.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include "../alias.h"
#include "../generator.h"
#include "../versions.h"
#include "attention_kernels.h"
#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;

// The memory-efficient kernel's logsumexp has rows of a multiple of 32.
constexpr int64_t kRow = 32;
constexpr double kNothingSeen = std::numeric_limits<double>::infinity();

uint64_t drawn_seed(double dropout, int64_t numbers) {
  if (dropout <= 0) return 0;
  const PhiloxState state = reserve(std::nullopt, current_op_device(), uint64_t(numbers));
  return state.seed ^ (state.offset * 0x9e3779b97f4a7c15ULL);
}

Tensor padded_rows(const Tensor& logsumexp) {
  const int64_t rows = logsumexp.size(-1), padding = (kRow - rows % kRow) % kRow;
  return padding ? at::constant_pad_nd(logsumexp, {0, padding}, kNothingSeen) : logsumexp;
}

// Since 2.7 the flash kernels return seed and offset as one tensor.
Tensor flash_state(uint64_t seed) {
#if AWT_TORCH >= 207
  Tensor state = at::zeros({2}, at::TensorOptions().dtype(at::kUInt64));
  state.mutable_data_ptr<uint64_t>()[0] = seed;
  return state;
#else
  return at::scalar_tensor(int64_t(seed), at::kLong);
#endif
}

uint64_t seed_of(const Tensor& state) {
  return state.defined() && state.numel() ? *static_cast<const uint64_t*>(state.const_data_ptr())
                                          : 0;
}

Attention described(const Tensor& query, const Tensor& key, const Tensor& value,
                    const OptionalTensor& bias, double dropout, bool causal,
                    std::optional<double> scale) {
  Attention given;
  given.query = query;
  given.key = key;
  given.value = value;
  if (bias && bias->defined()) given.bias = bias;
  given.scale = scale_of(query, scale);
  given.dropout = dropout;
  given.causal = causal;
  return given;
}

// CUDA's kernels lay their results out in two ways, which compiled code counts on: as the argument
// that they belong to, or (batch, length, heads, size) seen transposed.
Tensor laid_like(const Tensor& result, const Tensor& like) {
  if (!result.defined() || result.sizes() != like.sizes()) return result;
  Tensor laid = at::empty_like(like);
  return laid.strides() == result.strides() ? result : laid.copy_(result);
}

Tensor laid_by_rows(const Tensor& result) {
  return result.defined() ? result.transpose(1, 2).contiguous().transpose(1, 2) : result;
}

using Flash =
    std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Flash flash(const Tensor& query, const Tensor& key, const Tensor& value, double dropout,
            bool causal, bool debug_mask, std::optional<double> scale) {
  Attention given = described(query, key, value, {}, dropout, causal, scale);
  given.bottom_right = true;
  given.seed = drawn_seed(dropout, query.size(2) * key.size(2));
  auto [out, sums] = attend(given);
  const Tensor mask = debug_mask ? probabilities(given, sums) : at::empty({0}, query.options());
  return {laid_like(out, query),
          sums,
          Tensor(),
          Tensor(),
          query.size(2),
          key.size(2),
          flash_state(given.seed),
          at::empty({}, at::kLong),
          mask};
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(const Tensor& grad_out, const Tensor& query,
                                                  const Tensor& key, const Tensor& value,
                                                  const Tensor& out, const Tensor& logsumexp,
                                                  const Tensor&, const Tensor&, c10::SymInt,
                                                  c10::SymInt, double dropout, bool causal,
                                                  const Tensor& seed, const Tensor&,
                                                  std::optional<double> scale) {
  if (!grad_out.defined()) return {};
  Attention given = described(query, key, value, {}, dropout, causal, scale);
  given.bottom_right = true;
  given.seed = seed_of(seed);
  auto found = attend_backward(given, grad_out, out, logsumexp, false);
  return {laid_like(found.query, query), laid_like(found.key, key), laid_like(found.value, value)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient(const Tensor& query, const Tensor& key,
                                                     const Tensor& value,
                                                     const OptionalTensor& bias, bool with_sums,
                                                     double dropout, bool causal,
                                                     std::optional<double> scale) {
  Attention given = described(query, key, value, bias, dropout, causal, scale);
  given.seed = drawn_seed(dropout, query.size(2) * key.size(2));
  auto [out, sums] = attend(given);
  const Tensor kept =
      with_sums ? padded_rows(sums) : at::empty({query.size(0), query.size(1), 0}, at::kFloat);
  return {laid_by_rows(out), kept, at::scalar_tensor(int64_t(given.seed), at::kLong),
          at::zeros({}, at::kLong)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& out, const Tensor& logsumexp, const Tensor& seed,
    const Tensor&, double dropout, std::array<bool, 4> wanted, bool causal,
    std::optional<double> scale) {
  if (!grad_out.defined()) return {};
  Attention given = described(query, key, value, bias, dropout, causal, scale);
  given.seed = seed_of(seed);
  auto found = attend_backward(given, grad_out, out, logsumexp.narrow(-1, 0, query.size(2)),
                               wanted[3] && given.bias);
  return {laid_by_rows(found.query), laid_by_rows(found.key), laid_by_rows(found.value),
          found.bias};
}

Flash cudnn(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias,
            bool, double dropout, bool causal, bool debug_mask, std::optional<double> scale) {
  Attention given = described(query, key, value, bias, dropout, causal, scale);
  given.seed = drawn_seed(dropout, query.size(2) * key.size(2));
  auto [out, sums] = attend(given);
  return {laid_like(out, query),
          sums.unsqueeze(-1),
          Tensor(),
          Tensor(),
          query.size(2),
          key.size(2),
          at::scalar_tensor(int64_t(given.seed), at::kLong),
          at::zeros({}, at::kLong),
          debug_mask ? probabilities(given, sums) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> cudnn_backward(const Tensor& grad_out, const Tensor& query,
                                                  const Tensor& key, const Tensor& value,
                                                  const Tensor& out, const Tensor& logsumexp,
                                                  const Tensor& seed, const Tensor&,
                                                  const Tensor& bias, const Tensor&, const Tensor&,
                                                  c10::SymInt, c10::SymInt, double dropout,
                                                  bool causal, std::optional<double> scale) {
  if (!grad_out.defined()) return {};
  Attention given = described(query, key, value, bias, dropout, causal, scale);
  given.seed = seed_of(seed);
  auto found = attend_backward(given, grad_out, out, logsumexp.squeeze(-1), false);
  return {laid_like(found.query, query), laid_like(found.key, key), laid_like(found.value, value)};
}

// Numbers that decide what the memory-efficient kernels drop, for tests that repeat them.
Tensor& fill_dropout_numbers(Tensor& self, double, int64_t seed, int64_t) {
  return self.copy_(dropout_numbers(self.sizes(), uint64_t(seed)));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "_scaled_dot_product_flash_attention", TORCH_FN(flash));
  counterpart(library, "_scaled_dot_product_flash_attention_backward", TORCH_FN(flash_backward));
  counterpart(library, "_scaled_dot_product_efficient_attention", TORCH_FN(efficient));
  counterpart(library, "_scaled_dot_product_efficient_attention_backward",
              TORCH_FN(efficient_backward));
  counterpart(library, "_scaled_dot_product_cudnn_attention", TORCH_FN(cudnn));
  counterpart(library, "_scaled_dot_product_cudnn_attention_backward", TORCH_FN(cudnn_backward));
  counterpart(library, "_fill_mem_eff_dropout_mask_", TORCH_FN(fill_dropout_numbers));
}

}  // namespace awt
