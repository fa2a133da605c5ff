// Gradients of filters as sums over pixels: for each tap, blocks of channels times filters.
#include <vector>

#include "libraries/cudnn/direct.h"

namespace aw::dnn {
namespace direct {
namespace {

// Floats that are copied at a time: a core's second cache.
constexpr int64_t kKept = 1 << 17;
// Pixels that are summed at a time, so that what they meet stays in the first cache. Fewer would
// load and store the sums too often.
constexpr int64_t kPixelsTogether = 256;

class FilterSums {
 public:
  FilterSums(const ConvolutionShape& s, const View& x, const View& dy)
      : s_(s),
        x_(x),
        dy_(dy),
        rows_(product::kernels().f32.rows),
        columns_(product::kernels().f32.columns) {
    planes_ = {{}, {}, {}, {}, s.group_channels, rows_, rows_};
    for (int i = 0; i < 3; ++i) {
      planes_.in[i] = s.in[i], planes_.in_space[i] = s.x_space[i], planes_.low[i] = -s.pads[i];
      planes_.size[i] = (s.out[i] - 1) * s.strides[i] + (s.kernel[i] - 1) * s.dilations[i] + 1;
    }
    panels_ = (s.group_filters + columns_ - 1) / columns_;
    const int64_t image =
        s.groups * (planes_.blocks() * planes_.block_size() + panels_ * s.pixels * columns_);
    const int64_t wanted = std::max(kPixelsTogether, kKept * s.pixels / image);
    together_ = std::clamp<int64_t>(wanted / s.pixels, 1, s.images);
    lines_ = s.out[0] > 1 ? s.out[1] : std::min(s.out[1], (wanted + s.out[2] - 1) / s.out[2]);
    planes_.size[1] = (lines_ - 1) * s.strides[1] + (s.kernel[1] - 1) * s.dilations[1] + 1;
    pixels_ = together_ * s.out[0] * lines_ * s.out[2] * columns_ + kSlack;
    inputs_.reset(s.groups * planes_.blocks() * together_ * planes_.block_size());
    gradients_.reset(s.groups * panels_ * pixels_);
    const int64_t size = s.groups * planes_.blocks() * panels_ * s.taps * columns_ * rows_;
    sums_.reset(size);
    std::fill_n(sums_.get(), size, 0.f);
  }

  void operator()() {
    const int64_t blocks = s_.groups * planes_.blocks();
    const auto threads = static_cast<int64_t>(anywarp_threads());
    const int64_t parts = threads == 1 ? 1 : std::clamp<int64_t>(2 * threads / blocks, 1, panels_),
                  each = (panels_ + parts - 1) / parts;
    for (int64_t n0 = 0; n0 < s_.images; n0 += together_)
      for (int64_t h0 = 0; h0 < s_.out[1]; h0 += lines_) {
        const Lines of = {n0, std::min(together_, s_.images - n0), h0,
                          std::min(lines_, s_.out[1] - h0)};
        in_pieces(blocks, [&](int64_t b0, int64_t bn) { copy_inputs(b0, bn, of); });
        in_pieces(s_.groups * panels_, [&](int64_t p0, int64_t pn) { copy_gradients(p0, pn, of); });
        lib::parallel(static_cast<uint64_t>(blocks * parts), [&](uint64_t number) {
          const int64_t part = static_cast<int64_t>(number) % parts;
          add(static_cast<int64_t>(number) / parts, of, part * each,
              std::min(panels_, part * each + each));
        });
      }
  }

