// cuDNN: multi-head attention with its weights inside, forward and backward.
#include "libraries/cudnn/attention.h"

#include "libraries/cudnn/dropout.h"
#include "libraries/cudnn/gemm.h"
#include "libraries/cudnn/softmax.h"

using namespace aw::dnn;

namespace {

// Sequences in memory: vectors lie one behind the other, the rest in any order.
struct Data {
  View memory;
  int64_t steps, batch, beams, vector, step_of, batch_of, beam_of;
  bool batch_first;  // whether lengths go through the beams of one batch before the next's
  double fill;

  Data(const cudnnSeqDataDescriptorStruct* desc, const void* data) {
    auto& from = object(desc);
    require(from.rank > 0, "a sequence descriptor that was never set");
    require_pointer(data);
    int64_t strides[CUDNN_SEQDATA_DIM_COUNT], size = 1;
    int places[CUDNN_SEQDATA_DIM_COUNT];
    for (int i = from.rank - 1; i >= 0; --i) {
      strides[from.axes[i]] = size, places[from.axes[i]] = i;
      size *= from.dims[from.axes[i]];
    }
    memory = View(packed(from.type, {size}), data);
    steps = from.dims[CUDNN_SEQDATA_TIME_DIM], step_of = strides[CUDNN_SEQDATA_TIME_DIM];
    batch = from.dims[CUDNN_SEQDATA_BATCH_DIM], batch_of = strides[CUDNN_SEQDATA_BATCH_DIM];
    beams = from.dims[CUDNN_SEQDATA_BEAM_DIM], beam_of = strides[CUDNN_SEQDATA_BEAM_DIM];
    vector = from.dims[CUDNN_SEQDATA_VECT_DIM], fill = from.fill;
    batch_first = places[CUDNN_SEQDATA_BATCH_DIM] < places[CUDNN_SEQDATA_BEAM_DIM];
  }
  int64_t sequences() const { return batch * beams; }
  int64_t rows() const { return sequences() * steps; }
  int64_t at(int64_t sequence, int64_t step) const {
    return sequence / beams * batch_of + sequence % beams * beam_of + step * step_of;
  }
  // Lengths of the sequences by batch and beam, out of the program's array on the device.
  std::vector<int64_t> lengths(const int* given) const {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < sequences(); ++i) {
      const int64_t number = batch_first ? i : i % beams * batch + i / beams;
      out.push_back(std::clamp<int64_t>(given[number], 0, steps));
    }
    return out;
  }
};

struct Range {
  int64_t begin, end;
};

// Rows by batch, beam and step; zeros outside of the ranges, which are not read.
template <class T>
Scratch<T> gather(const Data& from, const std::vector<Range>& ranges) {
  Scratch<T> out(from.rows() * from.vector);
  const auto count = static_cast<size_t>(from.vector);
  share(from.rows(), from.vector, [&](int64_t i) {
    const int64_t sequence = i / from.steps, step = i % from.steps;
    const Range within = ranges[static_cast<size_t>(sequence)];
    T* to = out.get() + i * from.vector;
    if (step < within.begin || step >= within.end) {
      std::fill_n(to, count, T{0});
      return;
    }
    const T* row = load_row<T>(from.memory, from.at(sequence, step), 1, count, to);
    if (row != to) std::copy_n(row, count, to);
  });
  return out;
}
// The way back; what lies behind the ends of sequences is filled. One step alone where `only` is
// not negative.
template <class T>
void scatter(const T* rows, const Data& to, const std::vector<int64_t>& lengths, int64_t only) {
  const std::vector<T> filling(static_cast<size_t>(to.vector), static_cast<T>(to.fill));
  for (int64_t i = 0; i < to.rows(); ++i) {
    const int64_t sequence = i / to.steps, step = i % to.steps;
    if (only >= 0 && step != only) continue;
    const bool inside = step < lengths[static_cast<size_t>(sequence)];
    store_row<T>(to.memory, to.at(sequence, step), 1, static_cast<size_t>(to.vector),
                 inside ? rows + i * to.vector : filling.data(), 1, 0);
  }
}

std::vector<Range> whole(const std::vector<int64_t>& lengths) {
  std::vector<Range> out;
  for (int64_t n : lengths) out.push_back({0, n});
  return out;
}

