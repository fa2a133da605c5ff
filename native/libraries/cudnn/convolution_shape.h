// The sizes of a convolution as loops need them, and panels: inputs laid out so that a convolution
// is a product of matrices.
#pragma once

#include <algorithm>

#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/gemm.h"

namespace aw::dnn {

// Elements of a panel: what half of a core's second cache holds of floats.
constexpr int64_t kPanel = 1 << 17;

struct Tap {
  int64_t at[3];  // place in the filter
};

struct ConvolutionShape {
  int64_t images, channels, filters, groups, group_channels, group_filters, taps, pixels, in_size;
  int64_t in[3], out[3], kernel[3], pads[3], strides[3], dilations[3];
  int64_t x_space[3], y_space[3];  // strides

  ConvolutionShape(const Convolution& how, const Layout& x, const Layout& w, const Layout& y) {
    images = x.dims[0], channels = x.dims[1], filters = w.dims[0];
    group_channels = w.dims[1], groups = channels / group_channels,
    group_filters = filters / groups;
    taps = pixels = in_size = 1;
    for (int i = 0; i < 3; ++i) {
      const int from = i - (3 - how.rank);
      const bool real = from >= 0;
      in[i] = real ? x.dims[2 + from] : 1, out[i] = real ? y.dims[2 + from] : 1;
      kernel[i] = real ? w.dims[2 + from] : 1, pads[i] = real ? how.pads[from] : 0;
      strides[i] = real ? how.strides[from] : 1, dilations[i] = real ? how.dilations[from] : 1;
      x_space[i] = real ? x.strides[2 + from] : 0, y_space[i] = real ? y.strides[2 + from] : 0;
      taps *= kernel[i], pixels *= out[i], in_size *= in[i];
    }
  }
  // One channel to a group, and too few filters of it for a product.
  bool depthwise() const { return group_channels == 1 && group_filters <= 4 && groups > 1; }
  // A filter of one place that touches every pixel once: no panel is needed.
  bool pointwise() const {
    return taps == 1 && in_size == pixels && std::equal(in, in + 3, out) && strides[0] == 1 &&
           strides[1] == 1 && strides[2] == 1 && !pads[0] && !pads[1] && !pads[2];
  }
  Tap tap(int64_t number) const {
    return {{number / (kernel[2] * kernel[1]), number / kernel[2] % kernel[1], number % kernel[2]}};
  }
  // The input's index that a tap of an output's index meets, along one dimension.
  int64_t meets(int dim, int64_t output, int64_t tap) const {
    return output * strides[dim] - pads[dim] + tap * dilations[dim];
  }
  // The outputs [first, last) of a line whose input lies inside, among [from, to).
  void inside(int64_t tap, int64_t from, int64_t to, int64_t* first, int64_t* last) const {
    const int64_t shift = tap * dilations[2] - pads[2], step = strides[2];
    const int64_t low = shift >= 0 ? 0 : (-shift + step - 1) / step;
    const int64_t room = in[2] - 1 - shift, high = room < 0 ? 0 : room / step + 1;
    *first = std::clamp(low, from, to), *last = std::clamp(high, *first, to);
  }
  // body(line's first pixel, its outer indices, from, to) for the pieces of lines among pixels
  // [begin, end).
  template <class Body>
  void lines(int64_t begin, int64_t end, const Body& body) const {
    for (int64_t at = begin; at < end;) {
      const int64_t line = at / out[2], from = at - line * out[2],
                    to = std::min(out[2], from + end - at);
      body(at, line / out[1], line % out[1], from, to);
      at += to - from;
    }
  }
};

// Whether space is one row of places, `step` apart.
inline bool one_row(const int64_t* dims, const int64_t* strides, int64_t* step) {
  int64_t next = 0, size = 1;
  *step = 1;
  for (int i = 2; i >= 0; --i) {
    if (dims[i] == 1) continue;
    if (!next)
      *step = next = strides[i];
    else if (strides[i] != next * size)
      return false;
    size *= dims[i];
  }
  return true;
}

// Elements of 16 bits as they are, of a tensor that has such; float and double are numbers of any.
using Word = uint16_t;

template <class T>
constexpr bool is_word = std::is_same_v<T, Word>;

// The type of a tensor's elements as T.
template <class T>
cudnnDataType_t type_as(const Layout& tensor) {
  if constexpr (is_word<T>) return tensor.type;
  return type_of<T>();
}

template <class T>
void fill_row(const View& view, int64_t at, int64_t stride, int64_t count, T* to) {
  if constexpr (is_word<T>) {
    const T* from = reinterpret_cast<const T*>(view.data) + at;
    if (stride == 1) return void(std::copy_n(from, count, to));
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  } else {
    const T* from = load_row<T>(view, at, stride, static_cast<size_t>(count), to);
    if (from != to) std::copy_n(from, count, to);
  }
}

// panel[channel, tap][pixel] of pixels [begin, end) of an image, `step` elements from row to row.
template <class T>
void panel_by_channels(const ConvolutionShape& s, const View& x, int64_t image, int64_t channel,
                       int64_t count, int64_t begin, int64_t end, T* panel, int64_t step) {
  for (int64_t c = 0; c < count; ++c)
    for (int64_t r = 0; r < s.taps; ++r, panel += step) {
      const Tap tap = s.tap(r);
      const int64_t base = image * x.strides[0] + (channel + c) * x.strides[1];
      T* to = panel;
      s.lines(begin, end, [&](int64_t, int64_t od, int64_t oh, int64_t from, int64_t last) {
        const int64_t d = s.meets(0, od, tap.at[0]), h = s.meets(1, oh, tap.at[1]);
        int64_t a = from, b = from;
        if (d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1]) s.inside(tap.at[2], from, last, &a, &b);
        std::fill_n(to, a - from, T{0});
        if (b > a)
          fill_row(
              x,
              base + d * s.x_space[0] + h * s.x_space[1] + s.meets(2, a, tap.at[2]) * s.x_space[2],
              s.x_space[2] * s.strides[2], b - a, to + (a - from));
        std::fill_n(to + (b - from), last - b, T{0});
        to += last - from;
      });
    }
}

