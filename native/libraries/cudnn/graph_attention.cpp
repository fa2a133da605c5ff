// Attention as one operation of a graph, forward and backward, and the mask that its own graph of
// scores is mostly made of.
#include <limits>
#include <numeric>

#include "libraries/cudnn/gemm.h"
#include "libraries/cudnn/graph.h"
#include "libraries/cudnn/softmax.h"
#include "libraries/cudnn/vector_math.h"

namespace aw::dnn {
#ifdef AW_CUDA_12

bool add_attention(Builder&, const Content&, const std::function<void()>&) { return false; }

#else
namespace {

constexpr size_t kNone = SIZE_MAX;

size_t optional(Builder& builder, const Content& c, int name) {
  return c.has(name) ? builder.slot(c, name) : kNone;
}
void refuse(const Content& c, const char* what, std::initializer_list<int> names) {
  for (int name : names)
    if (c.has(name)) unsupported(std::string(what) + " with attribute " + std::to_string(name));
}

// Numbers of each batch, or the same for all where none are given.
std::vector<int64_t> lengths(const Run& run, size_t slot, int64_t batches, int64_t otherwise) {
  std::vector<int64_t> out(static_cast<size_t>(batches), otherwise);
  if (slot == kNone) return out;
  const Dense<double> given(run[slot]);
  for (int64_t i = 0; i < batches; ++i)
    out[static_cast<size_t>(i)] = std::clamp<int64_t>(static_cast<int64_t>(given[i]), 0, otherwise);
  return out;
}
void check_lengths(const Builder& builder, size_t slot, int64_t batches) {
  require(slot == kNone || builder.layout(slot).elements() == batches,
          "lengths that are not one for each batch", kWrongShape);
}

View turned(View of) {
  std::swap(of.dims[of.rank - 2], of.dims[of.rank - 1]);
  std::swap(of.strides[of.rank - 2], of.strides[of.rank - 1]);
  return of;
}

// Batches, heads of queries, steps of queries and of keys; sizes of vectors; heads of keys, of
// values.
struct Sizes {
  int64_t batches, heads, q, k, deep, wide, k_heads, v_heads;
};
Sizes sizes_of(const Layout& q, const Layout& k, const Layout& v, const Layout& o) {
  require(q.rank == 4 && k.rank == 4 && v.rank == 4 && o.rank == 4,
          "attention of tensors that have not four dimensions", kWrongShape);
  const Sizes s{q.dims[0], q.dims[1], q.dims[2], k.dims[2],
                q.dims[3], v.dims[3], k.dims[1], v.dims[1]};
  require(k.dims[0] == s.batches && v.dims[0] == s.batches && o.dims[0] == s.batches &&
              o.dims[1] == s.heads && o.dims[2] == s.q && k.dims[3] == s.deep && v.dims[2] == s.k &&
              o.dims[3] == s.wide && s.heads % s.k_heads == 0 && s.heads % s.v_heads == 0,
          "queries, keys, values and results that do not go together", kWrongShape);
  return s;
}

#define AW_F(name) CUDNN_ATTR_OPERATION_SDPA_FWD_##name
void add_forward(Builder& builder, const Content& c, const std::function<void()>& change) {
  refuse(c, "SDPA_FWD",
         {AW_F(BLOCK_MASK_DESC), AW_F(PAGE_TABLE_KDESC), AW_F(PAGE_TABLE_VDESC), AW_F(SOFTMAX_DESC),
          AW_F(DROPOUT_SEED_DESC), AW_F(DROPOUT_OFFSET_DESC), AW_F(DROPOUT_RNG_DUMP_DESC),
          AW_F(CU_SEQ_LEN_QDESC), AW_F(CU_SEQ_LEN_KVDESC), AW_F(DESCALE_QDESC), AW_F(DESCALE_KDESC),
          AW_F(DESCALE_VDESC), AW_F(DESCALE_SDESC), AW_F(SCALE_SDESC), AW_F(SCALE_ODESC),
          AW_F(AMAX_SDESC), AW_F(AMAX_ODESC)});
  if (c.real(AW_F(DROPOUT_PROBABILITY), 0) != 0) unsupported("SDPA_FWD with dropout");
  const size_t q = builder.slot(c, AW_F(QDESC)), k = builder.slot(c, AW_F(KDESC)),
               v = builder.slot(c, AW_F(VDESC)), o = builder.slot(c, AW_F(ODESC)),
               scale = optional(builder, c, AW_F(SCALEDESC)),
               stats = optional(builder, c, AW_F(STATSDESC)),
               q_lengths = optional(builder, c, AW_F(SEQ_LEN_QDESC)),
               k_lengths = optional(builder, c, AW_F(SEQ_LEN_KVDESC));
  const Sizes s =
      sizes_of(builder.layout(q), builder.layout(k), builder.layout(v), builder.layout(o));
  check_lengths(builder, q_lengths, s.batches), check_lengths(builder, k_lengths, s.batches);
  const Layout pairs = packed(CUDNN_DATA_FLOAT, {s.batches, s.heads, s.q, s.k});
  const Layout rows = packed(CUDNN_DATA_FLOAT, {s.batches, s.heads, s.q, 1});
  require(stats == kNone || builder.layout(stats).same_shape(rows), "statistics of another shape",
          kWrongShape);
  need_gemm();

  const bool changes = c.has(AW_F(SUBGRAPH));
  const size_t scores = changes ? builder.find(c.get<int64_t>(AW_F(SUBGRAPH_INPUT_UID)))
                                : builder.hidden(pairs),
               seen = changes ? builder.find(c.get<int64_t>(AW_F(SUBGRAPH_OUTPUT_UID))) : scores;
  require(builder.layout(scores).same_shape(pairs) && builder.layout(seen).same_shape(pairs) &&
              builder.slots[scores].is_virtual,
          "scores of another shape", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    multiply_batches<T>(run[q], turned(run[k]), run[scores],
                        scale == kNone ? T{1} : static_cast<T>(number_of(run[scale])));
  });
  builder.makes(scores);
  builder.slots[scores].known = true;
  if (changes) change();

