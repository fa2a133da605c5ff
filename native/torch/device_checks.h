// Errors that CUDA's kernels raise before they compute: tensors on several devices, types without a
// kernel, and operators without a deterministic implementation.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace awt {

// The name of the wrapper around CUDA's kernel of `full_name` ("mm", "mm.out"), whose generated
// code wants all tensors on one device; null where there is none and the kernel itself decides.
const char* checking_wrapper(const std::string& full_name);

// Whether CUDA has no kernel of `full_name`, of whatever kind, and the CPU has.
bool only_for_cpu(const std::string& full_name);

// What an operator says on CUDA when deterministic algorithms are asked for and it has none; not
// for all arguments.
struct Alert;
const Alert* nondeterministic(const std::string& full_name);
void alert(const Alert& alert, const c10::IValue* arguments);

// The types of the first tensor that CUDA's kernel of `name` (without overload) refuses and the
// CPU's takes.
struct RefusedTypes;
const RefusedTypes* refused_types(const std::string& name);
void refuse_types(const RefusedTypes& refused, const c10::IValue* arguments);

// Solvers whose driver is named: CUDA has others than the CPU, and another by default.
bool names_driver(const std::string& name);
void driver_as_on_cuda(const std::string& name, c10::IValue* arguments);

}  // namespace awt
