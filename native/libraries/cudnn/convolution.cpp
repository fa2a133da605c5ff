// Convolutions as products of matrices. Work is cut by shapes alone.
#include "libraries/cudnn/convolution.h"

#include "libraries/cudnn/convolution_shape.h"
#include "libraries/cudnn/direct.h"

namespace aw::dnn {

void check_convolution(const Convolution& how, const Layout& x, const Layout& w, const Layout& y) {
  require(x.rank == how.rank + 2 && w.rank == x.rank && y.rank == x.rank,
          "ranks that do not go together", kWrongShape);
  require(x.dims[0] == y.dims[0], "batches of different sizes", kWrongShape);
  require(x.dims[1] % w.dims[1] == 0 && w.dims[0] == y.dims[1] &&
              w.dims[0] % (x.dims[1] / w.dims[1]) == 0,
          "channels that do not go together", kWrongShape);
  require(
      x.type != CUDNN_DATA_BOOLEAN && w.type != CUDNN_DATA_BOOLEAN && y.type != CUDNN_DATA_BOOLEAN,
      "a convolution of booleans");
  for (int i = 0; i < how.rank; ++i) {
    // The last output meets the first tap inside the padded input, whatever pads are behind.
    const int64_t reach = (w.dims[2 + i] - 1) * how.dilations[i];
    const int64_t least = (y.dims[2 + i] - 1) * how.strides[i] - how.pads[i];
    require(least - reach < x.dims[2 + i] + reach + how.strides[i] + how.pads[i],
            "sizes that do not go together", kWrongShape);
  }
  need_gemm();
}

// Named, for lambdas of templates hold what is in it.
namespace blocks {

// What is computed at a time: images, or pixels of one.
struct Cut {
  int64_t images, pixels, image_blocks, pixel_blocks;

