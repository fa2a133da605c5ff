// The operators that fill a tensor with random numbers, with the values of torch's CUDA kernels.
// Checks, shapes and errors are torch's own templates (ATen/native/DistributionTemplates.h), which
// call the fills below.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/OpMathType.h>
#include <ATen/native/DistributionTemplates.h>
#include <ATen/ops/normal.h>
#include <torch/library.h>

#include "random_launch.h"
#include "transformations.h"
#include "versions.h"

namespace awt {
namespace {

using at::TensorIteratorBase;
using Given = std::optional<at::Generator>;
namespace transformation = at::transformation;

// Doubles come two to a draw, everything else four.
template <class Scalar>
constexpr bool kDouble = std::is_same_v<Scalar, double>;
template <class Scalar>
using Uniforms = std::conditional_t<kDouble<Scalar>, UniformDoubles, UniformFloats>;
template <class Scalar>
using Normals = std::conditional_t<kDouble<Scalar>, NormalDoubles, NormalFloats>;

template <class Value>
Value multiply_add(Value a, Value b, Value c) {  // one rounding, as nvcc contracts a * b + c
  return std::fma(a, b, c);
}

template <class Unused>
struct UniformFill {
  void operator()(TensorIteratorBase& iter, double from_, double to_, const Given& given) {
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, iter.dtype(), "uniform_kernel_cuda", [&] {
          using Value = typename Uniforms<scalar_t>::Value;
          const auto from = static_cast<scalar_t>(from_), to = static_cast<scalar_t>(to_);
          const auto range = static_cast<Value>(to - from), base = static_cast<Value>(from);
          // (0, 1] becomes [from, to): what would be `to` is `from`.
          fill_each<scalar_t, Uniforms<scalar_t>>(iter, given, [=](Value drawn) {
            const auto value = static_cast<scalar_t>(multiply_add(drawn, range, base));
            return value == to ? from : value;
          });
        });
  }
};

template <class Unused>
struct NormalFill {
  void operator()(const at::TensorBase& self, double mean_, double std_, const Given& given) {
    auto iter = at::TensorIterator::borrowing_nullary_op(self);
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, iter.dtype(), "normal_kernel_cuda", [&] {
          using Value = typename Normals<scalar_t>::Value;
          const auto mean = static_cast<Value>(mean_), std = static_cast<Value>(std_);
          fill_each<scalar_t, Normals<scalar_t>>(iter, given, [=](Value drawn) {
            return static_cast<scalar_t>(multiply_add(drawn, std, mean));
          });
        });
  }
};

template <class Unused>
struct LogNormalFill {
  void operator()(TensorIteratorBase& iter, double mean_, double std_, const Given& given) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, iter.dtype(), "log_normal_cuda", [&] {
      using Value = typename Normals<scalar_t>::Value;
      const auto mean = static_cast<Value>(mean_), std = static_cast<Value>(std_);
      fill_each<scalar_t, Normals<scalar_t>>(iter, given, [=](Value drawn) {
        return static_cast<scalar_t>(std::exp(multiply_add(drawn, std, mean)));
      });
    });
  }
};

template <class Value>
void logarithms(Value* values, int count) {
  if constexpr (std::is_same_v<Value, float>) {
    philox::log(values, count);
  } else {
    for (int i = 0; i < count; ++i) values[i] = std::log(values[i]);
  }
}

template <class Unused>
struct ExponentialFill {
  void operator()(TensorIteratorBase& iter, double lambda, const Given& given) {
    TORCH_CHECK(
        at::isFloatingType(iter.dtype()),
        "Exponential distribution is a continuous probability distribution. dtype must be a "
        "floating point but you specified ",
        iter.dtype());
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, iter.dtype(), "exponential_cuda", [&] {
          using Value = typename Uniforms<scalar_t>::Value;
          const Value factor = static_cast<Value>(-1) / static_cast<Value>(lambda);
          // 1 must not become 0: torch takes -epsilon/2 for the logarithm of what is nearest to 1.
          constexpr Value half = std::numeric_limits<Value>::epsilon() / 2;
          const auto convert = [=](const Value* drawn, int count, scalar_t* out) {
            Value logs[philox::kBatch];
            std::copy_n(drawn, count, logs);
            logarithms(logs, count);
            for (int i = 0; i < count; ++i) {
              out[i] = static_cast<scalar_t>(factor * (drawn[i] >= 1 - half ? -half : logs[i]));
            }
          };
          fill<scalar_t, Uniforms<scalar_t>>(iter, given, convert);
        });
  }
};

