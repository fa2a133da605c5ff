// Convolutions whose groups have one channel: too thin for products of matrices.
#include "libraries/cudnn/convolution_shape.h"

namespace aw::dnn {
namespace {

// body(tap, output's first place, input's first place, count) for every piece of a line that a tap
// of the filter meets.
template <class Body>
void meetings(const ConvolutionShape& s, const Body& body) {
  for (int64_t r = 0; r < s.taps; ++r) {
    const Tap tap = s.tap(r);
    s.lines(0, s.pixels, [&](int64_t at, int64_t od, int64_t oh, int64_t from, int64_t to) {
      const int64_t d = s.meets(0, od, tap.at[0]), h = s.meets(1, oh, tap.at[1]);
      if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1]) return;
      int64_t a, b;
      s.inside(tap.at[2], from, to, &a, &b);
      if (b > a)
        body(r, at + a - from, (d * s.in[1] + h) * s.in[2] + s.meets(2, a, tap.at[2]), b - a);
    });
  }
}

// out[i] += sum over k of filter[k] * row[i * step + k * dilation]
template <class T>
AW_LOOP void add_line(T* __restrict out, const T* __restrict row, const T* filter, int64_t taps,
                      int64_t dilation, int64_t step, int64_t count) {
  if (step == 1 && taps == 3) {
    const T a = filter[0], b = filter[1], c = filter[2];
    const T *second = row + dilation, *third = row + 2 * dilation;
    for (int64_t i = 0; i < count; ++i) out[i] += a * row[i] + b * second[i] + c * third[i];
    return;
  }
  for (int64_t k = 0; k < taps; ++k, row += dilation) {
    const T factor = filter[k];
    if (step == 1)
      for (int64_t i = 0; i < count; ++i) out[i] += factor * row[i];
    else
      for (int64_t i = 0; i < count; ++i) out[i] += factor * row[i * step];
  }
}

// One plane of outputs out of one of inputs, whose lines are padded with zeros first.
template <class T>
void plane_forward(const ConvolutionShape& s, const T* filter, const T* from, T* to) {
  const int64_t reach = (s.out[2] - 1) * s.strides[2] + (s.kernel[2] - 1) * s.dilations[2] + 1;
  const int64_t width = std::max(reach, s.pads[2] + s.in[2]), lines = s.in[0] * s.in[1];
  Scratch<T> padded(lines * width);
  std::fill_n(padded.get(), lines * width, T{0});
  for (int64_t i = 0; i < lines; ++i)
    std::copy_n(from + i * s.in[2], s.in[2], padded.get() + i * width + s.pads[2]);
  std::fill_n(to, s.pixels, T{0});
  for (int64_t od = 0; od < s.out[0]; ++od)
    for (int64_t oh = 0; oh < s.out[1]; ++oh, to += s.out[2])
      for (int64_t kd = 0; kd < s.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
          const int64_t d = s.meets(0, od, kd), h = s.meets(1, oh, kh);
          if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1]) continue;
          add_line(to, padded.get() + (d * s.in[1] + h) * width,
                   filter + (kd * s.kernel[1] + kh) * s.kernel[2], s.kernel[2], s.dilations[2],
                   s.strides[2], s.out[2]);
        }
}

}  // namespace

template <class T>
void depthwise(const Convolution& how, const View& x, const View& w, const View& y, T alpha,
               T beta) {
  const ConvolutionShape s(how, x, w, y);
  const PackedFilter<T> filter(how, w, false);
  const Dense<T> in(x);
  Scratch<T> out(y.elements());
  share(s.images * s.filters, s.pixels * s.taps, [&](int64_t plane) {
    const int64_t image = plane / s.filters, k = plane % s.filters;
    plane_forward(s, filter.get() + k * s.taps,
                  in.get() + (image * s.channels + k / s.group_filters) * s.in_size,
                  out.get() + plane * s.pixels);
  });
  put<T>(y, out.get(), alpha, beta);
}

template <class T>
void depthwise_data(const Convolution& how, const View& w, const View& dy, const View& dx, T alpha,
                    T beta) {
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
void depthwise_filter(const Convolution& how, const View& x, const View& dy, const View& dw,
                      T alpha, T beta) {
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
          sum += static_cast<double>(rise[at + i]) *
                 static_cast<double>(from[place + i * s.strides[2]]);
        sums[r] += sum;
      });
    }
    for (int64_t r = 0; r < s.taps; ++r) out[k * s.taps + r] = static_cast<T>(sums[r]);
  });
  map<T, 1>(PackedFilter<T>::turned(how, dw), alpha, beta,
            {View(packed(type_of<T>(), dw), out.get())}, Copy{});
}

#define AW_DEPTHWISE(T)                                                                          \
  template void depthwise(const Convolution&, const View&, const View&, const View&, T, T);      \
  template void depthwise_data(const Convolution&, const View&, const View&, const View&, T, T); \
  template void depthwise_filter(const Convolution&, const View&, const View&, const View&, T, T)
AW_DEPTHWISE(float);
AW_DEPTHWISE(double);
#undef AW_DEPTHWISE

}  // namespace aw::dnn
