// Two ways through tensors of any type and strides, which most of cuDNN is made of: `map`, element
// by element, and `reduce`. Both hand rows of floats or doubles to what computes; work is cut by
// shapes alone, so that bits do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "libraries/cudnn/view.h"
#include "libraries/work.h"

// A loop compiled for several processors, as vectors.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define AW_LOOP __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define AW_LOOP
#endif

namespace aw::dnn {

constexpr int64_t kRow = 512;             // elements that are handled at a time
constexpr int64_t kTaskElements = 32768;  // below that another thread is not worth it

// body(task) for all tasks, each of them about `work` elements.
template <class Body>
void share(int64_t tasks, int64_t work, const Body& body) {
  const int64_t each = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, work));
  lib::parallel(static_cast<uint64_t>((tasks + each - 1) / each), [&](uint64_t number) {
    const int64_t first = static_cast<int64_t>(number) * each;
    for (int64_t i = first; i < std::min(tasks, first + each); ++i) body(i);
  });
}

// Dimensions of several views as nested loops, the outermost first; those that can be are merged.
struct Loops {
  static constexpr int kViews = 10;
  int rank = 0, views = 0;
  int64_t dims[kMostDims + 1] = {};
  int64_t strides[kViews][kMostDims + 1] = {};
  bool reduced[kMostDims + 1] = {};

  // Ordered by the strides of the first view. `groups` keeps apart dimensions that are and are not
  // reduced.
  Loops(const Layout& shape, const Layout* const* views, int count, const bool* groups);
  int64_t outer() const;  // iterations of all but the innermost
  // Where iteration `number` of the outer loops begins in each view.
  void place(int64_t number, int64_t* at) const;
};

struct Copy {
  template <class T>
  void operator()(const T* const* in, T* out, size_t count) const {
    if (in[0] != out) std::copy_n(in[0], count, out);
  }
};

namespace detail {
template <class T, class G, class... In>
AW_LOOP void each_row(T* out, size_t count, const G& g, const In*... in) {
  for (size_t i = 0; i < count; ++i) out[i] = g(in[i]...);
}
template <class G, size_t N>
struct Each {
  G g;
  template <class T>
  void operator()(const T* const* in, T* out, size_t count) const {
    call(in, out, count, std::make_index_sequence<N>());
  }
  template <class T, size_t... I>
  void call(const T* const* in, T* out, size_t count, std::index_sequence<I...>) const {
    each_row(out, count, g, in[I]...);
  }
};
}  // namespace detail

// What `map` wants, out of a function of N numbers.
template <size_t N, class G>
detail::Each<G, N> each(G g) {
  return {g};
}

// out = alpha * f(in...) + beta * out. Inputs have the output's dimensions (`spread`); an input may
// be the output.
template <class T, size_t N, class F>
void map(const View& out, T alpha, T beta, const std::array<View, N>& in, const F& f) {
  const Layout* all[N + 1] = {&out};
  for (size_t i = 0; i < N; ++i) all[i + 1] = &in[i];
  const Loops loops(out, all, N + 1, nullptr);
  const int last = loops.rank - 1;
  const int64_t inner = loops.dims[last], pieces = (inner + kRow - 1) / kRow;
  auto unit = [&](int64_t number) {
    alignas(64) T rooms[N + 1][kRow];
    int64_t at[N + 1];
    loops.place(number / pieces, at);
    const int64_t from = number % pieces * kRow, count = std::min(kRow, inner - from);
    const T* rows[N > 0 ? N : 1];
    for (size_t i = 0; i < N; ++i) {
      const int64_t step = loops.strides[i + 1][last];
      rows[i] = load_row<T>(in[i], at[i + 1] + from * step, step, static_cast<size_t>(count),
                            rooms[i + 1]);
    }
    const int64_t step = loops.strides[0][last], place = at[0] + from * step;
    T* direct = alpha == 1 && beta == 0 ? row_place<T>(out, place, step) : nullptr;
    f(rows, direct ? direct : rooms[0], static_cast<size_t>(count));
    if (!direct) store_row<T>(out, place, step, static_cast<size_t>(count), rooms[0], alpha, beta);
  };
  const int64_t units = loops.outer() * pieces;
  if (out.type != CUDNN_DATA_BOOLEAN) return share(units, std::min(inner, kRow), unit);
  for (int64_t i = 0; i < units; ++i) unit(i);  // bits of one byte belong to one thread
}

struct Sum {
  static constexpr double identity = 0;
  static double combine(double a, double b) { return a + b; }
};

