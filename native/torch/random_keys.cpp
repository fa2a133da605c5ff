// Random numbers from keys instead of generators (torch.func._random): one Philox stream per key,
// whose words are numbered from the key's offset on.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "random_launch.h"
#include "transformations.h"

#if __has_include(<ATen/ops/_philox_uniform.h>)

namespace awt {
namespace {

using at::Tensor;

void check_key(const char* name, const Tensor& key) {
  TORCH_CHECK(key.dim() >= 1 && key.size(-1) == 2, name,
              ": key must have shape (*batch, 2), got shape ", key.sizes());
  TORCH_CHECK(key.scalar_type() == at::kUInt64, name, ": key must have dtype uint64, got ",
              key.scalar_type());
}

// A new key: what the cipher makes of (seed, offset + number), here the offset being the counter
// itself.
void derive(const uint64_t* key, uint64_t number, uint64_t* out) {
  philox::Words words;
  philox::draw(key[0], key[1] + number, 0, 1, words);
  out[0] = words.x[0] | uint64_t{words.y[0]} << 32;
  out[1] = words.z[0] | uint64_t{words.w[0]} << 32;
}

Tensor key_split(const Tensor& key, int64_t splits) {
  check_key("_philox_key_split", key);
  TORCH_CHECK(splits > 0, "_philox_key_split: num_splits must be positive, got ", splits);
  const Tensor keys = key.contiguous();
  std::vector<int64_t> sizes{splits};
  sizes.insert(sizes.end(), key.sizes().begin(), key.sizes().end());
  Tensor out = at::empty(sizes, key.options());
  const auto* from = keys.const_data_ptr<uint64_t>();
  auto* to = out.mutable_data_ptr<uint64_t>();
  const int64_t words = keys.numel();
  for (int64_t split = 0; split < splits; ++split) {
    for (int64_t at = 0; at < words; at += 2) derive(from + at, split, to + split * words + at);
  }
  return out;
}

Tensor key_fold_in(const Tensor& key, int64_t data) {
  check_key("_philox_key_fold_in", key);
  const Tensor keys = key.contiguous();
  Tensor out = at::empty_like(keys);
  const auto* from = keys.const_data_ptr<uint64_t>();
  auto* to = out.mutable_data_ptr<uint64_t>();
  for (int64_t at = 0; at < keys.numel(); at += 2) {
    derive(from + at, static_cast<uint64_t>(data), to + at);
  }
  return out;
}

// Words one after the other, from any number on; the number wraps at 2^64 as the offset of a key
// does.
class Numbered {
 public:
  Numbered(uint64_t seed, uint64_t number) : seed_(seed), number_(number) {}
  uint32_t next() {
    const auto place = static_cast<int>(number_ % 4);
    if (place == 0 || !drawn_) {
      philox::draw(seed_, number_ / 4, 0, 1, words_);
      drawn_ = true;
    }
    ++number_;
    const uint32_t all[] = {words_.x[0], words_.y[0], words_.z[0], words_.w[0]};
    return all[place];
  }

 private:
  uint64_t seed_, number_;
  bool drawn_ = false;
  philox::Words words_;
};

template <class Scalar>
void uniforms(uint64_t seed, uint64_t number, int64_t count, Scalar* out, Scalar low, Scalar high) {
  Numbered words(seed, number);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Scalar, double>) {
      const uint64_t upper = words.next();
      out[i] = at::transformation::uniform_real(upper << 32 | words.next(), low, high);
    } else {
      out[i] = static_cast<Scalar>(at::transformation::uniform_real(words.next(), low, high));
    }
  }
}

