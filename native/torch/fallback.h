// The boxed kernel behind every operator on device tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "device_checks.h"
#include "tf32.h"

namespace awt {

// The key under which operators that only CUDA has are registered over CPU tensors.
constexpr c10::DispatchKey kCounterpartKey = c10::DispatchKey::FPGA;

// Below autograd and autocast: they have done their work when a backend is reached.
constexpr c10::DispatchKeySet kAboveBackends =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset;

// What a kernel must know of an operator, read from its schema once.
struct OpInfo {
  enum class Kind : uint8_t { kOther, kTensor, kTensors, kGenerator, kDevice };
  // Where the tensors of one call may be.
  enum class Places : uint8_t {
    kOne,      // on one device, but for CPU scalars that are only read (TensorIterator's rule)
    kChecked,  // on one device: torch generates a check around CUDA's kernel
    kParts,    // as the operators say of which CUDA makes this one
    kIndex,    // indices on the CPU or where the indexed tensor is
    kPut,      // indices anywhere, the values where they go
    kMasked,   // the mask where the values go
    kNested,   // nested tensors on one device; their sizes and offsets are the CPU's
    kAny
  };
  struct Argument {
    Kind kind;
    bool written;
  };
  explicit OpInfo(const c10::OperatorHandle& op);

  std::vector<Argument> arguments;
  c10::DispatchKeySet target;  // the CPU's keys, or the counterpart's
  bool has_counterpart = false;
  bool draws = false;  // draws random numbers
  bool has_generator = false;
  Places places = Places::kOne;
  bool copy = false;              // aten::copy_
  bool writes = false;            // has an argument that it writes to
  const char* wrapper = nullptr;  // CUDA's wrapper that wants all tensors on one device
  bool named_driver = false;      // an argument chooses among CUDA's solvers
  bool only_cpu = false;          // CUDA has no kernel of it
  const Alert* alert = nullptr;   // what has no deterministic implementation on CUDA
  const RefusedTypes* refused = nullptr;
  Factors factors;  // what tensor cores round before they multiply
};

// Runs `op` with the arguments on `stack` by the CPU's kernel (or the counterpart), now.
void run_on_aliases(const c10::OperatorHandle& op, const OpInfo& info, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack);

// The kernel itself, with aliases on the stack where the device's tensors were; its results are the
// kernel's own.
void call_kernel(const c10::OperatorHandle& op, const OpInfo& info, torch::jit::Stack* stack,
                 c10::DeviceIndex device);

// Raises what CUDA's kernel would before it computes (device_checks.h).
void check_as_cuda(const c10::OperatorHandle& op, const OpInfo& info,
                   const torch::jit::Stack& stack, c10::DeviceIndex device);

// What sends a call of a frequent operator (hot.h) the boxed way, which knows the errors.
struct HotRules {
  explicit HotRules(const c10::OperatorHandle& op);
  bool scalars;  // CUDA's kernel reads CPU tensors without dimensions beside those of the device
  bool refuses;  // whole numbers
  bool alerts;   // where deterministic algorithms are asked for
};

// The device of the first device tensor (or Device argument) among the arguments; -1 when there is
// none.
c10::DeviceIndex device_of_arguments(const OpInfo& info, const torch::jit::Stack& stack);

// Operators of aten that have an unboxed kernel of ours, as `name.overload` (hot.cpp).
std::unordered_set<std::string>& unboxed_operators();

// The boxed kernel of an operator, for those that are registered otherwise.
c10::BoxedKernel boxed_kernel(const c10::OperatorHandle& op);

}  // namespace awt
