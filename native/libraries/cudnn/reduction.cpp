// cuDNN: reductions, and where a least or greatest element stands.
#include "libraries/cudnn/reduction.h"

#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

struct cudnnReduceTensorDescriptorStruct : Object<10> {
  cudnnReduceTensorOp_t op = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t index_type = CUDNN_32BIT_INDICES;
};

namespace {

struct Product {
  static constexpr double identity = 1;
  static double combine(double a, double b) { return a * b; }
};
// NaN wins.
struct Least {
  static constexpr double identity = INFINITY;
  static double combine(double a, double b) { return a < b || a != a ? a : b; }
};
struct Greatest {
  static constexpr double identity = -INFINITY;
  static double combine(double a, double b) { return a > b || a != a ? a : b; }
};

}  // namespace

namespace aw::dnn {

template <class T>
void reduce_tensor(cudnnReduceTensorOp_t op, const View& x, const View& y, T alpha, T beta) {
  Scratch<double> sums(y.elements());
  const View found(packed(CUDNN_DATA_DOUBLE, y), sums.get());
  auto put_back = [&](auto f) { map<T, 1>(y, alpha, beta, {found}, each<1>(f)); };
  auto same = [](T value) { return value; };
  auto by = [&]<class Op>(Op, auto f) { reduce<Op, T, 1>(x, y, {x}, f, sums.get()); };
  switch (op) {
    case CUDNN_REDUCE_TENSOR_ADD:
      return by(Sum{}, Copy{}), put_back(same);
    case CUDNN_REDUCE_TENSOR_AVG: {
      by(Sum{}, Copy{});
      const double count = static_cast<double>(x.elements()) / static_cast<double>(y.elements());
      for (int64_t i = 0; i < y.elements(); ++i) sums[i] /= count;
      return put_back(same);
    }
    case CUDNN_REDUCE_TENSOR_MUL:
      return by(Product{}, Copy{}), put_back(same);
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
      return by(Product{}, each<1>([](T v) { return v == 0 ? T{1} : v; })), put_back(same);
    case CUDNN_REDUCE_TENSOR_MIN:
      return by(Least{}, Copy{}), put_back(same);
    case CUDNN_REDUCE_TENSOR_MAX:
      return by(Greatest{}, Copy{}), put_back(same);
    case CUDNN_REDUCE_TENSOR_AMAX:
      return by(Greatest{}, each<1>([](T v) { return std::fabs(v); })), put_back(same);
    case CUDNN_REDUCE_TENSOR_NORM1:
      return by(Sum{}, each<1>([](T v) { return std::fabs(v); })), put_back(same);
    case CUDNN_REDUCE_TENSOR_NORM2:
      by(Sum{}, each<1>([](T v) { return v * v; }));
      for (int64_t i = 0; i < y.elements(); ++i) sums[i] = std::sqrt(sums[i]);
      return put_back(same);
  }
}
template void reduce_tensor(cudnnReduceTensorOp_t, const View&, const View&, float, float);
template void reduce_tensor(cudnnReduceTensorOp_t, const View&, const View&, double, double);

}  // namespace aw::dnn

