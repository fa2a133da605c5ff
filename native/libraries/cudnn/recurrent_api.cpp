// cuDNN: recurrent networks forward and backward.
#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/gemm.h"
#include "libraries/cudnn/recurrent.h"

using namespace aw::dnn;

namespace {

// Where sequence data lie: at(step, sequence) in elements.
struct Data {
  View memory;  // a row of elements
  cudnnRNNDataLayout_t order;
  int64_t steps, batch, vector;
  std::vector<int64_t> begin;  // of each step, where packed
  double fill;

  Data(const cudnnRNNDataDescriptorStruct* desc, const void* data) {
    auto& from = object(desc);
    require(from.batch > 0, "a sequence descriptor that was never set");
    require_pointer(data);
    order = from.layout, steps = from.longest, batch = from.batch, vector = from.vector,
    fill = from.fill;
    memory = View(packed(from.type, {steps * batch * vector}), data);
    int64_t sum = 0;
    for (int64_t t = 0; t < steps && order == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED; ++t) {
      begin.push_back(sum);
      for (int length : from.lengths) sum += t < length;
    }
  }
  int64_t at(int64_t t, int64_t b) const {
    if (order == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
      return (begin[static_cast<size_t>(t)] + b) * vector;
    return (order == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED ? b * steps + t : t * batch + b) *
           vector;
  }
};

// All steps of all sequences, zeros behind their ends.
template <class T>
Scratch<T> gather(const Data& from, const Sequences& seq) {
  Scratch<T> out(from.steps * from.batch * from.vector);
  for (int64_t t = 0; t < from.steps; ++t)
    for (int64_t b = 0; b < from.batch; ++b) {
      T* to = out.get() + (t * from.batch + b) * from.vector;
      const auto count = static_cast<size_t>(from.vector);
      if (t >= seq.lengths[static_cast<size_t>(b)]) {
        std::fill_n(to, count, T{0});
        continue;
      }
      const T* row = load_row<T>(from.memory, from.at(t, b), 1, count, to);
      if (row != to) std::copy_n(row, count, to);
    }
  return out;
}
template <class T>
void scatter(const T* rows, const Data& to, const Sequences& seq) {
  const std::vector<T> filling(static_cast<size_t>(to.vector), static_cast<T>(to.fill));
  for (int64_t t = 0; t < to.steps; ++t)
    for (int64_t b = 0; b < to.batch; ++b) {
      const bool inside = t < seq.lengths[static_cast<size_t>(b)];
      if (!inside && to.order == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) continue;
      const T* row = inside ? rows + (t * to.batch + b) * to.vector : filling.data();
      store_row<T>(to.memory, to.at(t, b), 1, static_cast<size_t>(to.vector), row, 1, 0);
    }
}

struct Call {
  Network net;
  Sequences seq;
  float rate = 0;
  DropoutState* state = nullptr;

