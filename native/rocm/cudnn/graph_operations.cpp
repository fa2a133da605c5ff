// The operations of graphs, each as calls of MIOpen; a product of matrices as one of rocBLAS.
#include <cfloat>
#include <cmath>

#include "rocm/cudnn/graph.h"
#include "rocm/cudnn/rocblas.h"

namespace aw::dnn {
namespace {

void require_one_type(const char* what, std::initializer_list<const Slot*> slots) {
  const auto type = (*slots.begin())->desc.type;
  for (const Slot* slot : slots)
    if (slot->desc.type != type)
      unsupported(std::string(what) + " between data types " + std::to_string(type) + " and " +
                  std::to_string(slot->desc.type));
}

std::vector<int> narrow(const std::vector<int64_t>& from) { return {from.begin(), from.end()}; }

cudnnConvolutionDescriptor_s& convolution_of(Builder& builder, const Content& c) {
  auto& made = builder.keep(new cudnnConvolutionDescriptor_s);
  made.pads = narrow(c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS));
  if (made.pads != narrow(c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)))
    unsupported("a convolution with other pads before than behind");
  made.strides = narrow(c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
  made.dilations = narrow(c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS));
  made.mode = c.get<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  made.compute = c.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  to_rocm(made.mode);
  return made;
}

struct ConvolutionNames {
  Direction direction;
  cudnnBackendAttributeName_t first, second, out, desc, alpha, beta;
};

ConvolutionNames names_of(cudnnBackendDescriptorType_t type) {
#define AW_NAMES(way, name, first, second, out)                        \
  return {                                                             \
    Direction::way, CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_##first, \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_##second,            \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_##out,               \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_CONV_DESC,           \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_ALPHA,               \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##name##_BETA                 \
  }
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      AW_NAMES(forward, FORWARD, W, X, Y);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      AW_NAMES(data, BWD_DATA, DY, W, DX);
    default:
      AW_NAMES(weights, BWD_FILTER, DY, X, DW);
  }
#undef AW_NAMES
}

}  // namespace

void add_convolution(Builder& builder, const Content& operation) {
  const auto names = names_of(operation.type);
  auto& conv = convolution_of(builder, operation.object(names.desc));
  Slot &first = builder.input(operation, names.first),
       &second = builder.input(operation, names.second);
  Slot& out = builder.output(operation, names.out, second);
  // Channels of the image over channels of the filter.
  const auto& image = names.direction == Direction::data ? out.desc.dims : second.desc.dims;
  const auto& filter = names.direction == Direction::forward ? first.desc.dims
                       : names.direction == Direction::data  ? second.desc.dims
                                                             : out.desc.dims;
  require(image.size() == conv.pads.size() + 2 && filter.size() == image.size(),
          "ranks that do not go together", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  require(image[1] % filter[1] == 0, "channels that do not go together",
          CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  conv.groups = image[1] / filter[1];
  const Problem problem{names.direction, conv, first.desc, second.desc, out.desc};
  const Solution solution = solutions(builder.handle, problem)[0];
  builder.need_scratch(solution.workspace);
  const auto alpha = static_cast<float>(operation.real(names.alpha, 1)),
             beta = static_cast<float>(operation.real(names.beta, 0));
  builder.steps.push_back([problem, solution, alpha, beta, &first, &second, &out](const Run& run) {
    blend(run.handle, alpha, beta, problem.out, run.data(out), [&](void* to) {
      convolve(run.handle, problem, solution, run.data(first), run.data(second), to, run.own(),
               run.scratch_bytes);
    });
  });
}

namespace {

// An activation of MIOpen's with its three numbers.
struct Activation {
  miopenActivationMode_t mode;
  double alpha = 1, beta = 1, gamma = 1;
};

Activation relu_of(const Content& c) {
  const double lower = c.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
               upper = c.real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, INFINITY),
               slope = c.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
  const bool bounded = upper < FLT_MAX;
  if (lower != 0 || (bounded && slope != 0))
    unsupported("RELU with a lower bound that is not 0, or with a slope and an upper bound");
  if (bounded) return {miopenActivationCLIPPEDRELU, upper};
  if (slope != 0) return {miopenActivationLEAKYRELU, slope};
  return {miopenActivationRELU};
}

Activation activation_of(const Content& c, cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_RELU_FWD:
    case CUDNN_POINTWISE_RELU_BWD:
      return relu_of(c);
    case CUDNN_POINTWISE_TANH_FWD:
    case CUDNN_POINTWISE_TANH_BWD:
      return {miopenActivationTANH};
    case CUDNN_POINTWISE_SIGMOID_FWD:
    case CUDNN_POINTWISE_SIGMOID_BWD:
      return {miopenActivationLOGISTIC};
    case CUDNN_POINTWISE_ELU_FWD:
    case CUDNN_POINTWISE_ELU_BWD:
      return {miopenActivationELU, c.real(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1)};
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
    case CUDNN_POINTWISE_SOFTPLUS_BWD:
      if (c.real(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1) != 1)
        unsupported("SOFTPLUS with a beta that is not 1");
      return {miopenActivationSOFTRELU};
    case CUDNN_POINTWISE_ABS:
      return {miopenActivationABS};
    case CUDNN_POINTWISE_IDENTITY:
      return {miopenActivationPASTHRU};
    default:
      unsupported("POINTWISE with mode " + std::to_string(mode) +
                  ", which is no activation of MIOpen's");
  }
}

struct ActivationCounterpart {
  Counterpart<miopenActivationDescriptor_t> counterpart;
  miopenActivationDescriptor_t set(const Activation& a) {
    auto object = counterpart.get(miopen().miopenCreateActivationDescriptor,
                                  miopen().miopenDestroyActivationDescriptor,
                                  "miopenCreateActivationDescriptor");
    MIOPEN(SetActivationDescriptor, object, a.mode, a.alpha, a.beta, a.gamma);
    return object;
  }
};

void activate(const Run& run, ActivationCounterpart& counterpart, const Activation& activation,
              Slot& x, Slot& y) {
  MIOPEN(ActivationForward, run.handle.miopen, counterpart.set(activation), &kOne,
         x.desc.counterpart(), run.data(x), &kZero, y.desc.counterpart(), run.data(y));
}

void add_unary(Builder& builder, const Content& operation, const Activation& activation) {
  Slot& x = builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  Slot& y = builder.output(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, x);
  require_one_type("POINTWISE", {&x, &y});
  auto& counterpart = builder.keep(new ActivationCounterpart);
  builder.steps.push_back([&x, &y, &counterpart, activation](const Run& run) {
    activate(run, counterpart, activation, x, y);
  });
}

// The gradient by what went in; MIOpen wants what came out, too, which is made again.
void add_backward(Builder& builder, const Content& operation, const Activation& activation) {
  Slot &x = builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
       &dy = builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC);
  Slot& dx = builder.output(operation, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dy);
  require_one_type("POINTWISE backward", {&x, &dy, &dx});
  auto& counterpart = builder.keep(new ActivationCounterpart);
  builder.need_scratch(x.desc.bytes());
  builder.steps.push_back([&x, &dy, &dx, &counterpart, activation](const Run& run) {
    auto mode = counterpart.set(activation);
    MIOPEN(ActivationForward, run.handle.miopen, mode, &kOne, x.desc.counterpart(), run.data(x),
           &kZero, x.desc.counterpart(), run.own());
    MIOPEN(ActivationBackward, run.handle.miopen, mode, &kOne, x.desc.counterpart(), run.own(),
           dy.desc.counterpart(), run.data(dy), x.desc.counterpart(), run.data(x), &kZero,
           dx.desc.counterpart(), run.data(dx));
  });
}