  Cut(const ConvolutionShape& s, int64_t depth) {
    const int64_t most = std::max<int64_t>(64, kPanel / depth / 16 * 16);
    pixels = std::min(s.pixels, most);
    // Equal pieces rather than a small one at the end.
    pixel_blocks = (s.pixels + pixels - 1) / pixels;
    pixels = std::min(s.pixels, ((s.pixels + pixel_blocks - 1) / pixel_blocks + 15) / 16 * 16);
    pixel_blocks = (s.pixels + pixels - 1) / pixels;
    images = pixel_blocks > 1 ? 1
                              : std::max<int64_t>(
                                    1, std::min(s.images, std::min<int64_t>(most, 256) / s.pixels));
    image_blocks = (s.images + images - 1) / images;
  }
};

bool channels_last(const Layout& tensor) { return tensor.strides[1] == 1 && tensor.dims[1] > 1; }

// Rows of results into a tensor: row k is filter `first + k`, `turned` ones are columns.
template <class T>
void store_tile(const ConvolutionShape& s, const View& y, const T* tile, int64_t step, bool turned,
                int64_t image, int64_t first, int64_t filters, int64_t begin, int64_t end, T alpha,
                T beta) {
  int64_t space = 0;
  const bool flat = one_row(s.out, s.y_space, &space);
  const int64_t base = image * y.strides[0] + first * y.strides[1];
  if (turned) {  // tile[pixel][filter]
    s.lines(begin, end, [&](int64_t at, int64_t od, int64_t oh, int64_t from, int64_t to) {
      for (int64_t ow = from; ow < to; ++ow)
        store_row<T>(y, base + od * s.y_space[0] + oh * s.y_space[1] + ow * s.y_space[2],
                     y.strides[1], static_cast<size_t>(filters),
                     tile + (at - begin + ow - from) * step, alpha, beta);
    });
    return;
  }
  for (int64_t k = 0; k < filters; ++k, tile += step) {
    const int64_t at = base + k * y.strides[1];
    if (flat) {
      store_row<T>(y, at + begin * space, space, static_cast<size_t>(end - begin), tile, alpha,
                   beta);
      continue;
    }
    s.lines(begin, end, [&](int64_t pixel, int64_t od, int64_t oh, int64_t from, int64_t to) {
      store_row<T>(y, at + od * s.y_space[0] + oh * s.y_space[1] + from * s.y_space[2],
                   s.y_space[2], static_cast<size_t>(to - from), tile + (pixel - begin), alpha,
                   beta);
    });
  }
}

// An image's channels as a matrix [channel][pixel] where they lie, if they do. `turned` says they
// lie as [pixel][channel].
template <class T>
bool lies(const View& tensor, const int64_t* dims, const int64_t* strides, Matrix<T>* found) {
  int64_t step = 0;
  if (tensor.type != type_as<T>(tensor) || !one_row(dims, strides, &step)) return false;
  auto* data = reinterpret_cast<const T*>(tensor.data);
  const int64_t channel = tensor.strides[1], channels = tensor.dims[1],
                size = dims[0] * dims[1] * dims[2];
  // Rows must not overlap, as OpenBLAS wants it.
  if (step == 1 && (channel >= size || channels == 1))
    *found = {data, std::max(channel, size), false};
  else if (channel == 1 && step >= channels)
    *found = {data, step, true};
  else
    return false;
  return true;
}
template <class T>
Matrix<T> part(const Matrix<T>& of, int64_t base, int64_t row, int64_t column) {
  return {of.data + base + (of.turned ? column * of.step + row : row * of.step + column), of.step,
          of.turned};
}

// c = alpha * a * b + beta * c, of numbers of T or words of 16 bits of a type.
template <class T, class F>
void multiply(cudnnDataType_t type, int64_t rows, int64_t columns, int64_t depth, T alpha,
              const Matrix<F>& a, const Matrix<F>& b, T beta, T* c, int64_t step) {
  if constexpr (is_word<F>)
    gemm(type == CUDNN_DATA_HALF ? product::Type::f16 : product::Type::bf16, rows, columns, depth,
         alpha, a, b, beta, c, step);
  else
    gemm<T>(rows, columns, depth, alpha, a, b, beta, c, step);
}
// Whether factors are words of 16 bits of one type, with sums in f32.
template <class T>
bool of_words(const Layout& a, const Layout& b) {
  return std::is_same_v<T, float> && a.type == b.type &&
         (a.type == CUDNN_DATA_BFLOAT16 || a.type == CUDNN_DATA_HALF);
}

}  // namespace blocks
using namespace blocks;

// Factors as F: numbers of T, or words of 16 bits.
template <class T, class F>
void convolve_by(const Convolution& how, const ConvolutionShape& s, const View& x, const View& w,
                 const View& y, T alpha, T beta) {
  const bool last = channels_last(y);
  const int64_t depth = s.group_channels * s.taps;
  const PackedFilter<F> filter(how, w, last);
  Matrix<F> inputs{};
  const bool straight = s.pointwise() && lies<F>(x, s.in, s.x_space, &inputs);
  const Cut cut(s, straight ? std::min<int64_t>(depth, 256) : depth);
  Matrix<T> outputs{};
  const bool direct = lies<T>(y, s.out, s.y_space, &outputs) && outputs.turned == last;
  // Few blocks are cut by filters too, for more threads than one.
  const int64_t blocks = s.groups * cut.image_blocks * cut.pixel_blocks;
  const int64_t cuts =
      std::clamp<int64_t>(8 / blocks, 1, std::max<int64_t>(1, s.group_filters / 64));
  const int64_t filters = ((s.group_filters + cuts - 1) / cuts + 15) / 16 * 16;
  const int64_t filter_blocks = (s.group_filters + filters - 1) / filters;
  struct Block {
    int64_t group, n0, nn, p0, pn;
  };
  auto block_of = [&](int64_t number) {
    const int64_t p0 = number % cut.pixel_blocks * cut.pixels,
                  n0 = number / cut.pixel_blocks % cut.image_blocks * cut.images;
    return Block{number / cut.pixel_blocks / cut.image_blocks, n0,
                 std::min(cut.images, s.images - n0), p0, std::min(cut.pixels, s.pixels - p0)};
  };
  auto fill = [&](const Block& it, F* panel) {
    const int64_t c0 = it.group * s.group_channels, end = it.p0 + it.pn;
    for (int64_t n = 0; n < it.nn; ++n) {
      if (last)
        panel_by_pixels<F>(s, x, it.n0 + n, c0, s.group_channels, it.p0, end,
                           panel + n * it.pn * depth);
      else
        panel_by_channels<F>(s, x, it.n0 + n, c0, s.group_channels, it.p0, end, panel + n * it.pn,
                             it.nn * it.pn);
    }
  };
  // Panels that several blocks of filters read are made once, before.
  const int64_t most = depth * cut.images * cut.pixels;
  const bool shared = !straight && filter_blocks > 1;
  Scratch<F> panels(shared ? blocks * most : 0);
  if (shared)
    lib::parallel(static_cast<uint64_t>(blocks), [&](uint64_t number) {
      fill(block_of(static_cast<int64_t>(number)),
           panels.get() + static_cast<int64_t>(number) * most);
    });
  lib::parallel(static_cast<uint64_t>(blocks * filter_blocks), [&](uint64_t unit) {
    const int64_t number = static_cast<int64_t>(unit) / filter_blocks;
    const int64_t k0 = static_cast<int64_t>(unit) % filter_blocks * filters,
                  kn = std::min(filters, s.group_filters - k0);
    const Block it = block_of(number);
    const int64_t first = it.group * s.group_filters + k0, c0 = it.group * s.group_channels,
                  columns = it.nn * it.pn;
    const Matrix<F> weights{filter.get() + first * depth, depth, last};
    // results = weights * panel, or, by pixels, panel * weights
    auto compute = [&](const Matrix<F>& panel, int64_t count, T a, T b, T* to, int64_t step) {
      const Matrix<F> pixels{panel.data, panel.step, !panel.turned};
      const int64_t down = last ? count : kn, across = last ? kn : count;
      const Matrix<F>&left = last ? pixels : weights, &right = last ? weights : panel;
      multiply<T, F>(x.type, down, across, depth, a, left, right, b, to, step);
    };
    if (straight && direct) {
      for (int64_t n = it.n0; n < it.n0 + it.nn; ++n) {
        const Matrix<T> out = part(outputs, n * y.strides[0], first, it.p0);
        compute(part(inputs, n * x.strides[0], c0, it.p0), it.pn, alpha, beta,
                const_cast<T*>(out.data), out.step);
      }
      return;
    }
    Scratch<F> own(straight || shared ? 0 : depth * columns);
    if (own) fill(it, own.get());
    const Matrix<F> whole{shared ? panels.get() + number * most : own.get(), last ? depth : columns,
                          last};
    if (direct && it.nn == 1) {
      const Matrix<T> out = part(outputs, it.n0 * y.strides[0], first, it.p0);
      return compute(whole, columns, alpha, beta, const_cast<T*>(out.data), out.step);
    }
    Scratch<T> tile(kn * columns);
    const int64_t step = last ? kn : columns, next = it.pn * (last ? kn : 1);
    if (straight) {
      for (int64_t n = 0; n < it.nn; ++n)
        compute(part(inputs, (it.n0 + n) * x.strides[0], c0, it.p0), it.pn, 1, 0,
                tile.get() + n * next, step);
    } else {
      compute(whole, columns, 1, 0, tile.get(), step);
    }
    for (int64_t n = 0; n < it.nn; ++n)
      store_tile<T>(s, y, tile.get() + n * next, step, last, it.n0 + n, first, kn, it.p0,
                    it.p0 + it.pn, alpha, beta);
  });
}

template <class T>
void convolve(const Convolution& how, const View& x, const View& w, const View& y, T alpha,
              T beta) {
  const ConvolutionShape s(how, x, w, y);
  if (s.depthwise()) return depthwise(how, x, w, y, alpha, beta);
  if constexpr (std::is_same_v<T, float>) {
    if (direct_forward(s, x, w)) return convolve_directly(how, s, x, w, y, alpha, beta);
    if (of_words<T>(x, w)) return convolve_by<T, Word>(how, s, x, w, y, alpha, beta);
  }
  convolve_by<T, T>(how, s, x, w, y, alpha, beta);
}

std::vector<float> numbers_of_channels(const View& bias) {
  std::vector<float> out(static_cast<size_t>(bias.dims[1]));
  const float* row = load_row<float>(bias, 0, bias.strides[1], out.size(), out.data());
  if (row != out.data()) std::copy_n(row, out.size(), out.data());
  return out;
}

bool convolve_finished(const Convolution& how, const View& x, const View& w, const View& y,
                       const Finish& finish) {
  const ConvolutionShape s(how, x, w, y);
  if (s.depthwise() || !direct_forward(s, x, w)) return false;
  convolve_directly(how, s, x, w, y, 1, 0, &finish);
  return true;
}

namespace blocks {

// Adds a panel's rows [channel, tap][pixel] to the planes that they came from.
template <class T>
void add_back(const ConvolutionShape& s, const T* panel, int64_t step, int64_t channels,
              int64_t begin, int64_t end, T* planes) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t r = 0; r < s.taps; ++r, panel += step) {
      const Tap tap = s.tap(r);
      s.lines(begin, end, [&](int64_t at, int64_t od, int64_t oh, int64_t from, int64_t to) {
        const int64_t d = s.meets(0, od, tap.at[0]), h = s.meets(1, oh, tap.at[1]);
        if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1]) return;
        int64_t a, b;
        s.inside(tap.at[2], from, to, &a, &b);
        T* line = planes + c * s.in_size + (d * s.in[1] + h) * s.in[2] + s.meets(2, a, tap.at[2]);
        const T* row = panel + (at - begin) + (a - from);
        for (int64_t i = 0; i < b - a; ++i) line[i * s.strides[2]] += row[i];
      });
    }
}

