// cuDNN: pooling forward and backward. Channels are neighbours in a vector, for the lines of a
// plane are short: as the tensor has them, or as planes are turned first.
#include "libraries/cudnn/pooling.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace aw::dnn {
namespace {

constexpr int64_t kTogether = 64;              // channels at a time: lines stay in the first cache
constexpr int64_t kAtLeast = 16;               // those of a vector
constexpr int64_t kTurned = int64_t{1} << 16;  // numbers that are turned at a time, else the fewest

// Whether a tensor has its channels next to each other.
bool channels_inside(const Layout& x) {
  return x.dims[1] > 1 && x.strides[1] == 1 && x.strides[x.rank - 1] != 1;
}

// Its dimensions in an order in which it is row-major.
View ordered(View view, bool last) {
  if (!last) return view;
  std::rotate(view.dims + 1, view.dims + 2, view.dims + view.rank);
  std::rotate(view.strides + 1, view.strides + 2, view.strides + view.rank);
  return view;
}

// Sizes of a plane, always of three dimensions, and how many of them a task has side by side.
struct Planes {
  // Of one place along the window's last dimension: the outputs of a line that meet the input
  // there, and where the first output would.
  struct Span {
    int64_t begin, end, from;
  };
  int64_t in[kSpace], out[kSpace], window[kSpace], pads[kSpace], strides[kSpace];
  int64_t in_size, out_size, window_size;
  int64_t planes, channels, lanes;
  bool last;
  std::vector<Span> spans;
  std::vector<int64_t> offsets;  // of the window's places from its first, in a plane

  Planes(const Pooling& how, const Layout& x, const Layout& y, bool channels_last)
      : planes(x.dims[0] * x.dims[1]), channels(x.dims[1]), last(channels_last) {
    in_size = out_size = window_size = 1;
    for (int i = 0; i < kSpace; ++i) {
      const int from = i - (kSpace - how.rank);
      in[i] = from < 0 ? 1 : x.dims[2 + from], out[i] = from < 0 ? 1 : y.dims[2 + from];
      window[i] = from < 0 ? 1 : how.window[from], pads[i] = from < 0 ? 0 : how.pads[from];
      strides[i] = from < 0 ? 1 : how.strides[from];
      in_size *= in[i], out_size *= out[i], window_size *= window[i];
    }
    for (int64_t k = 0; k < window_size; ++k)
      offsets.push_back((k / window[2] / window[1] * in[1] + k / window[2] % window[1]) * in[2] +
                        k % window[2]);
    for (int64_t k = 0; k < window[2]; ++k) {
      const int64_t from = k - pads[2], room = in[2] - from, step = strides[2];
      spans.push_back({from < 0 ? (step - 1 - from) / step : 0,
                       room > 0 ? std::min(out[2], (room - 1) / step + 1) : 0, from});
    }
    lanes = last ? std::min(channels, kTogether)
                 : std::clamp(kTurned / std::max(in_size, out_size), kAtLeast, kTogether);
    lanes = std::min(lanes, planes);
  }

  int64_t lines() const { return out[0] * out[1]; }

  // body(first plane, how many) for all tasks.
  template <class Body>
  void each(const Body& body) const {
    const int64_t group = last ? channels : planes, blocks = (group + lanes - 1) / lanes;
    share(planes / std::max<int64_t>(1, group) * blocks, out_size * window_size * lanes,
          [&](int64_t task) {
            const int64_t first = task % blocks * lanes;
            body(task / blocks * group + first, std::min(lanes, group - first));
          });
  }

  // body(place in the window, span, where in the plane the span's line begins) for each place of
  // the window of which a line of outputs meets something inside.
  template <class Body>
  void meet(int64_t line, const Body& body) const {
    const int64_t d = line / out[1] * strides[0] - pads[0],
                  h = line % out[1] * strides[1] - pads[1];
    for (int64_t i = std::max<int64_t>(0, -d); i < std::min(window[0], in[0] - d); ++i)
      for (int64_t k = std::max<int64_t>(0, -h); k < std::min(window[1], in[1] - h); ++k) {
        const int64_t place = (i * window[1] + k) * window[2],
                      start = ((d + i) * in[1] + h + k) * in[2];
        for (int64_t w = 0; w < window[2]; ++w) {
          const Span& span = spans[static_cast<size_t>(w)];
          if (span.begin < span.end) body(place + w, span, start + span.from);
        }
      }
  }

