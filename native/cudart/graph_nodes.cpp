// Runtime API reference: graph management, nodes whose parameters the runtime describes otherwise
// than the driver: kernels by their stubs, copies by extents.
#include <cstring>

#include "cudart/copy_shapes.h"
#include "cudart/forward.h"
#include "cudart/registration.h"
#include "cudart/state.h"

namespace aw {
namespace {

static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));

// Of cudaKernelNodeParams or its second version.
template <class Params>
CUDA_KERNEL_NODE_PARAMS_v2 driver_kernel(const Params& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 d = {};
  d.func = function_of(p.func);
  d.gridDimX = p.gridDim.x, d.gridDimY = p.gridDim.y, d.gridDimZ = p.gridDim.z;
  d.blockDimX = p.blockDim.x, d.blockDimY = p.blockDim.y, d.blockDimZ = p.blockDim.z;
  d.sharedMemBytes = p.sharedMemBytes, d.kernelParams = p.kernelParams, d.extra = p.extra;
  return d;
}

// A kernel without a stub is told by its handle.
template <class Params, class DriverParams>
void write_kernel(const DriverParams& d, Params& p) {
  const void* stub = stub_of(d.func);
  p.func = stub ? const_cast<void*>(stub) : static_cast<void*>(d.func);
  p.gridDim = {d.gridDimX, d.gridDimY, d.gridDimZ};
  p.blockDim = {d.blockDimX, d.blockDimY, d.blockDimZ};
  p.sharedMemBytes = d.sharedMemBytes, p.kernelParams = d.kernelParams, p.extra = d.extra;
}

CUDA_MEMCPY3D to_symbol(const void* symbol, const void* from, size_t count, size_t offset,
                        cudaMemcpyKind kind) {
  DeviceVariable variable = variable_of(symbol);
  require(offset <= variable.size && count <= variable.size - offset);
  return driver_copy(reinterpret_cast<void*>(variable.address + offset), from, count, kind);
}

CUDA_MEMCPY3D from_symbol(void* to, const void* symbol, size_t count, size_t offset,
                          cudaMemcpyKind kind) {
  DeviceVariable variable = variable_of(symbol);
  require(offset <= variable.size && count <= variable.size - offset);
  return driver_copy(to, reinterpret_cast<void*>(variable.address + offset), count, kind);
}

cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     size_t count, const CUDA_MEMCPY3D& copy) {
  return forward(cuGraphAddMemcpyNode, node, graph, after, count, &copy, nullptr);
}

cudaError_t set_copy(cudaGraphNode_t node, const CUDA_MEMCPY3D& copy) {
  return forward(cuGraphMemcpyNodeSetParams, node, &copy);
}

cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const CUDA_MEMCPY3D& copy) {
  return forward(cuGraphExecMemcpyNodeSetParams, exec, node, &copy, nullptr);
}

// Parameters of any node: those of most kinds are the driver's, byte for byte.
CUgraphNodeParams driver_params(const cudaGraphNodeParams* p) {
  require(p);
  CUgraphNodeParams d = {};
  memcpy(static_cast<void*>(&d), p, sizeof d);
  if (p->type == cudaGraphNodeTypeKernel) {
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = driver_kernel(p->kernel);
    memcpy(static_cast<void*>(&d.kernel), &kernel, sizeof kernel);
  }
  if (p->type == cudaGraphNodeTypeMemcpy) {
    d.memcpy.flags = p->memcpy.flags, d.memcpy.copyCtx = nullptr;
    d.memcpy.copyParams = driver_copy(p->memcpy.copyParams);
  }
  return d;
}

// What making a node tells: the address of memory, the bodies of a conditional.
void write_results(const CUgraphNodeParams& d, cudaGraphNodeParams* p) {
  if (p->type == cudaGraphNodeTypeMemAlloc) p->alloc.dptr = reinterpret_cast<void*>(d.alloc.dptr);
  if (p->type == cudaGraphNodeTypeConditional)
    p->conditional.phGraph_out = d.conditional.phGraph_out;
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params) {
  CUgraphNodeParams d = driver_params(params);
  cudaError_t error = forward(cuGraphAddNode_v2, node, graph, after, edges, count, &d);
  if (error == cudaSuccess) write_results(d, params);
  return error;
}

}  // namespace

cudaError_t rt::cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       const cudaKernelNodeParams* params) {
  require(params);
  CUDA_KERNEL_NODE_PARAMS_v2 d = driver_kernel(*params);
  return forward(cuGraphAddKernelNode_v2, node, graph, after, count, &d);
}

cudaError_t rt::cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  require(params);
  CUDA_KERNEL_NODE_PARAMS_v2 d = {};
  check(cuGraphKernelNodeGetParams_v2(node, &d));
  write_kernel(d, *params);
  return cudaSuccess;
}

