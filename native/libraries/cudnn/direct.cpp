// Outputs, and gradients of inputs, as sums over the taps that meet each pixel. Lanes are filters.
#include "libraries/cudnn/direct.h"

#include <vector>

namespace aw::dnn {
namespace direct {

product::Type product_type(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF       ? product::Type::f16
         : type == CUDNN_DATA_BFLOAT16 ? product::Type::bf16
                                       : product::Type::f32;
}

bool widened(cudnnDataType_t type) {
  const product::Kernels& with = product::kernels();
  if (type == CUDNN_DATA_HALF) return with.f16.multiply == with.f32.multiply;
  if (type == CUDNN_DATA_BFLOAT16) return with.bf16.multiply == with.f32.multiply;
  return type == CUDNN_DATA_FLOAT;
}

bool readable(const View& tensor, const int64_t* space) {
  return tensor.strides[1] == 1 || space[2] == 1;
}

void Planes::copy(const View& tensor, int64_t at, int64_t count, int64_t d0, int64_t dn, int64_t h0,
                  int64_t hn, float* to) const {
  const auto& way = product::kernels().f32;
  const auto bytes = static_cast<int64_t>(element_bytes(tensor.type));
  const int64_t line = size[2] * pitch, from = std::clamp<int64_t>(-low[2], 0, size[2]),
                there = std::clamp<int64_t>(in[2] - low[2], from, size[2]) - from;
  const bool lines = in_space[2] == 1;
  product::Block block = {};
  block.type = product_type(tensor.type), block.along_k = lines, block.of_a = true;
  block.ld = (lines ? tensor.strides[1] : in_space[2]) * bytes;
  block.outer = count;
  // Whole vectors of channels.
  const bool wide = width <= way.rows && pitch % (way.rows / 2) == 0;
  block.pitch = pitch;
  // Lines that follow one another are turned together.
  const bool flat = wide && lines && low[2] + from == 0 && there == in[2] && in_space[1] == in[2];
  const int64_t first_line = std::clamp<int64_t>(low[1] + h0, 0, in[1]),
                last_line = std::clamp<int64_t>(low[1] + hn, first_line, in[1]);
  const bool padded = there < size[2];
  Scratch<float> turned(flat && padded ? (last_line - first_line) * in[2] * pitch : 0);
  for (int64_t d = d0; d < dn; ++d) {
    const int64_t id = low[0] + d;
    const bool outside = id < 0 || id >= in[0];
    if (flat && !outside && last_line > first_line) {
      block.data = tensor.data + (at + id * in_space[0] + first_line * in_space[1]) * bytes;
      block.k = (last_line - first_line) * in[2];
      float* lies = to + ((d - d0) * size[1] + (first_line - low[1] - h0)) * line;
      way.pack(block, reinterpret_cast<uint32_t*>(padded ? turned.get() : lies));
    }
    for (int64_t h = h0; h < hn; ++h) {
      float* place = to + ((d - d0) * size[1] + (h - h0)) * line;
      const int64_t ih = low[1] + h;
      if (outside || ih < 0 || ih >= in[1] || !there) {
        std::fill_n(place, line, 0.f);
        continue;
      }
      std::fill_n(place, from * pitch, 0.f);
      place += from * pitch;
      std::fill_n(place + there * pitch, line - (from + there) * pitch, 0.f);
      if (flat && !padded) continue;
      if (flat) {
        std::copy_n(turned.get() + (ih - first_line) * in[2] * pitch, in[2] * pitch, place);
        continue;
      }
      const int64_t first =
          at + id * in_space[0] + ih * in_space[1] + (low[2] + from) * in_space[2];
      if (tensor.strides[1] == 1 && count == width && !wide) {
        const bool whole = in_space[2] == width && pitch == width;
        const int64_t pixels = whole ? 1 : there;
        for (int64_t w = 0; w < pixels; ++w)
          product::to_f32(block.type, tensor.data + (first + w * in_space[2]) * bytes,
                          place + w * pitch, whole ? there * width : width);
      } else if (wide) {
        block.data = tensor.data + first * bytes, block.k = there;
        way.pack(block, reinterpret_cast<uint32_t*>(place));
      } else {
        float some[kRow];
        for (int64_t c = 0; c < count; ++c)
          for (int64_t w = 0; w < there; w += kRow) {
            const int64_t n = std::min(kRow, there - w);
            const float* row =
                load_row<float>(tensor, first + c * tensor.strides[1] + w * in_space[2],
                                in_space[2], static_cast<size_t>(n), some);
            for (int64_t i = 0; i < n; ++i) place[(w + i) * pitch + c] = row[i];
          }
      }
    }
  }
}

// Runs are taken in so many at a time that a panel of weights stays in the first cache.
constexpr int64_t kDeep = 384;
// Pixels that lie a multiple of so many floats apart are in the same sets of the first cache.
constexpr int64_t kSameSets = 1024;
// Floats of inputs that are copied at a time: half of a core's second cache.
constexpr int64_t kCopied = 1 << 16;
// Pixels whose sums are made at a time.
constexpr int64_t kSummed = 512;

int64_t floored(int64_t a, int64_t b) { return a / b - (a % b < 0); }

struct Meeting {
  int64_t at[3];   // of the input, from the place that belongs to the output's pixel
  int64_t weight;  // offset of its weights
};

// output[filter][pixel] = sum of weights[filter][channel] of a tap * input[channel][pixel * step +
// tap], for a grid of pixels.
struct Stencil {
  View input, output;
  int64_t images, groups, channels, filters;  // channels and filters of a group
  int64_t in[3], in_space[3], grid[3], out_space[3], out_base, step[3];
  std::vector<Meeting> taps;  // in the order of `at`
  const float* weights;
  int64_t by_group, by_filter, by_channel;  // strides of weights
  const Finish* finish = nullptr;
};

// [pixel][row] of a panel of filters.
AW_LOOP void finish_sums(const float* bias, float least, float nan, int64_t rows, int64_t pixels,
                         float* sums) {
  for (int64_t pixel = 0; pixel < pixels; ++pixel, sums += rows)
    for (int64_t r = 0; r < rows; ++r) {
      const float v = sums[r] + bias[r];
      sums[r] = v > least ? v : v == v ? least : nan;
    }
}

// Leaves out inputs that no tap meets: every other line, of a filter of one place with a stride
// of 2.
void skip_unmet(Stencil& s) {
  for (int i = 0; i < (s.input.strides[1] == 1 ? 3 : 2); ++i) {
    const int64_t step = s.step[i], rest = s.taps[0].at[i] - floored(s.taps[0].at[i], step) * step;
    bool same = step > 1 && rest < s.in[i];
    for (const Meeting& tap : s.taps) same &= (tap.at[i] - rest) % step == 0;
    if (!same) continue;
    for (Meeting& tap : s.taps) tap.at[i] = (tap.at[i] - rest) / step;
    s.input.data += rest * s.in_space[i] * static_cast<int64_t>(element_bytes(s.input.type));
    s.in[i] = (s.in[i] - rest + step - 1) / step, s.in_space[i] *= step, s.step[i] = 1;
  }
}

class Sweep {
 public:
  explicit Sweep(const Stencil& s) : s_(s), rows_(product::kernels().f32.rows) {
    panels_ = (s.filters + rows_ - 1) / rows_;
    // Channels that lie side by side are copied so.
    const int64_t width = s.input.strides[1] == 1 ? s.channels : std::min(s.channels, rows_);
    planes_ = {{}, {}, {}, {}, s.channels, width, pitch_of(width)};
    for (int i = 0; i < 3; ++i) {
      planes_.in[i] = s.in[i], planes_.in_space[i] = s.in_space[i];
      int64_t high = s.taps.empty() ? 0 : s.taps[0].at[i];
      planes_.low[i] = high;
      for (const Meeting& tap : s.taps)
        planes_.low[i] = std::min(planes_.low[i], tap.at[i]), high = std::max(high, tap.at[i]);
      planes_.size[i] = (s.grid[i] - 1) * s.step[i] + high - planes_.low[i] + 1;
      reach_[i] = high - planes_.low[i];
    }
    lies_ = s.input.type == CUDNN_DATA_FLOAT && s.input.strides[1] == 1 && planes_.inside() &&
            s.in_space[2] % kSameSets;
    cut();
    find_runs();
  }