  // Where in the plane the window of a line's first output begins, be it outside.
  int64_t origin(int64_t line) const {
    return ((line / out[1] * strides[0] - pads[0]) * in[1] + line % out[1] * strides[1] - pads[1]) *
               in[2] -
           pads[2];
  }

  // By what each sum of a line is divided.
  void divisors(int64_t line, bool include, int64_t* counts) const {
    std::fill_n(counts, out[2], include ? window_size : 0);
    if (include) return;
    meet(line, [&](int64_t, const Span& span, int64_t) {
      for (int64_t i = span.begin; i < span.end; ++i) ++counts[i];
    });
    for (int64_t i = 0; i < out[2]; ++i) counts[i] = std::max<int64_t>(1, counts[i]);
  }
};

// What a place of the window meets of a line: `count` times `run` numbers, `apart` from each other.
struct Met {
  int64_t count, run, apart;

  Met(const Planes& p, const Planes::Span& span, int64_t lanes, int64_t pitch)
      : count(span.end - span.begin), run(lanes), apart(p.strides[2] * pitch) {
    if (apart == run) run *= count, count = 1;
  }
};

// body(place in the line, place in the plane) for all of them, in loops that become vectors.
template <class Body>
inline void go(const Met& m, const Body& body) {
  if (m.run == 1)
    for (int64_t i = 0; i < m.count; ++i) body(i, m.apart * i);
  else
    for (int64_t k = 0; k < m.count; ++k)
      for (int64_t i = 0; i < m.run; ++i) body(k * m.run + i, k * m.apart + i);
}

// Numbers against the best so far, and against the places of the window that had these (-1: none
// yet).
template <class T>
AW_LOOP void take_better(T* __restrict best, int32_t* __restrict places, const T* __restrict from,
                         const Met m, int32_t place, bool nan) {
  const auto keep = [&](int64_t to, bool better, T v) {
    best[to] = better ? v : best[to];
    places[to] = better ? place : places[to];
  };
  if (nan)
    go(m, [&](int64_t to, int64_t at) {
      const T v = from[at], old = best[to];
      keep(to, (places[to] < 0) | (!(v <= old) & (old == old)), v);
    });
  else
    go(m, [&](int64_t to, int64_t at) {
      const T v = from[at], old = best[to];
      keep(to, (places[to] < 0) | (v > old) | (old != old), v);
    });
}

template <class T>
AW_LOOP void add_up(double* __restrict sums, const T* __restrict from, const Met m) {
  go(m, [&](int64_t to, int64_t at) { sums[to] += static_cast<double>(from[at]); });
}

template <class T>
AW_LOOP void add_behind(T* __restrict to, const T* __restrict parts, const Met m) {
  go(m, [&](int64_t from, int64_t at) { to[at] += parts[from]; });
}

template <class T>
AW_LOOP void add_where(T* __restrict to, const T* __restrict up, const T* __restrict named, T place,
                       const Met m) {
  go(m, [&](int64_t from, int64_t at) { to[at] += named[from] == place ? up[from] : T{0}; });
}

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)  // GCC 12 and clang
// Four by four.
inline void turn_tile(const float* from, int64_t from_step, float* to, int64_t to_step) {
  typedef float Four __attribute__((vector_size(16)));
  Four v[4], t[4];
  for (int64_t i = 0; i < 4; ++i) std::memcpy(&v[i], from + i * from_step, sizeof v[i]);
  t[0] = __builtin_shufflevector(v[0], v[2], 0, 4, 1, 5);
  t[1] = __builtin_shufflevector(v[1], v[3], 0, 4, 1, 5);
  t[2] = __builtin_shufflevector(v[0], v[2], 2, 6, 3, 7);
  t[3] = __builtin_shufflevector(v[1], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(t[0], t[1], 0, 4, 1, 5);
  v[1] = __builtin_shufflevector(t[0], t[1], 2, 6, 3, 7);
  v[2] = __builtin_shufflevector(t[2], t[3], 0, 4, 1, 5);
  v[3] = __builtin_shufflevector(t[2], t[3], 2, 6, 3, 7);
  for (int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &v[i], sizeof v[i]);
}
#endif
#endif
template <class T>
void turn_tile(const T* from, int64_t from_step, T* to, int64_t to_step) {
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 4; ++k) to[k * to_step + i] = from[i * from_step + k];
}