  const size_t shares = builder.hidden(pairs);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const auto nq = lengths(run, q_lengths, s.batches, s.q),
               nk = lengths(run, k_lengths, s.batches, s.k);
    const View &from = run[seen], &to = run[shares];
    Scratch<T> logs(rows.elements());
    share(rows.elements(), s.k * 4, [&](int64_t number) {
      const int64_t batch = number / (s.heads * s.q), head = number / s.q % s.heads,
                    step = number % s.q;
      const int64_t count =
          step < nq[static_cast<size_t>(batch)] ? nk[static_cast<size_t>(batch)] : 0;
      T* row = row_place<T>(to, number * s.k, 1);
      const T* given = load_row<T>(
          from, batch * from.strides[0] + head * from.strides[1] + step * from.strides[2],
          from.strides[3], static_cast<size_t>(s.k), row);
      int64_t peak = -1;  // where the greatest is; -1 where nothing is seen
      for (int64_t i = 0; i < count; ++i)
        if (given[i] != -std::numeric_limits<T>::infinity() &&
            (peak < 0 || given[i] > given[peak] || given[i] != given[i]))
          peak = i;
      const T most = peak < 0 ? -std::numeric_limits<T>::infinity() : given[peak];
      const int64_t some = peak < 0 ? 0 : count;
      if (some) softmax_row<T>(given, static_cast<size_t>(some), row);
      std::fill_n(row + some, s.k - some, T{0});
      logs[number] = some ? most - std::log(row[peak]) : most;
    });
    if (stats != kNone) put<T>(run[stats], logs.get());
    multiply_batches<T>(to, run[v], run[o], 1);
  });
  builder.makes(shares);
  for (size_t slot : {scores, seen, shares})
    builder.slots[slot].last_use = builder.steps.size() - 1;
}
#undef AW_F

