// Attention over sequences side by side: (batch, length, heads, size), or sequences of different
// lengths packed into one, (total, heads, size), with the places where they end. Nested tensors and
// programs that call the flash kernel themselves come here.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

#include "../alias.h"
#include "../generator.h"
#include "attention_kernels.h"
#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;
using OptionalInt = std::optional<c10::SymInt>;

constexpr int64_t kRowBlock =
    32;  // rows of the memory-efficient kernel's logsumexp come in such blocks

std::vector<int64_t> numbers(const Tensor& tensor) {
  const Tensor wide = tensor.to(at::kLong).contiguous();
  const int64_t* data = wide.const_data_ptr<int64_t>();
  return {data, data + wide.numel()};
}

// One sequence: which rows of the packed queries and keys (or which batch) it is.
struct Span {
  int64_t batch, query, queries, key, keys;
};

std::vector<Span> spans(const Tensor& query, const Tensor& key, const OptionalTensor& query_ends,
                        const OptionalTensor& key_ends, const OptionalTensor& keys_used) {
  std::vector<Span> found;
  const auto used = given(keys_used) ? numbers(*keys_used) : std::vector<int64_t>();
  if (!given(query_ends)) {
    for (int64_t i = 0; i < query.size(0); ++i)
      found.push_back({i, 0, query.size(1), 0, used.empty() ? key.size(1) : used[size_t(i)]});
    return found;
  }
  TORCH_CHECK(given(key_ends), "cum_seq_k must be given with cum_seq_q");
  const auto q = numbers(*query_ends), k = numbers(*key_ends);
  TORCH_CHECK(q.size() == k.size() && !q.empty(), "cum_seq_q and cum_seq_k must be of one size");
  for (size_t i = 0; i + 1 < q.size(); ++i) {
    const int64_t keys = used.empty() ? k[i + 1] - k[i] : used[i];
    found.push_back({int64_t(i), q[i], q[i + 1] - q[i], k[i], keys});
  }
  return found;
}

// (1, heads, length, size) of one sequence.
Tensor part(const Tensor& all, bool packed, int64_t batch, int64_t start, int64_t length) {
  const Tensor one = packed ? all.reshape({-1, all.size(-2), all.size(-1)}) : all[batch];
  return one.narrow(0, start, length).transpose(0, 1).unsqueeze(0);
}

struct Rules {
  double scale = 1, dropout = 0;
  uint64_t seed = 0;
  bool causal = false, bottom_right = true, packed = false;
  int64_t left = -1, right = -1;
  OptionalTensor bias;    // (batch, heads, q, k)
  OptionalTensor slopes;  // of ALiBi, (heads) or (batch, heads)
};

Tensor alibi(const Rules& rules, const Span& span) {
  const Tensor slopes = rules.slopes->dim() == 2 ? (*rules.slopes)[span.batch] : *rules.slopes;
  const Tensor row =
      at::arange(span.queries, at::kFloat).unsqueeze(1) + double(span.keys - span.queries);
  const Tensor distance = (row - at::arange(span.keys, at::kFloat).unsqueeze(0)).abs();
  return (slopes.to(at::kFloat).reshape({-1, 1, 1}) * distance.neg()).unsqueeze(0);
}

Attention of(const Tensor& query, const Tensor& key, const Tensor& value, const Rules& rules,
             const Span& span) {
  Attention found;
  found.query = part(query, rules.packed, span.batch, span.query, span.queries);
  found.key = part(key, rules.packed, span.batch, span.key, span.keys);
  found.value = part(value, rules.packed, span.batch, span.key, span.keys);
  found.scale = rules.scale;
  found.dropout = rules.dropout;
  found.seed = rules.seed + uint64_t(span.batch);
  found.causal = rules.causal;
  found.bottom_right = rules.bottom_right;
  found.left = rules.left;
  found.right = rules.right;
  if (given(rules.bias))
    found.bias = rules.bias->narrow(0, rules.bias->size(0) == 1 ? 0 : span.batch, 1)
                     .narrow(2, 0, span.queries)
                     .narrow(3, 0, span.keys);
  if (given(rules.slopes)) found.bias = alibi(rules, span);
  return found;
}

void put_span(const Tensor& all, bool packed, int64_t batch, int64_t start, const Tensor& one) {
  part(all, packed, batch, start, one.size(2)).copy_(one);
}

uint64_t packed_seed(double dropout, int64_t count) {
  if (dropout <= 0) return 0;
  const PhiloxState state = reserve(std::nullopt, current_op_device(), uint64_t(count));
  return state.seed ^ (state.offset * 0x9e3779b97f4a7c15ULL);
}

uint64_t packed_seed_of(const Tensor& state) {
  return state.defined() && state.numel() ? *static_cast<const uint64_t*>(state.const_data_ptr())
                                          : 0;
}

