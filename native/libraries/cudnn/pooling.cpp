// cuDNN: pooling forward and backward, plane by plane.
#include "libraries/cudnn/pooling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace aw::dnn {
namespace {

// Sizes of a plane, always of three dimensions.
struct Planes {
  // Of one place along the window's last dimension: the outputs of a line that meet the input
  // there, and where the first output would.
  struct Span {
    int64_t begin, end, from;
  };
  int64_t in[kSpace], out[kSpace], window[kSpace], pads[kSpace], strides[kSpace];
  int64_t planes, in_size, out_size, window_size;
  std::vector<Span> spans;
  std::vector<int64_t> offsets;  // of the window's places from its first, in a plane

  Planes(const Pooling& how, const Layout& x, const Layout& y) : planes(x.dims[0] * x.dims[1]) {
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
  }

  int64_t lines() const { return out[0] * out[1]; }

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

// Numbers in a row against the best so far, and against the places of the window that had these
// (-1: none yet).
template <class T>
AW_LOOP void take_better(T* __restrict best, int32_t* __restrict places, const T* __restrict from,
                         int64_t step, int32_t place, int64_t count, bool nan) {
  for (int64_t i = 0; i < count; ++i) {
    const T v = from[i * step], old = best[i];
    const bool better =
        (places[i] < 0) | (v > old) | ((v != v) & nan & (old == old)) | ((old != old) & !nan);
    best[i] = better ? v : old;
    places[i] = better ? place : places[i];
  }
}

// The best of each window of a line, and at which place of the window it is; -1 where a window is
// outside.
template <class T>
struct Best {
  Scratch<T> value;
  Scratch<int32_t> place;

  explicit Best(const Planes& p) : value(p.out[2]), place(p.out[2]) {}

  void find(const Planes& p, const T* plane, int64_t line, bool nan) {
    std::fill_n(value.get(), p.out[2], -std::numeric_limits<T>::infinity());
    std::fill_n(place.get(), p.out[2], -1);
    p.meet(line, [&](int64_t number, const Planes::Span& span, int64_t start) {
      take_better(value.get() + span.begin, place.get() + span.begin,
                  plane + start + span.begin * p.strides[2], p.strides[2],
                  static_cast<int32_t>(number), span.end - span.begin, nan);
    });
  }
};

}  // namespace

template <class T>
void pool_forward(const Pooling& how, const View& x, const View& y, T alpha, T beta,
                  const View* index) {
  const Planes p(how, x, y);
  const Dense<T> all(x);
  Scratch<T> result(y.elements()), places(index ? y.elements() : 0);
  share(p.planes, p.out_size * p.window_size, [&](int64_t plane) {
    const T* from = all.get() + plane * p.in_size;
    Best<T> best(p);
    Scratch<double> sums(p.out[2]);
    Scratch<int64_t> counts(p.out[2]);
    for (int64_t line = 0; line < p.lines(); ++line) {
      const int64_t to = plane * p.out_size + line * p.out[2];
      if (how.mode == Pool::max) {
        best.find(p, from, line, how.nan);
        std::copy_n(best.value.get(), p.out[2], result.get() + to);
        if (index)
          for (int64_t i = 0; i < p.out[2]; ++i)
            places[to + i] = static_cast<T>(std::max(0, best.place[i]));
        continue;
      }
      std::fill_n(sums.get(), p.out[2], 0.0);
      p.meet(line, [&](int64_t, const Planes::Span& span, int64_t start) {
        for (int64_t i = span.begin; i < span.end; ++i)
          sums[i] += static_cast<double>(from[start + i * p.strides[2]]);
      });
      p.divisors(line, how.mode == Pool::include, counts.get());
      for (int64_t i = 0; i < p.out[2]; ++i)
        result[to + i] = static_cast<T>(sums[i] / static_cast<double>(counts[i]));
    }
  });
  put<T>(y, result.get(), alpha, beta);
  if (index) put<T>(*index, places.get());
}

template <class T>
void pool_backward(const Pooling& how, const View& x, const View& dy, const View& dx, T alpha,
                   T beta, const View* index) {
  const Planes p(how, dx, dy);
  const Dense<T> rise(dy);
  const bool looks = how.mode == Pool::max && !index;
  const Dense<T> all(looks ? x : dy), named(index ? *index : dy);
  Scratch<T> result(dx.elements());
  share(p.planes, p.out_size * p.window_size, [&](int64_t plane) {
    T* to = result.get() + plane * p.in_size;
    std::fill_n(to, p.in_size, T{0});
    Best<T> best(p);
    Scratch<T> parts(p.out[2]);
    Scratch<int64_t> counts(p.out[2]);
    for (int64_t line = 0; line < p.lines(); ++line) {
      const int64_t first = plane * p.out_size + line * p.out[2];
      const T* const up = rise.get() + first;
      if (looks) {
        best.find(p, all.get() + plane * p.in_size, line, how.nan);
        const int64_t begin = p.origin(line);
        for (int64_t i = 0; i < p.out[2]; ++i)
          if (best.place[i] >= 0)
            to[begin + i * p.strides[2] + p.offsets[static_cast<size_t>(best.place[i])]] += up[i];
      } else if (how.mode == Pool::max) {
        p.meet(line, [&](int64_t place, const Planes::Span& span, int64_t start) {
          for (int64_t i = span.begin; i < span.end; ++i)
            if (place == static_cast<int64_t>(named[first + i]))
              to[start + i * p.strides[2]] += up[i];
        });
      } else {
        p.divisors(line, how.mode == Pool::include, counts.get());
        for (int64_t i = 0; i < p.out[2]; ++i) parts[i] = up[i] / static_cast<T>(counts[i]);
        p.meet(line, [&](int64_t, const Planes::Span& span, int64_t start) {
          for (int64_t i = span.begin; i < span.end; ++i) to[start + i * p.strides[2]] += parts[i];
        });
      }
    }
  });
  put<T>(dx, result.get(), alpha, beta);
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
