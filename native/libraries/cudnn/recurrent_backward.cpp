// The gradients of recurrent networks.
#include "libraries/cudnn/recurrent_layers.h"
#include "libraries/cudnn/vector_math.h"

namespace aw::dnn {
namespace {

// Gradients before the curves of one row; `down` is the output's, `dcell` the cell's (of GRU what
// goes to the state before).
template <class T>
void cell_backward(const Network& net, const T* gates, const T* cell, const T* before,
                   const T* thrown, const T* down, T* dcell, T* slopes, T* state_slopes) {
  const int64_t h = net.hidden;
  for (int64_t i = 0; i < h; ++i) {
    switch (net.cell) {
      case CUDNN_RNN_RELU:
        slopes[i] = gates[i] > 0 ? down[i] : T{0};
        break;
      case CUDNN_RNN_TANH:
        slopes[i] = down[i] * (T{1} - gates[i] * gates[i]);
        break;
      case CUDNN_LSTM: {
        const T in = gates[i], keep = gates[h + i], fresh = gates[2 * h + i],
                give_out = gates[3 * h + i];
        const T bent = quick_tanh(cell[i]);
        T rise = dcell[i] + down[i] * give_out * (T{1} - bent * bent);
        const bool held = net.clips && (cell[i] <= static_cast<T>(net.least) ||
                                        cell[i] >= static_cast<T>(net.most));
        if (held) rise = 0;
        slopes[3 * h + i] = down[i] * bent * give_out * (T{1} - give_out);
        slopes[i] = rise * fresh * in * (T{1} - in);
        slopes[h + i] = rise * before[i] * keep * (T{1} - keep);
        slopes[2 * h + i] = rise * in * (T{1} - fresh * fresh);
        dcell[i] = rise * keep;
        break;
      }
      case CUDNN_GRU: {
        const T reset = gates[i], update = gates[h + i], fresh = gates[2 * h + i];
        const T bend = down[i] * (T{1} - update) * (T{1} - fresh * fresh);
        slopes[i] = bend * thrown[i] * reset * (T{1} - reset);
        slopes[h + i] = down[i] * (before[i] - fresh) * update * (T{1} - update);
        slopes[2 * h + i] = bend;
        state_slopes[2 * h + i] = bend * reset;
        dcell[i] = down[i] * update;
        break;
      }
    }
  }
  const int64_t same = net.cell == CUDNN_GRU ? 2 * h : net.gates * h;
  std::copy_n(slopes, same, state_slopes);
}

// The state before a step of a sequence: of the step before in the direction, or the first one.
template <class T>
const T* state_before(const Sequences& seq, int64_t t, int64_t b, bool backwards, const T* all,
                      int64_t step, const T* first) {
  const int64_t other = backwards ? t + 1 : t - 1;
  const bool inside = other >= 0 && other < seq.lengths[static_cast<size_t>(b)];
  return inside ? all + (other * seq.batch + b) * step : first;
}

template <class T>
void layer_backward(const Network& net, const Sequences& seq, const Weights<T>& w, bool backwards,
                    const Kept<T>& kept, const T* y, const T* dy, int64_t step, const T* hx,
                    const T* cx, const T* dhy, const T* dcy, T* dhx, T* dcx) {
  const int64_t wide_row = net.gates * net.hidden, h = net.hidden, batch = seq.batch, out = net.out;
  Scratch<T> dstate(batch * out), dcell(batch * h), zeros(std::max(out, h)), down(h), sum(out);
  std::fill_n(zeros.get(), std::max(out, h), T{0});
  for (int64_t i = 0; i < batch * out; ++i) dstate[i] = dhy ? dhy[i] : T{0};
  for (int64_t i = 0; i < batch * h; ++i) dcell[i] = dcy && net.cell == CUDNN_LSTM ? dcy[i] : T{0};
  std::fill_n(kept.slopes, seq.rows() * wide_row, T{0});
  std::fill_n(kept.state_slopes, seq.rows() * wide_row, T{0});
  each_step(seq.steps, !backwards, [&](int64_t t) {
    for (int64_t b = 0; b < batch; ++b) {
      if (t >= seq.lengths[static_cast<size_t>(b)]) continue;
      const int64_t row = t * batch + b;
      for (int64_t i = 0; i < out; ++i) sum[i] = dstate[b * out + i] + dy[row * step + i];
      if (net.projects)
        gemm<T>(1, h, out, 1, {sum.get(), out}, {w.projection, h}, 0, down.get(), h);
      else
        std::copy_n(sum.get(), h, down.get());
      const T* before =
          net.cell == CUDNN_LSTM
              ? state_before<T>(seq, t, b, backwards, kept.cells, h, cx ? cx + b * h : zeros.get())
              : state_before<T>(seq, t, b, backwards, y, step, hx ? hx + b * out : zeros.get());
      cell_backward(net, kept.gates + row * wide_row, kept.cells + row * h, before,
                    kept.thrown + row * h, down.get(), dcell.get() + b * h,
                    kept.slopes + row * wide_row, kept.state_slopes + row * wide_row);
      // A projection's gradient is needed for its weights.
      if (net.projects) std::copy_n(sum.get(), out, kept.thrown + row * h);
    }
    // To the state before, of the sequences that are this long.
    Scratch<T> back(batch * out);
    gemm<T>(batch, out, wide_row, 1, {kept.state_slopes + t * batch * wide_row, wide_row},
            {w.state, out}, 0, back.get(), out);
    for (int64_t b = 0; b < batch; ++b) {
      if (t >= seq.lengths[static_cast<size_t>(b)]) continue;
      for (int64_t i = 0; i < out; ++i)
        dstate[b * out + i] = back[b * out + i] + (net.cell == CUDNN_GRU ? dcell[b * h + i] : T{0});
    }
  });
  if (dhx) std::copy_n(dstate.get(), batch * out, dhx);
  if (dcx && net.cell == CUDNN_LSTM) std::copy_n(dcell.get(), batch * h, dcx);
}

}  // namespace

template <class T>
void recur_backward(const Network& net, const Sequences& seq, const RecurrenceGradients<T>& run) {
  const int64_t rows = seq.rows(), width = net.out * net.directions,
                wide_row = net.gates * net.hidden;
  Scratch<T> down(rows * width);
  std::copy_n(run.dy, rows * width, down.get());
  for (int64_t layer = net.layers - 1; layer >= 0; --layer) {
    const int64_t inputs = net.inputs(layer);
    Scratch<T> next(layer ? rows * inputs : 0);
    T* to = layer ? next.get() : run.dx;
    std::fill_n(to, rows * inputs, T{0});
    for (int64_t d = 0; d < net.directions; ++d) {
      const int64_t slot = (layer * net.directions + d) * seq.batch;
      auto at = [&](auto* base, int64_t size) { return base ? base + slot * size : nullptr; };
      const Weights<T> w = weights_of(net, layer, d, run.weights);
      const Kept<T> kept = kept_of(net, rows, layer, d, run.reserve);
      layer_backward<T>(net, seq, w, d == 1, kept,
                        outputs_of(net, rows, layer, run.reserve) + d * net.out,
                        down.get() + d * net.out, width, at(run.hx, net.out),
                        at(run.cx, net.hidden), at(run.dhy, net.out), at(run.dcy, net.hidden),
                        at(run.dhx, net.out), at(run.dcx, net.hidden));
      if (w.input) {
        multiply<T>(rows, inputs, wide_row, {kept.slopes, wide_row}, {w.input, inputs}, 1, to,
                    inputs);
        continue;
      }
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < wide_row; ++i)
          to[row * inputs + i % net.hidden] += kept.slopes[row * wide_row + i];
    }
    if (!layer) break;
    if (run.rate > 0) {
      const T* factors = factors_of(net, rows, layer - 1, run.reserve);
      for (int64_t i = 0; i < rows * width; ++i) next[i] *= factors[i];
    }
    std::copy_n(next.get(), rows * width, down.get());
  }
}