  void operator()(float alpha, float beta) {
    pack_weights();
    const int64_t units = s_.groups * image_blocks_ * s_.grid[0] * line_blocks_;
    // The same input is copied by each that has some of the filters.
    const auto threads = static_cast<int64_t>(anywarp_threads());
    const int64_t parts = threads == 1 ? 1 : std::clamp<int64_t>(2 * threads / units, 1, panels_),
                  each = (panels_ + parts - 1) / parts;
    lib::parallel(static_cast<uint64_t>(units * parts), [&](uint64_t number) {
      const int64_t part = static_cast<int64_t>(number) % parts;
      unit(static_cast<int64_t>(number) / parts, part * each, std::min(panels_, part * each + each),
           alpha, beta);
    });
  }

 private:
  struct Chunk {
    int64_t first, count, unit;  // runs, and units before them
  };

  // Channels that are turned round are turned as whole vectors, if there are some.
  int64_t pitch_of(int64_t width) const {
    constexpr int64_t kSingly = 4;
    const int64_t vector = rows_ / 2;
    if (s_.input.strides[1] != 1 && width > kSingly) return (width + vector - 1) / vector * vector;
    return width % kSameSets ? width : width + rows_;
  }

  void cut() {
    const int64_t line = planes_.size[2] * s_.channels * s_.step[1];
    const int64_t least = (95 + s_.grid[2]) / s_.grid[2];
    const int64_t fits = std::min(kCopied / line, kSummed / s_.grid[2]);
    lines_ = std::clamp<int64_t>(fits, std::min(least, s_.grid[1]), s_.grid[1]);
    line_blocks_ = (s_.grid[1] + lines_ - 1) / lines_;
    lines_ = (s_.grid[1] + line_blocks_ - 1) / line_blocks_;
    line_blocks_ = (s_.grid[1] + lines_ - 1) / lines_;
    const int64_t image = line * lines_;
    together_ =
        s_.grid[0] == 1 && line_blocks_ == 1
            ? std::clamp<int64_t>(std::min(kCopied / image, kSummed / (s_.grid[1] * s_.grid[2])), 1,
                                  s_.images)
            : 1;
    image_blocks_ = (s_.images + together_ - 1) / together_;
    together_ = (s_.images + image_blocks_ - 1) / image_blocks_;
    image_blocks_ = (s_.images + together_ - 1) / together_;
    planes_.size[0] = reach_[0] + 1;
    planes_.size[1] = (lines_ - 1) * s_.step[1] + reach_[1] + 1;
  }

