// Shapes of results that were asked before: Meta kernels written in Python take longer than small
// operators.
#pragma once

#include <ATen/core/stack.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <vector>

#include "fallback.h"

namespace awt {

// What one new result is like; `defined` is false where the operator returns nothing.
struct ResultShape {
  bool defined = false;
  std::vector<int64_t> sizes, strides;
  at::ScalarType dtype = at::ScalarType::Undefined;
};

// For each result of an operator: its tensors (one, or those of a list).
using ResultShapes = std::vector<std::vector<ResultShape>>;

// All that a Meta kernel can see of a call, as bytes; nullopt for arguments of kinds that are not
// written down. `info` is the operator's own and lives for ever.
std::optional<std::string> call_key(const OpInfo& info, const torch::jit::Stack& stack);

// What was kept for a key; null when there is nothing. Thread-safe; entries live for ever.
const ResultShapes* kept_shapes(const std::string& key);
void keep_shapes(std::string key, ResultShapes shapes);

}  // namespace awt
