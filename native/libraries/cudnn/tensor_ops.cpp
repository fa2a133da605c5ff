// cuDNN: whole tensors filled, scaled, copied, added and combined.
#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

AW_EXPORT cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t desc,
                                       void* y, const void* value) {
  return api<"cudnnSetTensor">([&] {
    auto& h = object(handle);
    const View to = view(desc, y);
    require_pointer(value);
    // The value has the tensor's own type.
    double number;
    load_row<double>(View(packed(to.type, {1}), value), 0, 0, 1, &number);
    work(h, "cudnn_set_tensor", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      map<T, 0>(to, 1, 0, {}, [=](const T* const*, T* out, size_t count) {
        std::fill_n(out, count, static_cast<T>(number));
      });
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t desc,
                                         void* y, const void* alpha) {
  return api<"cudnnScaleTensor">([&] {
    auto& h = object(handle);
    const View to = view(desc, y);
    const double factor = scalar(alpha, to.type);
    work(h, "cudnn_scale_tensor", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      map<T, 1>(to, static_cast<T>(factor), 0, {to}, Copy{});
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t x_desc, const void* x,
                                             const void* beta, const cudnnTensorDescriptor_t y_desc,
                                             void* y) {
  return api<"cudnnTransformTensor">([&] {
    auto& h = object(handle);
    const View from = view(x_desc, x), to = view(y_desc, y);
    require(from.same_shape(to), "tensors of different shapes");
    require(to.distinct(), "a result whose elements share places");
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_transform_tensor", wide(from.type) || wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      map<T, 1>(to, static_cast<T>(a), static_cast<T>(b), {from}, Copy{});
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha,
                                       const cudnnTensorDescriptor_t a_desc, const void* a,
                                       const void* beta, const cudnnTensorDescriptor_t c_desc,
                                       void* c) {
  return api<"cudnnAddTensor">([&] {
    auto& h = object(handle);
    const View small = view(a_desc, a), to = view(c_desc, c);
    require(spreads(small, to), "shapes that do not go together");
    const double factor = scalar(alpha, small.type), kept = scalar(beta, to.type);
    work(h, "cudnn_add_tensor", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      map<T, 1>(to, static_cast<T>(factor), static_cast<T>(kept), {spread(small, to)}, Copy{});
    });
  });
}

struct cudnnOpTensorDescriptorStruct : Object<9> {
  cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
};

AW_EXPORT cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t* desc) {
  return api<"cudnnCreateOpTensorDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t desc) {
  return api<"cudnnDestroyOpTensorDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t desc,
                                                   cudnnOpTensorOp_t op, cudnnDataType_t type,
                                                   cudnnNanPropagation_t nan) {
  return api<"cudnnSetOpTensorDescriptor">([&] {
    auto& to = object(desc);
    require(op >= CUDNN_OP_TENSOR_ADD && op <= CUDNN_OP_TENSOR_NOT, "no such operation");
    to.op = op, to.type = type, to.nan = nan;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t desc,
                                                   cudnnOpTensorOp_t* op, cudnnDataType_t* type,
                                                   cudnnNanPropagation_t* nan) {
  return api<"cudnnGetOpTensorDescriptor">([&] {
    auto& from = object(desc);
    give(op, from.op), give(type, from.type), give(nan, from.nan);
  });
}

namespace {

// C = op(a, b) with factors; of the operations of one tensor, B is not read.
template <class T>
void combine(cudnnOpTensorOp_t op, T alpha1, const View& a, T alpha2, const View* b, T beta,
             const View& c) {
  auto two = [&](auto f) { map<T, 2>(c, 1, beta, {a, *b}, each<2>(f)); };
  auto one = [&](auto f) { map<T, 1>(c, 1, beta, {a}, each<1>(f)); };
  switch (op) {
    case CUDNN_OP_TENSOR_ADD:
      return two([=](T x, T y) { return alpha1 * x + alpha2 * y; });
    case CUDNN_OP_TENSOR_MUL:
      return two([=](T x, T y) { return alpha1 * x * (alpha2 * y); });
    case CUDNN_OP_TENSOR_MIN:
      return two([=](T x, T y) { return std::fmin(alpha1 * x, alpha2 * y); });
    case CUDNN_OP_TENSOR_MAX:
      return two([=](T x, T y) { return std::fmax(alpha1 * x, alpha2 * y); });
    case CUDNN_OP_TENSOR_SQRT:
      return one([=](T x) { return std::sqrt(alpha1 * x); });
    case CUDNN_OP_TENSOR_NOT:
      return one([=](T x) { return T{1} - alpha1 * x; });
  }
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t desc,
                                      const void* alpha1, const cudnnTensorDescriptor_t a_desc,
                                      const void* a, const void* alpha2,
                                      const cudnnTensorDescriptor_t b_desc, const void* b,
                                      const void* beta, const cudnnTensorDescriptor_t c_desc,
                                      void* c) {
  return api<"cudnnOpTensor">([&] {
    auto& h = object(handle);
    const auto op = object(desc).op;
    const View first = view(a_desc, a), to = view(c_desc, c);
    const bool alone = op == CUDNN_OP_TENSOR_SQRT || op == CUDNN_OP_TENSOR_NOT;
    const View second = alone ? first : view(b_desc, b);
    require(first.same_shape(to) && spreads(second, to), "shapes that do not go together");
    const auto type = object(desc).type;
    const double f1 = scalar(alpha1, type), f2 = alone ? 0 : scalar(alpha2, type),
                 kept = scalar(beta, type);
    work(h, "cudnn_op_tensor", wide(to.type) || wide(type), [=](auto zero) {
      using T = decltype(zero);
      const View spread_b = spread(second, to);
      combine(op, static_cast<T>(f1), first, static_cast<T>(f2), &spread_b, static_cast<T>(kept),
              to);
    });
  });
}
