// The results of an operator before it has run: their shapes by its Meta kernel, their memory by
// the device's allocator.
#pragma once

#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "fallback.h"

namespace awt {

// What must be known of an operator to run it later; one for each, for ever.
struct OpFacts {
  explicit OpFacts(const c10::OperatorHandle& op);

  c10::OperatorHandle op;
  OpInfo info;
  bool view = false;  // changes no memory: runs at once without waiting
  bool data = false;  // its results depend on values: cannot run later
  bool convolution = false;
  bool elsewhere = false;  // no operator of torch's own: its kernel may do anything
  bool has_meta = false;
  bool iterated = false;      // its results and outputs lie as TensorIterator has them
  std::vector<bool> lists;    // per result whether it is a list of tensors
  std::vector<int> returned;  // per result the argument that it is; -1 for a new tensor
};

const OpFacts& facts_of(const c10::OperatorHandle& op);

// Operators of this name space have kernels for the CPU that may run later as torch's own do. Said
// before any of them is called.
void may_run_later(const std::string& space);

// Remembers the Meta kernel of an operator that is a structured kernel's own: called before torch
// puts others, in Python, in their place, which do not know how outputs lie.
void note_meta_kernel(const c10::OperatorHandle& op);

// Results on the device for the arguments on `stack`, which stays as it is; nullopt when no Meta
// kernel tells their shapes. Resizes the arguments that the operator writes to as it would (out=).
// Raises what the operator would for bad shapes.
std::optional<std::vector<c10::IValue>> plan_results(const OpFacts& facts,
                                                     const torch::jit::Stack& stack,
                                                     c10::DeviceIndex device);

}  // namespace awt
