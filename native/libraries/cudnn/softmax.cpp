// cuDNN: softmax. Where what is added up follows each other each row is read once, and its
// exponentials are computed once; else the passes of `reduce` and `map` are one behind the other.
#include "libraries/cudnn/softmax.h"

#include <limits>

#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/vector_math.h"

namespace aw::dnn {
namespace {

#if defined(__GNUC__)
#define AW_INSIDE __attribute__((always_inline)) inline  // becomes part of each version of a loop
#else
#define AW_INSIDE inline
#endif

// Sums and maxima in so many lanes, of pieces so short that floats keep their sums.
constexpr size_t kWide = 32, kPiece = 512;

template <class T, class Op>
AW_INSIDE T across(T (&lanes)[kWide], const Op& op) {
  for (size_t width = kWide / 2; width; width /= 2)
    for (size_t k = 0; k < width; ++k) lanes[k] = op(lanes[k], lanes[k + width]);
  return lanes[0];
}

template <class T>
AW_INSIDE T most(const T* row, size_t count) {
  const auto larger = [](T a, T b) { return b > a ? b : a; };
  T lanes[kWide];
  for (auto& lane : lanes) lane = -std::numeric_limits<T>::infinity();
  size_t i = 0;
  for (; i + kWide <= count; i += kWide)
    for (size_t k = 0; k < kWide; ++k) lanes[k] = larger(lanes[k], row[i + k]);
  for (size_t k = 0; i < count; ++i, ++k) lanes[k] = larger(lanes[k], row[i]);
  return across(lanes, larger);
}

// The sum of f(i) over a row; the values go to `out` where there is one.
template <class T, class F>
AW_INSIDE double sum_of(size_t count, T* out, const F& f) {
  alignas(64) T room[kPiece];
  double sum = 0;
  for (size_t at = 0; at < count; at += kPiece) {
    const size_t n = std::min(kPiece, count - at);
    T* to = out ? out + at : room;
#pragma GCC ivdep  // the place of a result may be that of what it is made of
    for (size_t i = 0; i < n; ++i) to[i] = f(at + i);
    T lanes[kWide] = {};
    size_t i = 0;
    for (; i + kWide <= n; i += kWide)
      for (size_t k = 0; k < kWide; ++k) lanes[k] += to[i + k];
    for (size_t k = 0; i < n; ++i, ++k) lanes[k] += to[i];
    sum += static_cast<double>(across(lanes, [](T a, T b) { return a + b; }));
  }
  return sum;
}

template <class T>
AW_LOOP void forward_row(const T* in, size_t count, bool logarithm, T* out) {
  const T peak = most(in, count);
  const auto exponential = [=](size_t i) { return quick_exp(in[i] - peak); };
  if (logarithm) {
    const auto rest = static_cast<T>(std::log(sum_of<T>(count, nullptr, exponential)));
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) out[i] = in[i] - peak - rest;
  } else {
    const auto by = static_cast<T>(1 / sum_of<T>(count, out, exponential));
    for (size_t i = 0; i < count; ++i) out[i] *= by;
  }
}

template <class T>
AW_LOOP void backward_row(const T* y, const T* dy, size_t count, bool logarithm, T* dx) {
  if (logarithm) {
    const auto sum = static_cast<T>(sum_of<T>(count, nullptr, [=](size_t i) { return dy[i]; }));
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) dx[i] = dy[i] - quick_exp(y[i]) * sum;
  } else {
    const auto sum =
        static_cast<T>(sum_of<T>(count, nullptr, [=](size_t i) { return y[i] * dy[i]; }));
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) dx[i] = y[i] * (dy[i] - sum);
  }
}

// The rows that are added up, where each is one loop.
class Rows {
 public:
  template <size_t N>
  Rows(const Layout& shape, const Layout& kept, const std::array<View, N>& views)
      : loops_(make(shape, kept, views)),
        length(static_cast<size_t>(loops_.dims[loops_.rank - 1])) {
    rows_ = loops_.reduced[loops_.rank - 1];
    for (int i = 0; i + 1 < loops_.rank; ++i) rows_ &= !loops_.reduced[i];
  }
  explicit operator bool() const { return rows_; }
  int64_t step(int view) const { return loops_.strides[view][loops_.rank - 1]; }
  template <class Body>
  void each_row(const Body& body) const {
    share(loops_.outer(), static_cast<int64_t>(length), [&](int64_t number) {
      int64_t at[Loops::kViews];
      loops_.place(number, at);
      body(at);
    });
  }

 private:
  template <size_t N>
  static Loops make(const Layout& shape, const Layout& kept, const std::array<View, N>& views) {
    const Layout* all[N];
    for (size_t i = 0; i < N; ++i) all[i] = &views[i];
    bool reduced[kMostDims];
    for (int i = 0; i < shape.rank; ++i) reduced[i] = kept.dims[i] == 1;
    return Loops(shape, all, N, reduced);
  }
  Loops loops_;
  bool rows_;

 public:
  const size_t length;
};

