// Gamma, Dirichlet and binomial numbers: samplers that draw until they accept, each element from
// its own thread's stream. The samplers are torch's own (ATen/native/Distributions.h), which its
// CUDA kernels call with cuRAND's numbers.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Distributions.h>
#include <ATen/ops/_sample_dirichlet.h>
#include <ATen/ops/_standard_gamma.h>
#include <ATen/ops/binomial.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <limits>

#include "random_launch.h"
#include "versions.h"

namespace awt {
namespace {

using at::Tensor;
using Given = std::optional<at::Generator>;

template <class Scalar>
using Wide = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;

// Thread i makes element i; the kernel takes 10 numbers off the offset however many it draws.
template <class Scalar>
void fill_gamma(const Tensor& alpha, Tensor& out, const PhiloxState& state) {
  using Value = Wide<Scalar>;
  const auto* shapes = alpha.const_data_ptr<Scalar>();
  auto* results = out.mutable_data_ptr<Scalar>();
  in_parallel(alpha.numel(), 1024, [&](int64_t element, int64_t end) {
    for (; element < end; ++element) {
      philox::Stream stream(state.seed, element, state.offset);
      const auto uniform = [&] { return stream.uniform(); };
      const auto normal = [&] { return stream.normal(); };
      BaseSampler<Value, decltype(uniform)> uniforms(uniform);
      BaseSampler<Value, decltype(normal)> normals(normal);
      const auto sample = sample_gamma<Scalar, Value, decltype(uniform), decltype(normal)>(
          shapes[element], uniforms, normals);
      results[element] = std::max(std::numeric_limits<Scalar>::min(), sample);
    }
  });
}

Tensor gamma(const Tensor& alpha, const Given& given) {
  const PhiloxState state = reserve(given, current_op_device(), 10);
  const Tensor shapes = alpha.contiguous();
  Tensor out = at::empty(alpha.sizes(), alpha.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, alpha.scalar_type(), "gamma_cuda",
                                  [&] { fill_gamma<scalar_t>(shapes, out, state); });
  return out;
}

Tensor standard_gamma(const Tensor& alpha, Given given) {
  if (!card().philox) return at::_standard_gamma(alpha, host_generator(given, current_op_device()));
  return gamma(alpha, given);
}

Tensor sample_dirichlet(const Tensor& alpha, Given given) {
  if (!card().philox)
    return at::_sample_dirichlet(alpha, host_generator(given, current_op_device()));
  const Tensor parts = gamma(alpha, given);
  Tensor out = parts.div(parts.sum(-1, /*keepdim=*/true));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "dirichlet", [&] {
    const auto least = static_cast<double>(std::numeric_limits<scalar_t>::min());
    out.clamp_(least, 1 - static_cast<double>(std::numeric_limits<scalar_t>::epsilon()));
  });
  return out;
}

// A thread of a block of 128 makes the elements at its place of `kWork` successive runs of 128, one
// after the other from one stream (distribution_binary_elementwise_kernel).
#if AWT_TORCH >= 207
constexpr int64_t kWork = 8;
#else
constexpr int64_t kWork = 4;
#endif
constexpr int64_t kThreads = 128;

template <class Scalar>
void fill_binomial(const Tensor& count, const Tensor& prob, Tensor& out, const PhiloxState& state) {
  using Value = Wide<Scalar>;
  const auto* counts = count.const_data_ptr<Scalar>();
  const auto* shares = prob.const_data_ptr<Scalar>();
  auto* results = out.mutable_data_ptr<Scalar>();
  const int64_t elements = out.numel();
  const int64_t threads = (elements + kWork * kThreads - 1) / (kWork * kThreads) * kThreads;
  in_parallel(threads, 256, [&](int64_t thread, int64_t end) {
    for (; thread < end; ++thread) {
      philox::Stream stream(state.seed, thread, state.offset);
      const auto uniform = [&] {
        return static_cast<Value>((stream.word() & 0xffffff) * 0x1p-24f);
      };
      BaseSampler<Value, decltype(uniform)> uniforms(uniform);
      const int64_t first = thread / kThreads * kThreads * kWork + thread % kThreads;
      for (int64_t k = 0; k < kWork && first + k * kThreads < elements; ++k) {
        const int64_t at = first + k * kThreads;
        results[at] =
            sample_binomial<Scalar, Value, decltype(uniform)>(counts[at], shares[at], uniforms);
      }
    }
  });
}

Tensor binomial(const Tensor& count, const Tensor& prob, Given given) {
  if (!card().philox) return at::binomial(count, prob, host_generator(given, current_op_device()));
  const PhiloxState state = reserve(given, current_op_device(), 42);
  TORCH_CHECK_VALUE(
      at::isFloatingType(count.scalar_type()),
      "binomial only supports floating-point dtypes for count, got: ", count.scalar_type());
  TORCH_CHECK_VALUE(
      at::isFloatingType(prob.scalar_type()),
      "binomial only supports floating-point dtypes for prob, got: ", prob.scalar_type());
  const auto shape = at::infer_size(count.sizes(), prob.sizes());
  const Tensor counts = count.expand(shape).contiguous();
  const Tensor shares = prob.expand(shape).to(count.scalar_type()).contiguous();
  Tensor out = at::empty(shape, count.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "binomial_cuda",
                                  [&] { fill_binomial<scalar_t>(counts, shares, out, state); });
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, m) {
  m.impl("_standard_gamma", standard_gamma);
  m.impl("_sample_dirichlet", sample_dirichlet);
  m.impl("binomial", binomial);
}

}  // namespace awt