  void find_runs() {
    const int64_t width = planes_.width, all = s_.channels * static_cast<int64_t>(s_.taps.size());
    const int64_t pieces = std::max<int64_t>(1, (all + kDeep - 1) / kDeep),
                  most = (all + pieces - 1) / pieces;
    int64_t end = -1, done = 0;
    auto add = [&](int64_t offset, int64_t units) {
      while (units) {
        if (chunks_.empty() || done - chunks_.back().unit == most)
          chunks_.push_back({static_cast<int64_t>(runs_.size()), 0, done}), end = -1;
        const int64_t some = std::min(units, most - (done - chunks_.back().unit));
        if (offset == end)
          runs_.back().units += some;
        else
          runs_.push_back({offset, some}), ++chunks_.back().count;
        offset += some, units -= some, done += some, end = offset;
      }
    };
    for (int64_t block = 0; block < planes_.blocks(); ++block)
      for (const Meeting& tap : s_.taps) {
        const int64_t d = tap.at[0] - planes_.low[0], h = tap.at[1] - planes_.low[1],
                      w = tap.at[2] - planes_.low[2];
        add(lies_ ? d * s_.in_space[0] + h * s_.in_space[1] + w * s_.in_space[2]
                  : block * planes_.block_size() +
                        ((d * planes_.size[1] + h) * planes_.size[2] + w) * planes_.pitch,
            std::min(width, s_.channels - block * width));
      }
    units_ = done;
  }