// Which keys each step of the queries sees.
struct Windows {
  std::vector<Range> of;
  Windows(const int* low, const int* high, int64_t steps, int64_t only) {
    require_pointer(low), require_pointer(high);
    for (int64_t t = 0; t < steps; ++t)
      of.push_back(only >= 0 && t != only ? Range{0, 0}
                                          : Range{std::max(0, low[t]), std::max(0, high[t])});
  }
  // Those of a sequence that any step sees.
  std::vector<Range> seen(const std::vector<int64_t>& lengths) const {
    Range all{INT64_MAX, 0};
    for (const Range& window : of)
      if (window.begin < window.end)
        all = {std::min(all.begin, window.begin), std::max(all.end, window.end)};
    std::vector<Range> out;
    for (int64_t n : lengths) out.push_back({all.begin, std::min(all.end, n)});
    return out;
  }
};

struct Dropping {
  float rate = 0;
  DropoutState* state = nullptr;
  explicit Dropping(const cudnnDropoutDescriptorStruct* desc) {
    if (!desc) return;
    rate = object(desc).rate, state = static_cast<DropoutState*>(desc->states);
    require(state || rate == 0, "a dropout descriptor without states");
  }
};

struct Call {
  Attention layer;
  AttentionReserve places;

  Call(cudnnHandle_t handle, const cudnnAttnDescriptorStruct* desc)
      : layer(object(desc)), places(layer) {
    object(handle);
    require(layer.heads > 0, "an attention descriptor that was never set");
    need_gemm();
  }
  bool doubles() const { return wide(layer.type); }
  // Of queries and the output, and of keys and values.
  void check(const Data& q, const Data& k, const Data& v, const Data& out) const {
    const Data* in[] = {&q, &k, &v};
    for (int i = 0; i < 3; ++i)
      require(in[i]->vector == layer.in[i] && in[i]->memory.type == layer.type,
              "sequences of another type or size of vectors than the layer's", kWrongShape);
    require(out.vector == layer.out && out.memory.type == layer.type,
            "an output of another type or size of vectors than the layer's", kWrongShape);
    require(
        q.batch == k.batch && q.batch == v.batch && q.batch == out.batch && q.batch <= layer.batch,
        "batches that do not go together", kWrongShape);
    require(q.beams == out.beams && k.beams == v.beams && q.beams <= layer.beams &&
                k.beams == (layer.one_to_one ? q.beams : 1),
            "beams that do not go together", kWrongShape);
    require(q.steps == out.steps && k.steps == v.steps && q.steps <= layer.longest_q &&
                k.steps <= layer.longest_k,
            "sequences of different lengths, or longer ones than the layer's", kWrongShape);
  }
  View weights(const void* space, size_t bytes) const {
    if (!layer.weights()) return {packed(layer.type, {1}), nullptr};
    require_pointer(space);
    require(bytes >= static_cast<size_t>(layer.weights()) * element_bytes(layer.type),
            "too little room for weights", kTooSmall);
    return {packed(layer.type, {layer.weights()}), space};
  }
  void check_reserve(const void* reserve, size_t bytes) const {
    require_pointer(reserve);
    require(bytes >=
                static_cast<size_t>(places.elements) * (doubles() ? sizeof(double) : sizeof(float)),
            "too little room for the reserve", kTooSmall);
  }
};

// All weights as numbers; none where a layer has none.
template <class T>
struct Weights {
  std::unique_ptr<Dense<T>> all;
  const Attention& layer;
  Weights(const Attention& of, const View& from)
      : all(from.data ? std::make_unique<Dense<T>>(from) : nullptr), layer(of) {}
  const T* part(int kind) const {
    const auto& found = layer.parts[static_cast<size_t>(kind)];
    return found.elements ? all->get() + found.offset : nullptr;
  }
};

// out[rows x to] = in[rows x from] * weights[to x from]^T + biases
template <class T>
void project(int64_t rows, int64_t to, int64_t from, const T* in, const T* weights, const T* biases,
             T* out) {
  for (int64_t i = 0; biases && i < rows; ++i) std::copy_n(biases, to, out + i * to);
  multiply<T>(rows, to, from, {in, from}, {weights, from, true}, biases ? T{1} : T{0}, out, to);
}