namespace {

// The place, among what is reduced to each result, of the first least or greatest (by size, with
// AMAX) element.
template <class T>
void find_places(cudnnReduceTensorOp_t op, const View& x, const Layout& kept, uint32_t* places) {
  const Dense<T> all(x);
  const Layout in = packed(x.type, x), out = packed(x.type, kept);
  share(kept.elements(), x.elements() / kept.elements(), [&](int64_t number) {
    int64_t base = 0, rest = number;
    for (int i = x.rank - 1; i >= 0; --i)
      base += rest % out.dims[i] * in.strides[i], rest /= out.dims[i];
    const int64_t count = x.elements() / kept.elements();
    T best{};
    for (int64_t k = 0; k < count; ++k) {
      int64_t at = base, within = k;
      for (int i = x.rank - 1; i >= 0; --i) {
        if (out.dims[i] != 1) continue;
        at += within % in.dims[i] * in.strides[i], within /= in.dims[i];
      }
      const T value = op == CUDNN_REDUCE_TENSOR_AMAX ? std::fabs(all[at]) : all[at];
      const bool better = k == 0 || (op == CUDNN_REDUCE_TENSOR_MIN ? value < best : value > best) ||
                          (value != value && best == best);
      if (better) best = value, places[number] = static_cast<uint32_t>(k);
    }
  });
}

bool has_places(const cudnnReduceTensorDescriptorStruct& desc) {
  return desc.indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES &&
         (desc.op == CUDNN_REDUCE_TENSOR_MIN || desc.op == CUDNN_REDUCE_TENSOR_MAX ||
          desc.op == CUDNN_REDUCE_TENSOR_AMAX);
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnCreateReduceTensorDescriptor(cudnnReduceTensorDescriptor_t* desc) {
  return api<"cudnnCreateReduceTensorDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyReduceTensorDescriptor(cudnnReduceTensorDescriptor_t desc) {
  return api<"cudnnDestroyReduceTensorDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t desc, cudnnReduceTensorOp_t op, cudnnDataType_t type,
    cudnnNanPropagation_t nan, cudnnReduceTensorIndices_t indices, cudnnIndicesType_t index_type) {
  return api<"cudnnSetReduceTensorDescriptor">([&] {
    auto& to = object(desc);
    require(op >= CUDNN_REDUCE_TENSOR_ADD && op <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS,
            "no such reduction");
    if (indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES && index_type != CUDNN_32BIT_INDICES)
      unsupported("indices that have not 32 bits");  // as documented
    to.op = op, to.type = type, to.nan = nan, to.indices = indices, to.index_type = index_type;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetReduceTensorDescriptor(const cudnnReduceTensorDescriptor_t desc,
                                                       cudnnReduceTensorOp_t* op,
                                                       cudnnDataType_t* type,
                                                       cudnnNanPropagation_t* nan,
                                                       cudnnReduceTensorIndices_t* indices,
                                                       cudnnIndicesType_t* index_type) {
  return api<"cudnnGetReduceTensorDescriptor">([&] {
    auto& from = object(desc);
    give(op, from.op), give(type, from.type), give(nan, from.nan);
    give(indices, from.indices), give(index_type, from.index_type);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle,
                                                     const cudnnReduceTensorDescriptor_t desc,
                                                     const cudnnTensorDescriptor_t,
                                                     const cudnnTensorDescriptor_t c_desc,
                                                     size_t* bytes) {
  return api<"cudnnGetReductionIndicesSize">([&] {
    object(handle), require_pointer(bytes);
    *bytes = has_places(object(desc))
                 ? static_cast<size_t>(layout(c_desc).elements()) * sizeof(uint32_t)
                 : 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle,
                                                       const cudnnReduceTensorDescriptor_t desc,
                                                       const cudnnTensorDescriptor_t a_desc,
                                                       const cudnnTensorDescriptor_t c_desc,
                                                       size_t* bytes) {
  return api<"cudnnGetReductionWorkspaceSize">([&] {
    object(handle), object(desc), layout(a_desc), layout(c_desc), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle,
                                          const cudnnReduceTensorDescriptor_t desc, void* indices,
                                          size_t indices_bytes, void*, size_t, const void* alpha,
                                          const cudnnTensorDescriptor_t a_desc, const void* a,
                                          const void* beta, const cudnnTensorDescriptor_t c_desc,
                                          void* c) {
  return api<"cudnnReduceTensor">([&] {
    auto& h = object(handle);
    const auto what = object(desc);
    const View from = view(a_desc, a), to = view(c_desc, c);
    require(spreads(to, from), "a result that is no reduction of the tensor");
    const double f = scalar(alpha, from.type), kept = scalar(beta, to.type);
    auto* places = has_places(what) ? static_cast<uint32_t*>(indices) : nullptr;
    if (has_places(what)) {
      require_pointer(indices);
      require(indices_bytes >= static_cast<size_t>(to.elements()) * sizeof(uint32_t),
              "too little room for indices", kTooSmall);
    }
    const bool doubles = wide(from.type) || wide(to.type) || what.type == CUDNN_DATA_DOUBLE;
    work(h, "cudnn_reduce_tensor", doubles, [=](auto zero) {
      using T = decltype(zero);
      if (places) find_places<T>(what.op, from, to, places);
      reduce_tensor<T>(what.op, from, to, static_cast<T>(f), static_cast<T>(kept));
    });
  });
}