  // [group][panel][unit][row]. Each way reads the weights as they lie.
  void pack_weights() {
    weights_.reset(s_.groups * panels_ * units_ * rows_);
    if (!units_) return;
    const auto taps = static_cast<int64_t>(s_.taps.size());
    if (s_.by_channel == 1 || s_.by_filter == 1)
      each_panel([&](const float* from, int64_t there, float* to) {
        for (int64_t c0 = 0; c0 < s_.channels; c0 += planes_.width)
          for (const Meeting& tap : s_.taps) {
            const int64_t n = std::min(planes_.width, s_.channels - c0);
            const bool along_k = s_.by_channel == 1;
            turn(from + c0 * s_.by_channel + tap.weight, along_k,
                 along_k ? s_.by_filter : s_.by_channel, there, n, to);
            to += n * rows_;
          }
      });
    else if (s_.by_channel < s_.by_filter)  // taps of a channel, then channels
      each_panel([&](const float* from, int64_t there, float* to) {
        std::vector<int64_t> places;
        for (int64_t c0 = 0; c0 < s_.channels; c0 += planes_.width) {
          const int64_t n = std::min(planes_.width, s_.channels - c0);
          if (n * s_.by_channel != static_cast<int64_t>(places.size())) {
            places.assign(n * s_.by_channel, -1);  // no pixel meets the other taps
            for (int64_t t = 0; t < taps; ++t)
              for (int64_t c = 0; c < n; ++c)
                places[c * s_.by_channel + s_.taps[t].weight] = (t * n + c) * rows_;
          }
          turn(from + c0 * s_.by_channel, true, s_.by_filter, there, n * s_.by_channel, to,
               places.data());
          to += n * taps * rows_;
        }
      });
    else  // taps of a filter, then filters
      share(s_.groups * s_.channels, s_.filters * taps, [&](int64_t number) {
        const int64_t group = number / s_.channels, channel = number % s_.channels,
                      c0 = channel / planes_.width * planes_.width,
                      n = std::min(planes_.width, s_.channels - c0);
        for (int64_t panel = 0; panel < panels_; ++panel) {
          const int64_t there = std::min(rows_, s_.filters - panel * rows_);
          const float* from = s_.weights + group * s_.by_group + panel * rows_ * s_.by_filter +
                              channel * s_.by_channel;
          float* to = weights_.get() +
                      ((group * panels_ + panel) * units_ + c0 * taps + channel - c0) * rows_;
          for (const Meeting& tap : s_.taps) {
            for (int64_t r = 0; r < there; ++r) to[r] = from[r * s_.by_filter + tap.weight];
            std::fill(to + there, to + rows_, 0.f);
            to += n * rows_;
          }
        }
      });
  }
  template <class Body>
  void each_panel(const Body& body) {
    lib::parallel(static_cast<uint64_t>(s_.groups * panels_), [&](uint64_t number) {
      const int64_t group = static_cast<int64_t>(number) / panels_,
                    first = static_cast<int64_t>(number) % panels_ * rows_;
      body(s_.weights + group * s_.by_group + first * s_.by_filter,
           std::min(rows_, s_.filters - first),
           weights_.get() + static_cast<int64_t>(number) * units_ * rows_);
    });
  }
  // to[k][row] of `there` rows, or at places[k], or `pitch` apart; rows behind are any numbers.
  static void turn(const float* from, bool along_k, int64_t step, int64_t there, int64_t k,
                   float* to, const int64_t* places = nullptr, int64_t pitch = 0) {
    product::Block block = {};
    block.data = reinterpret_cast<const uint8_t*>(from);
    block.along_k = along_k, block.of_a = true;
    block.ld = step * static_cast<int64_t>(sizeof(float));
    block.outer = there, block.k = k, block.places = places, block.pitch = pitch;
    product::kernels().f32.pack(block, reinterpret_cast<uint32_t*>(to));
  }