int64_t window(const OptionalInt& side) { return side ? side->guard_int(__FILE__, __LINE__) : -1; }

// -- flash ---------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> packed_flash(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& query_ends,
    const OptionalTensor& key_ends, c10::SymInt, c10::SymInt, double dropout, bool causal, bool,
    std::optional<double> scale, OptionalInt left, OptionalInt right,
    const OptionalTensor& keys_used, const OptionalTensor& slopes,
    const OptionalTensor& block_table, std::optional<int64_t>) {
  TORCH_CHECK_NOT_IMPLEMENTED(!given(block_table),
                              "aten::_flash_attention_forward: keys in pages (block_table) are not "
                              "served by anywarp");
  Rules rules;
  rules.scale = scale_of(query, scale);
  rules.dropout = dropout;
  rules.seed = packed_seed(dropout, query.numel());
  rules.causal = causal;
  rules.packed = given(query_ends);
  rules.left = window(left);
  rules.right = window(right);
  rules.slopes = slopes;
  const int64_t heads = query.size(-2);
  Tensor out = at::zeros_like(query);
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  const auto options = query.options().dtype(at::kFloat);
  Tensor sums = rules.packed ? at::full({heads, query.size(0)}, kNothing, options)
                             : at::full({query.size(0), heads, query.size(1)}, kNothing, options);
  for (const Span& span : spans(query, key, query_ends, key_ends, keys_used)) {
    if (span.queries == 0) continue;
    const auto [one, sum] = attend(of(query, key, value, rules, span));
    put_span(out, rules.packed, span.batch, span.query, one);
    if (rules.packed)
      sums.narrow(1, span.query, span.queries).copy_(sum[0]);
    else
      sums[span.batch].copy_(sum[0]);
  }
  Tensor state = at::zeros({2}, at::TensorOptions().dtype(at::kUInt64));
  state.mutable_data_ptr<uint64_t>()[0] = rules.seed;
  return {out, sums, state, at::empty({}, at::TensorOptions().dtype(at::kUInt64)),
          at::empty({0}, query.options())};
}

Tensor flash_into(Tensor& out, const Tensor& query, const Tensor& key, const Tensor& value,
                  const OptionalTensor& query_ends, const OptionalTensor& key_ends,
                  c10::SymInt max_q, c10::SymInt max_k, double dropout, bool causal, bool debug,
                  std::optional<double> scale, OptionalInt left, OptionalInt right,
                  const OptionalTensor& keys_used, const OptionalTensor& slopes,
                  const OptionalTensor& block_table, std::optional<int64_t> splits) {
  auto found = packed_flash(query, key, value, query_ends, key_ends, max_q, max_k, dropout, causal,
                            debug, scale, left, right, keys_used, slopes, block_table, splits);
  out.copy_(std::get<0>(found));
  return std::get<1>(found);
}

std::tuple<Tensor, Tensor, Tensor> packed_flash_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& out, const Tensor& sums, const Tensor& query_ends, const Tensor& key_ends,
    c10::SymInt, c10::SymInt, double dropout, bool causal, const Tensor& state, const Tensor&,
    std::optional<double> scale, OptionalInt left, OptionalInt right) {
  Rules rules;
  rules.scale = scale_of(query, scale);
  rules.dropout = dropout;
  rules.seed = packed_seed_of(state);
  rules.causal = causal;
  rules.packed = query_ends.defined();
  rules.left = window(left);
  rules.right = window(right);
  Tensor q = at::zeros_like(query), k = at::zeros_like(key), v = at::zeros_like(value);
  for (const Span& span : spans(query, key, query_ends, key_ends, {})) {
    if (span.queries == 0 || span.keys == 0) continue;
    const Tensor sum = rules.packed ? sums.narrow(1, span.query, span.queries).unsqueeze(0)
                                    : sums.narrow(0, span.batch, 1);
    const auto found = attend_backward(
        of(query, key, value, rules, span),
        part(grad_out, rules.packed, span.batch, span.query, span.queries),
        part(out, rules.packed, span.batch, span.query, span.queries), sum.contiguous(), false);
    put_span(q, rules.packed, span.batch, span.query, found.query);
    put_span(k, rules.packed, span.batch, span.key, found.key);
    put_span(v, rules.packed, span.batch, span.key, found.value);
  }
  return {q, k, v};
}

// -- memory-efficient ----------------------------------------------------------------------------