// rows x columns turned into columns x rows, some of each at a time, so that lines of the cache
// are filled at once.
template <class T>
void turn(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 16;
  for (int64_t first = 0; first < columns; first += kSide)
    for (int64_t row = 0; row < rows; row += kSide) {
      const int64_t below = std::min(rows, row + kSide), beyond = std::min(columns, first + kSide);
      int64_t i = row;
      for (; i + 4 <= below; i += 4) {
        int64_t k = first;
        for (; k + 4 <= beyond; k += 4)
          turn_tile(from + i * from_step + k, from_step, to + k * to_step + i, to_step);
        for (; k < beyond; ++k)
          for (int64_t r = i; r < i + 4; ++r) to[k * to_step + r] = from[r * from_step + k];
      }
      for (; i < below; ++i)
        for (int64_t k = first; k < beyond; ++k) to[k * to_step + i] = from[i * from_step + k];
    }
}

// Some planes of a tensor with their numbers side by side, `pitch` apart: where they lie, or a
// turned copy.
template <class T>
struct Planar {
  T* data;
  int64_t pitch;

  Planar(const Planes& p, T* tensor, int64_t size, int64_t first, int64_t run) {
    if (p.last) {
      data = tensor + first / p.channels * size * p.channels + first % p.channels;
      pitch = p.channels;
    } else {
      copy_.reset(size * run), data = copy_.get(), pitch = run;
      planes_ = tensor + first * size, size_ = size;
    }
  }
  void load() const {
    if (planes_) turn(planes_, size_, data, pitch, pitch, size_);
  }
  void store() const {
    if (planes_) turn(data, pitch, planes_, size_, size_, pitch);
  }

 private:
  Scratch<T> copy_;
  T* planes_ = nullptr;
  int64_t size_ = 0;
};
template <class T>
Planar<T> loaded(const Planes& p, const T* tensor, int64_t size, int64_t first, int64_t run) {
  Planar<T> made(p, const_cast<T*>(tensor), size, first, run);
  made.load();
  return made;
}

// Where a result is made: in its place, or in memory of its own until `store`.
template <class T>
struct Pooled {
  View to;
  T alpha, beta;
  Scratch<T> own;
  T* data;

  // `read`: what is still read when the first numbers are written.
  Pooled(const View& view, T a, T b, const View& read) : to(view), alpha(a), beta(b) {
    const bool here = a == T{1} && b == T{0} && to.type == type_of<T>() && to.row_major() &&
                      (to.data + to.bytes() <= read.data || read.data + read.bytes() <= to.data);
    own.reset(here ? 0 : to.elements());
    data = here ? reinterpret_cast<T*>(to.data) : own.get();
  }
  void store() const {
    if (own) put<T>(to, own.get(), alpha, beta);
  }
};

// A line of outputs from numbers without gaps, or back.
template <class T, class From>
void put_line(const Planes& p, const Planar<T>& to, int64_t line, int64_t run, const From* from) {
  T* const first = to.data + line * p.out[2] * to.pitch;
  for (int64_t i = 0; i < p.out[2]; ++i)
    for (int64_t c = 0; c < run; ++c) first[i * to.pitch + c] = static_cast<T>(from[i * run + c]);
}
template <class T>
void get_line(const Planes& p, const Planar<T>& from, int64_t line, int64_t run, T* to) {
  const T* const first = from.data + line * p.out[2] * from.pitch;
  for (int64_t i = 0; i < p.out[2]; ++i) std::copy_n(first + i * from.pitch, run, to + i * run);
}

// The best of each window of a line, and at which place of the window it is; -1 where a window is
// outside.
template <class T>
struct Best {
  Scratch<T> value;
  Scratch<int32_t> place;

  explicit Best(const Planes& p) : value(p.out[2] * p.lanes), place(p.out[2] * p.lanes) {}

  void find(const Planes& p, const Planar<T>& in, int64_t line, int64_t run, bool nan) {
    std::fill_n(value.get(), p.out[2] * run, -std::numeric_limits<T>::infinity());
    std::fill_n(place.get(), p.out[2] * run, -1);
    p.meet(line, [&](int64_t number, const Planes::Span& span, int64_t start) {
      take_better(value.get() + span.begin * run, place.get() + span.begin * run,
                  in.data + (start + span.begin * p.strides[2]) * in.pitch,
                  Met(p, span, run, in.pitch), static_cast<int32_t>(number), nan);
    });
  }
};

}  // namespace

