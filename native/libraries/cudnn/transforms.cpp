// cuDNN: tensors and filters padded and folded, and what makes a gradient of strided convolutions
// one of stride 1.
//
// Folding by f takes a dimension of size f * n apart into n and a part of the channels: channel c
// and the remainders r of all folded dimensions (the first the slowest) become channel
// c * (product of all f) + r, so that groups of channels stay together. cuDNN's manual leaves the
// order of the new channels open. What is folded is padded before; what is unfolded, afterwards.
// Negative pads cut.
#include <algorithm>

#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

struct cudnnTensorTransformDescriptorStruct : Object<17> {
  int rank = 0;  // 0: never set
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  int64_t before[kMostDims] = {}, after[kMostDims] = {}, folds[kMostDims] = {};
  cudnnFoldingDirection_t direction = CUDNN_TRANSFORM_FOLD;
};

namespace {

using Transform = cudnnTensorTransformDescriptorStruct;

const Transform& ready(const cudnnTensorTransformDescriptorStruct* desc) {
  auto& found = object(desc);
  require(found.rank > 0, "a transform descriptor that was never set");
  return found;
}

int64_t all_folds(const Transform& how) {
  int64_t product = 1;
  for (int i = 2; i < how.rank; ++i) product *= how.folds[i];
  return product;
}

// The shape behind a transform, without strides.
Layout shape_behind(const Transform& how, const Layout& from) {
  require(from.rank == how.rank, "a tensor of another rank than the transform's", kWrongShape);
  Layout to = from;
  const int64_t all = all_folds(how);
  const bool folds = how.direction == CUDNN_TRANSFORM_FOLD;
  auto pad = [&](int i) {
    to.dims[i] += how.before[i] + how.after[i];
    require(to.dims[i] > 0, "nothing is left of a dimension", kWrongShape);
  };
  for (int i = 0; folds && i < to.rank; ++i) pad(i);
  for (int i = 2; i < to.rank; ++i) {
    require(!folds || to.dims[i] % how.folds[i] == 0,
            "a dimension that does not divide by its fold", kWrongShape);
    to.dims[i] = folds ? to.dims[i] / how.folds[i] : to.dims[i] * how.folds[i];
  }
  require(folds || to.dims[1] % all == 0, "channels that do not divide by the folds", kWrongShape);
  to.dims[1] = folds ? to.dims[1] * all : to.dims[1] / all;
  for (int i = 0; !folds && i < to.rank; ++i) pad(i);
  return to;
}

Layout laid(const Layout& shape, cudnnTensorFormat_t format) {
  int64_t step = 1, strides[kMostDims];
  auto place = [&](int i) { strides[i] = step, step *= shape.dims[i]; };
  const bool last = format == CUDNN_TENSOR_NHWC;
  if (last) place(1);
  for (int i = shape.rank - 1; i >= 0; --i)
    if (!(last && i == 1)) place(i);
  return make_layout(shape.type, shape.rank, shape.dims, strides);
}

// Where an element of the result stands in the source; false where it is a pad.
bool source_of(const Transform& how, const Layout& from, const int64_t* at, int64_t* place) {
  int64_t where[kMostDims], all = all_folds(how);
  std::copy_n(at, how.rank, where);
  if (how.direction == CUDNN_TRANSFORM_FOLD) {
    int64_t rest = where[1] % all;
    where[1] /= all;
    for (int i = how.rank - 1; i >= 2; --i) {
      where[i] = where[i] * how.folds[i] + rest % how.folds[i];
      rest /= how.folds[i];
    }
    for (int i = 0; i < how.rank; ++i) where[i] -= how.before[i];
  } else {
    for (int i = 0; i < how.rank; ++i) {
      where[i] -= how.before[i];
      if (where[i] < 0) return false;
    }
    int64_t rest = 0;
    for (int i = 2; i < how.rank; ++i) {
      rest = rest * how.folds[i] + where[i] % how.folds[i];
      where[i] /= how.folds[i];
    }
    where[1] = where[1] * all + rest;
  }
  *place = 0;
  for (int i = 0; i < how.rank; ++i) {
    if (where[i] < 0 || where[i] >= from.dims[i]) return false;
    *place += where[i] * from.strides[i];
  }
  return true;
}

void transform(cudnnHandle_t handle, const cudnnTensorTransformDescriptorStruct* desc,
               const void* alpha, const View& from, const void* beta, const View& to) {
  auto& h = object(handle);
  const Transform how = ready(desc);
  require(to.same_shape(shape_behind(how, from)), "a result of another shape", kWrongShape);
  require(to.distinct(), "a result whose elements share places");
  const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
  work(h, "cudnn_transform", wide(from.type) || wide(to.type), [=](auto zero) {
    using T = decltype(zero);
    const int last = to.rank - 1;
    const int64_t inner = to.dims[last];
    share(to.elements() / inner, inner * 8, [&](int64_t number) {
      int64_t at[kMostDims], begin = 0;
      for (int i = last - 1; i >= 0; --i) {
        at[i] = number % to.dims[i], number /= to.dims[i];
        begin += at[i] * to.strides[i];
      }
      Scratch<T> row(inner);
      for (int64_t i = 0; i < inner; ++i) {
        int64_t place;
        at[last] = i, row[i] = T{0};
        if (source_of(how, from, at, &place)) row[i] = *load_row<T>(from, place, 1, 1, &row[i]);
      }
      store_row<T>(to, begin, to.strides[last], static_cast<size_t>(inner), row.get(),
                   static_cast<T>(a), static_cast<T>(b));
    });
  });
}

void set_transform(Transform& to, int rank, cudnnTensorFormat_t format, const int64_t* before,
                   const int64_t* after, const int64_t* folds, cudnnFoldingDirection_t direction) {
  to.rank = rank, to.format = format, to.direction = direction;
  for (int i = 0; i < kMostDims; ++i) {
    to.before[i] = before && i < rank ? before[i] : 0;
    to.after[i] = after && i < rank ? after[i] : 0;
    to.folds[i] = folds && i >= 2 && i < rank ? folds[i] : 1;
  }
}

}  // namespace