Rules efficient_rules(const Tensor& query, const OptionalTensor& bias, bool packed, double dropout,
                      int64_t mask_type, std::optional<double> scale,
                      std::optional<int64_t> window_size) {
  Rules rules;
  rules.scale = scale_of(query, scale);
  rules.dropout = dropout;
  rules.causal = mask_type != 0;
  rules.bottom_right = mask_type == 2;
  rules.packed = packed;
  if (window_size && *window_size > 0) {
    TORCH_CHECK_NOT_IMPLEMENTED(mask_type != 0,
                                "aten::_efficient_attention_forward: a window without a causal "
                                "mask is not served by anywarp");
    rules.left = *window_size - 1;
  }
  if (given(bias)) rules.bias = bias;
  return rules;
}

// The longest sequence; what is said of it counts only where several are packed.
int64_t longest(bool packed, const OptionalInt& said, int64_t length) {
  return packed && said ? said->guard_int(__FILE__, __LINE__) : length;
}

std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt> packed_efficient(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias,
    const OptionalTensor& query_ends, const OptionalTensor& key_ends, OptionalInt max_q,
    OptionalInt max_k, double dropout, int64_t mask_type, bool with_sums,
    std::optional<double> scale, const OptionalTensor& keys_used,
    std::optional<int64_t> window_size) {
  Rules rules =
      efficient_rules(query, bias, given(query_ends), dropout, mask_type, scale, window_size);
  rules.seed = packed_seed(dropout, query.numel());
  const int64_t rows = longest(rules.packed, max_q, query.size(1)),
                columns = longest(rules.packed, max_k, key.size(1));
  const auto all = spans(query, key, query_ends, key_ends, keys_used);
  Tensor out =
      at::zeros({query.size(0), query.size(1), query.size(2), value.size(3)}, query.options());
  const int64_t padded = with_sums ? (rows + kRowBlock - 1) / kRowBlock * kRowBlock : 0;
  Tensor sums =
      at::full({int64_t(all.size()), query.size(2), padded},
               std::numeric_limits<double>::infinity(), query.options().dtype(at::kFloat));
  for (const Span& span : all) {
    if (span.queries == 0) continue;
    const auto [one, sum] = attend(of(query, key, value, rules, span));
    put_span(out, rules.packed, span.batch, span.query, one);
    if (with_sums) sums[span.batch].narrow(1, 0, span.queries).copy_(sum[0]);
  }
  return {out,  sums,   at::scalar_tensor(int64_t(rules.seed), at::kLong), at::zeros({}, at::kLong),
          rows, columns};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> packed_efficient_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const OptionalTensor& bias, const Tensor& out, const OptionalTensor& query_ends,
    const OptionalTensor& key_ends, c10::SymInt, c10::SymInt, const Tensor& sums, double dropout,
    const Tensor& seed, const Tensor&, int64_t mask_type, bool with_bias,
    std::optional<double> scale, std::optional<int64_t>, std::optional<int64_t> window_size,
    bool shared) {
  Rules rules =
      efficient_rules(query, bias, given(query_ends), dropout, mask_type, scale, window_size);
  rules.seed = packed_seed_of(seed);
  Tensor q, k, v;
  if (shared) {
    const Tensor chunk =
        at::zeros({query.size(0), query.size(1), 3, query.size(2), query.size(3)}, query.options());
    q = chunk.select(2, 0), k = chunk.select(2, 1), v = chunk.select(2, 2);
  } else {
    q = at::zeros_like(query), k = at::zeros_like(key), v = at::zeros_like(value);
  }
  const bool wanted = with_bias && given(bias);
  Tensor b = wanted ? at::zeros_like(*bias) : Tensor();
  for (const Span& span : spans(query, key, query_ends, key_ends, {})) {
    if (span.queries == 0 || span.keys == 0) continue;
    const auto found = attend_backward(
        of(query, key, value, rules, span),
        part(grad_out, rules.packed, span.batch, span.query, span.queries),
        part(out, rules.packed, span.batch, span.query, span.queries),
        sums.narrow(0, span.batch, 1).narrow(2, 0, span.queries).contiguous(), wanted);
    put_span(q, rules.packed, span.batch, span.query, found.query);
    put_span(k, rules.packed, span.batch, span.key, found.key);
    put_span(v, rules.packed, span.batch, span.key, found.value);
    if (wanted)
      b.narrow(0, b.size(0) == 1 ? 0 : span.batch, 1)
          .narrow(2, 0, span.queries)
          .narrow(3, 0, span.keys)
          .add_(found.bias);
  }
  return {q, k, v, b};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "_flash_attention_forward", TORCH_FN(packed_flash));
  counterpart(library, "_flash_attention_forward_no_dropout_inplace", TORCH_FN(flash_into));
  counterpart(library, "_flash_attention_backward", TORCH_FN(packed_flash_backward));
  counterpart(library, "_efficient_attention_forward", TORCH_FN(packed_efficient));
  counterpart(library, "_efficient_attention_backward", TORCH_FN(packed_efficient_backward));
}

}  // namespace awt