template <class Unused>
struct CauchyFill {
  void operator()(TensorIteratorBase& iter, double median_, double sigma_, const Given& given) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, iter.dtype(), "cauchy_cuda", [&] {
      using Value = typename Uniforms<scalar_t>::Value;
      const auto median = static_cast<Value>(median_), sigma = static_cast<Value>(sigma_);
      fill_each<scalar_t, Uniforms<scalar_t>>(iter, given, [=](Value drawn) {
        return static_cast<scalar_t>(transformation::cauchy<Value>(drawn, median, sigma));
      });
    });
  }
};

template <class Unused>
struct GeometricFill {
  void operator()(TensorIteratorBase& iter, double p, const Given& given) {
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, iter.dtype(), "geometric_cuda", [&] {
      using Value = typename Uniforms<scalar_t>::Value;
      fill_each<scalar_t, Uniforms<scalar_t>>(iter, given, [=](Value drawn) {
        return static_cast<scalar_t>(
            transformation::geometric<Value>(drawn, static_cast<Value>(p)));
      });
    });
  }
};

template <class Unused>
struct BernoulliFill {
  void operator()(const at::TensorBase& self, double p, const Given& given) {
    auto iter = at::TensorIterator::borrowing_nullary_op(self);
    AT_DISPATCH_ALL_TYPES_AND3(
        at::kHalf, at::kBFloat16, at::kBool, iter.dtype(), "bernoulli_scalar_cuda_", [&] {
          using Value = typename Uniforms<scalar_t>::Value;
          const auto below = static_cast<Value>(p);
          fill_each<scalar_t, Uniforms<scalar_t>>(
              iter, given, [=](Value drawn) { return static_cast<scalar_t>(drawn < below); });
        });
  }
};

template <class Unused>
struct RandomFill {
  void operator()(TensorIteratorBase& iter, const Given& given) {
    AT_DISPATCH_ALL_TYPES_AND3(
        at::kHalf, at::kBFloat16, at::kBool, iter.dtype(), "random_kernel_cuda", [&] {
          constexpr bool wide = kDouble<scalar_t> || std::is_same_v<scalar_t, int64_t>;
          using Kind = std::conditional_t<wide, Words64, Words32>;
          fill_each<scalar_t, Kind>(iter, given, [](typename Kind::Value drawn) {
            return transformation::uniform_int<scalar_t>(drawn);
          });
        });
  }
};

// Whether torch takes 64 bits for a range: since 2.7 from 2^28 on for every type (less skew),
// before from 2^32 on and only for types that can hold the result.
template <class Scalar>
bool wide_range(uint64_t range) {
#if AWT_TORCH >= 207
  return range >= uint64_t{1} << 28;
#else
  constexpr bool holds = std::is_same_v<Scalar, int64_t> || std::is_same_v<Scalar, double> ||
                         std::is_same_v<Scalar, float> || std::is_same_v<Scalar, at::BFloat16>;
  return holds && range >= uint64_t{1} << 32;
#endif
}

template <class Unused>
struct RandomFromToFill {
  void operator()(TensorIteratorBase& iter, uint64_t range, int64_t base, const Given& given) {
    AT_DISPATCH_V2(iter.dtype(), "random_from_to_kernel_cuda", AT_WRAP([&] {
                     const auto convert = [=](auto drawn) {
                       return transformation::uniform_int_from_to<scalar_t>(drawn, range, base);
                     };
                     if (wide_range<scalar_t>(range)) {
                       fill_each<scalar_t, Words64>(iter, given, convert);
                     } else {
                       fill_each<scalar_t, Words32>(iter, given, convert);
                     }
                   }),
                   AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16,
                   AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES));
  }
  void operator()(TensorIteratorBase& iter, const Given& given) {  // all 64 bits
    AT_DISPATCH_ALL_TYPES_AND(
        at::kBFloat16, iter.dtype(), "random_full_64_bits_range_kernel_cuda", [&] {
          constexpr bool holds = std::is_same_v<scalar_t, int64_t> || kDouble<scalar_t> ||
                                 std::is_same_v<scalar_t, float> ||
                                 std::is_same_v<scalar_t, at::BFloat16>;
          TORCH_CHECK(holds,
                      "random_full_64_bits_range_kernel_cuda handles only int64, double, float and "
                      "bfloat16");
          fill_each<scalar_t, Words64>(iter, given, [](uint64_t drawn) {
            return transformation::uniform_int_full_range<scalar_t>(drawn);
          });
        });
  }
};

struct Unused {};
namespace templates = at::native::templates;
using at::Tensor;

// The generator for the CPU's own kernel, when its values are asked for.
at::Generator host(const Given& given) { return host_generator(given, current_op_device()); }

