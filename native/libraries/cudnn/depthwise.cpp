// Convolutions whose groups have one channel: too thin for products of matrices.
#include "libraries/cudnn/convolution_shape.h"

namespace aw::dnn {
namespace {

template <class T>
AW_LOOP void add_line(T* to, const T* from, int64_t step, int64_t count, T factor) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
  else
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i * step];
}

// body(tap, output's first place, input's first place, count) for every piece of a line that a tap of the filter meets.
template <class Body>
void meetings(const ConvolutionShape& s, const Body& body) {
  for (int64_t r = 0; r < s.taps; ++r) {
    const Tap tap = s.tap(r);
    s.lines(0, s.pixels, [&](int64_t at, int64_t od, int64_t oh, int64_t from, int64_t to) {
      const int64_t d = s.meets(0, od, tap.at[0]), h = s.meets(1, oh, tap.at[1]);
      if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1]) return;
      int64_t a, b;
      s.inside(tap.at[2], from, to, &a, &b);
      if (b > a) body(r, at + a - from, (d * s.in[1] + h) * s.in[2] + s.meets(2, a, tap.at[2]), b - a);
    });
  }
}

}  // namespace

template <class T>
void depthwise(const Convolution& how, const View& x, const View& w, const View& y, T alpha, T beta) {
  const ConvolutionShape s(how, x, w, y);
  const PackedFilter<T> filter(how, w, false);
  const Dense<T> in(x);
  Scratch<T> out(y.elements());
  share(s.images * s.filters, s.pixels * s.taps, [&](int64_t plane) {
    const int64_t image = plane / s.filters, k = plane % s.filters;
    const T* from = in.get() + (image * s.channels + k / s.group_filters) * s.in_size;
    T* to = out.get() + plane * s.pixels;
    std::fill_n(to, s.pixels, T{0});
    meetings(s, [&](int64_t r, int64_t at, int64_t place, int64_t count) {
      add_line(to + at, from + place, s.strides[2], count, filter.get()[k * s.taps + r]);
    });
  });
  put<T>(y, out.get(), alpha, beta);
}

template <class T>
void depthwise_data(const Convolution& how, const View& w, const View& dy, const View& dx, T alpha, T beta) {
  const ConvolutionShape s(how, dx, w, dy);
  const PackedFilter<T> filter(how, w, false);
  const Dense<T> up(dy);
  Scratch<T> out(dx.elements());
  share(s.images * s.channels, s.pixels * s.taps, [&](int64_t plane) {
    const int64_t image = plane / s.channels, channel = plane % s.channels;
    T* to = out.get() + plane * s.in_size;
    std::fill_n(to, s.in_size, T{0});
    for (int64_t k = channel * s.group_filters; k < (channel + 1) * s.group_filters; ++k) {
      const T* from = up.get() + (image * s.filters + k) * s.pixels;
      meetings(s, [&](int64_t r, int64_t at, int64_t place, int64_t count) {
        const T factor = filter.get()[k * s.taps + r];
        for (int64_t i = 0; i < count; ++i) to[place + i * s.strides[2]] += factor * from[at + i];
      });
    }
  });
  put<T>(dx, out.get(), alpha, beta);
}

template <class T>
void depthwise_filter(const Convolution& how, const View& x, const View& dy, const View& dw, T alpha, T beta) {
  const ConvolutionShape s(how, x, dw, dy);
  const Dense<T> in(x), up(dy);
  Scratch<T> out(dw.elements());
  share(s.filters, s.images * s.pixels * s.taps, [&](int64_t k) {
    Scratch<double> sums(s.taps);
    std::fill_n(sums.get(), s.taps, 0.0);
    for (int64_t image = 0; image < s.images; ++image) {
      const T* from = in.get() + (image * s.channels + k / s.group_filters) * s.in_size;
      const T* rise = up.get() + (image * s.filters + k) * s.pixels;
      meetings(s, [&](int64_t r, int64_t at, int64_t place, int64_t count) {
        double sum = 0;
        for (int64_t i = 0; i < count; ++i)
          sum += static_cast<double>(rise[at + i]) * static_cast<double>(from[place + i * s.strides[2]]);
        sums[r] += sum;
      });
    }
    for (int64_t r = 0; r < s.taps; ++r) out[k * s.taps + r] = static_cast<T>(sums[r]);
  });
  map<T, 1>(PackedFilter<T>::turned(how, dw), alpha, beta, {View(packed(type_of<T>(), dw), out.get())}, Copy{});
}

#define AW_DEPTHWISE(T)                                                                              \
  template void depthwise(const Convolution&, const View&, const View&, const View&, T, T);         \
  template void depthwise_data(const Convolution&, const View&, const View&, const View&, T, T);    \
  template void depthwise_filter(const Convolution&, const View&, const View&, const View&, T, T)
AW_DEPTHWISE(float);
AW_DEPTHWISE(double);
#undef AW_DEPTHWISE

}  // namespace aw::dnn