  // Pixels of some lines of some images, with the filters of panels [p0, pn).
  void unit(int64_t number, int64_t p0, int64_t pn, float alpha, float beta) const {
    const int64_t h0 = number % line_blocks_ * lines_, hn = std::min(lines_, s_.grid[1] - h0);
    number /= line_blocks_;
    const int64_t d = number % s_.grid[0];
    number /= s_.grid[0];
    const int64_t n0 = number % image_blocks_ * together_, nn = std::min(together_, s_.images - n0),
                  group = number / image_blocks_;
    const Place at = {group, n0, nn, d, h0, hn, nn * hn * s_.grid[2]};
    const int64_t image = planes_.blocks() * planes_.block_size();
    Scratch<float> copied(units_ && !lies_ ? nn * image : 0);
    const int64_t count = (at.pixels + product::kPixels - 1) / product::kPixels * product::kPixels;
    Scratch<const float*> pixels(count);
    for (int64_t n = 0; copied && n < nn; ++n)
      for (int64_t block = 0; block < planes_.blocks(); ++block) {
        const int64_t c = block * planes_.width;
        planes_.copy(
            s_.input,
            (n0 + n) * s_.input.strides[0] + (group * s_.channels + c) * s_.input.strides[1],
            std::min(planes_.width, s_.channels - c), d * s_.step[0],
            d * s_.step[0] + reach_[0] + 1, h0 * s_.step[1],
            (h0 + hn - 1) * s_.step[1] + reach_[1] + 1,
            copied.get() + n * image + block * planes_.block_size());
      }
    const float* base = copied.get();
    int64_t by_image = image, by_line = planes_.size[2] * planes_.pitch, by_pixel = planes_.pitch;
    if (lies_) {
      by_image = s_.input.strides[0], by_line = s_.in_space[1], by_pixel = s_.in_space[2];
      base = reinterpret_cast<const float*>(s_.input.data) + n0 * by_image + group * s_.channels +
             (d * s_.step[0] + planes_.low[0]) * s_.in_space[0] +
             (h0 * s_.step[1] + planes_.low[1]) * by_line + planes_.low[2] * by_pixel;
    }
    const float** pixel = pixels.get();
    for (int64_t n = 0; n < nn; ++n)
      for (int64_t h = 0; h < hn; ++h)
        for (int64_t w = 0; w < s_.grid[2]; ++w)
          *pixel++ = base + n * by_image + h * s_.step[1] * by_line + w * s_.step[2] * by_pixel;
    std::fill(pixel, pixels.get() + count, pixels[at.pixels - 1]);
    // Groups of pixels are turned as wide as panels are.
    Scratch<float> sums((count + rows_) * rows_), turned((at.pixels + rows_) * rows_),
        row(at.pixels + rows_), bias(s_.finish ? rows_ : 0);
    for (int64_t panel = p0; panel < pn; ++panel) {
      const int64_t there = std::min(rows_, s_.filters - panel * rows_);
      if (!units_) std::fill_n(sums.get(), at.pixels * rows_, 0.f);
      for (const Chunk& chunk : chunks_)
        product::kernels().sum_pixels(
            {weights_.get() + ((group * panels_ + panel) * units_ + chunk.unit) * rows_, there,
             runs_.data() + chunk.first, chunk.count, pixels.get(), count, sums.get(),
             chunk.unit > 0});
      const int64_t first = group * s_.filters + panel * rows_;
      if (s_.finish) {
        std::copy_n(s_.finish->bias.data() + first, there, bias.get());
        finish_sums(bias.get(), s_.finish->least, s_.finish->nan, rows_, at.pixels, sums.get());
      }
      if (s_.output.strides[1] == 1)
        store_pixels(at, first, there, sums.get(), alpha, beta);
      else
        store_filters(at, first, there, sums.get(), turned.get(), row.get(), alpha, beta);
    }
  }

  struct Place {
    int64_t group, n0, nn, d, h0, hn, pixels;
  };
  int64_t line(const Place& at, int64_t image, int64_t h, int64_t filter) const {
    return (at.n0 + image) * s_.output.strides[0] + filter * s_.output.strides[1] + s_.out_base +
           at.d * s_.out_space[0] + (at.h0 + h) * s_.out_space[1];
  }

