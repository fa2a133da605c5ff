// cuDNN: causal convolutions of sequences, each channel with a filter of its own. What they compute
// is written in NVIDIA's cudnn_subquadratic_ops.h: for weights w0, w1, w2 of a channel
// y[t] = act(bias + x[t - 2] w0 + x[t - 1] w1 + x[t] w2), where what lies before the sequence is 0.
#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/objects.h"

#ifndef AW_CUDA_12  // cuDNN 8 has not these

using namespace aw::dnn;

namespace aw::dnn {
namespace {

// sums[i] += from[i] * by
template <class T>
AW_LOOP void add_times(T* __restrict sums, const T* __restrict from, T by, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += from[i] * by;
}

struct Causal {
  int64_t batch, dim, length, width;
  cudnnDataType_t type;
  bool silu, channels_last;

  Causal(int batches, int channels, int size, int kernel, cudnnDataType_t data,
         cudnnCausalConv1dActivation_t activation, bool last)
      : batch(batches),
        dim(channels),
        length(size),
        width(kernel),
        type(data),
        silu(activation == CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU),
        channels_last(last) {
    require(batch > 0 && dim > 0 && length > 0 && width > 0, "sizes that are not positive");
    int64_t numbers = 0;
    require(!__builtin_mul_overflow(batch * dim, length, &numbers) && numbers <= INT64_MAX / 8,
            "sequences that no memory holds");
    require(silu || activation == CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY, "no such activation");
    if (!(width >= 2 && width <= 8) && !(width >= 16 && width <= 256 && !(width & (width - 1))))
      unsupported("causal convolutions of other widths than 2 to 8, 16, 32, 64, 128 and 256");
    if (type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_HALF &&
        type != CUDNN_DATA_BFLOAT16)
      unsupported("causal convolutions of other types than double, float, half and bfloat16");
  }

  View sequences(const void* data) const {
    require_pointer(data);
    const int64_t dims[] = {batch, dim, length};
    const int64_t strides[] = {dim * length, channels_last ? 1 : length, channels_last ? dim : 1};
    return {make_layout(type, 3, dims, strides), data};
  }
  View weights(const void* data, cudnnDataType_t as) const {
    require_pointer(data);
    const int64_t dims[] = {dim, width};
    const int64_t strides[] = {channels_last ? 1 : width, channels_last ? dim : 1};
    return {make_layout(as, 2, dims, strides), data};
  }
  View biases(const void* data, cudnnDataType_t as) const {
    require_pointer(data);
    return {packed(as, {dim}), data};
  }

