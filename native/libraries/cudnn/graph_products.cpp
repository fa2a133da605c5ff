// Operations of graphs that sum: convolutions, products of matrices, reductions and pooling.
#include <array>

#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/gemm.h"
#include "libraries/cudnn/graph.h"
#include "libraries/cudnn/pooling.h"
#include "libraries/cudnn/reduction.h"

namespace aw::dnn {
namespace {

Convolution convolution_of(const Content& c) {
  Convolution how;
  const auto pads = c.numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
             strides = c.numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
             dilations = c.numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  if (pads.size() > 3) unsupported("convolutions of more than three dimensions");
  how.rank = static_cast<int>(pads.size());
  how.flipped =
      c.get<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CONVOLUTION;
  for (int i = 0; i < how.rank; ++i) {
    const auto k = static_cast<size_t>(i);
    how.pads[i] = pads[k], how.strides[i] = strides[k], how.dilations[i] = dilations[k];
    require(how.strides[i] > 0 && how.dilations[i] > 0,
            "a stride or dilation that is not positive");
  }
  return how;
}

// Pads behind are what the output's size says; one that says otherwise is refused.
void check_post(const Content& c, const Convolution& how, const Layout& x, const Layout& w,
                const Layout& y) {
  const auto post = c.numbers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (int i = 0; i < how.rank; ++i) {
    const int64_t room = x.dims[2 + i] + how.pads[i] + post[static_cast<size_t>(i)] -
                         (w.dims[2 + i] - 1) * how.dilations[i] - 1;
    require(room >= 0 && y.dims[2 + i] == room / how.strides[i] + 1, "an output of another size",
            kWrongShape);
  }
}

struct ConvolutionNames {
  int x, w, y, desc, alpha, beta;
};
#define AW_C(way, name) CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_##name
void add_convolution(Builder& builder, const Content& c, const ConvolutionNames& names) {
  const Content& what = c.object(names.desc);
  const Convolution how = convolution_of(what);
  const size_t x = builder.slot(c, names.x), w = builder.slot(c, names.w),
               y = builder.slot(c, names.y);
  check_convolution(how, builder.layout(x), builder.layout(w), builder.layout(y));
  check_post(what, how, builder.layout(x), builder.layout(w), builder.layout(y));
  const double alpha = c.real(names.alpha, 1), beta = c.real(names.beta, 0);
  const int type = c.type;
  const size_t out = type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? y
                     : type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? x
                                                                                            : w;
  require(beta == 0 || !builder.slots[out].is_virtual, "a virtual result that is to be added to");
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    if (out == y)
      convolve<T>(how, run[x], run[w], run[y], a, b);
    else if (out == x)
      convolve_data<T>(how, run[w], run[y], run[x], a, b);
    else
      convolve_filter<T>(how, run[x], run[y], run[w], a, b);
  });
  if (out == y && alpha == 1 && beta == 0) builder.steps.back().convolved = {how, x, w, y};
}

// A tensor whose last two dimensions are matrices, as numbers of T in the same order.
template <class T>
View as_numbers(const View& from, Scratch<T>& room) {
  if (from.type == type_of<T>()) return from;
  Layout want = from.distinct() ? static_cast<const Layout&>(from) : packed(from.type, from);
  want.type = type_of<T>();
  room.reset(want.span());
  const View made(want, room.get());
  map<T, 1>(made, 1, 0, {from}, Copy{});
  return made;
}

// The matrix at an element, if OpenBLAS can read it where it lies.
template <class T>
bool matrix_at(const View& tensor, int64_t at, Matrix<T>* out) {
  const int r = tensor.rank;
  const int64_t rows = tensor.dims[r - 2], columns = tensor.dims[r - 1];
  const int64_t down = tensor.strides[r - 2], across = tensor.strides[r - 1];
  const T* data = reinterpret_cast<const T*>(tensor.data) + at;
  if ((across == 1 || columns == 1) && (down >= columns || rows == 1)) {
    *out = {data, rows == 1 ? columns : down, false};
    return true;
  }
  if ((down == 1 || rows == 1) && (across >= rows || columns == 1)) {
    *out = {data, columns == 1 ? rows : across, true};
    return true;
  }
  return false;
}
template <class T>
Matrix<T> matrix_of(const View& tensor, int64_t at, Scratch<T>& room) {
  Matrix<T> out{};
  if (matrix_at<T>(tensor, at, &out)) return out;
  const int r = tensor.rank;
  const int64_t rows = tensor.dims[r - 2], columns = tensor.dims[r - 1];
  room.reset(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; ++k)
      room[i * columns + k] = reinterpret_cast<const T*>(
          tensor.data)[at + i * tensor.strides[r - 2] + k * tensor.strides[r - 1]];
  return {room.get(), columns, false};
}

}  // namespace