void combine(const Run& run, miopenTensorOp_t op, double alpha1, Slot& a, double alpha2, Slot& b,
             Slot& c) {
  const auto first = static_cast<float>(alpha1), second = static_cast<float>(alpha2);
  MIOPEN(OpTensor, run.handle.miopen, op, &first, a.desc.counterpart(), run.data(a), &second,
         b.desc.counterpart(), run.data(b), &kZero, c.desc.counterpart(), run.data(c));
}

// y = factor * x: a copy, scaled.
void scale(const Run& run, ActivationCounterpart& counterpart, double factor, Slot& x, Slot& y) {
  const auto single = static_cast<float>(factor);
  activate(run, counterpart, {miopenActivationPASTHRU}, x, y);
  MIOPEN(ScaleTensor, run.handle.miopen, y.desc.counterpart(), run.data(y), &single);
}

// With a number that the program gives by value.
void add_scalar(Builder& builder, cudnnPointwiseMode_t mode, double alpha1, Slot& x, double alpha2,
                Slot& number, Slot& y) {
  if (mode != CUDNN_POINTWISE_MUL && mode != CUDNN_POINTWISE_DIV && mode != CUDNN_POINTWISE_ADD &&
      mode != CUDNN_POINTWISE_SUB)
    unsupported("POINTWISE with mode " + std::to_string(mode) + " and a number given by value");
  auto& counterpart = builder.keep(new ActivationCounterpart);
  builder.need_scratch(y.desc.bytes());
  builder.steps.push_back([=, &x, &number, &y, &counterpart](const Run& run) {
    const double value = alpha2 * run.value(number);
    if (mode == CUDNN_POINTWISE_MUL || mode == CUDNN_POINTWISE_DIV)
      return scale(run, counterpart, mode == CUDNN_POINTWISE_MUL ? alpha1 * value : alpha1 / value,
                   x, y);
    const auto added = static_cast<float>(mode == CUDNN_POINTWISE_ADD ? value : -value);
    MIOPEN(SetTensor, run.handle.miopen, y.desc.counterpart(), run.own(), &added);
    add_tensors(run.handle, static_cast<float>(alpha1), x.desc, run.data(x), 1, y.desc, run.own(),
                y.desc, run.data(y));
  });
}

