// Errors that CUDA's kernels raise before they compute: tensors on several devices, and operators
// without a deterministic implementation.
#pragma once

#include <string>

namespace awt {

// The name of the wrapper around CUDA's kernel of `full_name` ("mm", "mm.out"), whose generated
// code wants all tensors on one device; null where there is none and the kernel itself decides.
const char* checking_wrapper(const std::string& full_name);

// What CUDA's kernel of `full_name` calls itself when deterministic algorithms are asked for and it
// has none; null otherwise.
const char* nondeterministic_name(const std::string& full_name);

}  // namespace awt
