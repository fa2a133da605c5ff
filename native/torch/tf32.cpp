#include "tf32.h"

#include <ATen/Context.h>
#include <ATen/ops/empty_like.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace awt {

Factors factors_of(const std::string& name) {
  static const std::unordered_map<std::string, Factors> known{
      {"aten::mm", {{0, 1, -1}}},
      {"aten::bmm", {{0, 1, -1}}},
      {"aten::addmm", {{1, 2, -1}}},
      {"aten::addmm_", {{1, 2, -1}}},
      {"aten::baddbmm", {{1, 2, -1}}},
      {"aten::baddbmm_", {{1, 2, -1}}},
      {"aten::addmv", {{1, 2, -1}}},
      {"aten::_addmm_activation", {{1, 2, -1}}},
      {"aten::convolution", {{0, 1, -1}, true}},
      {"aten::_convolution", {{0, 1, -1}, true}},
      {"aten::convolution_overrideable", {{0, 1, -1}, true}},
      {"aten::convolution_backward", {{0, 1, 2}, true}},
  };
  const auto found = known.find(name);
  return found == known.end() ? Factors{} : found->second;
}

bool tf32_asked() noexcept {
  static const bool asked = [] {
    const char* text = std::getenv("ANYWARP_TORCH_TF32");
    return text && std::strcmp(text, "round") == 0;
  }();
  return asked;
}

bool tf32_allowed(bool convolution) {
  if (!tf32_asked()) return false;
  const auto& context = at::globalContext();
  return convolution ? context.allowTF32CuDNN() : context.allowTF32CuBLAS();
}

at::Tensor to_tf32(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.scalar_type() != at::kFloat) return tensor;
  const at::Tensor from = tensor.contiguous();
  at::Tensor rounded = at::empty_like(from);
  const float* source = from.const_data_ptr<float>();
  float* target = rounded.mutable_data_ptr<float>();
  for (int64_t i = 0; i < from.numel(); ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(source[i]);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    target[i] = std::bit_cast<float>(finite ? (bits + 0x1000u) & ~0x1fffu : bits);
  }
  return rounded;
}

}  // namespace awt