void add_binary(Builder& builder, const Content& operation, cudnnPointwiseMode_t mode) {
  Slot *a = &builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
       *b = &builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  double alpha1 = operation.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
         alpha2 = operation.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  const bool either_way = mode != CUDNN_POINTWISE_SUB && mode != CUDNN_POINTWISE_DIV;
  if (a->by_value && !b->by_value && either_way) std::swap(a, b), std::swap(alpha1, alpha2);
  Slot& y = builder.output(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *a);
  if (a->by_value) unsupported("POINTWISE of numbers alone");
  if (b->by_value) {
    require_one_type("POINTWISE", {a, &y});
    return add_scalar(builder, mode, alpha1, *a, alpha2, *b, y);
  }
  miopenTensorOp_t op = miopenTensorOpAdd;
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      break;
    case CUDNN_POINTWISE_SUB:
      alpha2 = -alpha2;
      break;
    case CUDNN_POINTWISE_MUL:
      op = miopenTensorOpMul;
      break;
    case CUDNN_POINTWISE_MIN:
      op = miopenTensorOpMin;
      break;
    case CUDNN_POINTWISE_MAX:
      op = miopenTensorOpMax;
      break;
    default:
      unsupported("POINTWISE with mode " + std::to_string(mode) + " of two tensors");
  }
  // MIOpen repeats its second operand only; all of these may be turned round now.
  if (!a->desc.same_shape(y.desc)) std::swap(a, b), std::swap(alpha1, alpha2);
  if (!a->desc.same_shape(y.desc)) unsupported("POINTWISE of two tensors that are both repeated");
  require_one_type("POINTWISE", {a, b, &y});
  builder.steps.push_back([=, &y](const Run& run) { combine(run, op, alpha1, *a, alpha2, *b, y); });
}

void add_negation(Builder& builder, const Content& operation) {
  Slot& x = builder.input(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  Slot& y = builder.output(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, x);
  require_one_type("POINTWISE", {&x, &y});
  auto& counterpart = builder.keep(new ActivationCounterpart);
  builder.steps.push_back(
      [&x, &y, &counterpart](const Run& run) { scale(run, counterpart, -1, x, y); });
}

}  // namespace

void add_pointwise(Builder& builder, const Content& operation) {
  const Content& what = operation.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = what.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  if (operation.has(CUDNN_ATTR_OPERATION_POINTWISE_TDESC))
    unsupported("POINTWISE with three operands");
  if (operation.has(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC))
    return add_backward(builder, operation, activation_of(what, mode));
  if (operation.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
    return add_binary(builder, operation, mode);
  if (mode == CUDNN_POINTWISE_NEG) return add_negation(builder, operation);
  if (operation.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1) != 1)
    unsupported("POINTWISE of one tensor with a factor");
  add_unary(builder, operation, activation_of(what, mode));
}

namespace {

struct ReductionCounterpart {
  Counterpart<miopenReduceTensorDescriptor_t> counterpart;
};

}  // namespace

void add_reduction(Builder& builder, const Content& operation) {
  const Content& what = operation.object(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  const auto op = to_rocm(what.get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR));
  const auto compute = to_rocm(what.get<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE));
  Slot& x = builder.input(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  Slot& y = builder.output(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, x);
  require_one_type("REDUCTION", {&x, &y});
  auto& kept = builder.keep(new ReductionCounterpart);
  auto desc = kept.counterpart.get(miopen().miopenCreateReduceTensorDescriptor,
                                   miopen().miopenDestroyReduceTensorDescriptor,
                                   "miopenCreateReduceTensorDescriptor");
  MIOPEN(SetReduceTensorDescriptor, desc, op, compute, MIOPEN_PROPAGATE_NAN,
         MIOPEN_REDUCE_TENSOR_NO_INDICES, MIOPEN_32BIT_INDICES);
  size_t bytes = 0;
  MIOPEN(GetReductionWorkspaceSize, builder.handle.miopen, desc, x.desc.counterpart(),
         y.desc.counterpart(), &bytes);
  builder.need_scratch(bytes);
  builder.steps.push_back([=, &x, &y](const Run& run) {
    const double one = 1, zero = 0;  // doubles for double tensors
    const bool wide = x.desc.type == CUDNN_DATA_DOUBLE;
    MIOPEN(ReduceTensor, run.handle.miopen, desc, nullptr, size_t{0}, run.own(), run.scratch_bytes,
           wide ? static_cast<const void*>(&one) : &kOne, x.desc.counterpart(), run.data(x),
           wide ? static_cast<const void*>(&zero) : &kZero, y.desc.counterpart(), run.data(y));
  });
}

void add_matmul(Builder& builder, const Content& operation) {
  Slot &a = builder.input(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC),
       &b = builder.input(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
  Slot& c = builder.output(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, a);
  require_one_type("MATMUL", {&a, &b, &c});
  const Product product = product_of(a.desc, b.desc, c.desc);
  builder.steps.push_back([product, &a, &b, &c](const Run& run) {
    multiply(run.handle, product, run.data(a), run.data(b), run.data(c));
  });
}

}  // namespace aw::dnn