  void store(const Convolution& how, const View& dw, float alpha, float beta) const {
    // A filter as one row where its numbers lie so: [channel][tap] or [tap][channel].
    const bool by_taps = PackedFilter<float>::lies_as(how, dw, true),
               whole = by_taps || PackedFilter<float>::lies_as(how, dw, false);
    const View to = PackedFilter<float>::turned(how, dw);
    const int64_t channels = s_.group_channels;
    lib::parallel(static_cast<uint64_t>(s_.filters), [&](uint64_t number) {
      const auto k = static_cast<int64_t>(number);
      const int64_t group = k / s_.group_filters, place = k % s_.group_filters;
      Scratch<float> row(channels * s_.taps);
      const int64_t by_tap = whole && !by_taps ? 1 : channels,
                    by_channel = whole && !by_taps ? s_.taps : 1;
      for (int64_t c0 = 0; c0 < channels; c0 += rows_) {
        const int64_t panel = place / columns_;
        const float* from =
            sums(group * planes_.blocks() + c0 / rows_, panel) + place % columns_ * rows_;
        for (int64_t t = 0; t < s_.taps; ++t, from += columns_ * rows_)
          if (by_channel == 1)
            std::copy_n(from, std::min(rows_, channels - c0), row.get() + t * by_tap + c0);
          else
            for (int64_t c = 0; c < std::min(rows_, channels - c0); ++c)
              row[(c0 + c) * by_channel + t] = from[c];
      }
      const int64_t at = k * to.strides[0];
      if (whole)
        return store_row<float>(to, at, 1, static_cast<size_t>(channels * s_.taps), row.get(),
                                alpha, beta);
      for (int64_t t = 0; t < s_.taps; ++t) {
        const Tap tap = s_.tap(t);
        int64_t begin = at;
        for (int i = 0; i < how.rank; ++i) begin += tap.at[3 - how.rank + i] * to.strides[2 + i];
        store_row<float>(to, begin, to.strides[1], static_cast<size_t>(channels),
                         row.get() + t * channels, alpha, beta);
      }
    });
  }

 private:
  // Images [n0, n0 + nn), of which lines [h0, h0 + hn) of the output.
  struct Lines {
    int64_t n0, nn, h0, hn;
  };
  static constexpr int64_t kSlack = 16;  // a panel's last vector may be written whole

  float* sums(int64_t block, int64_t panel) const {
    return sums_.get() + (block * panels_ + panel) * s_.taps * columns_ * rows_;
  }

  // body(first, end) of pieces of `count` for each thread.
  template <class Body>
  static void in_pieces(int64_t count, const Body& body) {
    const auto threads = static_cast<int64_t>(anywarp_threads());
    const int64_t pieces = threads == 1 ? 1 : std::min(count, 2 * threads),
                  each = (count + pieces - 1) / pieces;
    lib::parallel(static_cast<uint64_t>(pieces), [&](uint64_t piece) {
      const int64_t first = static_cast<int64_t>(piece) * each;
      body(first, std::min(count, first + each));
    });
  }

  // Lines are copied one after the other, for what channels lie side by side is then still near.
  void copy_inputs(int64_t b0, int64_t bn, const Lines& of) {
    const int64_t begin = of.h0 * s_.strides[1],
                  end = (of.h0 + of.hn - 1) * s_.strides[1] + (s_.kernel[1] - 1) * s_.dilations[1] +
                        1,
                  lines = s_.x_space[2] == 1 ? end - begin : 1;
    for (int64_t n = 0; n < of.nn; ++n)
      for (int64_t d = 0; d < planes_.size[0]; ++d)
        for (int64_t h = begin; h < end; h += lines)
          for (int64_t block = b0; block < bn; ++block) {
            const int64_t group = block / planes_.blocks(), c = block % planes_.blocks() * rows_;
            planes_.copy(
                x_, (of.n0 + n) * x_.strides[0] + (group * s_.group_channels + c) * x_.strides[1],
                std::min(rows_, s_.group_channels - c), d, d + 1, h, h + lines,
                inputs_.get() + (block * together_ + n) * planes_.block_size() +
                    at(d, h - begin, 0));
          }
  }