  Call(cudnnHandle_t handle, const cudnnRNNDescriptorStruct* desc,
       const cudnnRNNDataDescriptorStruct* x, const cudnnRNNDataDescriptorStruct* y)
      : net(object(desc)) {
    object(handle);
    require(net.layers > 0, "a recurrent descriptor that was never set");
    auto &from = object(x), &to = object(y);
    require(from.batch > 0 && from.batch == to.batch && from.longest == to.longest &&
                from.lengths == to.lengths,
            "sequences of different lengths", kWrongShape);
    require(from.vector == net.input && to.vector == net.out * net.directions,
            "vectors of another size", kWrongShape);
    require(from.type == net.type && to.type == net.type,
            "sequences of another data type than the network's");
    seq = {from.longest, from.batch, from.lengths};
    if (net.layers > 1 && desc->dropout) {
      auto& dropout = object(desc->dropout);
      rate = dropout.rate, state = static_cast<DropoutState*>(dropout.states);
      require(state || rate == 0, "a dropout descriptor without states");
    }
    need_gemm();
  }
  bool doubles() const { return wide(net.type); }
  size_t kept() const {
    return static_cast<size_t>(net.reserve(seq.rows())) *
           (doubles() ? sizeof(double) : sizeof(float));
  }
  View weights(const void* space, size_t bytes) const {
    require_pointer(space);
    require(bytes >= static_cast<size_t>(net.weights()) * element_bytes(net.type),
            "too little room for weights", kTooSmall);
    return {packed(net.type, {net.weights()}), space};
  }
  // A state of all layers; without memory where the program gives none.
  View state_of(const cudnnTensorDescriptorStruct* desc, const void* data, int64_t size) const {
    const Layout shape = packed(net.type, {net.layers * net.directions, seq.batch, size});
    if (!data) return {shape, nullptr};
    Layout given = layout(desc);
    // PyTorch describes states in five dimensions, the last two of size 1.
    while (given.rank > shape.rank && given.dims[given.rank - 1] == 1) --given.rank;
    require(given.same_shape(shape) && given.type == net.type, "a state of another shape",
            kWrongShape);
    return {given, data};
  }
};

template <class T>
std::unique_ptr<Dense<T>> dense(const View& from) {
  return from.data ? std::make_unique<Dense<T>>(from) : nullptr;
}
template <class T>
const T* start(const std::unique_ptr<Dense<T>>& from) {
  return from ? from->get() : nullptr;
}
template <class T>
Scratch<T> room_for(const View& to) {
  return Scratch<T>(to.data ? to.elements() : 0);
}
template <class T>
void hand_back(const View& to, const Scratch<T>& from) {
  if (to.data) put<T>(to, from.get());
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                        cudnnForwardMode_t mode, const int32_t*,
                                        cudnnRNNDataDescriptor_t x_desc, const void* x,
                                        cudnnRNNDataDescriptor_t y_desc, void* y,
                                        cudnnTensorDescriptor_t h_desc, const void* hx, void* hy,
                                        cudnnTensorDescriptor_t c_desc, const void* cx, void* cy,
                                        size_t weight_bytes, const void* weights, size_t, void*,
                                        size_t reserve_bytes, void* reserve) {
  return api<"cudnnRNNForward">([&] {
    const Call call(handle, desc, x_desc, y_desc);
    const Data in(x_desc, x), out(y_desc, y);
    const View w = call.weights(weights, weight_bytes);
    const bool lstm = call.net.cell == CUDNN_LSTM;
    const View h0 = call.state_of(h_desc, hx, call.net.out),
               h1 = call.state_of(h_desc, hy, call.net.out),
               c0 = call.state_of(c_desc, lstm ? cx : nullptr, call.net.hidden),
               c1 = call.state_of(c_desc, lstm ? cy : nullptr, call.net.hidden);
    const bool trains = mode == CUDNN_FWD_MODE_TRAINING;
    if (trains) {
      require_pointer(reserve);
      require(reserve_bytes >= call.kept(), "too little room for the reserve", kTooSmall);
    }
    work(object(handle), "cudnn_rnn_forward", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> all(w);
      const auto h = dense<T>(h0), c = dense<T>(c0);
      const Scratch<T> rows = gather<T>(in, call.seq), result(call.seq.rows() * out.vector),
                       own(trains ? 0 : call.net.reserve(call.seq.rows())), hn = room_for<T>(h1),
                       cn = room_for<T>(c1);
      Recurrence<T> run;
      run.x = rows.get(), run.weights = all.get(), run.hx = start(h), run.cx = start(c);
      run.y = result.get(), run.hy = hn.get(), run.cy = cn.get();
      run.reserve = trains ? static_cast<T*>(reserve) : own.get();
      run.rate = trains ? call.rate : 0, run.state = call.state;
      recur<T>(call.net, call.seq, run);
      scatter<T>(result.get(), out, call.seq);
      hand_back(h1, hn), hand_back(c1, cn);
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t desc, const int32_t*,
    cudnnRNNDataDescriptor_t y_desc, const void*, const void* dy, cudnnRNNDataDescriptor_t x_desc,
    void* dx, cudnnTensorDescriptor_t h_desc, const void* hx, const void* dhy, void* dhx,
    cudnnTensorDescriptor_t c_desc, const void* cx, const void* dcy, void* dcx, size_t weight_bytes,
    const void* weights, size_t, void*, size_t reserve_bytes, void* reserve) {
  return api<"cudnnRNNBackwardData_v8">([&] {
    const Call call(handle, desc, x_desc, y_desc);
    const Data down(y_desc, dy), out(x_desc, dx);
    const View w = call.weights(weights, weight_bytes);
    const bool lstm = call.net.cell == CUDNN_LSTM;
    auto state = [&](const void* data) { return call.state_of(h_desc, data, call.net.out); };
    auto cell = [&](const void* data) {
      return call.state_of(c_desc, lstm ? data : nullptr, call.net.hidden);
    };
    const View h0 = state(hx), dh1 = state(dhy), dh0 = state(dhx), c0 = cell(cx), dc1 = cell(dcy),
               dc0 = cell(dcx);
    require_pointer(reserve);
    require(reserve_bytes >= call.kept(), "too little room for the reserve", kTooSmall);
    work(object(handle), "cudnn_rnn_backward_data", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> all(w);
      const auto h = dense<T>(h0), c = dense<T>(c0), dh = dense<T>(dh1), dc = dense<T>(dc1);
      const Scratch<T> rows = gather<T>(down, call.seq), result(call.seq.rows() * out.vector),
                       dhn = room_for<T>(dh0), dcn = room_for<T>(dc0);
      RecurrenceGradients<T> run;
      run.weights = all.get(), run.hx = start(h), run.cx = start(c), run.dy = rows.get();
      run.dhy = start(dh), run.dcy = start(dc), run.dx = result.get(), run.dhx = dhn.get(),
      run.dcx = dcn.get();
      run.reserve = static_cast<T*>(reserve), run.rate = call.rate;
      recur_backward<T>(call.net, call.seq, run);
      scatter<T>(result.get(), out, call.seq);
      hand_back(dh0, dhn), hand_back(dc0, dcn);
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                                   cudnnWgradMode_t mode, const int32_t*,
                                                   cudnnRNNDataDescriptor_t x_desc, const void* x,
                                                   cudnnTensorDescriptor_t h_desc, const void* hx,
                                                   cudnnRNNDataDescriptor_t y_desc, const void*,
                                                   size_t weight_bytes, void* gradients, size_t,
                                                   void*, size_t reserve_bytes, void* reserve) {
  return api<"cudnnRNNBackwardWeights_v8">([&] {
    require(mode == CUDNN_WGRAD_MODE_ADD || mode == CUDNN_WGRAD_MODE_SET,
            "no such mode of gradients");
    const Call call(handle, desc, x_desc, y_desc);
    const Data in(x_desc, x);
    const View to = call.weights(gradients, weight_bytes),
               h0 = call.state_of(h_desc, hx, call.net.out);
    require_pointer(reserve);
    require(reserve_bytes >= call.kept(), "too little room for the reserve", kTooSmall);
    work(object(handle), "cudnn_rnn_backward_weights", call.doubles(), [=](auto zero) {
      using T = decltype(zero);
      const auto h = dense<T>(h0);
      const Scratch<T> rows = gather<T>(in, call.seq), sums(call.net.weights());
      std::fill_n(sums.get(), call.net.weights(), T{0});
      recur_weights<T>(call.net, call.seq, rows.get(), start(h), static_cast<const T*>(reserve),
                       call.rate, sums.get());
      put<T>(to, sums.get(), 1, mode == CUDNN_WGRAD_MODE_ADD ? T{1} : T{0});
    });
  });
}