template <class T>
void multiply_batches(const View& a_given, const View& b_given, const View& c, T alpha) {
  Scratch<T> a_room, b_room;
  const View a = as_numbers<T>(a_given, a_room), b = as_numbers<T>(b_given, b_room);
  const int r = c.rank;
  const int64_t rows = c.dims[r - 2], columns = c.dims[r - 1], depth = a.dims[r - 1];
  int64_t batches = 1;
  for (int i = 0; i < r - 2; ++i) batches *= c.dims[i];
  constexpr int64_t kBlock = 256;
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  lib::parallel(static_cast<uint64_t>(batches * blocks), [&](uint64_t unit) {
    int64_t rest = static_cast<int64_t>(unit) / blocks, at[3] = {};
    const int64_t first = static_cast<int64_t>(unit) % blocks * kBlock,
                  count = std::min(kBlock, rows - first);
    for (int i = r - 3; i >= 0; --i) {
      const int64_t index = rest % c.dims[i];
      rest /= c.dims[i];
      // A batch of fewer matrices serves equal runs of the result's.
      at[0] += index / (c.dims[i] / a.dims[i]) * a.strides[i];
      at[1] += index / (c.dims[i] / b.dims[i]) * b.strides[i];
      at[2] += index * c.strides[i];
    }
    Scratch<T> left_room, right_room;
    Matrix<T> left = matrix_of<T>(a, at[0], left_room);
    const Matrix<T> right = matrix_of<T>(b, at[1], right_room);
    left.data += left.turned ? first : first * left.step;
    Matrix<T> to{};
    if (c.type == type_of<T>() && matrix_at<T>(c, at[2], &to)) {
      if (!to.turned)
        return gemm<T>(count, columns, depth, alpha, left, right, 0,
                       const_cast<T*>(to.data) + first * to.step, to.step);
      return gemm<T>(columns, count, depth, alpha, {right.data, right.step, !right.turned},
                     {left.data, left.step, !left.turned}, 0, const_cast<T*>(to.data) + first,
                     to.step);
    }
    Scratch<T> tile(count * columns);
    gemm<T>(count, columns, depth, alpha, left, right, 0, tile.get(), columns);
    for (int64_t i = 0; i < count; ++i)
      store_row<T>(c, at[2] + (first + i) * c.strides[r - 2], c.strides[r - 1],
                   static_cast<size_t>(columns), tile.get() + i * columns, 1, 0);
  });
}

template void multiply_batches(const View&, const View&, const View&, float);
template void multiply_batches(const View&, const View&, const View&, double);

namespace {

constexpr size_t kNone = SIZE_MAX;

// Row after row of a matrix for each batch: `inside` columns of the first `rows` are left alone.
template <class T>
void fill_outside(const View& c, int64_t rows, int64_t inside, T value) {
  const int r = c.rank;
  const int64_t columns = c.dims[r - 1], all = c.elements() / columns;
  Scratch<T> row(columns);
  std::fill_n(row.get(), columns, value);
  for (int64_t number = 0; number < all; ++number) {
    int64_t at = 0, rest = number;
    for (int i = r - 2; i >= 0; --i) at += rest % c.dims[i] * c.strides[i], rest /= c.dims[i];
    const int64_t first = number % c.dims[r - 2] < rows ? inside : 0;
    store_row<T>(c, at + first * c.strides[r - 1], c.strides[r - 1],
                 static_cast<size_t>(columns - first), row.get(), 1, 0);
  }
}

View one_of_first(View view, int64_t index, int64_t of) {
  const int64_t at = index / (of / view.dims[0]) * view.strides[0];
  view.data += at * static_cast<int64_t>(element_bytes(view.type));
  view.dims[0] = 1;
  return view;
}

// Products of which each batch has sizes of its own (m, n, k; kNone: the tensors'); what lies
// outside is the padding value.
template <class T>
void multiply_parts(const Run& run, const std::array<size_t, 3>& sizes, const View& a,
                    const View& b, const View& c, T padding) {
  const int r = c.rank;
  const int64_t batches = c.dims[0], most[] = {c.dims[r - 2], c.dims[r - 1], a.dims[r - 1]};
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t size[3];
    for (size_t i = 0; i < 3; ++i) {
      size[i] = most[i];
      if (sizes[i] == kNone) continue;
      const Dense<double> given(run[sizes[i]]);
      size[i] = std::clamp<int64_t>(static_cast<int64_t>(given[batch]), 0, most[i]);
    }
    const auto [m, n, k] = size;
    View left = one_of_first(a, batch, batches), right = one_of_first(b, batch, batches),
         to = one_of_first(c, batch, batches);
    fill_outside<T>(to, m, n, padding);
    left.dims[r - 2] = to.dims[r - 2] = m, right.dims[r - 1] = to.dims[r - 1] = n;
    left.dims[r - 1] = right.dims[r - 2] = k;
    if (m == 0 || n == 0) continue;
    if (k == 0)
      fill_outside<T>(to, 0, 0, T{});
    else
      multiply_batches<T>(left, right, to, 1);
  }
}