// The same for a panel [pixel][tap, channel], into [place][channel].
template <class T>
void add_back_by_pixels(const ConvolutionShape& s, const T* panel, int64_t begin, int64_t end,
                        T* places) {
  const int64_t count = s.group_channels;
  s.lines(begin, end, [&](int64_t, int64_t od, int64_t oh, int64_t from, int64_t to) {
    for (int64_t ow = from; ow < to; ++ow)
      for (int64_t r = 0; r < s.taps; ++r, panel += count) {
        const Tap tap = s.tap(r);
        const int64_t d = s.meets(0, od, tap.at[0]), h = s.meets(1, oh, tap.at[1]),
                      w = s.meets(2, ow, tap.at[2]);
        if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1] || w < 0 || w >= s.in[2]) continue;
        T* sum = places + ((d * s.in[1] + h) * s.in[2] + w) * count;
        for (int64_t c = 0; c < count; ++c) sum[c] += panel[c];
      }
  });
}

// A part of a tensor of N, C and space.
View part_of(const View& tensor, int64_t image, int64_t channel, int64_t channels) {
  View out = tensor;
  out.data += (image * tensor.strides[0] + channel * tensor.strides[1]) *
              static_cast<int64_t>(element_bytes(tensor.type));
  out.dims[0] = 1, out.dims[1] = channels;
  return out;
}