  // What the activation is applied to, of one channel of one sequence.
  template <class T>
  void before(const T* x, const T* weight, T bias, T* sums) const {
    std::fill_n(sums, length, bias);
    for (int64_t j = 0; j < std::min(width, length); ++j)
      add_times(sums + j, x, weight[width - 1 - j], length - j);
  }
};

template <class T>
void causal_forward(const Causal& c, const View& x, const View& weight, const View& bias,
                    const View& y) {
  const Dense<T> in(x), filters(weight), shifts(bias);
  Scratch<T> out(y.elements());
  share(c.batch * c.dim, c.length * c.width, [&](int64_t task) {
    const int64_t channel = task % c.dim;
    T* const to = out.get() + task * c.length;
    c.before(in.get() + task * c.length, filters.get() + channel * c.width, shifts[channel], to);
    for (int64_t t = 0; c.silu && t < c.length; ++t) to[t] *= sigmoid(to[t]);
  });
  put<T>(y, out.get());
}

template <class T>
void causal_backward(const Causal& c, const View& x, const View& weight, const View& bias,
                     const View& dy, const View& dx, const View& dweight, const View& dbias) {
  const Dense<T> in(x), filters(weight), shifts(bias), up(dy);
  Scratch<T> down(dx.elements()), filters_down(dweight.elements()), shifts_down(c.dim);
  share(c.dim, c.batch * c.length * c.width, [&](int64_t channel) {
    const T* const filter = filters.get() + channel * c.width;
    Scratch<T> rise(c.length);
    Scratch<double> sums(c.width + 1);  // of all sequences
    std::fill_n(sums.get(), c.width + 1, 0.0);
    for (int64_t b = 0; b < c.batch; ++b) {
      const int64_t first = (b * c.dim + channel) * c.length;
      const T* const from = in.get() + first;
      c.before(from, filter, shifts[channel], rise.get());
      for (int64_t t = 0; t < c.length; ++t) {
        const T s = c.silu ? sigmoid(rise[t]) : T{1};
        rise[t] = up[first + t] * (c.silu ? s * (T{1} + rise[t] * (T{1} - s)) : s);
      }
      std::fill_n(down.get() + first, c.length, T{0});
      for (int64_t j = 0; j < std::min(c.width, c.length); ++j) {
        add_times(down.get() + first, rise.get() + j, filter[c.width - 1 - j], c.length - j);
        double sum = 0;
        for (int64_t t = j; t < c.length; ++t)
          sum += static_cast<double>(rise[t]) * static_cast<double>(from[t - j]);
        sums[c.width - 1 - j] += sum;
      }
      for (int64_t t = 0; t < c.length; ++t) sums[c.width] += static_cast<double>(rise[t]);
    }
    for (int64_t k = 0; k < c.width; ++k)
      filters_down[channel * c.width + k] = static_cast<T>(sums[k]);
    shifts_down[channel] = static_cast<T>(sums[c.width]);
  });
  put<T>(dx, down.get());
  put<T>(dweight, filters_down.get(), 1, 1);
  put<T>(dbias, shifts_down.get(), 1, 1);
}

// Puts body(T{}) into a stream that no handle holds.
template <class Body>
void in_stream(cudaStream_t stream, const char* name, const Causal& c, Body body) {
  lib::ensure_context();
  cudnnContext unhandled;
  unhandled.stream = reinterpret_cast<CUstream>(stream);
  work(unhandled, name, wide(c.type), std::move(body));
}

void forward_now(cudaStream_t stream, const char* name, const Causal& c, const void* x,
                 const void* weight, const void* bias, void* y) {
  const View in = c.sequences(x), filters = c.weights(weight, c.type),
             shifts = c.biases(bias, c.type), out = c.sequences(y);
  in_stream(stream, name, c,
            [=](auto zero) { causal_forward<decltype(zero)>(c, in, filters, shifts, out); });
}

void backward_now(cudaStream_t stream, const char* name, const Causal& c, cudnnDataType_t sums,
                  const void* x, const void* weight, const void* bias, const void* dy, void* dx,
                  void* dweight, void* dbias) {
  require(sums == (c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
          "gradients of weights are float, and double beside doubles");
  const View in = c.sequences(x), filters = c.weights(weight, c.type),
             shifts = c.biases(bias, c.type), up = c.sequences(dy), down = c.sequences(dx),
             filters_down = c.weights(dweight, sums), shifts_down = c.biases(dbias, sums);
  in_stream(stream, name, c, [=](auto zero) {
    causal_backward<decltype(zero)>(c, in, filters, shifts, up, down, filters_down, shifts_down);
  });
}

}  // namespace
}  // namespace aw::dnn

#define AW_CAUSAL(Forward, Backward, last)                                                       \
  AW_EXPORT cudnnStatus_t Forward(cudaStream_t stream, const void* x, const void* weight,        \
                                  const void* bias, void* y, int batch, int dim, int length,     \
                                  int width, cudnnDataType_t type,                               \
                                  cudnnCausalConv1dActivation_t activation) {                    \
    return api<#Forward>([&] {                                                                   \
      forward_now(stream, #Forward, {batch, dim, length, width, type, activation, last}, x,      \
                  weight, bias, y);                                                              \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cudnnStatus_t Backward(                                                              \
      cudaStream_t stream, const void* x, const void* weight, const void* bias, const void* dy,  \
      void* dx, void* dweight, void* dbias, int batch, int dim, int length, int width,           \
      cudnnDataType_t type, cudnnDataType_t sums, cudnnCausalConv1dActivation_t activation) {    \
    return api<#Backward>([&] {                                                                  \
      backward_now(stream, #Backward, {batch, dim, length, width, type, activation, last}, sums, \
                   x, weight, bias, dy, dx, dweight, dbias);                                     \
    });                                                                                          \
  }
AW_CAUSAL(cudnnCausalConv1dForward, cudnnCausalConv1dBackward, false)
AW_CAUSAL(cudnnCausalConv1dNwhForward, cudnnCausalConv1dNwhBackward, true)
#undef AW_CAUSAL

AW_EXPORT cudnnStatus_t cudnnSubquadraticOpsVersionCheck() { return CUDNN_STATUS_SUCCESS; }

#endif