  // Filters of a pixel lie side by side.
  void store_pixels(const Place& at, int64_t first, int64_t there, const float* sums, float alpha,
                    float beta) const {
    for (int64_t n = 0; n < at.nn; ++n)
      for (int64_t h = 0; h < at.hn; ++h) {
        const int64_t begin = line(at, n, h, first);
        for (int64_t w = 0; w < s_.grid[2]; ++w, sums += rows_) {
          const int64_t place = begin + w * s_.out_space[2];
          if (s_.output.type != CUDNN_DATA_FLOAT) {
            store_row<float>(s_.output, place, 1, static_cast<size_t>(there), sums, alpha, beta);
            continue;
          }
          float* to = reinterpret_cast<float*>(s_.output.data) + place;
          if (alpha == 1 && beta == 0)
            std::copy_n(sums, there, to);
          else if (beta == 0)
            for (int64_t r = 0; r < there; ++r) to[r] = alpha * sums[r];
          else
            for (int64_t r = 0; r < there; ++r) to[r] = alpha * sums[r] + beta * to[r];
        }
      }
  }

  void store_filters(const Place& at, int64_t first, int64_t there, const float* sums,
                     float* turned, float* row, float alpha, float beta) const {
    int64_t step = 0;
    const int64_t grid[3] = {1, at.hn, s_.grid[2]};
    const bool flat = one_row(grid, s_.out_space, &step);
    const int64_t size = at.hn * s_.grid[2];
    if (flat && step == 1 && s_.output.type == CUDNN_DATA_FLOAT && alpha == 1 && beta == 0) {
      // Whole vectors of pixels are turned to where they belong.
      const int64_t vector = rows_ / 2, whole = size / vector * vector, rest = size - whole;
      for (int64_t n = 0; n < at.nn; ++n, sums += size * rows_) {
        float* to = reinterpret_cast<float*>(s_.output.data) + line(at, n, 0, first);
        for (int64_t p = 0; p < whole; p += rows_)
          turn(sums + p * rows_, true, rows_, std::min(rows_, whole - p), there, to + p, nullptr,
               s_.output.strides[1]);
        if (!rest) continue;
        turn(sums + whole * rows_, true, rows_, rest, there, turned);
        for (int64_t r = 0; r < there; ++r)
          std::copy_n(turned + r * rows_, rest, to + r * s_.output.strides[1] + whole);
      }
      return;
    }
    turn(sums, true, rows_, at.pixels, there, turned);
    for (int64_t r = 0; r < there; ++r) {
      for (int64_t p = 0; p < at.pixels; p += rows_)
        std::copy_n(turned + (p / rows_ * there + r) * rows_, rows_, row + p);
      for (int64_t n = 0; n < at.nn; ++n) {
        const float* from = row + n * size;
        if (flat) {
          store_row<float>(s_.output, line(at, n, 0, first + r), step, static_cast<size_t>(size),
                           from, alpha, beta);
          continue;
        }
        for (int64_t h = 0; h < at.hn; ++h, from += s_.grid[2])
          store_row<float>(s_.output, line(at, n, h, first + r), s_.out_space[2],
                           static_cast<size_t>(s_.grid[2]), from, alpha, beta);
      }
    }
  }

