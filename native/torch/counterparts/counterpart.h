// How the operators that only CUDA has are registered: over CPU tensors, under the counterpart key.
#pragma once

#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS  // else the next one takes all of ATen
#endif
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <vector>

namespace awt {

using OptionalTensor = std::optional<at::Tensor>;

inline bool given(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

// What CUDA's kernels compute in where the elements are narrower.
inline at::ScalarType wide_type(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Operators of this file's list that the torch at hand knows under another signature: they stay
// refused by name, instead of keeping the whole library from loading.
inline std::vector<std::string>& counterparts_left_out() {
  static std::vector<std::string> names;
  return names;
}

template <class Function>
void counterpart(torch::Library& library, const char* name, Function function) {
  try {
    library.impl(name, function);
  } catch (const c10::Error&) {
    counterparts_left_out().emplace_back(name);
  }
}

}  // namespace awt
