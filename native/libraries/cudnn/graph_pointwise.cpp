// Pointwise operations of graphs.
#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/graph.h"

namespace aw::dnn {
namespace {

// One operation on rows of up to three operands, with the numbers of its descriptor.
template <class T>
using RowFunction = void (*)(const T* const* in, T* out, size_t count, const Curve& curve);

template <class T, class G>
AW_LOOP void row_of_one(const T* a, T* out, size_t count, const Curve& curve) {
  for (size_t i = 0; i < count; ++i) out[i] = G::of(a[i], curve);
}
template <class T, class G>
AW_LOOP void row_of_two(const T* a, const T* b, T* out, size_t count, const Curve& curve) {
  for (size_t i = 0; i < count; ++i) out[i] = G::of(a[i], b[i], curve);
}
template <class T, class G, int N>
void row(const T* const* in, T* out, size_t count, const Curve& curve) {
  if constexpr (N == 1)
    row_of_one<T, G>(in[0], out, count, curve);
  else
    row_of_two<T, G>(in[0], in[1], out, count, curve);
}
template <class T>
void row_select(const T* const* in, T* out, size_t count, const Curve&) {
  for (size_t i = 0; i < count; ++i) out[i] = in[2][i] != 0 ? in[0][i] : in[1][i];
}

// x and c: the operand and the descriptor's numbers.
#define AW_ONE(name, expression)       \
  struct name {                        \
    template <class T>                 \
    static T of(T x, const Curve& c) { \
      (void)c;                         \
      return expression;               \
    }                                  \
  }
#define AW_TWO(name, expression)            \
  struct name {                             \
    template <class T>                      \
    static T of(T x, T b, const Curve& c) { \
      (void)c;                              \
      return expression;                    \
    }                                       \
  }
AW_ONE(Abs, std::fabs(x));
AW_ONE(Ceil, std::ceil(x));
AW_ONE(Cos, std::cos(x));
AW_ONE(Exp, quick_exp(x));
AW_ONE(Floor, std::floor(x));
AW_ONE(Log, std::log(x));
AW_ONE(Neg, -x);
AW_ONE(Rsqrt, T{1} / std::sqrt(x));
AW_ONE(Sin, std::sin(x));
AW_ONE(Sqrt, std::sqrt(x));
AW_ONE(Tan, std::tan(x));
AW_ONE(Erf, std::erf(x));
AW_ONE(Identity, x);
AW_ONE(Reciprocal, T{1} / x);
AW_ONE(Not, x == 0 ? T{1} : T{0});
AW_ONE(Relu,
       relu(x, static_cast<T>(c.lower), static_cast<T>(c.upper), static_cast<T>(c.slope), c.nan));
AW_ONE(Tanh, quick_tanh(x));
AW_ONE(Sigmoid, sigmoid(x));
AW_ONE(Elu, x < 0 ? static_cast<T>(c.alpha) * std::expm1(x) : x);
AW_ONE(Gelu, gelu(x));
AW_ONE(GeluTanh, gelu_tanh(x));
AW_ONE(Softplus, softplus(x, static_cast<T>(c.beta)));
AW_ONE(Swish, x* sigmoid(static_cast<T>(c.beta) * x));
AW_TWO(Add, x + b);
AW_TWO(AddSquare, x + b * b);
AW_TWO(Div, x / b);
AW_TWO(Max, x > b || b != b ? x : x != x ? b : std::max(x, b));
AW_TWO(Min, x < b || b != b ? x : x != x ? b : std::min(x, b));
AW_TWO(Mod, std::fmod(x, b));
AW_TWO(FloorMod, x - std::floor(x / b) * b);
AW_TWO(Mul, x* b);
AW_TWO(Pow, std::pow(x, b));
AW_TWO(Sub, x - b);
AW_TWO(Atan2, std::atan2(x, b));
AW_TWO(Equal, x == b ? T{1} : T{0});
AW_TWO(NotEqual, x != b ? T{1} : T{0});
AW_TWO(Greater2, x > b ? T{1} : T{0});
AW_TWO(GreaterEqual, x >= b ? T{1} : T{0});
AW_TWO(Less, x < b ? T{1} : T{0});
AW_TWO(LessEqual, x <= b ? T{1} : T{0});
AW_TWO(And, x != 0 && b != 0 ? T{1} : T{0});
AW_TWO(Or, x != 0 || b != 0 ? T{1} : T{0});
// Gradients: x is what the curve was given, b the gradient of what it made.
AW_TWO(ReluSlope, x > static_cast<T>(c.upper)   ? T{0}
                  : x > static_cast<T>(c.lower) ? b
                                                : b * static_cast<T>(c.slope));
AW_TWO(TanhSlope, b*(T{1} - quick_tanh(x) * quick_tanh(x)));
AW_TWO(SigmoidSlope, b* sigmoid(x) * (T{1} - sigmoid(x)));
AW_TWO(EluSlope, x < 0 ? b * static_cast<T>(c.alpha) * quick_exp(x) : b);
AW_TWO(GeluSlope, b* gelu_slope(x));
AW_TWO(GeluTanhSlope, b* gelu_tanh_slope(x));
AW_TWO(SoftplusSlope, b* sigmoid(static_cast<T>(c.beta) * x));
AW_TWO(SwishSlope,
       b*(sigmoid(static_cast<T>(c.beta) * x) *
          (T{1} + static_cast<T>(c.beta) * x * (T{1} - sigmoid(static_cast<T>(c.beta) * x)))));
#undef AW_ONE
#undef AW_TWO

template <class T>
struct Operation {
  int operands = 0;  // 0: not known
  RowFunction<T> rows = nullptr;
};

template <class T>
Operation<T> operation_of(int mode) {
#define AW_CASE1(name, type)   \
  case CUDNN_POINTWISE_##name: \
    return {1, row<T, type, 1>}
#define AW_CASE2(name, type)   \
  case CUDNN_POINTWISE_##name: \
    return { 2, row<T, type, 2> }
  switch (mode) {
    AW_CASE1(ABS, Abs);
    AW_CASE1(CEIL, Ceil);
    AW_CASE1(COS, Cos);
    AW_CASE1(EXP, Exp);
    AW_CASE1(FLOOR, Floor);
    AW_CASE1(LOG, Log);
    AW_CASE1(NEG, Neg);
    AW_CASE1(RSQRT, Rsqrt);
    AW_CASE1(SIN, Sin);
    AW_CASE1(SQRT, Sqrt);
    AW_CASE1(TAN, Tan);
    AW_CASE1(ERF, Erf);
    AW_CASE1(IDENTITY, Identity);
    AW_CASE1(RECIPROCAL, Reciprocal);
    AW_CASE1(LOGICAL_NOT, Not);
    AW_CASE1(RELU_FWD, Relu);
    AW_CASE1(TANH_FWD, Tanh);
    AW_CASE1(SIGMOID_FWD, Sigmoid);
    AW_CASE1(ELU_FWD, Elu);
    AW_CASE1(GELU_FWD, Gelu);
    AW_CASE1(GELU_APPROX_TANH_FWD, GeluTanh);
    AW_CASE1(SOFTPLUS_FWD, Softplus);
    AW_CASE1(SWISH_FWD, Swish);
    AW_CASE2(ADD, Add);
    AW_CASE2(ADD_SQUARE, AddSquare);
    AW_CASE2(DIV, Div);
    AW_CASE2(MAX, Max);
    AW_CASE2(MIN, Min);
    AW_CASE2(MOD, Mod);
    AW_CASE2(MUL, Mul);
    AW_CASE2(POW, Pow);
    AW_CASE2(SUB, Sub);
#ifndef AW_CUDA_12
    AW_CASE2(ATAN2, Atan2);
    AW_CASE2(FLOOR_MOD, FloorMod);
#endif
    AW_CASE2(CMP_EQ, Equal);
    AW_CASE2(CMP_NEQ, NotEqual);
    AW_CASE2(CMP_GT, Greater2);
    AW_CASE2(CMP_GE, GreaterEqual);
    AW_CASE2(CMP_LT, Less);
    AW_CASE2(CMP_LE, LessEqual);
    AW_CASE2(LOGICAL_AND, And);
    AW_CASE2(LOGICAL_OR, Or);
    AW_CASE2(RELU_BWD, ReluSlope);
    AW_CASE2(TANH_BWD, TanhSlope);
    AW_CASE2(SIGMOID_BWD, SigmoidSlope);
    AW_CASE2(ELU_BWD, EluSlope);
    AW_CASE2(GELU_BWD, GeluSlope);
    AW_CASE2(GELU_APPROX_TANH_BWD, GeluTanhSlope);
    AW_CASE2(SOFTPLUS_BWD, SoftplusSlope);
    AW_CASE2(SWISH_BWD, SwishSlope);
    case CUDNN_POINTWISE_BINARY_SELECT:
      return {3, row_select<T>};
    default:
      return {};
  }
#undef AW_CASE1
#undef AW_CASE2
}

template <size_t N, class T>
void apply(const std::array<View, N>& in, const View& out, const Curve& curve, RowFunction<T> rows,
           T alpha1, T alpha2) {
  map<T, N>(out, 1, 0, in, [&](const T* const* from, T* to, size_t count) {
    if (alpha1 == 1 && alpha2 == 1) return rows(from, to, count, curve);
    T scaled[2][kRow];
    const T* all[N];
    for (size_t k = 0; k < N; ++k) {
      all[k] = from[k];
      if (k > 1) continue;
      for (size_t i = 0; i < count; ++i) scaled[k][i] = from[k][i] * (k ? alpha2 : alpha1);
      all[k] = scaled[k];
    }
    rows(all, to, count, curve);
  });
}

Curve numbers_of(const Content& what, int mode) {
  Curve c;
  c.lower = what.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
  c.upper = what.real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, INFINITY);
  c.slope = what.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
  c.alpha = what.real(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1);
  const bool soft = mode == CUDNN_POINTWISE_SOFTPLUS_FWD || mode == CUDNN_POINTWISE_SOFTPLUS_BWD;
  c.beta =
      what.real(soft ? CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA : CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
  c.nan = what.get<cudnnNanPropagation_t>(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION,
                                          CUDNN_NOT_PROPAGATE_NAN) == CUDNN_PROPAGATE_NAN;
  return c;
}

std::optional<Bend> bend_of(int mode, const Curve& c, const std::vector<size_t>& in, size_t out,
                            double alpha1, double alpha2) {
  Bend made = {Bend::same, in[0], in.back(), out, 0, 0};
  if (alpha1 != 1) return {};
  if (mode == CUDNN_POINTWISE_IDENTITY) return made;
  if (mode == CUDNN_POINTWISE_ADD && alpha2 == 1) {
    made.kind = Bend::sum;
    return made;
  }
  if (mode != CUDNN_POINTWISE_RELU_FWD || c.slope != 0 || c.upper != INFINITY) return {};
  made.kind = Bend::bound, made.least = static_cast<float>(c.lower);
  made.nan = c.nan ? std::numeric_limits<float>::quiet_NaN() : made.least;
  return made;
}

// The index of each element along an axis.
void add_index(Builder& builder, const Content& what, size_t out) {
  const auto axis = what.get<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  const Layout shape = builder.layout(out);
  require(axis >= 0 && axis < shape.rank, "an axis that the tensor has not");
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    Scratch<int32_t> numbers(shape.dims[axis]);
    for (int64_t i = 0; i < shape.dims[axis]; ++i) numbers[i] = static_cast<int32_t>(i);
    View from(shape, numbers.get());
    from.type = CUDNN_DATA_INT32;
    for (int i = 0; i < shape.rank; ++i) from.strides[i] = i == axis;
    map<T, 1>(run[out], 1, 0, {from}, Copy{});
  });
}

}  // namespace

