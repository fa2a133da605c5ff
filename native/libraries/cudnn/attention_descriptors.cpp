// cuDNN: descriptors of multi-head attention and of its sequences, and where its weights lie.
#include <algorithm>

#include "libraries/cudnn/attention.h"

namespace aw::dnn {

Attention::Attention(const cudnnAttnDescriptorStruct& from)
    : heads(from.heads),
      longest_q(from.longest_q),
      longest_k(from.longest_k),
      batch(from.batch),
      beams(from.beam),
      one_to_one(from.mode & CUDNN_ATTN_QUERYMAP_ONE_TO_ONE),
      drops(from.attention_dropout && from.attention_dropout->rate > 0),
      post_drops(from.post_dropout && from.post_dropout->rate > 0),
      scale(from.scale),
      type(from.type) {
  kv_beams = one_to_one ? beams : 1;
  for (int i = 0; i < 4; ++i) projects[i] = from.projections[i] > 0;
  for (int i = 0; i < 3; ++i) {
    in[i] = from.sizes[i];
    head[i] = projects[i] ? from.projections[i] : in[i];
  }
  out = projects[3] ? from.projections[3] : heads * value();
  const bool biases = from.mode & CUDNN_ATTN_ENABLE_PROJ_BIASES;
  int64_t at = 0;
  for (int i = 0; i < 8; ++i) {
    auto& part = parts[static_cast<size_t>(i)];
    const int of = i % 4;
    part.offset = at;
    if (!projects[of] || (i >= 4 && !biases)) continue;
    if (i == 3) {  // rows of the output side by side over all heads: one product of matrices
      part = {at, heads * out * value(), {heads, out, value()}, {value(), heads * value(), 1}};
    } else {
      const int64_t dims[] = {of == 3 ? 1 : heads, of == 3 ? out : head[of], i >= 4 ? 1 : in[of]};
      part = {at,
              dims[0] * dims[1] * dims[2],
              {dims[0], dims[1], dims[2]},
              {dims[1] * dims[2], dims[2], 1}};
    }
    at += part.elements;
  }
}

int64_t Attention::weights() const { return parts[7].offset + parts[7].elements; }

AttentionReserve::AttentionReserve(const Attention& of) {
  const int64_t q_rows = of.batch * of.beams * of.longest_q,
                k_rows = of.batch * of.kv_beams * of.longest_k,
                pairs = of.batch * of.beams * of.heads * of.longest_q * of.longest_k;
  const int64_t rows_of[] = {q_rows, k_rows, k_rows};
  int64_t at = 0;
  auto room = [&](int64_t count) {
    const int64_t begin = at;
    at += count;
    return begin;
  };
  lengths[0] = room(of.batch * of.beams), lengths[1] = room(of.batch * of.kv_beams);
  for (int i = 0; i < 3; ++i) {
    rows[i] = room(rows_of[i] * of.width(i));
    slopes[i] = room(rows_of[i] * of.width(i));
  }
  shares = room(pairs), factors = room(of.drops ? pairs : 0);
  joined = room(q_rows * of.heads * of.value());
  post_factors = room(of.post_drops ? q_rows * of.out : 0);
  rise = room(q_rows * of.out);
  elements = at;
}

}  // namespace aw::dnn

using namespace aw::dnn;