#define AW_B(name) CUDNN_ATTR_OPERATION_SDPA_BWD_##name
void add_backward(Builder& builder, const Content& c) {
  refuse(c, "SDPA_BWD",
         {AW_B(SINK_DESC), AW_B(DSINK_DESC), AW_B(SUBGRAPH), AW_B(CU_SEQ_LEN_QDESC),
          AW_B(CU_SEQ_LEN_KVDESC), AW_B(DROPOUT_SEED_DESC), AW_B(DROPOUT_OFFSET_DESC),
          AW_B(DBIAS_DESC)});
  if (c.real(AW_B(DROPOUT_PROBABILITY), 0) != 0) unsupported("SDPA_BWD with dropout");
  const size_t q = builder.slot(c, AW_B(QDESC)), k = builder.slot(c, AW_B(KDESC)),
               v = builder.slot(c, AW_B(VDESC)), o = builder.slot(c, AW_B(ODESC)),
               stats = builder.slot(c, AW_B(STATSDESC)), rise = builder.slot(c, AW_B(DODDESC)),
               dq = builder.slot(c, AW_B(DQDESC)), dk = builder.slot(c, AW_B(DKDESC)),
               dv = builder.slot(c, AW_B(DVDESC)), scale = optional(builder, c, AW_B(SCALEDESC)),
               q_lengths = optional(builder, c, AW_B(SEQ_LEN_QDESC)),
               k_lengths = optional(builder, c, AW_B(SEQ_LEN_KVDESC));
  const Sizes s =
      sizes_of(builder.layout(q), builder.layout(k), builder.layout(v), builder.layout(o));
  check_lengths(builder, q_lengths, s.batches), check_lengths(builder, k_lengths, s.batches);
  require(builder.layout(rise).same_shape(builder.layout(o)) &&
              builder.layout(dq).same_shape(builder.layout(q)) &&
              builder.layout(dk).same_shape(builder.layout(k)) &&
              builder.layout(dv).same_shape(builder.layout(v)) &&
              builder.layout(stats).elements() == s.batches * s.heads * s.q,
          "gradients of other shapes than what they are of", kWrongShape);
  need_gemm();
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const Dense<T> query(run[q]), key(run[k]), value(run[v]), result(run[o]), up(run[rise]),
        log_sums(run[stats]);
    const auto nq = lengths(run, q_lengths, s.batches, s.q),
               nk = lengths(run, k_lengths, s.batches, s.k);
    const T by = scale == kNone ? T{1} : static_cast<T>(number_of(run[scale]));
    Scratch<T> q_slope(s.batches * s.heads * s.q * s.deep),
        k_slope(s.batches * s.k_heads * s.k * s.deep),
        v_slope(s.batches * s.v_heads * s.k * s.wide);
    std::fill_n(q_slope.get(), s.batches * s.heads * s.q * s.deep, T{0});
    std::fill_n(k_slope.get(), s.batches * s.k_heads * s.k * s.deep, T{0});
    std::fill_n(v_slope.get(), s.batches * s.v_heads * s.k * s.wide, T{0});
    // Heads that share keys or values are done one after the other.
    const int64_t apart = std::gcd(s.k_heads, s.v_heads), together = s.heads / apart;
    share(s.batches * apart, together * s.q * s.k * (s.deep + s.wide), [&](int64_t number) {
      const int64_t batch = number / apart, first = number % apart * together;
      const int64_t rows = nq[static_cast<size_t>(batch)], columns = nk[static_cast<size_t>(batch)];
      if (!rows || !columns) return;
      Scratch<T> share_of(rows * s.k), slope(rows * s.k);
      for (int64_t head = first; head < first + together; ++head) {
        const int64_t q_at = batch * s.heads + head,
                      k_at = batch * s.k_heads + head / (s.heads / s.k_heads),
                      v_at = batch * s.v_heads + head / (s.heads / s.v_heads);
        const Matrix<T> of_q{query.get() + q_at * s.q * s.deep, s.deep},
            of_k{key.get() + k_at * s.k * s.deep, s.deep},
            rising{up.get() + q_at * s.q * s.wide, s.wide};
        gemm<T>(rows, columns, s.deep, by, of_q, {of_k.data, s.deep, true}, 0, share_of.get(), s.k);
        gemm<T>(rows, columns, s.wide, 1, rising, {value.get() + v_at * s.k * s.wide, s.wide, true},
                0, slope.get(), s.k);
        for (int64_t i = 0; i < rows; ++i) {
          const T log_sum = log_sums[q_at * s.q + i];
          T delta = 0;
          for (int64_t d = 0; d < s.wide; ++d)
            delta += rising.data[i * s.wide + d] * result[(q_at * s.q + i) * s.wide + d];
          for (int64_t j = 0; j < columns; ++j) {
            T& p = share_of[i * s.k + j];
            p = quick_exp(p - log_sum);
            slope[i * s.k + j] = p * (slope[i * s.k + j] - delta) * by;
          }
        }
        const Matrix<T> across{share_of.get(), s.k, true}, sloping{slope.get(), s.k};
        gemm<T>(columns, s.wide, rows, 1, across, rising, 1, v_slope.get() + v_at * s.k * s.wide,
                s.wide);
        gemm<T>(rows, s.deep, columns, 1, sloping, of_k, 0, q_slope.get() + q_at * s.q * s.deep,
                s.deep);
        gemm<T>(columns, s.deep, rows, 1, {slope.get(), s.k, true}, of_q, 1,
                k_slope.get() + k_at * s.k * s.deep, s.deep);
      }
    });
    put<T>(run[dq], q_slope.get()), put<T>(run[dk], k_slope.get()), put<T>(run[dv], v_slope.get());
  });
}
#undef AW_B