void add_matmul(Builder& builder, const Content& c) {
  std::array<size_t, 3> sizes{kNone, kNone, kNone};
  bool overridden = false;
  for (size_t i = 0; i < 3; ++i) {
    const int name = std::array{CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC,
                                CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC,
                                CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC}[i];
    if (c.has(name)) sizes[i] = builder.slot(c, name), overridden = true;
  }
  const size_t a = builder.slot(c, CUDNN_ATTR_OPERATION_MATMUL_ADESC),
               b = builder.slot(c, CUDNN_ATTR_OPERATION_MATMUL_BDESC),
               to = builder.slot(c, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  const Layout &la = builder.layout(a), &lb = builder.layout(b), &lc = builder.layout(to);
  const int r = lc.rank;
  require(r >= 2 && la.rank == r && lb.rank == r, "ranks that do not go together", kWrongShape);
  require(la.dims[r - 1] == lb.dims[r - 2] && la.dims[r - 2] == lc.dims[r - 2] &&
              lb.dims[r - 1] == lc.dims[r - 1],
          "matrices that do not go together", kWrongShape);
  for (int i = 0; i < r - 2; ++i)
    require(lc.dims[i] % la.dims[i] == 0 && lc.dims[i] % lb.dims[i] == 0,
            "batches that do not go together", kWrongShape);
  require(lc.type != CUDNN_DATA_BOOLEAN, "a product of booleans");
  need_gemm();
  if (overridden) {
    require(r >= 3, "sizes for each batch of tensors without batches", kWrongShape);
    for (size_t size : sizes)
      require(size == kNone || builder.layout(size).elements() == lc.dims[0],
              "sizes that are not one for each batch", kWrongShape);
    const double padding =
        c.object(CUDNN_ATTR_OPERATION_MATMUL_DESC).real(CUDNN_ATTR_MATMUL_PADDING_VALUE, 0);
    builder.add([=](const Run& run, auto zero) {
      using T = decltype(zero);
      multiply_parts<T>(run, sizes, run[a], run[b], run[to], static_cast<T>(padding));
    });
    return;
  }
  builder.add([=](const Run& run, auto zero) {
    multiply_batches<decltype(zero)>(run[a], run[b], run[to], 1);
  });
}

// Whether a result keeps a part of each dimension; then neighbours are reduced to one element, as
// cudnn-frontend's gradients of attention want it where heads of queries share keys.
bool folds(const Layout& small, const Layout& shape) {
  int rank = shape.rank;
  for (int i = 0; i < shape.rank && small.rank == shape.rank; ++i) {
    if (shape.dims[i] % small.dims[i] != 0) return false;
    rank += small.dims[i] != 1 && small.dims[i] != shape.dims[i];
  }
  return small.rank == shape.rank && rank <= kMostDims;
}

// The same memory, a dimension of which a part is kept as two: what is kept, and what is reduced.
View fold(const View& view, const Layout& small, const Layout& shape) {
  View out = view;
  out.rank = 0;
  auto put = [&](int64_t size, int64_t stride) {
    out.dims[out.rank] = size, out.strides[out.rank++] = stride;
  };
  for (int i = 0; i < shape.rank; ++i) {
    const int64_t kept = small.dims[i];
    if (kept == 1 || kept == shape.dims[i]) {
      put(view.dims[i], view.strides[i]);
      continue;
    }
    const int64_t share = view.dims[i] / kept;
    put(kept, view.strides[i] * share), put(share, view.strides[i]);
  }
  return out;
}

void add_reduction(Builder& builder, const Content& c) {
#ifndef AW_CUDA_12
  if (c.has(CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH) ||
      c.has(CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC))
    unsupported("REDUCTION by a graph of its own, or of groups");
#endif
  const auto op = c.object(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                      .get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  require(op >= CUDNN_REDUCE_TENSOR_ADD && op <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS,
          "no such reduction");
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  const Layout shape = builder.layout(x), small = builder.layout(y);
  require(folds(small, shape), "a result that is no reduction of the tensor", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    reduce_tensor<decltype(zero)>(op, fold(run[x], small, shape), fold(run[y], small, shape), 1, 0);
  });
}

Pooling resampling(const Content& c, const Layout& x, const Layout& y) {
  const auto mode = c.get<int32_t>(CUDNN_ATTR_RESAMPLE_MODE);
  Pooling how;
  if (mode == CUDNN_RESAMPLE_MAXPOOL)
    how.mode = Pool::max;
  else if (mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING)
    how.mode = Pool::include;
  else if (mode == CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING)
    how.mode = Pool::exclude;
  else
    unsupported("RESAMPLE with mode " + std::to_string(mode));
  const auto window = c.numbers(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS),
             pre = c.numbers(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS),
             strides = c.numbers(CUDNN_ATTR_RESAMPLE_STRIDES);
  require(window.size() == pre.size() && window.size() == strides.size() &&
              x.rank == static_cast<int>(window.size()) + 2,
          "lists of different lengths", kWrongShape);
  require(y.rank == x.rank && y.dims[0] == x.dims[0] && y.dims[1] == x.dims[1],
          "images that do not go together", kWrongShape);
  if (window.size() > kSpace) unsupported("RESAMPLE of more than three dimensions");
  how.rank = static_cast<int>(window.size());
  bool pads = false;
  for (int i = 0; i < how.rank; ++i) {
    const auto k = static_cast<size_t>(i);
    how.window[i] = window[k], how.pads[i] = pre[k], how.strides[i] = strides[k];
    require(how.window[i] > 0 && how.strides[i] > 0 && how.pads[i] >= 0,
            "a window, stride or pad out of range");
    pads = pads || how.pads[i] > 0;
  }
  const auto padding = c.get<cudnnPaddingMode_t>(
      CUDNN_ATTR_RESAMPLE_PADDING_MODE, how.mode == Pool::max ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD);
  if (pads && padding != (how.mode == Pool::max ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD))
    unsupported("RESAMPLE with padding mode " + std::to_string(padding));
  how.nan = c.get<int32_t>(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_NOT_PROPAGATE_NAN) ==
            CUDNN_PROPAGATE_NAN;
  return how;
}

void add_resample_forward(Builder& builder, const Content& c) {
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC);
  const bool indexed = c.has(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC);
  const size_t index = indexed ? builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC) : y;
  const Pooling how = resampling(c.object(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC),
                                 builder.layout(x), builder.layout(y));
  require(builder.layout(index).same_shape(builder.layout(y)), "an index of another shape",
          kWrongShape);
  require(!indexed || how.mode == Pool::max, "an index of an average");
  const double alpha = c.real(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, 1),
               beta = c.real(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, 0);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    pool_forward<T>(how, run[x], run[y], static_cast<T>(alpha), static_cast<T>(beta),
                    indexed ? &run[index] : nullptr);
  });
}

