// cuDNN: activations, softmax and normalisation across channels.
#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/pooling.h"
#include "libraries/cudnn/softmax.h"

using namespace aw::dnn;

namespace aw::dnn {

Curve curve_of(const cudnnActivationDescriptorStruct& what) {
  Curve curve;
  curve.nan = what.nan == CUDNN_PROPAGATE_NAN;
  if (what.mode == CUDNN_ACTIVATION_CLIPPED_RELU) curve.upper = what.coefficient;
  curve.alpha = what.coefficient, curve.beta = what.swish_beta;
  return curve;
}

template <class T>
void activate(const cudnnActivationDescriptorStruct& what, const View& out, T alpha, T beta,
              const View& in) {
  const Curve curve = curve_of(what);
  auto by = [&](auto f) { map<T, 1>(out, alpha, beta, {in}, each<1>(f)); };
  switch (what.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return by([](T x) { return sigmoid(x); });
    case CUDNN_ACTIVATION_RELU:
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return by([upper = static_cast<T>(curve.upper), nan = curve.nan](T x) {
        return relu(x, T{0}, upper, T{0}, nan);
      });
    case CUDNN_ACTIVATION_TANH:
      return by([](T x) { return quick_tanh(x); });
    case CUDNN_ACTIVATION_ELU:
      return by([a = static_cast<T>(curve.alpha)](T x) { return x < 0 ? a * std::expm1(x) : x; });
    case CUDNN_ACTIVATION_IDENTITY:
      return map<T, 1>(out, alpha, beta, {in}, Copy{});
    case CUDNN_ACTIVATION_SWISH:
      return by([b = static_cast<T>(curve.beta)](T x) { return x * sigmoid(b * x); });
  }
}
template void activate(const cudnnActivationDescriptorStruct&, const View&, float, float,
                       const View&);
template void activate(const cudnnActivationDescriptorStruct&, const View&, double, double,
                       const View&);

}  // namespace aw::dnn

