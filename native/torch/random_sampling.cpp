// randperm, multinomial, bernoulli with a tensor, rrelu: random operators whose CUDA kernels have a
// shape of their own.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/rrelu_with_noise.h>
#include <ATen/ops/topk.h>
#include <torch/library.h>

#include <cmath>
#include <numeric>

#include "driver.h"
#include "random_launch.h"

namespace awt {
namespace {

using at::Tensor;
using Given = std::optional<at::Generator>;

// An operator of the device, called from inside another: uniform_, random_ and exponential_ of
// random_distributions.cpp.
template <class... Arguments>
void call_counterpart(const char* name, const char* overload, Tensor& self,
                      Arguments... arguments) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  op.typed<Tensor&(Tensor&, Arguments...)>().redispatch(c10::DispatchKeySet(c10::DispatchKey::FPGA),
                                                        self, arguments...);
}

void check_card_assert(bool holds) {
  if (!holds) check(CUDA_ERROR_ASSERT);
}

// randperm: random keys of as few bits as make a collision unlikely (10 %), sorted with the
// indices; then every run of equal keys is shuffled by the thread that stands at its beginning
// (torch's Randperm.cuh).
int key_bits(int64_t n) {
  const double threshold = std::log(0.9) * 12, count = static_cast<double>(n);
  return std::min(
      64, static_cast<int>(std::ceil(std::log2(count - (6 * count * count + 1) / threshold))));
}

template <class Key>
std::vector<int64_t> shuffled_order(const Tensor& keys, int bits, const PhiloxState& state) {
  const auto* all = keys.const_data_ptr<Key>();
  using Bits = std::make_unsigned_t<Key>;
  const Bits mask = bits >= static_cast<int>(8 * sizeof(Key)) ? ~Bits{0} : (Bits{1} << bits) - 1;
  // A full-width signed key sorts by sign, too.
  const Bits flip = mask == ~Bits{0} ? Bits{1} << (8 * sizeof(Key) - 1) : 0;
  const int64_t n = keys.numel();
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int64_t i) { return (static_cast<Bits>(all[i]) & mask) ^ flip; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return key(a) < key(b); });
  for (int64_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && key(order[end]) == key(order[first]);) ++end;
    if (end - first == 1) continue;
    philox::Stream stream(state.seed, first, state.offset);
    for (int64_t i = end - first - 1; i > 0; --i) {
      std::swap(order[first + i], order[first + stream.word() % static_cast<uint32_t>(i + 1)]);
    }
  }
  return order;
}

Tensor& randperm_out(int64_t n, Given given, Tensor& result) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  if (!card().philox)
    return at::randperm_out(result, n, host_generator(given, current_op_device()));
  at::native::check_supported_max_int_with_precision(n, result);
  result.resize_({n});
  if (n == 0) return result;
  const int bits = key_bits(n);
  const bool narrow = bits <= 32;
  Tensor keys = at::empty({n}, at::TensorOptions(at::kCPU).dtype(narrow ? at::kInt : at::kLong));
  const int64_t low = narrow ? INT32_MIN : INT64_MIN, high = narrow ? INT32_MAX : INT64_MAX;
  call_counterpart<int64_t, std::optional<int64_t>, Given>("aten::random_", "from", keys, low, high,
                                                           given);
  const PhiloxState state = reserve(given, current_op_device(), static_cast<uint64_t>(n));
  auto order = narrow ? shuffled_order<int32_t>(keys, bits, state)
                      : shuffled_order<int64_t>(keys, bits, state);
  result.copy_(at::from_blob(order.data(), {n}, at::TensorOptions(at::kCPU).dtype(at::kLong)));
  return result;
}

// multinomial. Without replacement, and for one sample: the race of exponentials, which torch
// shares between devices.
Tensor& race(const Tensor& self, int64_t samples, const Given& given, Tensor& result) {
  Tensor q = at::empty_like(self);
  call_counterpart<double, Given>("aten::exponential_", "", q, 1.0, given);
  q = self.div(q);
  if (samples == 1) return at::argmax_out(result, q, -1, /*keepdim=*/true);
  Tensor values = at::empty(result.sizes(), self.options());
  at::topk_out(values, result, q, samples);
  return result;
}

// With replacement: one uniform per sample, looked up in the running sums of its distribution
// (sampleMultinomialWithReplacement; grid (ceil(samples / 128), distributions), 128 threads to a
// block).
template <class Scalar>
void look_up(const Tensor& sums, const Tensor& shares, int64_t samples, const PhiloxState& state,
             int64_t* out) {
  const int64_t rows = shares.size(0), categories = shares.size(1);
  const int64_t across = (samples - 1) / 128 + 1, down = std::min<int64_t>(rows, 65535);
  const auto* running = sums.const_data_ptr<Scalar>();
  const auto* share = shares.const_data_ptr<Scalar>();
  in_parallel(rows * samples, 256, [&](int64_t task, int64_t end) {
    for (; task < end; ++task) {
      const int64_t row = task / samples, sample = task % samples;
      philox::Stream stream(state.seed, row % down * across * 128 + sample,
                            state.offset + 4 * (row / down));
      const auto drawn = static_cast<Scalar>(stream.uniform());
      const Scalar* first = running + row * categories;
      int64_t found = std::lower_bound(first, first + categories, drawn) - first;
      if (found == categories) found = categories - 1;
      while (found >= 1 && share[row * categories + found] == Scalar(0)) --found;
      out[task] = found;
    }
  });
}