  const Stencil& s_;
  const int64_t rows_;
  bool lies_;  // inputs are read where they are, not copied
  int64_t panels_, lines_, line_blocks_, together_, image_blocks_, units_ = 0, reach_[3];
  Planes planes_;
  std::vector<Run> runs_;
  std::vector<Chunk> chunks_;
  Scratch<float> weights_;
};

// Strides of a filter's numbers as PackedFilter has them.
struct FilterStrides {
  int64_t filter, channel, tap;
  FilterStrides(const ConvolutionShape& s, bool last)
      : filter(s.group_channels * s.taps),
        channel(last ? 1 : s.taps),
        tap(last ? s.group_channels : 1) {}
};

// Products of so few are quicker as matrices, of which lanes would be empty.
constexpr int64_t kFewest = 8;

}  // namespace direct
using namespace direct;

bool direct_forward(const ConvolutionShape& s, const View& x, const View& w) {
  return widened(x.type) && widened(w.type) && readable(x, s.x_space) && !s.pointwise() &&
         s.group_filters >= kFewest && s.group_channels * s.taps >= kFewest;
}

void convolve_directly(const Convolution& how, const ConvolutionShape& s, const View& x,
                       const View& w, const View& y, float alpha, float beta,
                       const Finish* finish) {
  const bool last = w.strides[1] == 1 && s.group_channels > 1;
  const PackedFilter<float> filter(how, w, last);
  const FilterStrides by(s, last);
  Stencil it = {x,
                y,
                s.images,
                s.groups,
                s.group_channels,
                s.group_filters,
                {},
                {},
                {},
                {},
                0,
                {},
                {},
                filter.get(),
                s.group_filters * by.filter,
                by.filter,
                by.channel,
                finish};
  for (int i = 0; i < 3; ++i) {
    it.in[i] = s.in[i], it.in_space[i] = s.x_space[i], it.grid[i] = s.out[i],
    it.out_space[i] = s.y_space[i], it.step[i] = s.strides[i];
  }
  for (int64_t t = 0; t < s.taps; ++t) {
    const Tap tap = s.tap(t);
    it.taps.push_back(
        {{s.meets(0, 0, tap.at[0]), s.meets(1, 0, tap.at[1]), s.meets(2, 0, tap.at[2])},
         t * by.tap});
  }
  skip_unmet(it);
  Sweep{it}(alpha, beta);
}

bool direct_data(const ConvolutionShape& s, const View& w, const View& dy) {
  return widened(dy.type) && widened(w.type) && readable(dy, s.y_space) &&
         s.group_channels >= kFewest && s.group_filters * s.taps >= kFewest;
}

void convolve_data_directly(const Convolution& how, const ConvolutionShape& s, const View& w,
                            const View& dy, const View& dx, float alpha, float beta) {
  const bool last = w.strides[1] == 1 && s.group_channels > 1;
  const PackedFilter<float> filter(how, w, last);
  const FilterStrides by(s, last);
  // Inputs whose places leave the same rest when divided by the strides meet the same taps.
  const int64_t phases = s.strides[0] * s.strides[1] * s.strides[2];
  for (int64_t phase = 0; phase < phases; ++phase) {
    const int64_t rest[3] = {phase / (s.strides[1] * s.strides[2]),
                             phase / s.strides[2] % s.strides[1], phase % s.strides[2]};
    Stencil it = {dy,
                  dx,
                  s.images,
                  s.groups,
                  s.group_filters,
                  s.group_channels,
                  {},
                  {},
                  {},
                  {},
                  0,
                  {1, 1, 1},
                  {},
                  filter.get(),
                  s.group_filters * by.filter,
                  by.channel,
                  by.filter};
    bool empty = false;
    for (int i = 0; i < 3; ++i) {
      it.in[i] = s.out[i], it.in_space[i] = s.y_space[i];
      empty |= rest[i] >= s.in[i];
      it.grid[i] = (s.in[i] - rest[i] + s.strides[i] - 1) / s.strides[i];
      it.out_space[i] = s.x_space[i] * s.strides[i], it.out_base += rest[i] * s.x_space[i];
    }
    if (empty) continue;
    for (int64_t t = s.taps - 1; t >= 0; --t) {  // ascending places of dy
      const Tap tap = s.tap(t);
      Meeting met = {{}, t * by.tap};
      bool meets = true;
      for (int i = 0; i < 3; ++i) {
        const int64_t place = rest[i] + s.pads[i] - tap.at[i] * s.dilations[i];
        meets &= place % s.strides[i] == 0, met.at[i] = place / s.strides[i];
      }
      if (meets) it.taps.push_back(met);
    }
    Sweep{it}(alpha, beta);
  }
}

}  // namespace aw::dnn