AW_EXPORT cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle,
                                               cudnnActivationDescriptor_t desc, const void* alpha,
                                               const cudnnTensorDescriptor_t x_desc, const void* x,
                                               const void* beta,
                                               const cudnnTensorDescriptor_t y_desc, void* y) {
  return api<"cudnnActivationForward">([&] {
    auto& h = object(handle);
    const auto what = object(desc);
    const View from = view(x_desc, x), to = view(y_desc, y);
    require(from.same_shape(to), "tensors of different shapes");
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_activation_forward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      activate<T>(what, to, static_cast<T>(a), static_cast<T>(b), from);
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnActivationBackward(
    cudnnHandle_t handle, cudnnActivationDescriptor_t desc, const void* alpha,
    const cudnnTensorDescriptor_t y_desc, const void* y, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
    const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return api<"cudnnActivationBackward">([&] {
    auto& h = object(handle);
    const auto what = object(desc);
    const View out = view(y_desc, y), up = view(dy_desc, dy), in = view(x_desc, x),
               to = view(dx_desc, dx);
    require(out.same_shape(up) && out.same_shape(in) && out.same_shape(to),
            "tensors of different shapes");
    const double a = scalar(alpha, to.type), b = scalar(beta, to.type);
    work(h, "cudnn_activation_backward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      const Curve curve = curve_of(what);
      auto by = [&](auto f) {
        map<T, 3>(to, static_cast<T>(a), static_cast<T>(b), {in, out, up}, each<3>(f));
      };
      switch (what.mode) {
        case CUDNN_ACTIVATION_SIGMOID:
          return by([](T, T r, T d) { return d * r * (T{1} - r); });
        case CUDNN_ACTIVATION_RELU:
        case CUDNN_ACTIVATION_CLIPPED_RELU:
          return by([upper = static_cast<T>(curve.upper)](T v, T, T d) {
            return v > 0 && v < upper ? d : T{0};
          });
        case CUDNN_ACTIVATION_TANH:
          return by([](T, T r, T d) { return d * (T{1} - r * r); });
        case CUDNN_ACTIVATION_ELU:
          return by([k = static_cast<T>(curve.alpha)](T v, T, T d) {
            return v < 0 ? d * k * quick_exp(v) : d;
          });
        case CUDNN_ACTIVATION_IDENTITY:
          return by([](T, T, T d) { return d; });
        case CUDNN_ACTIVATION_SWISH:
          return by([k = static_cast<T>(curve.beta)](T v, T, T d) {
            const T s = sigmoid(k * v);
            return d * (s + k * v * s * (T{1} - s));
          });
      }
    });
  });
}

namespace {

// What softmax keeps: a number for each image, or for each place of one.
Layout softmax_shape(const Layout& x, cudnnSoftmaxMode_t mode) {
  require(mode == CUDNN_SOFTMAX_MODE_INSTANCE || mode == CUDNN_SOFTMAX_MODE_CHANNEL,
          "no such mode of softmax");
  Layout kept = x;
  for (int i = 1; i < x.rank; ++i)
    if (mode == CUDNN_SOFTMAX_MODE_INSTANCE || i == 1) kept.dims[i] = 1;
  return kept;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                            cudnnSoftmaxMode_t mode, const void* alpha,
                                            const cudnnTensorDescriptor_t x_desc, const void* x,
                                            const void* beta, const cudnnTensorDescriptor_t y_desc,
                                            void* y) {
  return api<"cudnnSoftmaxForward">([&] {
    auto& h = object(handle);
    const View from = view(x_desc, x), to = view(y_desc, y);
    require(from.same_shape(to), "tensors of different shapes");
    require(algo >= CUDNN_SOFTMAX_FAST && algo <= CUDNN_SOFTMAX_LOG,
            "no such algorithm of softmax");
    const Layout kept = softmax_shape(from, mode);
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_softmax_forward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      softmax_forward<T>(algo == CUDNN_SOFTMAX_LOG, kept, from, to, static_cast<T>(a),
                         static_cast<T>(b));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                             cudnnSoftmaxMode_t mode, const void* alpha,
                                             const cudnnTensorDescriptor_t y_desc, const void* y,
                                             const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const void* beta,
                                             const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return api<"cudnnSoftmaxBackward">([&] {
    auto& h = object(handle);
    const View out = view(y_desc, y), up = view(dy_desc, dy), to = view(dx_desc, dx);
    require(out.same_shape(up) && out.same_shape(to), "tensors of different shapes");
    require(algo >= CUDNN_SOFTMAX_FAST && algo <= CUDNN_SOFTMAX_LOG,
            "no such algorithm of softmax");
    const Layout kept = softmax_shape(out, mode);
    const double a = scalar(alpha, out.type), b = scalar(beta, to.type);
    work(h, "cudnn_softmax_backward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      softmax_backward<T>(algo == CUDNN_SOFTMAX_LOG, kept, out, up, to, static_cast<T>(a),
                          static_cast<T>(b));
    });
  });
}

namespace {

struct Lrn {
  int64_t before, after;  // neighbours among the channels
  double alpha, beta, k;
};

// (k + alpha/n * sum of squares of the neighbours) of each element, row-major.
template <class T>
Scratch<T> lrn_scale(const Lrn& lrn, const View& x, const Dense<T>& all) {
  const int64_t channels = x.dims[1], places = x.elements() / x.dims[0] / channels;
  Scratch<T> out(x.elements());
  share(x.dims[0] * channels, places * (lrn.before + lrn.after + 1), [&](int64_t number) {
    const int64_t channel = number % channels, image = number / channels * channels * places;
    T* to = out.get() + number * places;
    std::fill_n(to, places, T{0});
    for (int64_t c = std::max<int64_t>(0, channel - lrn.before);
         c <= std::min(channels - 1, channel + lrn.after); ++c) {
      const T* from = all.get() + image + c * places;
      for (int64_t i = 0; i < places; ++i) to[i] += from[i] * from[i];
    }
    for (int64_t i = 0; i < places; ++i)
      to[i] = static_cast<T>(lrn.k) + static_cast<T>(lrn.alpha) * to[i];
  });
  return out;
}

Lrn lrn_of(const cudnnLRNDescriptorStruct& desc) {
  const auto n = static_cast<int64_t>(desc.n);
  // The window of an even count reaches further towards higher channels.
  return {(n - 1) / 2, n / 2, desc.alpha / desc.n, desc.beta, desc.k};
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t desc,
                                                    cudnnLRNMode_t mode, const void* alpha,
                                                    const cudnnTensorDescriptor_t x_desc,
                                                    const void* x, const void* beta,
                                                    const cudnnTensorDescriptor_t y_desc, void* y) {
  return api<"cudnnLRNCrossChannelForward">([&] {
    auto& h = object(handle);
    require(mode == CUDNN_LRN_CROSS_CHANNEL_DIM1, "no such mode of LRN");
    const Lrn lrn = lrn_of(object(desc));
    const View from = view(x_desc, x), to = view(y_desc, y);
    require(from.same_shape(to) && from.rank >= 2, "tensors of different shapes");
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_lrn_forward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> all(from);
      const Scratch<T> scale = lrn_scale(lrn, from, all);
      map<T, 2>(to, static_cast<T>(a), static_cast<T>(b),
                {from, View(packed(type_of<T>(), to), scale.get())},
                each<2>([p = static_cast<T>(-lrn.beta)](T v, T s) { return v * std::pow(s, p); }));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnLRNCrossChannelBackward(
    cudnnHandle_t handle, cudnnLRNDescriptor_t desc, cudnnLRNMode_t mode, const void* alpha,
    const cudnnTensorDescriptor_t y_desc, const void* y, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
    const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return api<"cudnnLRNCrossChannelBackward">([&] {
    auto& h = object(handle);
    require(mode == CUDNN_LRN_CROSS_CHANNEL_DIM1, "no such mode of LRN");
    const Lrn lrn = lrn_of(object(desc));
    const View out = view(y_desc, y), up = view(dy_desc, dy), in = view(x_desc, x),
               to = view(dx_desc, dx);
    require(out.same_shape(up) && out.same_shape(in) && out.same_shape(to) && in.rank >= 2,
            "tensors of different shapes");
    const double a = scalar(alpha, to.type), b = scalar(beta, to.type);
    work(h, "cudnn_lrn_backward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> all(in), rise(up);
      const Scratch<T> scale = lrn_scale(lrn, in, all);
      const int64_t channels = in.dims[1], places = in.elements() / in.dims[0] / channels;
      // dx = dy s^-b - 2 a b x * sum of dy x s^(-b-1) over those that count x among their
      // neighbours
      Scratch<T> outer(in.elements()), sums(in.elements());
      const auto p = static_cast<T>(-lrn.beta);
      share(in.dims[0] * channels, places * 8, [&](int64_t number) {
        for (int64_t i = number * places; i < (number + 1) * places; ++i)
          outer[i] = rise[i] * all[i] * std::pow(scale[i], p - 1);
      });
      share(in.dims[0] * channels, places * 8, [&](int64_t number) {
        const int64_t channel = number % channels, image = number / channels * channels;
        for (int64_t i = 0; i < places; ++i) {
          T sum = 0;
          for (int64_t c = std::max<int64_t>(0, channel - lrn.after);
               c <= std::min(channels - 1, channel + lrn.before); ++c)
            sum += outer[(image + c) * places + i];
          const int64_t at = number * places + i;
          sums[at] = rise[at] * std::pow(scale[at], p) +
                     T{2} * static_cast<T>(lrn.alpha) * p * all[at] * sum;
        }
      });
      put<T>(to, sums.get(), static_cast<T>(a), static_cast<T>(b));
    });
  });
}
