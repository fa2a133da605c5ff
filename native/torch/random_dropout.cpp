// Dropout with the masks of torch's CUDA kernels, which take vectors of neighbours where sizes and
// addresses allow.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "random_launch.h"
#include "versions.h"

namespace awt {
namespace {

using at::Tensor;
using Given = std::optional<at::Generator>;

// Neighbours per thread (get_vector_size of torch's Dropout.cu): as many as 16 bytes hold and the
// address allows, halved until they divide the elements. 1 for tensors with holes.
int vector_size(const Tensor& self, int64_t elements) {
  if (!self.is_non_overlapping_and_dense()) return 1;
  const auto size = static_cast<int64_t>(self.element_size());
  const auto address = reinterpret_cast<uintptr_t>(self.const_data_ptr());
#if AWT_TORCH >= 207
  int vector = static_cast<int>(std::min<int64_t>(8, 16 / size));
#else
  int vector = 4;
#endif
  while (vector > 1 && address % (vector * size) != 0) vector /= 2;
  while (vector > 1 && elements % vector != 0) vector /= 2;
  return vector;
}

// Writes kept (1) or not (0) of elements [first, first + count) as float into a buffer, then
// multiplies.
template <class Scalar, class Mask, class Value>
void apply(const Scalar* in, Scalar* out, Mask* mask, const float* uniforms, int64_t count,
           Value keep, Value scale) {
  for (int64_t i = 0; i < count; ++i) {
    const Value kept = static_cast<Value>(static_cast<Value>(uniforms[i]) < keep);
    mask[i] = static_cast<Mask>(kept);
    out[i] = static_cast<Scalar>(static_cast<Value>(in[i]) * kept * scale);
  }
}

// Thread t takes `vector` neighbours at (t + round * threads) * vector, four to a draw.
template <class Scalar, class Mask, class Value>
void drop_vectors(const Scalar* in, Scalar* out, Mask* mask, int64_t elements, int vector,
                  const PhiloxState& state, int64_t threads, Value keep) {
  const Value scale = static_cast<Value>(1.0 / keep);
  const int per_round = (vector + 3) / 4, width = std::min(vector, 4);
  const int64_t wave = threads * vector;
  const int64_t busy = std::min(threads, elements / vector);
  const int64_t batches = (busy + philox::kBatch - 1) / philox::kBatch;
  const int64_t rounds = (elements - 1) / wave + 1;
  in_parallel(batches * rounds, 8, [&](int64_t task, int64_t end) {
    philox::Words words;
    alignas(64) float values[4][philox::kBatch];
    alignas(64) float neighbours[8 * philox::kBatch];
    for (; task < end; ++task) {
      const int64_t round = task / batches, thread = task % batches * philox::kBatch;
      const int64_t first = round * wave + thread * vector;
      if (first >= elements) continue;
      const int count = static_cast<int>(
          std::min({int64_t{philox::kBatch}, threads - thread, (elements - first) / vector}));
      for (int part = 0; part < per_round; ++part) {
        philox::draw(state.seed, state.offset / 4 + round * per_round + part, thread, count, words);
        UniformFloats::make(words, count, width, values);
        for (int i = 0; i < count; ++i)
          for (int k = 0; k < width; ++k) neighbours[i * vector + part * 4 + k] = values[k][i];
      }
      apply(in + first, out + first, mask + first, neighbours, int64_t{count} * vector, keep,
            scale);
    }
  });
}

// Element li belongs to thread li % threads, as in the distributions.
template <class Scalar, class Mask, class Value>
void drop_singles(const Scalar* in, Scalar* out, Mask* mask, int64_t elements,
                  const PhiloxState& state, int64_t threads, Value keep) {
  const Value scale = static_cast<Value>(1.0 / keep);
  for_each_run<UniformFloats>(
      elements, state, threads, [&](int64_t first, const float* values, int count) {
        apply(in + first, out + first, mask + first, values, count, keep, scale);
      });
}

// `keep`: the share that stays. Mask and result have the strides of `self`.
template <class Mask>
std::tuple<Tensor, Tensor> drop(const Tensor& self, double keep, const Given& given) {
  Tensor mask = at::empty_like(self, self.options().dtype(c10::CppTypeToScalarType<Mask>::value));
  const int64_t elements = self.numel();
  if (elements == 0) return {self.clone(), mask};
  Tensor out = at::empty_like(self);
  const Launch shape = launch(elements, 4);
  const PhiloxState state = reserve(given, current_op_device(), shape.increment);
  const int vector = vector_size(self, elements);
  // Neighbours are counted in memory, singles in the order of the indices.
  const bool in_memory = vector > 1;
  const Tensor in = in_memory ? self : self.contiguous();
  Tensor to = in_memory || out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  Tensor marks = in_memory || mask.is_contiguous() ? mask : at::empty(mask.sizes(), mask.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "fused_dropout", [&] {
        using Value = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
        const auto* from = in.const_data_ptr<scalar_t>();
        auto* result = to.mutable_data_ptr<scalar_t>();
        auto* kept = marks.mutable_data_ptr<Mask>();
        if (in_memory) {
          drop_vectors(from, result, kept, elements, vector, state, shape.threads,
                       static_cast<Value>(keep));
        } else {
          drop_singles(from, result, kept, elements, state, shape.threads,
                       static_cast<Value>(keep));
        }
      });
  if (!to.is_same(out)) out.copy_(to);
  if (!marks.is_same(mask)) mask.copy_(marks);
  return {out, mask};
}

// The values of the CPU's generator, seeded from the state.
std::tuple<Tensor, Tensor> drop_on_host(const Tensor& self, double keep, const Given& given) {
  Tensor mask = at::empty_like(self, self.options().dtype(at::kBool));
  mask.bernoulli_(keep, host_generator(given, current_op_device()));
  return {self.mul(mask).mul_(1.0 / keep), mask};
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& self, double p, std::optional<bool> train) {
  if (train.has_value() && !*train) {
    return {self.clone(), at::ones_like(self, self.options().dtype(at::kBool))};
  }
  if (p == 1) {
    return {at::zeros_like(self), at::zeros_like(self, self.options().dtype(at::kBool))};
  }
  if (!card().philox) return drop_on_host(self, 1 - p, std::nullopt);
  return drop<bool>(self, 1 - p, std::nullopt);
}

// Here p is the share that stays, and the mask is uint8 (CUDA's older operator).
std::tuple<Tensor, Tensor> fused_dropout(const Tensor& self, double p, Given given) {
  if (card().philox) return drop<uint8_t>(self, p, given);
  auto [out, mask] = drop_on_host(self, p, given);
  return {out, mask.to(at::kByte)};
}

Tensor masked_scale(const Tensor& self, const Tensor& mask, double scale) {
  TORCH_CHECK(mask.scalar_type() == at::kByte, "mask should be torch.uint8 dtype");
  return self.mul(mask).mul_(scale);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, m) {
  m.impl("native_dropout", native_dropout);
  m.impl("_fused_dropout", fused_dropout);
  m.impl("_masked_scale", masked_scale);
}

}  // namespace awt