template <class T>
void pool_forward(const Pooling& how, const View& x, const View& y, T alpha, T beta,
                  const View* index) {
  const bool last = channels_inside(x);
  const Planes p(how, x, y, last);
  const Dense<T> all(ordered(x, last));
  const Pooled<T> result(ordered(y, last), alpha, beta, x);
  Scratch<T> places(index ? y.elements() : 0);
  p.each([&](int64_t first, int64_t run) {
    const auto from = loaded(p, all.get(), p.in_size, first, run);
    const Planar<T> to(p, result.data, p.out_size, first, run);
    const Planar<T> named(p, places.get(), index ? p.out_size : 0, first, run);
    Best<T> best(p);
    Scratch<double> sums(p.out[2] * run);
    Scratch<int64_t> counts(p.out[2]);
    for (int64_t line = 0; line < p.lines(); ++line) {
      if (how.mode == Pool::max) {
        best.find(p, from, line, run, how.nan);
        put_line(p, to, line, run, best.value.get());
        for (int64_t i = 0; index && i < p.out[2] * run; ++i)
          best.place[i] = std::max(0, best.place[i]);
        if (index) put_line(p, named, line, run, best.place.get());
        continue;
      }
      std::fill_n(sums.get(), p.out[2] * run, 0.0);
      p.meet(line, [&](int64_t, const Planes::Span& span, int64_t start) {
        add_up(sums.get() + span.begin * run,
               from.data + (start + span.begin * p.strides[2]) * from.pitch,
               Met(p, span, run, from.pitch));
      });
      p.divisors(line, how.mode == Pool::include, counts.get());
      for (int64_t i = 0; i < p.out[2]; ++i)
        for (int64_t c = 0; c < run; ++c) sums[i * run + c] /= static_cast<double>(counts[i]);
      put_line(p, to, line, run, sums.get());
    }
    to.store();
    if (index) named.store();
  });
  result.store();
  if (index) put<T>(ordered(*index, last), places.get());
}

template <class T>
void pool_backward(const Pooling& how, const View& x, const View& dy, const View& dx, T alpha,
                   T beta, const View* index) {
  const bool last = channels_inside(dx), looks = how.mode == Pool::max && !index;
  const Planes p(how, dx, dy, last);
  const Dense<T> rise(ordered(dy, last)), other(ordered(looks ? x : index ? *index : dy, last));
  const Pooled<T> result(ordered(dx, last), alpha, beta, looks ? x : dy);
  p.each([&](int64_t first, int64_t run) {
    const Planar<T> to(p, result.data, p.in_size, first, run);
    for (int64_t i = 0; i < p.in_size; ++i) std::fill_n(to.data + i * to.pitch, run, T{0});
    const auto rises = loaded(p, rise.get(), p.out_size, first, run);
    // What the choice is made from: the input, or which place of the window was chosen.
    const auto seen = loaded(p, other.get(), looks ? p.in_size : p.out_size, first, run);
    Best<T> best(p);
    Scratch<T> up(p.out[2] * run), named(p.out[2] * run);
    Scratch<int64_t> counts(p.out[2]);
    for (int64_t line = 0; line < p.lines(); ++line) {
      get_line(p, rises, line, run, up.get());
      const auto meet = [&](const auto& body) {
        p.meet(line, [&](int64_t place, const Planes::Span& span, int64_t start) {
          body(place, span.begin * run, to.data + (start + span.begin * p.strides[2]) * to.pitch,
               Met(p, span, run, to.pitch));
        });
      };
      if (looks) {
        best.find(p, seen, line, run, how.nan);
        for (int64_t i = 0; i < p.out[2]; ++i) {
          const int64_t begin = p.origin(line) + i * p.strides[2];
          for (int64_t c = 0, k = i * run; c < run; ++c, ++k)
            if (best.place[k] >= 0)
              to.data[(begin + p.offsets[static_cast<size_t>(best.place[k])]) * to.pitch + c] +=
                  up[k];
        }
      } else if (how.mode == Pool::max) {
        get_line(p, seen, line, run, named.get());
        meet([&](int64_t place, int64_t from, T* into, const Met& met) {
          add_where(into, up.get() + from, named.get() + from, static_cast<T>(place), met);
        });
      } else {
        p.divisors(line, how.mode == Pool::include, counts.get());
        for (int64_t i = 0; i < p.out[2]; ++i)
          for (int64_t c = 0; c < run; ++c) up[i * run + c] /= static_cast<T>(counts[i]);
        meet([&](int64_t, int64_t from, T* into, const Met& met) {
          add_behind(into, up.get() + from, met);
        });
      }
    }
    to.store();
  });
  result.store();
}

template void pool_forward(const Pooling&, const View&, const View&, float, float, const View*);
template void pool_forward(const Pooling&, const View&, const View&, double, double, const View*);
template void pool_backward(const Pooling&, const View&, const View&, const View&, float, float,
                            const View*);
