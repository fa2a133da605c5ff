// Nodes of graphs between CUDA's structures and HIP's.
#pragma once

#include <memory>
#include <vector>

#include "hip/launch.h"

namespace aw {

// The parameters of a kernel node for HIP, with what they point to. HIP copies all of it when it
// takes the node.
struct KernelNodeParts {
  hipKernelNodeParams params{};
  std::unique_ptr<Kernarg> arguments;
  size_t size = 0;
  void* extra[5]{};
};

// Both throw INVALID_VALUE for what CUDA refuses. `has_kernel`: the structure is of the version
// that ends with `kern` and `ctx`.
void convert_kernel(const CUDA_KERNEL_NODE_PARAMS& from, KernelNodeParts& to);
hipMemcpy3DParms convert_copy(const CUDA_MEMCPY3D* from);
hipMemsetParams convert_set(const CUDA_MEMSET_NODE_PARAMS* from);

// What HIP's node is in CUDA's terms.
CUgraphNodeType cuda_type(hipGraphNodeType type);

// Which of our functions HIP's is of; null when it is none of ours.
std::shared_ptr<Function> function_behind(hipFunction_t function);
void remember_function(hipFunction_t function, const std::shared_ptr<Function>& ours);

}  // namespace aw