template <class T>
void recur_weights(const Network& net, const Sequences& seq, const T* x, const T* hx,
                   const T* reserve, float rate, T* dw) {
  const int64_t rows = seq.rows(), width = net.out * net.directions,
                wide_row = net.gates * net.hidden;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    Scratch<T> room, before(rows * net.out);
    const T* in = input_of<T>(net, rows, layer, x, reserve, rate > 0, room);
    for (int64_t d = 0; d < net.directions; ++d) {
      const Kept<T> kept = kept_of(net, rows, layer, d, const_cast<T*>(reserve));
      const Weights<T> w = weights_of<T>(net, layer, d, dw);
      const T* y = outputs_of(net, rows, layer, const_cast<T*>(reserve)) + d * net.out;
      for (int64_t t = 0; t < seq.steps; ++t)
        for (int64_t b = 0; b < seq.batch; ++b) {
          T* to = before.get() + (t * seq.batch + b) * net.out;
          const T* first =
              hx ? hx + ((layer * net.directions + d) * seq.batch + b) * net.out : nullptr;
          const T* from = t < seq.lengths[static_cast<size_t>(b)]
                              ? state_before<T>(seq, t, b, d == 1, y, width, first)
                              : nullptr;
          if (from)
            std::copy_n(from, net.out, to);
          else
            std::fill_n(to, net.out, T{0});
        }
      auto mine = [](const T* at) { return const_cast<T*>(at); };
      if (w.input)
        multiply<T>(wide_row, net.inputs(layer), rows, {kept.slopes, wide_row, true},
                    {in, net.inputs(layer)}, 1, mine(w.input), net.inputs(layer));
      multiply<T>(wide_row, net.out, rows, {kept.state_slopes, wide_row, true},
                  {before.get(), net.out}, 1, mine(w.state), net.out);
      if (net.projects) {  // rows of shorter sequences were never filled
        for (int64_t row = 0; row < rows; ++row)
          if (row / seq.batch < seq.lengths[static_cast<size_t>(row % seq.batch)])
            gemm<T>(net.out, net.hidden, 1, 1, {kept.thrown + row * net.hidden, net.out, true},
                    {kept.raw + row * net.hidden, net.hidden}, 1, mine(w.projection), net.hidden);
      }
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < wide_row; ++i) {
          if (w.input_bias) mine(w.input_bias)[i] += kept.slopes[row * wide_row + i];
          if (w.state_bias) mine(w.state_bias)[i] += kept.state_slopes[row * wide_row + i];
        }
    }
  }
}

#define AW_RECURRENT(T)                                                                          \
  template void recur_backward(const Network&, const Sequences&, const RecurrenceGradients<T>&); \
  template void recur_weights(const Network&, const Sequences&, const T*, const T*, const T*,    \
                              float, T*)
AW_RECURRENT(float);
AW_RECURRENT(double);
#undef AW_RECURRENT

}  // namespace aw::dnn