// The gradients of outputs as matrices: where they lie, or a copy.
template <class T>
class Gradients {
 public:
  Gradients(const ConvolutionShape& s, const View& dy) : strides_(dy.strides[0]) {
    if (lies<T>(dy, s.out, s.y_space, &matrix_)) return;
    copy_.reset(dy.elements());
    using Number = std::conditional_t<is_word<T>, float, T>;
    map<Number, 1>(View(packed(type_as<T>(dy), dy), copy_.get()), 1, 0, {dy}, Copy{});
    matrix_ = {copy_.get(), s.pixels, false};
    strides_ = s.filters * s.pixels;
  }
  Matrix<T> at(int64_t image, int64_t filter, int64_t pixel) const {
    return part(matrix_, image * strides_, filter, pixel);
  }

 private:
  Matrix<T> matrix_{};
  int64_t strides_;
  Scratch<T> copy_;
};

}  // namespace blocks

template <class T, class F>
void convolve_data_by(const Convolution& how, const ConvolutionShape& s, const View& w,
                      const View& dy, const View& dx, T alpha, T beta) {
  // Products of a few columns are slower than planes of a few channels.
  const bool last = channels_last(dx) && s.group_channels >= 8;
  const int64_t depth = s.group_channels * s.taps;
  const PackedFilter<F> filter(how, w, last);
  const Gradients<F> gradients(s, dy);
  const int64_t most = std::min<int64_t>(s.pixels, 1024);
  const int64_t channels =
      last ? s.group_channels : std::clamp<int64_t>(kPanel / (s.taps * most), 1, s.group_channels);
  const int64_t channel_blocks = (s.group_channels + channels - 1) / channels;
  const int64_t pixels = std::max<int64_t>(16, std::min(most, kPanel / (channels * s.taps)));
  lib::parallel(static_cast<uint64_t>(s.images * s.groups * channel_blocks), [&](uint64_t unit) {
    int64_t rest = static_cast<int64_t>(unit);
    const int64_t c0 = rest % channel_blocks * channels,
                  cn = std::min(channels, s.group_channels - c0);
    rest /= channel_blocks;
    const int64_t group = rest % s.groups, image = rest / s.groups, k0 = group * s.group_filters;
    Scratch<T> planes(cn * s.in_size), panel(cn * s.taps * pixels);
    std::fill_n(planes.get(), cn * s.in_size, T{0});
    const F* weights = filter.get() + k0 * depth;
    for (int64_t p0 = 0; p0 < s.pixels; p0 += pixels) {
      const int64_t pn = std::min(pixels, s.pixels - p0);
      const Matrix<F> up = gradients.at(image, k0, p0);
      if (last) {
        multiply<T, F>(dy.type, pn, depth, s.group_filters, 1, {up.data, up.step, !up.turned},
                       {weights, depth}, 0, panel.get(), depth);
        add_back_by_pixels(s, panel.get(), p0, p0 + pn, planes.get());
      } else {
        multiply<T, F>(dy.type, cn * s.taps, pn, s.group_filters, 1,
                       {weights + c0 * s.taps, depth, true}, up, 0, panel.get(), pn);
        add_back(s, panel.get(), pn, cn, p0, p0 + pn, planes.get());
      }
    }
    const View to = part_of(dx, image, group * s.group_channels + c0, cn);
    Layout lying = packed(type_of<T>(), to);
    if (last) {
      lying.strides[1] = 1;
      for (int i = 2; i < lying.rank; ++i) lying.strides[i] *= cn;
    }
    map<T, 1>(to, alpha, beta, {View(lying, planes.get())}, Copy{});
  });
}