cudaError_t rt::cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  require(params);
  CUDA_KERNEL_NODE_PARAMS_v2 d = driver_kernel(*params);
  return forward(cuGraphKernelNodeSetParams_v2, node, &d);
}

cudaError_t rt::cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const cudaKernelNodeParams* params) {
  require(params);
  CUDA_KERNEL_NODE_PARAMS_v2 d = driver_kernel(*params);
  return forward(cuGraphExecKernelNodeSetParams_v2, exec, node, &d);
}

cudaError_t rt::cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       const cudaMemcpy3DParms* params) {
  require(params);
  return add_copy(node, graph, after, count, driver_copy(*params));
}

cudaError_t rt::cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                         const cudaGraphNode_t* after, size_t number, void* to,
                                         const void* from, size_t count, cudaMemcpyKind kind) {
  return add_copy(node, graph, after, number, driver_copy(to, from, count, kind));
}

cudaError_t rt::cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* after, size_t number,
                                               const void* symbol, const void* from, size_t count,
                                               size_t offset, cudaMemcpyKind kind) {
  return add_copy(node, graph, after, number, to_symbol(symbol, from, count, offset, kind));
}

cudaError_t rt::cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t number,
                                                 void* to, const void* symbol, size_t count,
                                                 size_t offset, cudaMemcpyKind kind) {
  return add_copy(node, graph, after, number, from_symbol(to, symbol, count, offset, kind));
}

cudaError_t rt::cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  require(params);
  CUDA_MEMCPY3D d = {};
  check(cuGraphMemcpyNodeGetParams(node, &d));
  *params = runtime_copy(d);
  return cudaSuccess;
}

cudaError_t rt::cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  require(params);
  return set_copy(node, driver_copy(*params));
}

cudaError_t rt::cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                               size_t count, cudaMemcpyKind kind) {
  return set_copy(node, driver_copy(to, from, count, kind));
}

cudaError_t rt::cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                     const void* from, size_t count, size_t offset,
                                                     cudaMemcpyKind kind) {
  return set_copy(node, to_symbol(symbol, from, count, offset, kind));
}

cudaError_t rt::cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t count,
                                                       size_t offset, cudaMemcpyKind kind) {
  return set_copy(node, from_symbol(to, symbol, count, offset, kind));
}

cudaError_t rt::cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const cudaMemcpy3DParms* params) {
  require(params);
  return set_copy(exec, node, driver_copy(*params));
}

cudaError_t rt::cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   void* to, const void* from, size_t count,
                                                   cudaMemcpyKind kind) {
  return set_copy(exec, node, driver_copy(to, from, count, kind));
}

cudaError_t rt::cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const void* symbol, const void* from,
                                                         size_t count, size_t offset,
                                                         cudaMemcpyKind kind) {
  return set_copy(exec, node, to_symbol(symbol, from, count, offset, kind));
}

cudaError_t rt::cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node, void* to,
                                                           const void* symbol, size_t count,
                                                           size_t offset, cudaMemcpyKind kind) {
  return set_copy(exec, node, from_symbol(to, symbol, count, offset, kind));
}

cudaError_t rt::AW_V2(cudaGraphAddNode)(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after,
                                        const cudaGraphEdgeData* edges, size_t count,
                                        cudaGraphNodeParams* params) {
  return add_node(node, graph, after, edges, count, params);
}

#if CUDART_VERSION < 13000
cudaError_t rt::cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 cudaGraphNodeParams* params) {
  return add_node(node, graph, after, nullptr, count, params);
}
#else
cudaError_t rt::cudaGraphNodeGetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  require(params);
  CUgraphNodeParams d = {};
  check(cuGraphNodeGetParams(node, &d));
  cudaGraphNodeParams p = {};
  memcpy(static_cast<void*>(&p), &d, sizeof p);
  if (p.type == cudaGraphNodeTypeKernel) {
    memset(static_cast<void*>(&p.kernel), 0, sizeof p.kernel);
    write_kernel(d.kernel, p.kernel);
  }
  if (p.type == cudaGraphNodeTypeMemcpy) {
    p.memcpy = {};
    p.memcpy.copyParams = runtime_copy(d.memcpy.copyParams);
  }
  *params = p;
  return cudaSuccess;
}
#endif

cudaError_t rt::cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  CUgraphNodeParams d = driver_params(params);
  return forward(cuGraphNodeSetParams, node, &d);
}

cudaError_t rt::cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           cudaGraphNodeParams* params) {
  CUgraphNodeParams d = driver_params(params);
  return forward(cuGraphExecNodeSetParams, exec, node, &d);
}

}  // namespace aw
