// TF32 as tensor cores compute it, when asked for: factors rounded to 10 bits of mantissa before
// they are multiplied.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>

namespace awt {

// Which arguments of an operator are factors of a product; -1: none.
struct Factors {
  std::array<int, 3> arguments{-1, -1, -1};
  bool convolution = false;
  explicit operator bool() const { return arguments[0] >= 0; }
};
Factors factors_of(const std::string& name);

// Whether ANYWARP_TORCH_TF32=round is set.
bool tf32_asked() noexcept;

// Whether float32 factors are rounded now: asked for, and torch's flag for this kind allows TF32.
bool tf32_allowed(bool convolution);

// A float32 tensor rounded to nearest, ties away from zero (cvt.rna.tf32.f32 of the PTX manual);
// others as they are.
at::Tensor to_tf32(const at::Tensor& tensor);

}  // namespace awt