namespace detail {
constexpr int kLanes = 16;
template <class Op, class T>
AW_LOOP double fold(const T* row, size_t count, double start) {
  double lanes[kLanes];
  for (auto& lane : lanes) lane = Op::identity;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int k = 0; k < kLanes; ++k)
      lanes[k] = Op::combine(lanes[k], static_cast<double>(row[i + static_cast<size_t>(k)]));
  for (; i < count; ++i) start = Op::combine(start, static_cast<double>(row[i]));
  for (double lane : lanes) start = Op::combine(start, lane);
  return start;
}
template <class Op, class T>
AW_LOOP void fold_beside(const T* row, size_t count, double* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] = Op::combine(sums[i], static_cast<double>(row[i]));
}
}  // namespace detail

// out[kept dimensions] = Op over all others of f(in...). `kept` has 1 where the shape is reduced;
// `out` is row-major in it.
template <class Op, class T, size_t N, class F>
void reduce(const Layout& shape, const Layout& kept, const std::array<View, N>& in, const F& f,
            double* out) {
  const View target = spread(View(packed(CUDNN_DATA_DOUBLE, kept), out), shape);
  const Layout* all[N + 1];
  for (size_t i = 0; i < N; ++i) all[i] = &in[i];
  all[N] = &target;
  bool reduced[kMostDims];
  for (int i = 0; i < shape.rank; ++i) reduced[i] = kept.dims[i] == 1;
  const Loops loops(shape, all, N + 1, reduced);
  // The loops that are kept, then those that are reduced, but for the innermost of all.
  Loops keep = loops, drop = loops;
  keep.rank = drop.rank = 0;
  const int last = loops.rank - 1;
  for (int i = 0; i <= last; ++i) {
    if (i == last) continue;
    Loops& to = loops.reduced[i] ? drop : keep;
    to.dims[to.rank] = loops.dims[i];
    for (size_t v = 0; v <= N; ++v) to.strides[v][to.rank] = loops.strides[v][i];
    ++to.rank;
  }
  auto all_of =
      [](Loops& it) {  // `outer` and `place` leave out the innermost loop: one of a single step
        it.dims[it.rank] = 1;
        for (auto& row : it.strides) row[it.rank] = 0;
        ++it.rank;
      };
  all_of(keep), all_of(drop);
  const int64_t inner = loops.dims[last], pieces = (inner + kRow - 1) / kRow, depth = drop.outer();
  const bool beside = !loops.reduced[last];
  auto row = [&](const int64_t* at, int64_t from, int64_t count, T(*rooms)[kRow]) {
    const T* rows[N];
    for (size_t i = 0; i < N; ++i) {
      const int64_t step = loops.strides[i][last];
      rows[i] =
          load_row<T>(in[i], at[i] + from * step, step, static_cast<size_t>(count), rooms[i + 1]);
    }
    f(rows, rooms[0], static_cast<size_t>(count));
  };
  auto places = [&](int64_t outer, int64_t within, int64_t* at) {
    int64_t more[N + 1];
    keep.place(outer, at), drop.place(within, more);
    for (size_t i = 0; i <= N; ++i) at[i] += more[i];
  };
  if (beside) {
    return share(keep.outer() * pieces, std::min(inner, kRow) * depth, [&](int64_t number) {
      alignas(64) T rooms[N + 1][kRow];
      double sums[kRow];
      std::fill_n(sums, kRow, Op::identity);
      const int64_t from = number % pieces * kRow, count = std::min(kRow, inner - from);
      int64_t at[N + 1];
      for (int64_t i = 0; i < depth; ++i) {
        places(number / pieces, i, at);
        row(at, from, count, rooms);
        detail::fold_beside<Op>(rooms[0], static_cast<size_t>(count), sums);
      }
      for (int64_t i = 0; i < count; ++i)
        out[at[N] + (from + i) * loops.strides[N][last]] = sums[i];
    });
  }
  share(keep.outer(), inner * depth, [&](int64_t number) {
    alignas(64) T rooms[N + 1][kRow];
    double sum = Op::identity;
    int64_t at[N + 1];
    for (int64_t i = 0; i < depth; ++i) {
      places(number, i, at);
      for (int64_t from = 0; from < inner; from += kRow) {
        const int64_t count = std::min(kRow, inner - from);
        row(at, from, count, rooms);
        sum = detail::fold<Op>(rooms[0], static_cast<size_t>(count), sum);
      }
    }
    out[at[N]] = sum;
  });
}

}  // namespace aw::dnn
