// Multi-head attention with its weights inside: what descriptors say, and how weights and the
// reserve lie.
#pragma once

#include <array>
#include <vector>

#include "libraries/cudnn/objects.h"

struct cudnnAttnDescriptorStruct : aw::dnn::Object<15> {
  unsigned mode = 0;
  int heads = 0;  // 0: never set
  double scale = 1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT, precision = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnDropoutDescriptor_t attention_dropout = nullptr, post_dropout = nullptr;
  int sizes[3] = {}, projections[4] = {};  // of queries, keys, values; and of the output
  int longest_q = 0, longest_k = 0, batch = 0, beam = 0;
};
struct cudnnSeqDataDescriptorStruct : aw::dnn::Object<16> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0;  // 0: never set
  int dims[CUDNN_SEQDATA_DIM_COUNT] = {};
  cudnnSeqDataAxis_t axes[CUDNN_SEQDATA_DIM_COUNT] = {};
  std::vector<int> lengths;
  double fill = 0;
  bool fills = false;
};

namespace aw::dnn {

// A matrix of weights or a vector of biases: where it begins among the weights, in elements.
struct AttentionPart {
  int64_t offset = 0, elements = 0;  // 0 elements: there is none
  int64_t dims[3] = {}, strides[3] = {};
};

// A layer's sizes. Vectors of a head have `query` numbers after the projection of queries and of
// keys, and `value` after that of values.
struct Attention {
  int64_t heads, in[3], head[3], out, longest_q, longest_k, batch, beams, kv_beams;
  bool projects[4], one_to_one, drops, post_drops;
  double scale;
  cudnnDataType_t type;
  std::array<AttentionPart, 8> parts;  // by cudnnMultiHeadAttnWeightKind_t

  explicit Attention(const cudnnAttnDescriptorStruct& from);
  int64_t query() const { return head[0]; }
  int64_t value() const { return head[2]; }
  // Numbers in a row of queries, keys or values (0, 1, 2) as heads see them: heads share a row that
  // is not projected.
  int64_t width(int which) const { return projects[which] ? heads * head[which] : in[which]; }
  int64_t step(int which) const { return projects[which] ? head[which] : 0; }
  int64_t weights() const;
};

// What training keeps, in numbers of T, for the longest sequences and the largest batch.
struct AttentionReserve {
  int64_t lengths[2], rows[3], shares, factors, joined, post_factors, slopes[3], rise, elements;
  explicit AttentionReserve(const Attention& of);
};

}  // namespace aw::dnn