// panel[pixel][tap, channel]
template <class T>
void panel_by_pixels(const ConvolutionShape& s, const View& x, int64_t image, int64_t channel,
                     int64_t count, int64_t begin, int64_t end, T* panel) {
  // Taps of a line lie side by side, with all of their channels.
  const bool whole =
      s.dilations[2] == 1 && x.strides[1] == 1 && s.x_space[2] == count && count == s.channels;
  s.lines(begin, end, [&](int64_t, int64_t od, int64_t oh, int64_t from, int64_t last) {
    for (int64_t ow = from; ow < last; ++ow) {
      for (int64_t kd = 0; kd < s.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
          const int64_t d = s.meets(0, od, kd), h = s.meets(1, oh, kh), w = s.meets(2, ow, 0);
          const bool in = d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1];
          const int64_t base =
              image * x.strides[0] + channel * x.strides[1] + d * s.x_space[0] + h * s.x_space[1];
          if (whole && in && w >= 0 && w + s.kernel[2] <= s.in[2]) {
            fill_row(x, base + w * s.x_space[2], 1, s.kernel[2] * count, panel);
            panel += s.kernel[2] * count;
            continue;
          }
          for (int64_t kw = 0; kw < s.kernel[2]; ++kw, panel += count) {
            const int64_t at = w + kw * s.dilations[2];
            if (in && at >= 0 && at < s.in[2])
              fill_row(x, base + at * s.x_space[2], x.strides[1], count, panel);
            else
              std::fill_n(panel, count, T{0});
          }
        }
    }
  });
}

// The filter as numbers in the order K, C, space or K, space, C, turned round where it is to be.
template <class T>
class PackedFilter {
 public:
  PackedFilter(const Convolution& how, const View& w, bool channels_last) {
    const Layout want = order(w, channels_last);
    if (lies_so(how, w, channels_last)) {
      data_ = reinterpret_cast<const T*>(w.data);
      return;
    }
    copy_.reset(w.elements());
    data_ = copy_.get();
    using Number = std::conditional_t<is_word<T>, float, T>;
    map<Number, 1>(View(want, copy_.get()), 1, 0, {turned(how, w)}, Copy{});
  }
  const T* get() const { return data_; }

  static bool lies_so(const Convolution& how, const View& w, bool channels_last) {
    return w.type == type_as<T>(w) && lies_as(how, w, channels_last);
  }
  // In that order, as elements of whatever type.
  static bool lies_as(const Convolution& how, const View& w, bool channels_last) {
    return !how.flipped && equal_strides(w, order(w, channels_last));
  }
  static Layout order(const Layout& w, bool channels_last) {
    Layout want = packed(type_as<T>(w), w);
    if (!channels_last) return want;
    int64_t step = w.dims[1];
    want.strides[1] = 1;
    for (int i = w.rank - 1; i >= 2; --i) want.strides[i] = step, step *= w.dims[i];
    want.strides[0] = step;
    return want;
  }
  // The same memory, read from the other end of space where the filter is to be flipped.
  static View turned(const Convolution& how, const View& w) {
    View out = w;
    for (int i = 2; i < w.rank && how.flipped; ++i) {
      out.data += (w.dims[i] - 1) * w.strides[i] * static_cast<int64_t>(element_bytes(w.type));
      out.strides[i] = -w.strides[i];
    }
    return out;
  }

 private:
  static bool equal_strides(const Layout& a, const Layout& b) {
    for (int i = 0; i < a.rank; ++i)
      if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
    return true;
  }
  Scratch<T> copy_;
  const T* data_;
};

// Convolutions with one channel to a group, plane by plane.
template <class T>
void depthwise(const Convolution& how, const View& x, const View& w, const View& y, T alpha,
               T beta);
template <class T>
void depthwise_data(const Convolution& how, const View& w, const View& dy, const View& dx, T alpha,
                    T beta);
template <class T>
void depthwise_filter(const Convolution& how, const View& x, const View& dy, const View& dw,
                      T alpha, T beta);

}  // namespace aw::dnn
