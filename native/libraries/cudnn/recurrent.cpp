// The layers of recurrent networks forward, as products of matrices over all steps
// where they can be.
#include "libraries/cudnn/recurrent.h"

#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/recurrent_layers.h"

namespace aw::dnn {

Network::Network(const cudnnRNNDescriptorStruct& from)
    : cell(from.cell),
      bias(from.bias),
      type(from.type),
      gates(from.cell == CUDNN_LSTM  ? 4
            : from.cell == CUDNN_GRU ? 3
                                     : 1),
      directions(from.direction == CUDNN_BIDIRECTIONAL ? 2 : 1),
      layers(from.layers),
      input(from.input_size),
      hidden(from.hidden),
      out(from.projection > 0 ? from.projection : from.hidden),
      skips(from.input == CUDNN_SKIP_INPUT),
      projects(from.projection > 0 && from.projection != from.hidden),
      clips(from.clip == CUDNN_RNN_CLIP_MINMAX),
      least(from.least),
      most(from.most) {}

int64_t Network::matrices(int64_t layer) const {
  const int64_t rows = gates * hidden;
  return (has_input_weights(layer) ? rows * inputs(layer) : 0) + rows * out +
         (projects ? out * hidden : 0);
}
int64_t Network::matrix_offset(int64_t layer, int64_t direction) const {
  int64_t sum = direction * matrices(layer);
  for (int64_t i = 0; i < layer; ++i) sum += directions * matrices(i);
  return sum;
}
int64_t Network::bias_offset(int64_t layer, int64_t direction) const {
  return matrix_offset(layers, 0) + (layer * directions + direction) * biases();
}
int64_t Network::weights() const {
  return matrix_offset(layers, 0) + layers * directions * biases();
}

namespace {

template <class T>
void cell_forward(const Network& net, T* gates, const T* state_part, T* cell, T* thrown, T* out) {
  const int64_t h = net.hidden;
  for (int64_t i = 0; i < h; ++i) {
    switch (net.cell) {
      case CUDNN_RNN_RELU:
      case CUDNN_RNN_TANH: {
        const T sum = gates[i] + state_part[i];
        out[i] = gates[i] = net.cell == CUDNN_RNN_TANH ? quick_tanh(sum) : std::max(sum, T{0});
        break;
      }
      case CUDNN_LSTM: {
        const T in = sigmoid(gates[i] + state_part[i]),
                keep = sigmoid(gates[h + i] + state_part[h + i]),
                fresh = quick_tanh(gates[2 * h + i] + state_part[2 * h + i]),
                give_out = sigmoid(gates[3 * h + i] + state_part[3 * h + i]);
        T next = keep * cell[i] + in * fresh;
        if (net.clips) next = std::clamp(next, static_cast<T>(net.least), static_cast<T>(net.most));
        cell[i] = next;
        out[i] = give_out * quick_tanh(next);
        gates[i] = in, gates[h + i] = keep, gates[2 * h + i] = fresh, gates[3 * h + i] = give_out;
        break;
      }
      case CUDNN_GRU: {
        const T reset = sigmoid(gates[i] + state_part[i]),
                update = sigmoid(gates[h + i] + state_part[h + i]);
        thrown[i] = state_part[2 * h + i];
        const T fresh = quick_tanh(gates[2 * h + i] + reset * thrown[i]);
        out[i] = (T{1} - update) * fresh + update * cell[i];  // `cell` is the state before
        gates[i] = reset, gates[h + i] = update, gates[2 * h + i] = fresh;
        break;
      }
    }
  }
}

// One direction of one layer; its outputs go to every `step` elements of `y`.
template <class T>
void layer_forward(const Network& net, const Sequences& seq, const Weights<T>& w, const T* x,
                   int64_t inputs, bool backwards, const Kept<T>& kept, const T* hx, const T* cx,
                   T* y, int64_t step, T* hy, T* cy) {
  const int64_t wide_row = net.gates * net.hidden, h = net.hidden, batch = seq.batch;
  if (w.input)
    multiply<T>(seq.rows(), wide_row, inputs, {x, inputs}, {w.input, inputs, true}, 0, kept.gates,
                wide_row);
  for (int64_t row = 0; row < seq.rows(); ++row)
    for (int64_t i = 0; i < wide_row; ++i) {
      T& to = kept.gates[row * wide_row + i];
      if (!w.input) to = x[row * inputs + i % h];
      if (w.input_bias) to += w.input_bias[i];
    }
  Scratch<T> state(batch * net.out), cells(batch * h), part(batch * wide_row), fresh(h);
  for (int64_t i = 0; i < batch * net.out; ++i) state[i] = hx ? hx[i] : T{0};
  for (int64_t i = 0; i < batch * h; ++i) cells[i] = cx ? cx[i] : T{0};
  each_step(seq.steps, backwards, [&](int64_t t) {
    gemm<T>(batch, wide_row, net.out, 1, {state.get(), net.out}, {w.state, net.out, true}, 0,
            part.get(), wide_row);
    for (int64_t b = 0; b < batch; ++b) {
      if (t >= seq.lengths[static_cast<size_t>(b)]) continue;
      const int64_t row = t * batch + b;
      T* own = part.get() + b * wide_row;
      for (int64_t i = 0; i < wide_row && w.state_bias; ++i) own[i] += w.state_bias[i];
      T* cell = net.cell == CUDNN_LSTM ? cells.get() + b * h : state.get() + b * net.out;
      cell_forward(net, kept.gates + row * wide_row, own, cell, kept.thrown + row * h, fresh.get());
      if (net.cell == CUDNN_LSTM) std::copy_n(cell, h, kept.cells + row * h);
      T* to = state.get() + b * net.out;
      if (net.projects) {
        std::copy_n(fresh.get(), h, kept.raw + row * h);
        gemm<T>(1, net.out, h, 1, {fresh.get(), h}, {w.projection, h, true}, 0, to, net.out);
      } else {
        std::copy_n(fresh.get(), h, to);
      }
      std::copy_n(to, net.out, y + row * step);
    }
  });
  if (hy) std::copy_n(state.get(), batch * net.out, hy);
  if (cy && net.cell == CUDNN_LSTM) std::copy_n(cells.get(), batch * h, cy);
}

}  // namespace

int64_t Network::reserve(int64_t rows) const {
  return layers * directions * rows * (3 * gates * hidden + 3 * hidden) +
         layers * rows * out * directions * 2;
}

template <class T>
void recur(const Network& net, const Sequences& seq, const Recurrence<T>& run) {
  const int64_t rows = seq.rows(), width = net.out * net.directions;
  const bool drops = run.rate > 0;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    Scratch<T> room;
    const T* in = input_of<T>(net, rows, layer, run.x, run.reserve, drops, room);
    T* out = outputs_of(net, rows, layer, run.reserve);
    std::fill_n(out, rows * width, T{0});
    for (int64_t d = 0; d < net.directions; ++d) {
      const int64_t slot = (layer * net.directions + d) * seq.batch;
      auto at = [&](auto* base, int64_t size) { return base ? base + slot * size : nullptr; };
      layer_forward<T>(net, seq, weights_of(net, layer, d, run.weights), in, net.inputs(layer),
                       d == 1, kept_of(net, rows, layer, d, run.reserve), at(run.hx, net.out),
                       at(run.cx, net.hidden), out + d * net.out, width, at(run.hy, net.out),
                       at(run.cy, net.hidden));
    }
    if (drops && layer + 1 < net.layers)
      dropout_factors<T>(run.rate, *run.state, rows * width,
                         factors_of(net, rows, layer, run.reserve));
  }
  std::copy_n(outputs_of(net, rows, net.layers - 1, run.reserve), rows * width, run.y);
}

template void recur(const Network&, const Sequences&, const Recurrence<float>&);
template void recur(const Network&, const Sequences&, const Recurrence<double>&);

}  // namespace aw::dnn