// The arrays of one run: rows of queries, keys and values as heads see them.
template <class T>
struct Heads {
  const Attention& layer;
  const Data &q, &k;
  const Windows& windows;
  const std::vector<int64_t>&q_lengths, &k_lengths;
  const T* rows[3];

  int64_t key_sequence(int64_t sequence) const {
    return layer.one_to_one ? sequence : sequence / q.beams;
  }
  const T* begin(int which, int64_t sequence, int64_t head) const {
    const Data& of = which ? k : q;
    return rows[which] + sequence * of.steps * layer.width(which) + head * layer.step(which);
  }
  Range window(int64_t sequence, int64_t step) const {
    const Range found = windows.of[static_cast<size_t>(step)];
    const int64_t length = k_lengths[static_cast<size_t>(key_sequence(sequence))];
    const int64_t end = std::min(found.end, length);
    return {std::min(found.begin, end), end};
  }
};

constexpr int64_t kSteps = 64;  // of queries that are handled at a time

// What each step of the queries takes of each value, and the sums of these. `shares` of all pairs
// are kept where there is such room, `factors` are dropout's.
template <class T>
void attend(const Heads<T>& run, T* shares, const T* factors, T* joined) {
  const Attention& layer = run.layer;
  const int64_t q_steps = run.q.steps, k_steps = run.k.steps, heads = layer.heads,
                width = heads * layer.value(), blocks = (q_steps + kSteps - 1) / kSteps;
  share(run.q.sequences() * heads * blocks, kSteps * k_steps * (layer.query() + layer.value()),
        [&](int64_t number) {
          const int64_t block = number % blocks, head = number / blocks % heads,
                        sequence = number / blocks / heads;
          const int64_t first = block * kSteps, count = std::min(kSteps, q_steps - first);
          const int64_t pairs = ((sequence * heads + head) * q_steps + first) * k_steps,
                        keys = run.key_sequence(sequence);
          Scratch<T> room(shares ? 0 : count * k_steps), dropped(factors ? count * k_steps : 0);
          T* to = shares ? shares + pairs : room.get();
          gemm<T>(count, k_steps, layer.query(), static_cast<T>(layer.scale),
                  {run.begin(0, sequence, head) + first * layer.width(0), layer.width(0)},
                  {run.begin(1, keys, head), layer.width(1), true}, 0, to, k_steps);
          for (int64_t i = 0; i < count; ++i) {
            T* row = to + i * k_steps;
            const bool inside = first + i < run.q_lengths[static_cast<size_t>(sequence)];
            const Range window = inside ? run.window(sequence, first + i) : Range{0, 0};
            std::fill_n(row, window.begin, T{0});
            if (window.begin < window.end)
              softmax_row<T>(row + window.begin, static_cast<size_t>(window.end - window.begin),
                             row + window.begin);
            std::fill_n(row + window.end, k_steps - window.end, T{0});
          }
          const T* taken = to;
          if (factors) {
            for (int64_t i = 0; i < count * k_steps; ++i) dropped[i] = to[i] * factors[pairs + i];
            taken = dropped.get();
          }
          gemm<T>(count, layer.value(), k_steps, 1, {taken, k_steps},
                  {run.begin(2, keys, head), layer.width(2)}, 0,
                  joined + (sequence * q_steps + first) * width + head * layer.value(), width);
        });
}

