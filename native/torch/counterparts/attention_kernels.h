// Attention of one block: on the CPU's flash kernel where it can, else written out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace awt {

// All tensors are (batch, heads, length, head size). Keys and values may have fewer heads than the
// queries, each then serves a group of them.
struct Attention {
  at::Tensor query, key, value;
  std::optional<at::Tensor> bias;  // added to the scores, broadcastable to (batch, heads, q, k)
  double scale = 1;
  double dropout = 0;
  uint64_t seed = 0;  // of the dropout mask
  bool causal = false;
  bool bottom_right = false;      // the last query sees the last key; else the first sees the first
  int64_t left = -1, right = -1;  // window around the diagonal; -1 is without bound
};

struct Attended {
  at::Tensor out;
  at::Tensor logsumexp;  // (batch, heads, q), float
};

struct AttentionGradients {
  at::Tensor query, key, value, bias;
};

double scale_of(const at::Tensor& query, std::optional<double> scale);

Attended attend(const Attention& given);

// `with_bias` asks for the bias's gradient too.
AttentionGradients attend_backward(const Attention& given, const at::Tensor& grad_out,
                                   const at::Tensor& out, const at::Tensor& logsumexp,
                                   bool with_bias);

// Uniform numbers in [0, 1) of a seed: what is below the dropout rate is dropped.
at::Tensor dropout_numbers(at::IntArrayRef sizes, uint64_t seed);

// The probabilities after softmax, negative where dropped: what the debug mask of CUDA's flash
// kernel holds.
at::Tensor probabilities(const Attention& given, const at::Tensor& logsumexp);

}  // namespace awt