AW_EXPORT cudnnStatus_t
cudnnCreateTensorTransformDescriptor(cudnnTensorTransformDescriptor_t* desc) {
  return api<"cudnnCreateTensorTransformDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t
cudnnDestroyTensorTransformDescriptor(cudnnTensorTransformDescriptor_t desc) {
  return api<"cudnnDestroyTensorTransformDescriptor">([&] { destroy(desc); });
}
// `folds` has a number for each dimension of space, the pads for each dimension.
AW_EXPORT cudnnStatus_t cudnnSetTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t desc, const uint32_t rank, const cudnnTensorFormat_t format,
    const int32_t before[], const int32_t after[], const uint32_t folds[],
    const cudnnFoldingDirection_t direction) {
  return api<"cudnnSetTensorTransformDescriptor">([&] {
    auto& to = object(desc);
    require(rank > 2, "a transform of tensors without space");
    if (rank > kMostDims) unsupported("transforms of more than eight dimensions");
    require(direction == CUDNN_TRANSFORM_FOLD || direction == CUDNN_TRANSFORM_UNFOLD,
            "no such direction of folding");
    require(format >= CUDNN_TENSOR_NCHW && format <= CUDNN_TENSOR_NCHW_VECT_C, "no such format");
    if (format == CUDNN_TENSOR_NCHW_VECT_C) unsupported("CUDNN_TENSOR_NCHW_VECT_C");
    int64_t pads[2][kMostDims] = {}, by[kMostDims], all = 1;
    std::fill_n(by, kMostDims, 1);
    for (uint32_t i = 0; i < rank; ++i) {
      if (before) pads[0][i] = before[i];
      if (after) pads[1][i] = after[i];
      if (!folds || i < 2) continue;
      require(folds[i - 2] > 0, "a fold that is not positive");
      by[i] = folds[i - 2];
      require(!__builtin_mul_overflow(all, by[i], &all) && all <= INT32_MAX,
              "folds that no number of channels goes with");
    }
    set_transform(to, static_cast<int>(rank), format, pads[0], pads[1], by, direction);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t desc, uint32_t requested, cudnnTensorFormat_t* format,
    int32_t before[], int32_t after[], uint32_t folds[], cudnnFoldingDirection_t* direction) {
  return api<"cudnnGetTensorTransformDescriptor">([&] {
    auto& from = ready(desc);
    give(format, from.format), give(direction, from.direction);
    for (int i = 0; i < from.rank && static_cast<uint32_t>(i) < requested; ++i) {
      if (before) before[i] = static_cast<int32_t>(from.before[i]);
      if (after) after[i] = static_cast<int32_t>(from.after[i]);
      if (folds && i >= 2) folds[i - 2] = static_cast<uint32_t>(from.folds[i]);
    }
  });
}

AW_EXPORT cudnnStatus_t cudnnInitTransformDest(const cudnnTensorTransformDescriptor_t desc,
                                               const cudnnTensorDescriptor_t from,
                                               cudnnTensorDescriptor_t to, size_t* bytes) {
  return api<"cudnnInitTransformDest">([&] {
    auto& how = ready(desc);
    require_pointer(bytes);
    auto& made = object(to).layout;
    made = laid(shape_behind(how, layout(from)), how.format);
    *bytes = made.bytes();
  });
}

AW_EXPORT cudnnStatus_t cudnnTransformTensorEx(cudnnHandle_t handle,
                                               const cudnnTensorTransformDescriptor_t desc,
                                               const void* alpha,
                                               const cudnnTensorDescriptor_t from_desc,
                                               const void* from, const void* beta,
                                               const cudnnTensorDescriptor_t to_desc, void* to) {
  return api<"cudnnTransformTensorEx">(
      [&] { transform(handle, desc, alpha, view(from_desc, from), beta, view(to_desc, to)); });
}
AW_EXPORT cudnnStatus_t cudnnTransformFilter(cudnnHandle_t handle,
                                             const cudnnTensorTransformDescriptor_t desc,
                                             const void* alpha,
                                             const cudnnFilterDescriptor_t from_desc,
                                             const void* from, const void* beta,
                                             const cudnnFilterDescriptor_t to_desc, void* to) {
  return api<"cudnnTransformFilter">(
      [&] { transform(handle, desc, alpha, view(from_desc, from), beta, view(to_desc, to)); });
}

// With stride s, output j meets input s * j + t - p by tap t. Where t = s * u + r, the input that
// is padded by p and folded by s is met at j + u, in the channels of remainder r, by tap u of the
// folded filter: a convolution of stride 1 without pads.
AW_EXPORT cudnnStatus_t cudnnGetFoldedConvBackwardDataDescriptors(
    const cudnnHandle_t handle, const cudnnFilterDescriptor_t filter,
    const cudnnTensorDescriptor_t diff, const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t grad, const cudnnTensorFormat_t format,
    cudnnFilterDescriptor_t folded_filter, cudnnTensorDescriptor_t padded_diff,
    cudnnConvolutionDescriptor_t folded_convolution, cudnnTensorDescriptor_t folded_grad,
    cudnnTensorTransformDescriptor_t filter_fold, cudnnTensorTransformDescriptor_t diff_pad,
    cudnnTensorTransformDescriptor_t grad_fold, cudnnTensorTransformDescriptor_t grad_unfold) {
  return api<"cudnnGetFoldedConvBackwardDataDescriptors">([&] {
    object(handle);
    const Layout &w = layout(filter), &dy = layout(diff), &dx = layout(grad);
    auto& how = object(convolution);
    require(how.rank > 0, "a convolution descriptor that was never set");
    require(w.rank == how.rank + 2 && dy.rank == w.rank && dx.rank == w.rank,
            "ranks that do not go together", kWrongShape);
    require(format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC ||
                format == CUDNN_TENSOR_NCHW_VECT_C,
            "no such format");
    if (format == CUDNN_TENSOR_NCHW_VECT_C) unsupported("CUDNN_TENSOR_NCHW_VECT_C");
    if (how.mode == CUDNN_CONVOLUTION)
      unsupported("a folded convolution whose filter is turned round");
    int64_t folds[kMostDims], pads[kMostDims] = {}, ends[kMostDims] = {}, cuts[kMostDims] = {},
                              cut_ends[kMostDims] = {}, filter_ends[kMostDims] = {};
    std::fill_n(folds, kMostDims, 1);
    for (int i = 0; i < how.rank; ++i) {
      if (how.dilations[i] != 1) unsupported("a folded convolution with dilations");
      const int64_t s = how.strides[i], taps = (w.dims[2 + i] + s - 1) / s;
      folds[2 + i] = s, pads[2 + i] = how.pads[i];
      ends[2 + i] = s * (dy.dims[2 + i] - 1 + taps) - dx.dims[2 + i] - how.pads[i];
      cuts[2 + i] = -pads[2 + i], cut_ends[2 + i] = -ends[2 + i];
      filter_ends[2 + i] = s * taps - w.dims[2 + i];
    }
    auto& of_filter = object(filter_fold);
    auto& of_diff = object(diff_pad);
    auto& fold = object(grad_fold);
    auto& unfold = object(grad_unfold);
    set_transform(of_filter, w.rank, format, nullptr, filter_ends, folds, CUDNN_TRANSFORM_FOLD);
    set_transform(of_diff, w.rank, format, nullptr, nullptr, nullptr, CUDNN_TRANSFORM_FOLD);
    set_transform(fold, w.rank, format, pads, ends, folds, CUDNN_TRANSFORM_FOLD);
    set_transform(unfold, w.rank, format, cuts, cut_ends, folds, CUDNN_TRANSFORM_UNFOLD);
    object(folded_filter).layout = laid(shape_behind(of_filter, w), format);
    folded_filter->format = format;
    object(padded_diff).layout = laid(shape_behind(of_diff, dy), format);
    object(folded_grad).layout = laid(shape_behind(fold, dx), format);
    auto& plain = object(folded_convolution);
    plain = how;
    std::fill_n(plain.pads, how.rank, 0), std::fill_n(plain.strides, how.rank, 1);
  });
}