Tensor& uniform_(Tensor& self, double from, double to, Given given) {
  if (!card().philox) return self.uniform_(from, to, host(given));
  return templates::uniform_impl_<UniformFill, Unused>(self, from, to, given);
}
Tensor& normal_(Tensor& self, double mean, double std, Given given) {
  if (!card().philox) return self.normal_(mean, std, host(given));
  return templates::normal_impl_<NormalFill, Unused>(self, mean, std, given);
}
Tensor& log_normal_(Tensor& self, double mean, double std, Given given) {
  if (!card().philox) return self.log_normal_(mean, std, host(given));
  return templates::log_normal_impl_<LogNormalFill, Unused>(self, mean, std, given);
}
Tensor& exponential_(Tensor& self, double lambda, Given given) {
  if (!card().philox) return self.exponential_(lambda, host(given));
  return templates::exponential_impl_<ExponentialFill, Unused>(self, lambda, given);
}
Tensor& cauchy_(Tensor& self, double median, double sigma, Given given) {
  if (!card().philox) return self.cauchy_(median, sigma, host(given));
  return templates::cauchy_impl_<CauchyFill, Unused>(self, median, sigma, given);
}
Tensor& geometric_(Tensor& self, double p, Given given) {
  if (!card().philox) return self.geometric_(p, host(given));
  return templates::geometric_impl_<GeometricFill, Unused>(self, p, given);
}
Tensor& bernoulli_(Tensor& self, double p, Given given) {
  if (!card().philox) return self.bernoulli_(p, host(given));
  return templates::bernoulli_impl_<BernoulliFill, Unused>(self, p, given);
}
Tensor& random_(Tensor& self, Given given) {
  if (!card().philox) return self.random_(host(given));
  return templates::random_impl<RandomFill, Unused>(self, given);
}
Tensor& random_from(Tensor& self, int64_t from, std::optional<int64_t> to, Given given) {
  if (!card().philox) return self.random_(from, to, host(given));
  return templates::random_from_to_impl<RandomFromToFill, Unused>(self, from, to, given);
}
Tensor& random_to(Tensor& self, int64_t to, Given given) {
  return random_from(self, 0, to, std::move(given));
}

// normal with tensors: the noise by the fill above, then torch's own arithmetic.
template <class Mean, class Std>
Tensor& normal_out(const Mean& mean, const Std& std, Given given, Tensor& out) {
  if (!card().philox) return at::normal_out(out, mean, std, host(given));
  return templates::normal_out_impl<NormalFill, Unused>(out, mean, std, given);
}
template <class Mean, class Std>
Tensor normal_new(const Mean& mean, const Std& std, Given given) {
  if (!card().philox) return at::normal(mean, std, host(given));
  return templates::normal_impl<NormalFill, Unused>(mean, std, given);
}
Tensor& normal_tensor_float_out(const Tensor& mean, double std, Given given, Tensor& out) {
  return normal_out(mean, std, std::move(given), out);
}
Tensor& normal_float_tensor_out(double mean, const Tensor& std, Given given, Tensor& out) {
  return normal_out(mean, std, std::move(given), out);
}
Tensor& normal_tensor_tensor_out(const Tensor& mean, const Tensor& std, Given given, Tensor& out) {
  return normal_out(mean, std, std::move(given), out);
}
Tensor normal_tensor_float(const Tensor& mean, double std, Given given) {
  return normal_new(mean, std, std::move(given));
}
Tensor normal_float_tensor(double mean, const Tensor& std, Given given) {
  return normal_new(mean, std, std::move(given));
}
Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, Given given) {
  return normal_new(mean, std, std::move(given));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, m) {
  m.impl("uniform_", uniform_);
  m.impl("normal_", normal_);
  m.impl("log_normal_", log_normal_);
  m.impl("exponential_", exponential_);
  m.impl("cauchy_", cauchy_);
  m.impl("geometric_", geometric_);
  m.impl("bernoulli_.float", bernoulli_);
  m.impl("random_", random_);
  m.impl("random_.from", random_from);
  m.impl("random_.to", random_to);
  m.impl("normal.Tensor_float_out", normal_tensor_float_out);
  m.impl("normal.float_Tensor_out", normal_float_tensor_out);
  m.impl("normal.Tensor_Tensor_out", normal_tensor_tensor_out);
  m.impl("normal.Tensor_float", normal_tensor_float);
  m.impl("normal.float_Tensor", normal_float_tensor);
  m.impl("normal.Tensor_Tensor", normal_tensor_tensor);
}

}  // namespace awt