template void pool_backward(const Pooling&, const View&, const View&, const View&, double, double,
                            const View*);

}  // namespace aw::dnn

namespace {

Pooling pooling_of(const cudnnPoolingDescriptorStruct* desc) {
  auto& from = object(desc);
  require(from.rank > 0, "a pooling descriptor that was never set");
  Pooling how;
  how.mode = from.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING   ? Pool::include
             : from.mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? Pool::exclude
                                                                        : Pool::max;
  how.nan = from.nan == CUDNN_PROPAGATE_NAN, how.rank = from.rank;
  std::copy_n(from.window, from.rank, how.window), std::copy_n(from.pads, from.rank, how.pads);
  std::copy_n(from.strides, from.rank, how.strides);
  return how;
}

void output_of(const Pooling& how, const Layout& x, int64_t* dims) {
  require(x.rank == how.rank + 2, "a tensor of another count of dimensions", kWrongShape);
  dims[0] = x.dims[0], dims[1] = x.dims[1];
  for (int i = 0; i < how.rank; ++i) {
    const int64_t room = x.dims[2 + i] + 2 * how.pads[i] - how.window[i];
    require(room >= 0, "a window larger than the padded tensor", kWrongShape);
    dims[2 + i] = room / how.strides[i] + 1;
  }
}

// The manual asks for equal n and c only: TensorFlow pads more behind than before, and says so by
// the size of the output. What a window has beyond the input counts as padding.
void require_output(const Pooling& how, const Layout& x, const Layout& y) {
  require(x.rank == how.rank + 2 && y.rank == x.rank, "a tensor of another count of dimensions",
          kWrongShape);
  require(std::equal(y.dims, y.dims + 2, x.dims), "an output of other images or channels",
          kWrongShape);
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t desc,
                                                          const cudnnTensorDescriptor_t x_desc,
                                                          int count, int dims[]) {
  return api<"cudnnGetPoolingNdForwardOutputDim">([&] {
    require_pointer(dims);
    const Layout& x = layout(x_desc);
    require(count == x.rank, "another count of dimensions");
    int64_t found[kMostDims]{};
    output_of(pooling_of(desc), x, found);
    for (int i = 0; i < count; ++i) dims[i] = static_cast<int>(found[i]);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t desc,
                                                          const cudnnTensorDescriptor_t x_desc,
                                                          int* n, int* c, int* h, int* w) {
  return api<"cudnnGetPooling2dForwardOutputDim">([&] {
    const Layout& x = layout(x_desc);
    require(x.rank == 4, "a tensor that has not four dimensions");
    int64_t found[kMostDims]{};
    output_of(pooling_of(desc), x, found);
    give(n, found[0]), give(c, found[1]), give(h, found[2]), give(w, found[3]);
  });
}
AW_EXPORT cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle,
                                            const cudnnPoolingDescriptor_t desc, const void* alpha,
                                            const cudnnTensorDescriptor_t x_desc, const void* x,
                                            const void* beta, const cudnnTensorDescriptor_t y_desc,
                                            void* y) {
  return api<"cudnnPoolingForward">([&] {
    auto& h = object(handle);
    const Pooling how = pooling_of(desc);
    const View from = view(x_desc, x), to = view(y_desc, y);
    require_output(how, from, to);
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_pooling_forward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      pool_forward<T>(how, from, to, static_cast<T>(a), static_cast<T>(b), nullptr);
    });
  });
}
AW_EXPORT cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle,
                                             const cudnnPoolingDescriptor_t desc, const void* alpha,
                                             const cudnnTensorDescriptor_t y_desc, const void*,
                                             const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const cudnnTensorDescriptor_t x_desc, const void* x,
                                             const void* beta,
                                             const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return api<"cudnnPoolingBackward">([&] {
    auto& h = object(handle);
    const Pooling how = pooling_of(desc);
    const View up = view(dy_desc, dy), to = view(dx_desc, dx);
    require(layout(y_desc).same_shape(up) && layout(x_desc).same_shape(to),
            "tensors of different shapes");
    require_output(how, to, up);
    const View in = how.mode == Pool::max ? view(x_desc, x) : to;  // averages do not read it
    const double a = scalar(alpha, to.type), b = scalar(beta, to.type);
    work(h, "cudnn_pooling_backward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      pool_backward<T>(how, in, up, to, static_cast<T>(a), static_cast<T>(b), nullptr);
    });
  });
}