template <class T>
void convolve_data(const Convolution& how, const View& w, const View& dy, const View& dx, T alpha,
                   T beta) {
  const ConvolutionShape s(how, dx, w, dy);
  if (s.depthwise()) return depthwise_data(how, w, dy, dx, alpha, beta);
  if constexpr (std::is_same_v<T, float>) {
    if (direct_data(s, w, dy)) return convolve_data_directly(how, s, w, dy, dx, alpha, beta);
    if (of_words<T>(w, dy)) return convolve_data_by<T, Word>(how, s, w, dy, dx, alpha, beta);
  }
  convolve_data_by<T, T>(how, s, w, dy, dx, alpha, beta);
}

template <class T, class F>
void convolve_filter_by(const Convolution& how, const ConvolutionShape& s, const View& x,
                        const View& dy, const View& dw, T alpha, T beta) {
  const bool last = channels_last(x);
  const Gradients<F> gradients(s, dy);
  Matrix<F> inputs{};
  const bool straight = s.pointwise() && lies<F>(x, s.in, s.x_space, &inputs);
  const int64_t most = std::min<int64_t>(s.pixels, 1024);
  // Some blocks of channels for threads, which the panel bounds too.
  const int64_t bound = std::max<int64_t>(1, kPanel / (s.taps * std::min<int64_t>(most, 256)));
  const int64_t even = std::max<int64_t>(16, (s.group_channels + 7) / 8);
  const int64_t channels = std::min({s.group_channels, bound, even});
  const int64_t channel_blocks = (s.group_channels + channels - 1) / channels;
  const int64_t pixels = std::max<int64_t>(16, std::min(most, kPanel / (channels * s.taps)));
  // Sums are made where they are to be, if the filter lies as they do.
  const bool direct =
      PackedFilter<T>::lies_so(how, dw, last) && (!last || channel_blocks == 1 || s.taps == 1);
  const int64_t depth = s.group_channels * s.taps;
  lib::parallel(static_cast<uint64_t>(s.groups * channel_blocks), [&](uint64_t unit) {
    const int64_t group = static_cast<int64_t>(unit) / channel_blocks;
    const int64_t c0 = static_cast<int64_t>(unit) % channel_blocks * channels;
    const int64_t cn = std::min(channels, s.group_channels - c0), columns = cn * s.taps;
    const int64_t k0 = group * s.group_filters, first = group * s.group_channels + c0;
    Scratch<T> tile(direct ? 0 : s.group_filters * columns);
    Scratch<F> panel(straight ? 0 : columns * pixels);
    T* sums = direct ? reinterpret_cast<T*>(dw.data) + k0 * depth + c0 * s.taps : tile.get();
    const int64_t step = direct ? depth : columns;
    for (int64_t image = 0; image < s.images; ++image)
      for (int64_t p0 = 0; p0 < s.pixels; p0 += pixels) {
        const int64_t pn = std::min(pixels, s.pixels - p0);
        Matrix<F> met{panel.get(), last ? columns : pn, !last};
        if (straight) {
          met = part(inputs, image * x.strides[0], first, p0);
          met.turned = !met.turned;
        } else if (last) {
          panel_by_pixels<F>(s, x, image, first, cn, p0, p0 + pn, panel.get());
        } else {
          panel_by_channels<F>(s, x, image, first, cn, p0, p0 + pn, panel.get(), pn);
        }
        const T kept = image || p0 ? T{1} : direct ? beta : T{0};
        multiply<T, F>(x.type, s.group_filters, columns, pn, direct ? alpha : T{1},
                       gradients.at(image, k0, p0), met, kept, sums, step);
      }
    if (direct) return;
    View to = PackedFilter<T>::turned(how, dw);
    to.data +=
        (k0 * dw.strides[0] + c0 * dw.strides[1]) * static_cast<int64_t>(element_bytes(dw.type));
    to.dims[0] = s.group_filters, to.dims[1] = cn;
    map<T, 1>(to, alpha, beta, {View(PackedFilter<T>::order(to, last), tile.get())}, Copy{});
  });
}

template <class T>
void convolve_filter(const Convolution& how, const View& x, const View& dy, const View& dw, T alpha,
                     T beta) {
  const ConvolutionShape s(how, x, dw, dy);
  if (s.depthwise()) return depthwise_filter(how, x, dy, dw, alpha, beta);
  if constexpr (std::is_same_v<T, float>) {
    if (direct_filter(s, x, dy)) return convolve_filter_directly(how, s, x, dy, dw, alpha, beta);
    if (of_words<T>(x, dy)) return convolve_filter_by<T, Word>(how, s, x, dy, dw, alpha, beta);
  }
  convolve_filter_by<T, T>(how, s, x, dy, dw, alpha, beta);
}

#define AW_CONVOLUTIONS(T)                                                                      \
  template void convolve(const Convolution&, const View&, const View&, const View&, T, T);      \
  template void convolve_data(const Convolution&, const View&, const View&, const View&, T, T); \
  template void convolve_filter(const Convolution&, const View&, const View&, const View&, T, T)
AW_CONVOLUTIONS(float);
AW_CONVOLUTIONS(double);
#undef AW_CONVOLUTIONS

}  // namespace aw::dnn