// Gradients of what `attend` was given: `slopes` of the rows, added up where heads or beams share
// them.
template <class T>
void attend_backward(const Heads<T>& run, const T* shares, const T* factors, const T* rise,
                     T* const* slopes) {
  const Attention& layer = run.layer;
  const int64_t q_steps = run.q.steps, k_steps = run.k.steps, heads = layer.heads,
                width = heads * layer.value();
  const Data* of[] = {&run.q, &run.k, &run.k};
  for (int i = 0; i < 3; ++i) std::fill_n(slopes[i], of[i]->rows() * layer.width(i), T{0});
  const bool apart = layer.projects[0] && layer.projects[1] && layer.projects[2];
  const int64_t together = apart ? 1 : heads, beams = run.q.sequences() / run.k.sequences();
  auto one = [&](int64_t sequence, int64_t head) {
    const int64_t keys = run.key_sequence(sequence);
    auto place = [&](int which) {
      return slopes[which] + (which ? keys : sequence) * of[which]->steps * layer.width(which) +
             head * layer.step(which);
    };
    Scratch<T> taken(kSteps * k_steps), slope(kSteps * k_steps);
    for (int64_t first = 0; first < q_steps; first += kSteps) {
      const int64_t count = std::min(kSteps, q_steps - first), all = count * k_steps;
      const T* share_of = shares + ((sequence * heads + head) * q_steps + first) * k_steps;
      const T* kept =
          factors ? factors + ((sequence * heads + head) * q_steps + first) * k_steps : nullptr;
      const Matrix<T> up{rise + (sequence * q_steps + first) * width + head * layer.value(), width};
      for (int64_t i = 0; i < all; ++i) taken[i] = kept ? share_of[i] * kept[i] : share_of[i];
      gemm<T>(k_steps, layer.value(), count, 1, {taken.get(), k_steps, true}, up, 1, place(2),
              layer.width(2));
      gemm<T>(count, k_steps, layer.value(), 1, up,
              {run.begin(2, keys, head), layer.width(2), true}, 0, slope.get(), k_steps);
      for (int64_t i = 0; kept && i < all; ++i) slope[i] *= kept[i];
      for (int64_t i = 0; i < count; ++i)
        softmax_row_backward<T>(share_of + i * k_steps, slope.get() + i * k_steps,
                                static_cast<size_t>(k_steps), slope.get() + i * k_steps);
      const auto scale = static_cast<T>(layer.scale);
      gemm<T>(count, layer.query(), k_steps, scale, {slope.get(), k_steps},
              {run.begin(1, keys, head), layer.width(1)}, 1, place(0) + first * layer.width(0),
              layer.width(0));
      gemm<T>(k_steps, layer.query(), count, scale, {slope.get(), k_steps, true},
              {run.begin(0, sequence, head) + first * layer.width(0), layer.width(0)}, 1, place(1),
              layer.width(1));
    }
  };
  share(run.k.sequences() * (heads / together),
        beams * together * q_steps * k_steps * (layer.query() + layer.value()),
        [&](int64_t number) {
          const int64_t keys = number / (heads / together);
          const int64_t first = number % (heads / together) * together;
          for (int64_t beam = 0; beam < beams; ++beam)
            for (int64_t head = first; head < first + together; ++head)
              one(keys * beams + beam, head);
        });
}