namespace {

bool computes(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_HALF ||
         type == CUDNN_DATA_BFLOAT16;
}

const cudnnAttnDescriptorStruct& ready(cudnnAttnDescriptor_t desc) {
  auto& found = object(desc);
  require(found.heads > 0, "an attention descriptor that was never set");
  return found;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t* desc) {
  return api<"cudnnCreateAttnDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t desc) {
  return api<"cudnnDestroyAttnDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetAttnDescriptor(
    cudnnAttnDescriptor_t desc, unsigned mode, int heads, double scale, cudnnDataType_t type,
    cudnnDataType_t precision, cudnnMathType_t math, cudnnDropoutDescriptor_t attention_dropout,
    cudnnDropoutDescriptor_t post_dropout, int q, int k, int v, int q_projection, int k_projection,
    int v_projection, int o_projection, int longest_q, int longest_k, int batch, int beam) {
  return api<"cudnnSetAttnDescriptor">([&] {
    auto& to = object(desc);
    require(!(mode & ~(CUDNN_ATTN_QUERYMAP_ONE_TO_ONE | CUDNN_ATTN_ENABLE_PROJ_BIASES)),
            "no such mode of attention");
    require(scale >= 0, "a scale below 0");
    require(math >= CUDNN_DEFAULT_MATH && math <= CUDNN_FMA_MATH, "no such type of arithmetic");
    require(heads > 0 && q > 0 && k > 0 && v > 0 && longest_q > 0 && longest_k > 0 && batch > 0 &&
                beam > 0,
            "a size that is not positive");
    require(q_projection >= 0 && k_projection >= 0 && v_projection >= 0 && o_projection >= 0,
            "a negative size after a projection");
    require((q_projection ? q_projection : q) == (k_projection ? k_projection : k),
            "queries and keys of different sizes after their projections");
    if (!computes(type)) unsupported("attention of data type " + std::to_string(type));
    const bool narrow = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
    require(precision == type || (narrow && precision == CUDNN_DATA_FLOAT),
            "a precision that does not go with the data type");
    for (auto* dropout : {attention_dropout, post_dropout})
      if (dropout) object(dropout);
    to.mode = mode, to.heads = heads, to.scale = scale, to.type = type, to.precision = precision;
    to.math = math, to.attention_dropout = attention_dropout, to.post_dropout = post_dropout;
    const int sizes[] = {q, k, v},
              projections[] = {q_projection, k_projection, v_projection, o_projection};
    std::copy_n(sizes, 3, to.sizes), std::copy_n(projections, 4, to.projections);
    to.longest_q = longest_q, to.longest_k = longest_k, to.batch = batch, to.beam = beam;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetAttnDescriptor(cudnnAttnDescriptor_t desc, unsigned* mode,
                                               int* heads, double* scale, cudnnDataType_t* type,
                                               cudnnDataType_t* precision, cudnnMathType_t* math,
                                               cudnnDropoutDescriptor_t* attention_dropout,
                                               cudnnDropoutDescriptor_t* post_dropout, int* q,
                                               int* k, int* v, int* q_projection, int* k_projection,
                                               int* v_projection, int* o_projection, int* longest_q,
                                               int* longest_k, int* batch, int* beam) {
  return api<"cudnnGetAttnDescriptor">([&] {
    auto& from = object(desc);
    give(mode, from.mode), give(heads, from.heads), give(scale, from.scale), give(type, from.type);
    give(precision, from.precision), give(math, from.math);
    give(attention_dropout, from.attention_dropout), give(post_dropout, from.post_dropout);
    give(q, from.sizes[0]), give(k, from.sizes[1]), give(v, from.sizes[2]);
    give(q_projection, from.projections[0]), give(k_projection, from.projections[1]);
    give(v_projection, from.projections[2]), give(o_projection, from.projections[3]);
    give(longest_q, from.longest_q), give(longest_k, from.longest_k), give(batch, from.batch),
        give(beam, from.beam);
  });
}

AW_EXPORT cudnnStatus_t cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t* desc) {
  return api<"cudnnCreateSeqDataDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t desc) {
  return api<"cudnnDestroySeqDataDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t desc,
                                                  cudnnDataType_t type, int rank, const int dims[],
                                                  const cudnnSeqDataAxis_t axes[], size_t count,
                                                  const int lengths[], void* fill) {
  return api<"cudnnSetSeqDataDescriptor">([&] {
    auto& to = object(desc);
    require(rank == CUDNN_SEQDATA_DIM_COUNT, "sequences have four dimensions");
    require_pointer(dims), require_pointer(axes), require_pointer(lengths);
    unsigned seen = 0;
    for (int i = 0; i < rank; ++i) {
      require(dims[i] > 0, "a dimension is not positive");
      require(axes[i] >= 0 && axes[i] < rank, "no such dimension");
      seen |= 1u << axes[i];
    }
    require(seen == (1u << rank) - 1, "a dimension that is named twice");
    require(axes[rank - 1] == CUDNN_SEQDATA_VECT_DIM, "vectors that are not the innermost");
    const int steps = dims[CUDNN_SEQDATA_TIME_DIM];
    require(count == static_cast<size_t>(dims[CUDNN_SEQDATA_BATCH_DIM]) *
                         static_cast<size_t>(dims[CUDNN_SEQDATA_BEAM_DIM]),
            "another count of lengths than of sequences");
    require(std::all_of(lengths, lengths + count, [&](int n) { return n >= 0 && n <= steps; }),
            "a length out of range");
    if (!computes(type)) unsupported("sequences of data type " + std::to_string(type));
    to.type = type, to.rank = rank;
    std::copy_n(dims, rank, to.dims), std::copy_n(axes, rank, to.axes);
    to.lengths.assign(lengths, lengths + count);
    to.fills = fill != nullptr, to.fill = 0;
    if (fill) to.fill = *load_row<double>(View(packed(type, {1}), fill), 0, 0, 1, &to.fill);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t desc,
                                                  cudnnDataType_t* type, int* rank, int requested,
                                                  int dims[], cudnnSeqDataAxis_t axes[],
                                                  size_t* count, size_t lengths_requested,
                                                  int lengths[], void* fill) {
  return api<"cudnnGetSeqDataDescriptor">([&] {
    auto& from = object(desc);
    require(requested >= 0, "a negative count");
    give(type, from.type), give(rank, from.rank), give(count, from.lengths.size());
    for (int i = 0; i < std::min(requested, from.rank); ++i) {
      if (dims) dims[i] = from.dims[i];
      if (axes) axes[i] = from.axes[i];
    }
    if (lengths)
      std::copy_n(from.lengths.begin(), std::min(lengths_requested, from.lengths.size()), lengths);
    if (fill && from.fills)
      store_row<double>(View(packed(from.type, {1}), fill), 0, 1, 1, &from.fill, 1, 0);
  });
}

AW_EXPORT cudnnStatus_t cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle,
                                                     const cudnnAttnDescriptor_t desc,
                                                     size_t* weights, size_t* work,
                                                     size_t* reserve) {
  return api<"cudnnGetMultiHeadAttnBuffers">([&] {
    object(handle);
    const Attention layer(ready(desc));
    require_pointer(weights), require_pointer(work);
    *weights = static_cast<size_t>(layer.weights()) * element_bytes(layer.type);
    *work = 0;
    give(reserve, static_cast<size_t>(AttentionReserve(layer).elements) *
                      (wide(layer.type) ? sizeof(double) : sizeof(float)));
  });
}
// Weights have the dimensions head, number after the projection, number before it; biases head,
// number after it, 1; those of the output have one head.
AW_EXPORT cudnnStatus_t cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle,
                                                     const cudnnAttnDescriptor_t desc,
                                                     cudnnMultiHeadAttnWeightKind_t kind,
                                                     size_t bytes, const void* weights,
                                                     cudnnTensorDescriptor_t part_desc, void** at) {
  return api<"cudnnGetMultiHeadAttnWeights">([&] {
    object(handle);
    const Attention layer(ready(desc));
    require(kind >= CUDNN_MH_ATTN_Q_WEIGHTS && kind <= CUDNN_MH_ATTN_O_BIASES,
            "no such part of the weights");
    require_pointer(at);
    const size_t element = element_bytes(layer.type);
    require(bytes >= static_cast<size_t>(layer.weights()) * element, "too little room for weights",
            kTooSmall);
    const auto& part = layer.parts[static_cast<size_t>(kind)];
    auto& to = object(part_desc).layout;
    if (!part.elements) {
      *at = nullptr, to = Layout();
      return;
    }
    to = make_layout(layer.type, 3, part.dims, part.strides);
    // Without weights, how far from their beginning.
    *at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(weights) +
                                  static_cast<size_t>(part.offset) * element);
  });
}