template <class T>
class Row {
 public:
  Row(const View& view, int64_t at, int64_t step, size_t length)
      : room_(row_place<T>(view, at, step) ? 0 : static_cast<int64_t>(length)),
        data_(load_row<T>(view, at, step, length, room_.get())) {}
  const T* get() const { return data_; }

 private:
  Scratch<T> room_;
  const T* data_;
};

// Where a row is computed, and its way to a tensor.
template <class T>
class Result {
 public:
  Result(const View& view, int64_t at, int64_t step, size_t length, T alpha, T beta)
      : view_(view), at_(at), step_(step), length_(length), alpha_(alpha), beta_(beta) {
    direct_ = alpha == 1 && beta == 0 ? row_place<T>(view, at, step) : nullptr;
    if (!direct_) room_.reset(static_cast<int64_t>(length));
  }
  T* get() const { return direct_ ? direct_ : room_.get(); }
  void put() const {
    if (!direct_) store_row<T>(view_, at_, step_, length_, room_.get(), alpha_, beta_);
  }

 private:
  const View& view_;
  const int64_t at_, step_;
  const size_t length_;
  const T alpha_, beta_;
  T* direct_;
  Scratch<T> room_;
};

}  // namespace

template <class T>
void softmax_forward(bool logarithm, const Layout& kept, const View& x, const View& y, T alpha,
                     T beta) {
  if (const Rows rows(x, kept, std::array{x, y}); rows) {
    return rows.each_row([&](const int64_t* at) {
      const Row<T> in(x, at[0], rows.step(0), rows.length);
      Result<T> out(y, at[1], rows.step(1), rows.length, alpha, beta);
      forward_row<T>(in.get(), rows.length, logarithm, out.get());
      out.put();
    });
  }
  Scratch<double> most(kept.elements()), sum(kept.elements());
  const View peak = spread(View(packed(CUDNN_DATA_DOUBLE, kept), most.get()), x),
             total = spread(View(packed(CUDNN_DATA_DOUBLE, kept), sum.get()), x);
  reduce<Greater, T, 1>(x, kept, {x}, Copy{}, most.get());
  reduce<Sum, T, 2>(x, kept, {x, peak}, each<2>([](T v, T m) { return quick_exp(v - m); }),
                    sum.get());
  if (logarithm) {
    for (int64_t i = 0; i < kept.elements(); ++i) sum[i] = std::log(sum[i]);
    return map<T, 3>(y, alpha, beta, {x, peak, total},
                     each<3>([](T v, T m, T s) { return v - m - s; }));
  }
  for (int64_t i = 0; i < kept.elements(); ++i) sum[i] = 1 / sum[i];
  map<T, 3>(y, alpha, beta, {x, peak, total},
            each<3>([](T v, T m, T s) { return quick_exp(v - m) * s; }));
}
template void softmax_forward(bool, const Layout&, const View&, const View&, float, float);
template void softmax_forward(bool, const Layout&, const View&, const View&, double, double);

template <class T>
void softmax_backward(bool logarithm, const Layout& kept, const View& y, const View& dy,
                      const View& dx, T alpha, T beta) {
  if (const Rows rows(y, kept, std::array{y, dy, dx}); rows) {
    return rows.each_row([&](const int64_t* at) {
      const Row<T> from(y, at[0], rows.step(0), rows.length),
          by(dy, at[1], rows.step(1), rows.length);
      Result<T> out(dx, at[2], rows.step(2), rows.length, alpha, beta);
      backward_row<T>(from.get(), by.get(), rows.length, logarithm, out.get());
      out.put();
    });
  }
  Scratch<double> sum(kept.elements());
  const View total = spread(View(packed(CUDNN_DATA_DOUBLE, kept), sum.get()), y);
  if (logarithm) {
    reduce<Sum, T, 1>(y, kept, {dy}, Copy{}, sum.get());
    return map<T, 3>(dx, alpha, beta, {y, dy, total},
                     each<3>([](T v, T d, T s) { return d - quick_exp(v) * s; }));
  }
  reduce<Sum, T, 2>(y, kept, {y, dy}, each<2>([](T v, T d) { return v * d; }), sum.get());
  map<T, 3>(dx, alpha, beta, {y, dy, total}, each<3>([](T v, T d, T s) { return v * (d - s); }));
}
template void softmax_backward(bool, const Layout&, const View&, const View&, const View&, float,
                               float);
template void softmax_backward(bool, const Layout&, const View&, const View&, const View&, double,
                               double);

template <class T>
void softmax_row(const T* x, size_t count, T* y) {
  forward_row(x, count, false, y);
}
template void softmax_row(const float*, size_t, float*);
template void softmax_row(const double*, size_t, double*);
template <class T>
void softmax_row_backward(const T* y, const T* dy, size_t count, T* dx) {
  backward_row(y, dy, count, false, dx);
}
template void softmax_row_backward(const float*, const float*, size_t, float*);
template void softmax_row_backward(const double*, const double*, size_t, double*);

}  // namespace aw::dnn