void add_resample_backward(Builder& builder, const Content& c) {
  const size_t dy = builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC),
               dx = builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC);
  const bool indexed = c.has(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC);
  const Pooling how = resampling(c.object(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC),
                                 builder.layout(dx), builder.layout(dy));
  const bool looks = how.mode == Pool::max && !indexed;
  const size_t x = looks ? builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC) : dx;
  const size_t index = indexed ? builder.slot(c, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC) : dy;
  require(builder.layout(x).same_shape(builder.layout(dx)) &&
              builder.layout(index).same_shape(builder.layout(dy)),
          "tensors of different shapes", kWrongShape);
  const double alpha = c.real(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, 1),
               beta = c.real(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, 0);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    pool_backward<T>(how, run[x], run[dy], run[dx], static_cast<T>(alpha), static_cast<T>(beta),
                     indexed ? &run[index] : nullptr);
  });
}

}  // namespace

bool add_products(Builder& builder, const Content& c) {
  switch (c.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      add_convolution(builder, c,
                      {AW_C(FORWARD, X), AW_C(FORWARD, W), AW_C(FORWARD, Y),
                       AW_C(FORWARD, CONV_DESC), AW_C(FORWARD, ALPHA), AW_C(FORWARD, BETA)});
      return true;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      add_convolution(builder, c,
                      {AW_C(BWD_DATA, DX), AW_C(BWD_DATA, W), AW_C(BWD_DATA, DY),
                       AW_C(BWD_DATA, CONV_DESC), AW_C(BWD_DATA, ALPHA), AW_C(BWD_DATA, BETA)});
      return true;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      add_convolution(
          builder, c,
          {AW_C(BWD_FILTER, X), AW_C(BWD_FILTER, DW), AW_C(BWD_FILTER, DY),
           AW_C(BWD_FILTER, CONV_DESC), AW_C(BWD_FILTER, ALPHA), AW_C(BWD_FILTER, BETA)});
      return true;
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return add_matmul(builder, c), true;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return add_reduction(builder, c), true;
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
      return add_resample_forward(builder, c), true;
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
      return add_resample_backward(builder, c), true;
    default:
      return false;
  }
}
#undef AW_C

}  // namespace aw::dnn