  // [panel][image][pixel][column]
  void copy_gradients(int64_t p0, int64_t pn, const Lines& of) {
    constexpr int64_t kNear = 64;  // pixels, for the same reason
    const auto bytes = static_cast<int64_t>(element_bytes(dy_.type));
    int64_t step = 0;
    const int64_t some[3] = {s_.out[0], of.hn, s_.out[2]};
    const bool along = dy_.strides[1] != 1,
               flat = one_row(some, s_.y_space, &step) && (!along || step == 1);
    const int64_t pixels = s_.out[0] * of.hn * s_.out[2], line = flat ? pixels : s_.out[2],
                  by_pixel = flat ? step : s_.y_space[2];
    product::Block block = {};
    block.type = product_type(dy_.type), block.along_k = along;
    block.ld = (along ? dy_.strides[1] : by_pixel) * bytes;
    const int64_t near = along ? line : kNear;
    for (int64_t n = 0; n < of.nn; ++n)
      for (int64_t p = 0; p < pixels; p += line)
        for (int64_t w = 0; w < line; w += near)
          for (int64_t panel = p0; panel < pn; ++panel) {
            const int64_t group = panel / panels_, k = panel % panels_ * columns_;
            const int64_t first = (of.n0 + n) * dy_.strides[0] + of.h0 * s_.y_space[1] +
                                  (group * s_.group_filters + k) * dy_.strides[1] +
                                  p / line / of.hn * s_.y_space[0] +
                                  p / line % of.hn * s_.y_space[1] + w * by_pixel;
            block.data = dy_.data + first * bytes;
            block.outer = std::min(columns_, s_.group_filters - k);
            block.k = std::min(near, line - w);
            block.behind = s_.group_filters - k - block.outer;
            float* to = gradients_.get() + panel * pixels_ + (n * pixels + p + w) * columns_;
            product::kernels().f32.pack(block, reinterpret_cast<uint32_t*>(to));
          }
  }

  void add(int64_t block, const Lines& of, int64_t p0, int64_t pn) {
    const int64_t of_image = s_.out[0] * of.hn, width = s_.out[2], all = of.nn * of_image;
    const int64_t most = std::max<int64_t>(1, kPixelsTogether / width);
    const int64_t channels = std::min(rows_, s_.group_channels - block % planes_.blocks() * rows_);
    const int64_t group = block / planes_.blocks();
    const float* inputs = inputs_.get() + block * together_ * planes_.block_size();
    const float* gradients = gradients_.get() + group * panels_ * pixels_;
    std::vector<int64_t> lines(static_cast<size_t>(most));
    for (int64_t first = 0; first < all; first += most) {
      const int64_t count = std::min(most, all - first);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t line = (first + i) % of_image, d = line / of.hn, h = line % of.hn;
        lines[static_cast<size_t>(i)] = (first + i) / of_image * planes_.block_size() +
                                        at(d * s_.strides[0], h * s_.strides[1], 0);
      }
      for (int64_t panel = p0; panel < pn; ++panel) {
        float* to = sums(block, panel);
        for (int64_t t = 0; t < s_.taps; ++t, to += columns_ * rows_) {
          const Tap tap = s_.tap(t);
          product::kernels().sum_lines(
              {inputs + at(tap.at[0] * s_.dilations[0], tap.at[1] * s_.dilations[1],
                           tap.at[2] * s_.dilations[2]),
               channels, s_.strides[2] * rows_, lines.data(), count, width,
               gradients + panel * pixels_ + first * width * columns_, to});
        }
      }
    }
  }
  int64_t at(int64_t d, int64_t h, int64_t w) const {
    return ((d * planes_.size[1] + h) * planes_.size[2] + w) * rows_;
  }

  const ConvolutionShape& s_;
  const View &x_, &dy_;
  const int64_t rows_, columns_;
  Planes planes_;
  int64_t panels_, together_, lines_, pixels_;
  Scratch<float> inputs_, gradients_, sums_;
};

}  // namespace
}  // namespace direct
using namespace direct;

bool direct_filter(const ConvolutionShape& s, const View& x, const View& dy) {
  constexpr int64_t kFewest = 8;  // of channels: lanes would be empty
  int64_t step = 0;
  return widened(x.type) && widened(dy.type) && readable(x, s.x_space) &&
         (dy.strides[1] == 1 || s.y_space[2] == 1 ||
          (one_row(s.out, s.y_space, &step) && step == 1)) &&
         s.group_channels >= kFewest;
}

void convolve_filter_directly(const Convolution& how, const ConvolutionShape& s, const View& x,
                              const View& dy, const View& dw, float alpha, float beta) {
  FilterSums sums(s, x, dy);
  sums();
  sums.store(how, dw, alpha, beta);
}

}  // namespace aw::dnn