bool add_pointwise(Builder& builder, const Content& operation) {
  if (operation.type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) return false;
  const Content& what = operation.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const double alpha1 = operation.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
               alpha2 = operation.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  int mode = what.get<int32_t>(CUDNN_ATTR_POINTWISE_MODE);
  // A summand times 0 is not read: TensorFlow gives a null pointer for it.
  if (mode == CUDNN_POINTWISE_ADD && alpha2 == 0) mode = CUDNN_POINTWISE_IDENTITY;
  const bool backward = operation.has(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC);
  const size_t out = builder.slot(operation, backward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC
                                                      : CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  if (mode == CUDNN_POINTWISE_GEN_INDEX) return add_index(builder, what, out), true;
  const auto single = operation_of<float>(mode);
  const auto twice = operation_of<double>(mode);
  if (!single.operands) unsupported("POINTWISE with mode " + std::to_string(mode));
  std::vector<size_t> in = {builder.slot(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC)};
  const bool curve_slope =
      mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
  require(backward == curve_slope,
          "an operation forward with a gradient's tensors, or the other way round");
  if (single.operands >= 2)
    in.push_back(builder.slot(operation, backward ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC
                                                  : CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  if (single.operands == 3)
    in.push_back(builder.slot(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC));
  for (size_t slot : in)
    require(spreads(builder.layout(slot), builder.layout(out)),
            "operands that do not go with the result", kWrongShape);
  const Curve curve = numbers_of(what, mode);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    RowFunction<T> rows;
    if constexpr (sizeof(T) == sizeof(double))
      rows = twice.rows;
    else
      rows = single.rows;
    const View& to = run[out];
    auto each_in = [&](size_t i) { return spread(run[in[i]], to); };
    const T a1 = static_cast<T>(alpha1), a2 = static_cast<T>(alpha2);
    if (in.size() == 1)
      apply<1, T>({each_in(0)}, to, curve, rows, a1, 1);
    else if (in.size() == 2)
      apply<2, T>({each_in(0), each_in(1)}, to, curve, rows, a1, a2);
    else
      apply<3, T>({each_in(0), each_in(1), each_in(2)}, to, curve, rows, a1, a2);
  });
  builder.steps.back().bend = bend_of(mode, curve, in, out, alpha1, alpha2);
  return true;
}

}  // namespace aw::dnn