bool holds(cudnnPointwiseMode_t mode, int64_t a, int64_t b) {
  switch (mode) {
    case CUDNN_POINTWISE_CMP_EQ:
      return a == b;
    case CUDNN_POINTWISE_CMP_NEQ:
      return a != b;
    case CUDNN_POINTWISE_CMP_GT:
      return a > b;
    case CUDNN_POINTWISE_CMP_GE:
      return a >= b;
    case CUDNN_POINTWISE_CMP_LT:
      return a < b;
    default:
      return a <= b;
  }
}

// An element stays where its row, moved to the right by the one bound, compares with its column,
// moved by the other; where there are lengths, the last query stands beside the last key.
#define AW_M(name) CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_##name
void add_mask(Builder& builder, const Content& c) {
  refuse(c, "DIAGONAL_BAND_MASK", {AW_M(CU_SEQ_LEN_QDESC), AW_M(CU_SEQ_LEN_KVDESC)});
  const size_t x = builder.slot(c, AW_M(XDESC)), y = builder.slot(c, AW_M(YDESC)),
               other = builder.slot(c, AW_M(BDESC)),
               left = optional(builder, c, AW_M(LEFT_BOUND_DESC)),
               right = optional(builder, c, AW_M(SHIFT_RIGHT_BOUND_DESC)),
               q_lengths = optional(builder, c, AW_M(SEQ_LEN_QDESC)),
               k_lengths = optional(builder, c, AW_M(SEQ_LEN_KVDESC));
  const auto mode = c.get<cudnnPointwiseMode_t>(AW_M(COMPARISON_MODE));
  require(mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE,
          "a mode that is no comparison");
  const Layout& shape = builder.layout(x);
  require(shape.rank >= 3 && builder.layout(y).same_shape(shape) &&
              builder.layout(other).elements() == 1,
          "tensors of different shapes", kWrongShape);
  require((q_lengths == kNone) == (k_lengths == kNone), "lengths of only one side");
  check_lengths(builder, q_lengths, shape.dims[0]),
      check_lengths(builder, k_lengths, shape.dims[0]);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const View &from = run[x], &to = run[y];
    const int r = from.rank;
    const int64_t columns = from.dims[r - 1], rows = from.elements() / columns;
    const auto nq = lengths(run, q_lengths, from.dims[0], INT64_MAX),
               nk = lengths(run, k_lengths, from.dims[0], INT64_MAX);
    const int64_t down = right == kNone ? 0 : whole_number_of(run[right]),
                  across = left == kNone ? 0 : whole_number_of(run[left]);
    const T fill = static_cast<T>(number_of(run[other]));
    share(rows, columns, [&](int64_t number) {
      int64_t rest = number, at = 0, at_to = 0, index[kMostDims];
      for (int i = r - 2; i >= 0; --i) {
        index[i] = rest % from.dims[i], rest /= from.dims[i];
        at += index[i] * from.strides[i], at_to += index[i] * to.strides[i];
      }
      const auto batch = static_cast<size_t>(index[0]);
      const int64_t row = index[r - 2] + down + nk[batch] - nq[batch];
      Scratch<T> room(columns);
      const T* given =
          load_row<T>(from, at, from.strides[r - 1], static_cast<size_t>(columns), room.get());
      for (int64_t i = 0; i < columns; ++i)
        room[i] = holds(mode, row, i + across) ? given[i] : fill;
      store_row<T>(to, at_to, to.strides[r - 1], static_cast<size_t>(columns), room.get(), 1, 0);
    });
  });
}
#undef AW_M

}  // namespace

bool add_attention(Builder& builder, const Content& c, const std::function<void()>& change) {
  switch (c.type) {
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      return add_forward(builder, c, change), true;
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
      return add_backward(builder, c), true;
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
      return add_mask(builder, c), true;
    default:
      return false;
  }
}
#endif

}  // namespace aw::dnn