template <class T>
std::vector<int64_t> kept_lengths(const T* from, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<int64_t>(from[i]));
  return out;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnMultiHeadAttnForward(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t desc, int current, const int low[],
    const int high[], const int q_lengths[], const int k_lengths[],
    const cudnnSeqDataDescriptor_t q_desc, const void* queries, const void* residuals,
    const cudnnSeqDataDescriptor_t k_desc, const void* keys, const cudnnSeqDataDescriptor_t v_desc,
    const void* values, const cudnnSeqDataDescriptor_t o_desc, void* out, size_t weight_bytes,
    const void* weights, size_t, void*, size_t reserve_bytes, void* reserve) {
  return api<"cudnnMultiHeadAttnForward">([&] {
    const Call call(handle, desc);
    const Data q(q_desc, queries), k(k_desc, keys), v(v_desc, values), o(o_desc, out);
    call.check(q, k, v, o);
    require_pointer(q_lengths), require_pointer(k_lengths);
    require(current < q.steps, "a step behind the end of the queries");
    const Windows windows(low, high, q.steps, current);
    const bool trains = reserve || reserve_bytes;
    if (trains) {
      call.check_reserve(reserve, reserve_bytes);
      require(current < 0, "training of one step alone");
    }
    std::unique_ptr<Data> rest;
    if (residuals) {
      require(call.layer.in[0] == call.layer.out,
              "residuals where queries and the output differ in size", kWrongShape);
      rest = std::make_unique<Data>(q_desc, residuals);
    }
    const Dropping inner(desc->attention_dropout), post(desc->post_dropout);
    const View w = call.weights(weights, weight_bytes);
    const Data more = rest ? *rest : q;
    const bool adds = rest != nullptr;
    work(object(handle), "cudnn_attention_forward", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const Attention& layer = call.layer;
      const AttentionReserve& at = call.places;
      T* kept = trains ? static_cast<T*>(reserve) : nullptr;
      const Weights<T> parts(layer, w);
      const auto nq = q.lengths(q_lengths), nk = k.lengths(k_lengths);
      std::vector<Range> steps = whole(nq);
      if (current >= 0)
        for (auto& range : steps) range = {current, std::min<int64_t>(range.end, current + 1)};
      const std::vector<Range> seen = windows.seen(nk);
      std::vector<Scratch<T>> own;
      Heads<T> run{layer, q, k, windows, nq, nk, {}};
      const Data* given[] = {&q, &k, &v};
      for (int i = 0; i < 3; ++i) {
        Scratch<T> dense = gather<T>(*given[i], i ? seen : steps);
        const int64_t rows = given[i]->rows(), width = layer.width(i);
        T* to = kept ? kept + at.rows[i] : dense.get();
        if (!layer.projects[i]) {
          if (kept) std::copy_n(dense.get(), rows * width, to);
          own.push_back(std::move(dense));
        } else {
          if (!kept) to = own.emplace_back(rows * width).get();
          project<T>(rows, width, layer.in[i], dense.get(), parts.part(i), parts.part(4 + i), to);
        }
        run.rows[i] = to;
      }
      const T* factors = nullptr;
      if (kept) {
        std::copy(nq.begin(), nq.end(), kept + at.lengths[0]);
        std::copy(nk.begin(), nk.end(), kept + at.lengths[1]);
        if (layer.drops) {
          dropout_factors<T>(inner.rate, *inner.state,
                             q.sequences() * layer.heads * q.steps * k.steps, kept + at.factors);
          factors = kept + at.factors;
        }
      }
      Scratch<T> room(kept ? 0 : q.rows() * layer.heads * layer.value());
      T* joined = kept ? kept + at.joined : room.get();
      attend<T>(run, kept ? kept + at.shares : nullptr, factors, joined);
      Scratch<T> result(q.rows() * layer.out);
      if (layer.projects[3])
        project<T>(q.rows(), layer.out, layer.heads * layer.value(), joined, parts.part(3),
                   parts.part(7), result.get());
      else
        std::copy_n(joined, q.rows() * layer.out, result.get());
      if (kept && layer.post_drops) {
        T* by = kept + at.post_factors;
        dropout_factors<T>(post.rate, *post.state, q.rows() * layer.out, by);
        for (int64_t i = 0; i < q.rows() * layer.out; ++i) result[i] *= by[i];
      }
      if (adds) {
        const Scratch<T> dense = gather<T>(more, steps);
        for (int64_t i = 0; i < q.rows() * layer.out; ++i) result[i] += dense[i];
      }
      scatter<T>(result.get(), o, nq, current);
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnMultiHeadAttnBackwardData(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t desc, const int low[], const int high[],
    const int q_lengths[], const int k_lengths[], const cudnnSeqDataDescriptor_t do_desc,
    const void* dout, const cudnnSeqDataDescriptor_t dq_desc, void* dqueries, const void* queries,
    const cudnnSeqDataDescriptor_t dk_desc, void* dkeys, const void* keys,
    const cudnnSeqDataDescriptor_t dv_desc, void* dvalues, const void* values, size_t weight_bytes,
    const void* weights, size_t, void*, size_t reserve_bytes, void* reserve) {
  return api<"cudnnMultiHeadAttnBackwardData">([&] {
    const Call call(handle, desc);
    const Data q(dq_desc, dqueries), k(dk_desc, dkeys), v(dv_desc, dvalues), o(do_desc, dout);
    require_pointer(queries), require_pointer(keys), require_pointer(values);
    call.check(q, k, v, o);
    require_pointer(q_lengths), require_pointer(k_lengths);
    const Windows windows(low, high, q.steps, -1);
    call.check_reserve(reserve, reserve_bytes);
    const View w = call.weights(weights, weight_bytes);
    work(object(handle), "cudnn_attention_backward_data", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const Attention& layer = call.layer;
      const AttentionReserve& at = call.places;
      T* kept = static_cast<T*>(reserve);
      const Weights<T> parts(layer, w);
      const auto nq = q.lengths(q_lengths), nk = k.lengths(k_lengths);
      const int64_t rows = q.rows(), width = layer.heads * layer.value();
      // The gradient before the dropout behind the output, for that of the weights, too.
      const Scratch<T> dense = gather<T>(o, whole(nq));
      T* rise = kept + at.rise;
      for (int64_t i = 0; i < rows * layer.out; ++i)
        rise[i] = layer.post_drops ? dense[i] * kept[at.post_factors + i] : dense[i];
      Scratch<T> room(layer.projects[3] ? rows * width : 0);
      if (layer.projects[3])
        multiply<T>(rows, width, layer.out, {rise, layer.out}, {parts.part(3), width}, 0,
                    room.get(), width);
      const Heads<T> run{
          layer, q, k, windows, nq, nk, {kept + at.rows[0], kept + at.rows[1], kept + at.rows[2]}};
      T* const slopes[] = {kept + at.slopes[0], kept + at.slopes[1], kept + at.slopes[2]};
      attend_backward<T>(run, kept + at.shares, layer.drops ? kept + at.factors : nullptr,
                         layer.projects[3] ? room.get() : rise, slopes);
      const Data* to[] = {&q, &k, &v};
      for (int i = 0; i < 3; ++i) {
        const int64_t count = to[i]->rows();
        Scratch<T> back(layer.projects[i] ? count * layer.in[i] : 0);
        if (layer.projects[i])
          multiply<T>(count, layer.in[i], layer.width(i), {slopes[i], layer.width(i)},
                      {parts.part(i), layer.in[i]}, 0, back.get(), layer.in[i]);
        scatter<T>(layer.projects[i] ? back.get() : slopes[i], *to[i], i ? nk : nq, -1);
      }
    });
  });
}

// Needs what cudnnMultiHeadAttnBackwardData left in the reserve.
AW_EXPORT cudnnStatus_t cudnnMultiHeadAttnBackwardWeights(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t desc, cudnnWgradMode_t mode,
    const cudnnSeqDataDescriptor_t q_desc, const void* queries,
    const cudnnSeqDataDescriptor_t k_desc, const void* keys, const cudnnSeqDataDescriptor_t v_desc,
    const void* values, const cudnnSeqDataDescriptor_t do_desc, const void* dout,
    size_t weight_bytes, const void* weights, void* gradients, size_t, void*, size_t reserve_bytes,
    void* reserve) {
  return api<"cudnnMultiHeadAttnBackwardWeights">([&] {
    require(mode == CUDNN_WGRAD_MODE_ADD || mode == CUDNN_WGRAD_MODE_SET,
            "no such mode of gradients");
    const Call call(handle, desc);
    const Data q(q_desc, queries), k(k_desc, keys), v(v_desc, values), o(do_desc, dout);
    call.check(q, k, v, o);
    call.check_reserve(reserve, reserve_bytes);
    call.weights(weights, weight_bytes);
    const View to = call.weights(gradients, weight_bytes);
    if (!to.data) return;
    work(object(handle), "cudnn_attention_backward_weights", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const Attention& layer = call.layer;
      const AttentionReserve& at = call.places;
      const T* kept = static_cast<const T*>(reserve);
      Scratch<T> sums(layer.weights());
      std::fill_n(sums.get(), layer.weights(), T{0});
      // slopes[rows x to]^T * in[rows x from]
      auto part = [&](int of, int64_t rows, int64_t columns, int64_t depth, const T* slopes,
                      const T* in) {
        const auto &matrix = layer.parts[static_cast<size_t>(of)],
                   &bias = layer.parts[static_cast<size_t>(4 + of)];
        multiply<T>(columns, depth, rows, {slopes, columns, true}, {in, depth}, 0,
                    sums.get() + matrix.offset, depth);
        T* total = sums.get() + bias.offset;
        for (int64_t i = 0; bias.elements && i < rows; ++i)
          for (int64_t c = 0; c < columns; ++c) total[c] += slopes[i * columns + c];
      };
      const Data* in[] = {&q, &k, &v};
      for (int i = 0; i < 3; ++i) {
        if (!layer.projects[i]) continue;
        const auto lengths = kept_lengths(kept + at.lengths[i ? 1 : 0], in[i]->sequences());
        const Scratch<T> dense = gather<T>(*in[i], whole(lengths));
        part(i, in[i]->rows(), layer.width(i), layer.in[i], kept + at.slopes[i], dense.get());
      }
      if (layer.projects[3])
        part(3, q.rows(), layer.out, layer.heads * layer.value(), kept + at.rise, kept + at.joined);
      put<T>(to, sums.get(), 1, mode == CUDNN_WGRAD_MODE_ADD ? 1 : 0);
    });
  });
}