// Box-Muller always pairs the same words of the stream: an offset inside a group of four begins
// there. A double takes the whole group, or, from an odd offset on, four words from there.
template <class Scalar>
void normals(uint64_t seed, uint64_t number, int64_t count, Scalar* out, double mean, double std) {
  constexpr bool wide = std::is_same_v<Scalar, double>;
  using Value = std::conditional_t<wide, double, float>;
  constexpr int per_group = wide ? 2 : 4, words_each = wide ? 2 : 1;
  const auto inside = static_cast<int>(number % 4);
  const bool aligned = inside % words_each == 0;
  Numbered words(seed, aligned ? number - inside : number);
  int skip = aligned ? inside / words_each : 0;
  for (int64_t i = 0; i < count; skip = 0) {
    philox::Words group;
    group.x[0] = words.next(), group.y[0] = words.next();
    group.z[0] = words.next(), group.w[0] = words.next();
    Value values[4];
    if constexpr (wide) {
      philox::normal(group, 1, &values[0], &values[1]);
    } else {
      philox::normal(group.x, group.y, 1, &values[0], &values[1]);
      philox::normal(group.z, group.w, 1, &values[2], &values[3]);
    }
    for (int k = skip; k < per_group && i < count; ++k, ++i) {
      out[i] = static_cast<Scalar>(
          std::fma(values[k], static_cast<Value>(std), static_cast<Value>(mean)));
    }
  }
}

// fill(seed, offset, count, out) for the part of `self` that each key has: the dimensions after the
// last one that the keys tell apart.
template <class Scalar, class Fill>
void for_each_key(const char* name, Tensor& self, const Tensor& key, const Fill& fill) {
  check_key(name, key);
  TORCH_CHECK(self.is_floating_point(), name, ": self must be a floating point tensor, got ",
              self.scalar_type());
  if (self.numel() == 0) return;
  const int64_t dims = self.dim();
  int64_t last = 0;
  if (key.dim() > 1) {
    TORCH_CHECK(key.dim() == dims + 1, name,
                ": batched key must have ndim == output ndim + 1, got key shape ", key.sizes(),
                " with output shape ", self.sizes());
    for (int64_t i = 0; i < dims; ++i) {
      TORCH_CHECK(key.size(i) == 1 || key.size(i) == self.size(i), name, ": key dim ", i, " (size ",
                  key.size(i), ") is not broadcastable with output dim ", i, " (size ",
                  self.size(i), ")");
      if (key.size(i) != 1) last = i + 1;
    }
  }
  std::vector<int64_t> sizes(self.sizes().begin(), self.sizes().begin() + last);
  int64_t keys = 1;
  for (const int64_t size : sizes) keys *= size;
  sizes.resize(key.dim() > 1 ? dims : 0, 1);
  sizes.push_back(2);
  const Tensor pairs = key.expand(sizes).contiguous();
  Tensor out = self.contiguous();
  const auto* pair = pairs.template const_data_ptr<uint64_t>();
  auto* to = out.template mutable_data_ptr<Scalar>();
  const int64_t each = out.numel() / keys;
  in_parallel(keys, 1, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) fill(pair[2 * at], pair[2 * at + 1], each, to + at * each);
  });
  if (!out.is_same(self)) self.copy_(out);
}

Tensor& philox_uniform_(Tensor& self, const Tensor& key, double low, double high) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "_philox_uniform_", [&] {
        for_each_key<scalar_t>("_philox_uniform_", self, key,
                               [&](uint64_t seed, uint64_t offset, int64_t count, scalar_t* out) {
                                 uniforms<scalar_t>(seed, offset, count, out,
                                                    static_cast<scalar_t>(low),
                                                    static_cast<scalar_t>(high));
                               });
      });
  return self;
}

Tensor& philox_normal_(Tensor& self, const Tensor& key, double mean, double std) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "_philox_normal_", [&] {
        for_each_key<scalar_t>("_philox_normal_", self, key,
                               [&](uint64_t seed, uint64_t offset, int64_t count, scalar_t* out) {
                                 normals<scalar_t>(seed, offset, count, out, mean, std);
                               });
      });
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, m) {
  m.impl("_philox_key_split", key_split);
  m.impl("_philox_key_fold_in", key_fold_in);
  m.impl("_philox_uniform_", philox_uniform_);
  m.impl("_philox_normal_", philox_normal_);
}

}  // namespace awt

#endif