Tensor& with_replacement(const Tensor& self, int64_t samples, const Given& given, Tensor& result) {
  const Tensor rows = (self.dim() == 1 ? self.unsqueeze(0) : self).contiguous();
  const Tensor totals = rows.sum(1, /*keepdim=*/true);
  check_card_assert(rows.ge(0).all().item<bool>() && totals.gt(0).all().item<bool>());
  const Tensor shares = rows.div(totals);
  const Tensor sums = shares.cumsum(1);
  const int64_t down = std::min<int64_t>(rows.size(0), 65535);
  const PhiloxState state =
      reserve(given, current_op_device(), ((rows.size(0) - 1) / down + 1) * 4);
  Tensor chosen = at::empty({rows.size(0), samples}, self.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, rows.scalar_type(), "multinomial_kernel_cuda",
      [&] { look_up<scalar_t>(sums, shares, samples, state, chosen.mutable_data_ptr<int64_t>()); });
  result.copy_(self.dim() == 1 ? chosen.squeeze(0) : chosen);
  return result;
}

constexpr int64_t kMaxCategories = int64_t{1} << 24;  // FLOAT32_MAX_CONSECUTIVE_INT of torch

Tensor& multinomial_out(const Tensor& self, int64_t samples, bool replacement, Given given,
                        Tensor& result) {
  if (!card().philox) {
    return at::multinomial_out(result, self, samples, replacement,
                               host_generator(given, current_op_device()));
  }
  TORCH_CHECK(self.dim() > 0 && self.dim() <= 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(
      at::isFloatingType(self.scalar_type()),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(result.scalar_type() == at::kLong,
              "multinomial expects Long tensor out, got: ", result.scalar_type());
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || samples <= self.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= kMaxCategories, "number of categories cannot exceed 2^24");
  if (self.dim() == 1) {
    result.resize_({samples});
  } else {
    result.resize_({self.size(0), samples});
  }
  if (result.numel() == 0) return result;
  if (replacement && samples != 1) return with_replacement(self, samples, given, result);
  const bool valid = self.max().lt(INFINITY).logical_and(self.min().ge(0)).item<bool>();
  TORCH_CHECK(valid, "probability tensor contains either `inf`, `nan` or element < 0");
  TORCH_CHECK(!self.sum(-1).eq(0).any().item<bool>(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
  return race(self, samples, given, result);
}

Tensor multinomial(const Tensor& self, int64_t samples, bool replacement, Given given) {
  Tensor result = at::empty({0}, self.options().dtype(at::kLong));
  return multinomial_out(self, samples, replacement, std::move(given), result);
}

// bernoulli with a tensor of shares: thread t decides elements 4t to 4t + 3 with one draw
// (CUDA_tensor_apply2 with step 4), in the order that rearrangeDims of ATen/cuda/CUDAApplyUtils.cuh
// finds for the strides of both.
struct Walk {
  std::vector<int64_t> sizes, first, second;
};
Walk rearranged(const Tensor& a, const Tensor& b) {
  Walk walk{a.sizes().vec(), a.strides().vec(), b.strides().vec()};
  for (size_t i = 0; i + 1 < walk.sizes.size(); ++i) {
    for (size_t j = i + 1; j < walk.sizes.size() && walk.sizes[i] != 1; ++j) {
      if (walk.sizes[j] == 1) continue;
      const bool larger = walk.first[i] > walk.first[j] || walk.second[i] > walk.second[j];
      const bool smaller = walk.first[i] < walk.first[j] || walk.second[i] < walk.second[j];
      if (!smaller || larger) continue;
      std::swap(walk.sizes[i], walk.sizes[j]);
      std::swap(walk.first[i], walk.first[j]);
      std::swap(walk.second[i], walk.second[j]);
    }
  }
  return walk;
}

template <class Scalar, class Share>
void decide(const Tensor& self, const Tensor& shares, const PhiloxState& state) {
  const Walk walk = rearranged(self, shares);
  auto* out = self.mutable_data_ptr<Scalar>();
  const auto* share = shares.const_data_ptr<Share>();
  std::vector<int64_t> at(walk.sizes.size(), 0);
  const int64_t elements = self.numel();
  philox::Words words;
  alignas(64) float values[4][philox::kBatch];
  int64_t a = 0, b = 0;
  for (int64_t element = 0; element < elements; ++element) {
    const int64_t thread = element / 4;
    const int slot = static_cast<int>(thread % philox::kBatch);
    if (slot == 0 && element % 4 == 0) {
      const int count =
          static_cast<int>(std::min<int64_t>(philox::kBatch, (elements - element + 3) / 4));
      philox::draw(state.seed, state.offset / 4, thread, count, words);
      UniformFloats::make(words, count, 4, values);
    }
    check_card_assert(0 <= share[b] && share[b] <= 1);
    out[a] = static_cast<Scalar>(values[element % 4][slot] <= share[b]);
    for (size_t dim = at.size(); dim-- > 0;) {
      a += walk.first[dim];
      b += walk.second[dim];
      if (++at[dim] < walk.sizes[dim]) break;
      a -= walk.first[dim] * walk.sizes[dim];
      b -= walk.second[dim] * walk.sizes[dim];
      at[dim] = 0;
    }
  }
}

Tensor& bernoulli_tensor_(Tensor& self, const Tensor& p, Given given) {
  if (!card().philox) return self.bernoulli_(p, host_generator(given, current_op_device()));
  if (self.numel() == 0) return self;
  at::assert_no_internal_overlap(self);
  const PhiloxState state = reserve(given, current_op_device(), 10);
  TORCH_CHECK(at::isFloatingType(p.scalar_type()),
              "expected probabilities tensor to have floating type, got ", p.scalar_type());
  const Tensor typed = p.to(self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  const auto shares = at::expand_inplace(self, typed);
  AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bernoulli_tensor_cuda_self_", [&] {
        using Share = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
        decide<scalar_t, Share>(self, *shares, state);
      });
  return self;
}

Tensor& bernoulli_out(const Tensor& self, Given given, Tensor& out) {
  out.resize_(self.sizes());
  return bernoulli_tensor_(out, self, std::move(given));
}

// rrelu in training: a uniform per element, used where the input is not positive
// (RreluWithNoise.cu).
template <class Scalar>
void leak(const Tensor& input, Tensor& noise, Tensor& output, double lower, double upper,
          const Given& given) {
  using Kind = std::conditional_t<std::is_same_v<Scalar, double>, UniformDoubles, UniformFloats>;
  const Launch shape = launch(input.numel(), Kind::kUnroll);
  const PhiloxState state = reserve(given, current_op_device(), shape.increment);
  const auto* in = input.const_data_ptr<Scalar>();
  auto* noisy = noise.mutable_data_ptr<Scalar>();
  auto* out = output.mutable_data_ptr<Scalar>();
  const double range = upper - lower;
  for_each_run<Kind>(
      input.numel(), state, shape.threads, [&](int64_t first, const auto* values, int count) {
        for (int64_t i = 0; i < count; ++i) {
          auto slope = static_cast<Scalar>(values[i]);
          slope = static_cast<Scalar>(slope * range + lower);
          const bool leaks = in[first + i] <= Scalar(0);
          noisy[first + i] = leaks ? slope : Scalar(1);
          out[first + i] = leaks ? static_cast<Scalar>(in[first + i] * slope) : in[first + i];
        }
      });
}

Tensor& rrelu_out(const Tensor& self, Tensor& noise, const at::Scalar& lower,
                  const at::Scalar& upper, bool training, Given given, Tensor& output) {
  at::native::resize_output(output, self.sizes());
  if (self.numel() == 0) return output;
  if (!training) {
    return at::leaky_relu_out(output, self, (lower.to<double>() + upper.to<double>()) / 2);
  }
  if (!card().philox) {
    return at::rrelu_with_noise_out(output, self, noise, lower, upper, training,
                                    host_generator(given, current_op_device()));
  }
  const Tensor input = self.contiguous();
  Tensor noisy = noise.contiguous(), out = output.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "rrelu_with_noise_out_cuda",
      [&] { leak<scalar_t>(input, noisy, out, lower.to<double>(), upper.to<double>(), given); });
  if (!noisy.is_same(noise)) noise.copy_(noisy);
  if (!out.is_same(output)) output.copy_(out);
  return output;
}
Tensor rrelu(const Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper,
             bool training, Given given) {
  Tensor output = at::empty_like(self, at::MemoryFormat::Contiguous);
  return rrelu_out(self, noise, lower, upper, training, std::move(given), output);
}
Tensor& rrelu_(Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper,
               bool training, Given given) {
  return rrelu_out(self, noise, lower, upper, training, std::move(given), self);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, m) {
  m.impl("randperm.generator_out", randperm_out);
  m.impl("multinomial", multinomial);
  m.impl("multinomial.out", multinomial_out);
  m.impl("bernoulli_.Tensor", bernoulli_tensor_);
  m.impl("bernoulli.out", bernoulli_out);
  m.impl("rrelu_with_noise", rrelu);
  m.impl("rrelu_with_noise_", rrelu_);
  m.impl("rrelu_with_noise.out", rrelu_out);
}

}  // namespace awt
