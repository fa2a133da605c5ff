// cuDNN: pooling forward and backward, plane by plane.
#include "libraries/cudnn/pooling.h"

#include <algorithm>

#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace aw::dnn {
namespace {

// Sizes of a plane, always of three dimensions.
struct Planes {
  int64_t in[kSpace], out[kSpace], window[kSpace], pads[kSpace], strides[kSpace];
  int64_t planes, in_size, out_size, window_size;

  Planes(const Pooling& how, const Layout& x, const Layout& y) : planes(x.dims[0] * x.dims[1]) {
    in_size = out_size = window_size = 1;
    for (int i = 0; i < kSpace; ++i) {
      const int from = i - (kSpace - how.rank);
      in[i] = from < 0 ? 1 : x.dims[2 + from], out[i] = from < 0 ? 1 : y.dims[2 + from];
      window[i] = from < 0 ? 1 : how.window[from], pads[i] = from < 0 ? 0 : how.pads[from];
      strides[i] = from < 0 ? 1 : how.strides[from];
      in_size *= in[i], out_size *= out[i], window_size *= window[i];
    }
  }

  // body(where of the input, place in the window) for all of the window of an element of the output
  // that is inside; returns how many.
  template <class Body>
  int64_t around(int64_t where, const Body& body) const {
    int64_t first[kSpace], begin[kSpace], end[kSpace];
    for (int i = kSpace - 1; i >= 0; --i) {
      first[i] = where % out[i] * strides[i] - pads[i];
      begin[i] = std::max<int64_t>(0, first[i]), end[i] = std::min(in[i], first[i] + window[i]);
      where /= out[i];
    }
    int64_t count = 0;
    for (int64_t d = begin[0]; d < end[0]; ++d)
      for (int64_t h = begin[1]; h < end[1]; ++h) {
        const int64_t line = (d * in[1] + h) * in[2],
                      place = ((d - first[0]) * window[1] + (h - first[1])) * window[2] - first[2];
        for (int64_t w = begin[2]; w < end[2]; ++w, ++count) body(line + w, place + w);
      }
    return count;
  }
};

template <class T>
struct Best {
  T value = -std::numeric_limits<T>::infinity();
  int64_t at = -1, place = 0;
};
template <class T>
Best<T> best_of(const Planes& p, const T* plane, int64_t where, bool nan) {
  Best<T> best;
  p.around(where, [&](int64_t at, int64_t place) {
    const T v = plane[at];
    const bool better = best.at < 0 || v > best.value ||
                        (v != v && nan && best.value == best.value) ||
                        (best.value != best.value && !nan);
    if (better) best = {v, at, place};
  });
  return best;
}

}  // namespace

template <class T>
void pool_forward(const Pooling& how, const View& x, const View& y, T alpha, T beta,
                  const View* index) {
  const Planes p(how, x, y);
  const Dense<T> all(x);
  Scratch<T> result(y.elements()), places(index ? y.elements() : 0);
  share(p.planes, p.out_size * p.window_size, [&](int64_t plane) {
    const T* from = all.get() + plane * p.in_size;
    for (int64_t i = 0; i < p.out_size; ++i) {
      const int64_t at = plane * p.out_size + i;
      if (how.mode == Pool::max) {
        const Best<T> best = best_of(p, from, i, how.nan);
        result[at] = best.value;
        if (index) places[at] = static_cast<T>(best.place);
        continue;
      }
      double sum = 0;
      const int64_t count =
          p.around(i, [&](int64_t k, int64_t) { sum += static_cast<double>(from[k]); });
      const int64_t by = how.mode == Pool::include ? p.window_size : std::max<int64_t>(1, count);
      result[at] = static_cast<T>(sum / static_cast<double>(by));
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
    for (int64_t i = 0; i < p.out_size; ++i) {
      const int64_t at = plane * p.out_size + i;
      if (looks) {
        const Best<T> best = best_of(p, all.get() + plane * p.in_size, i, how.nan);
        if (best.at >= 0) to[best.at] += rise[at];
      } else if (how.mode == Pool::max) {
        const auto chosen = static_cast<int64_t>(named[at]);
        p.around(i, [&](int64_t k, int64_t place) {
          if (place == chosen) to[k] += rise[at];
        });
      } else {
        const int64_t count = p.around(i, [](int64_t, int64_t) {});
        const T part =
            rise[at] /
            static_cast<T>(how.mode == Pool::include ? p.window_size : std::max<int64_t>(1, count));
        p.around(i, [&](int64_t k, int64_t) { to[k] += part; });
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
