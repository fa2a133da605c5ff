// Driver API reference: graph management, nodes of kernels, copies, sets and memory.
#include "hip/graph_nodes.h"

#include <cstring>
#include <map>
#include <mutex>

#include "cuda/copy_shapes.h"
#include "cuda/node_params.h"
#include "hip/capture.h"
#include "hip/copying.h"
#include "hip/devices.h"
#include "hip/forward.h"

namespace aw {
namespace {

struct Behind {
  std::mutex mutex;
  std::map<hipFunction_t, std::weak_ptr<Function>> functions;
};
Behind& behind() {
  static auto& instance = *new Behind;
  return instance;
}

// What programs gave for a node and may ask for again: HIP has it in other terms, or not at all.
struct Kept {
  std::vector<uint8_t> bytes;
  std::vector<void*> pointers;
  std::vector<uint8_t> arguments;  // of a kernel: the whole buffer
  std::weak_ptr<Function> function;
  CUDA_MEMCPY3D copy{};
  bool has_copy = false;
};
struct KeptNodes {
  std::mutex mutex;
  std::map<hipGraphNode_t, Kept> nodes;
};
KeptNodes& kept() {
  static auto& instance = *new KeptNodes;
  return instance;
}

void keep_copy(hipGraphNode_t node, const CUDA_MEMCPY3D& copy) {
  std::lock_guard lock(kept().mutex);
  kept().nodes[node].copy = copy, kept().nodes[node].has_copy = true;
}

hipGraphNode_t node(CUgraphNode handle) {
  require(handle != nullptr);
  return reinterpret_cast<hipGraphNode_t>(handle);
}

// The argument buffer that HIP keeps for a kernel node, in either of its forms.
const uint8_t* buffer_of(const hipKernelNodeParams& p) {
  if (p.kernelParams) return static_cast<const uint8_t*>(p.kernelParams[0]);
  for (size_t i = 0; p.extra && i < 4 && p.extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (p.extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      return static_cast<const uint8_t*>(p.extra[i + 1]);
  }
  return nullptr;
}

// What a kernel node runs: as the program gave it, else as HIP tells of a node that was captured.
void find_kernel(hipGraphNode_t handle, Kept& mine, std::shared_ptr<Function>& function) {
  function = mine.function.lock();
  if (function && !mine.arguments.empty()) return;
  hipKernelNodeParams p{};
  check(hip.hipGraphKernelNodeGetParams ? hip.hipGraphKernelNodeGetParams(handle, &p)
                                        : hipErrorNotSupported);
  function = function_behind(static_cast<hipFunction_t>(p.func));
  const uint8_t* buffer = buffer_of(p);
  if (!function || !buffer)
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "HIP does not report the parameters of this kernel node");
  size_t size = hip_hidden_start(function->entry->param_bytes) + sizeof(AwHipHidden);
  mine.arguments.assign(buffer, buffer + size);
}

template <class Version>
CUresult get_kernel(CUgraphNode handle, Version* result) {
  require(result);
  CUDA_KERNEL_NODE_PARAMS out{};
  std::lock_guard lock(kept().mutex);
  Kept& mine = kept().nodes[node(handle)];
  std::shared_ptr<Function> function;
  find_kernel(node(handle), mine, function);
  const Entry& entry = *function->entry;
  mine.bytes.assign(mine.arguments.data(), mine.arguments.data() + entry.param_bytes);
  mine.pointers.clear();
  for (auto& parameter : entry.params)
    mine.pointers.push_back(mine.bytes.data() + parameter.offset);
  AwHipHidden hidden;
  memcpy(&hidden, mine.arguments.data() + hip_hidden_start(entry.param_bytes), sizeof hidden);
  out.func = as_handle<CUfunction>(function->handle);
  write_shape(hidden.grid, hidden.block, out);
  out.sharedMemBytes = hidden.dynamic_shared;
  out.kernelParams = mine.pointers.data();
  *result = as_version<Version>(out);
  return CUDA_SUCCESS;
}

void keep_kernel(hipGraphNode_t handle, KernelNodeParts& parts) {
  std::lock_guard lock(kept().mutex);
  Kept& mine = kept().nodes[handle];
  mine.arguments.assign(parts.arguments->data(), parts.arguments->data() + parts.size);
  mine.function = function_behind(static_cast<hipFunction_t>(parts.params.func));
}

// `changed`: the node of a graph, whose parameters these are from now on; null for an executable
// graph's.
template <class Version, class Set>
CUresult with_kernel(const Version* params, const hipGraphNode_t* changed, Set set) {
  KernelNodeParts parts;
  convert_kernel(any_version(params), parts);
  CUresult code = to_cuda(set(&parts.params));
  if (!code && changed) keep_kernel(*changed, parts);
  return code;
}

template <class Version>
CUresult get_set(CUgraphNode handle, Version* out) {
  require(out);
  hipMemsetParams p{};
  check(AW_HIP(hipGraphMemsetNodeGetParams)(node(handle), &p));
  *out = as_version<Version>(CUDA_MEMSET_NODE_PARAMS{reinterpret_cast<uint64_t>(p.dst), p.pitch,
                                                     p.value, p.elementSize, p.width, p.height});
  return CUDA_SUCCESS;
}

CUresult get_copy(CUgraphNode handle, CUDA_MEMCPY3D* out) {
  require(out);
  {
    std::lock_guard lock(kept().mutex);
    auto it = kept().nodes.find(node(handle));
    if (it != kept().nodes.end() && it->second.has_copy) {
      *out = it->second.copy;
      return CUDA_SUCCESS;
    }
  }
  hipMemcpy3DParms p{};
  check(AW_HIP(hipGraphMemcpyNodeGetParams)(node(handle), &p));
  *out = {};
  out->srcMemoryType = out->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  out->srcDevice = reinterpret_cast<uint64_t>(p.srcPtr.ptr),
  out->dstDevice = reinterpret_cast<uint64_t>(p.dstPtr.ptr);
  out->srcPitch = p.srcPtr.pitch, out->srcHeight = p.srcPtr.ysize, out->dstPitch = p.dstPtr.pitch,
  out->dstHeight = p.dstPtr.ysize;
  out->srcXInBytes = p.srcPos.x, out->srcY = p.srcPos.y, out->srcZ = p.srcPos.z;
  out->dstXInBytes = p.dstPos.x, out->dstY = p.dstPos.y, out->dstZ = p.dstPos.z;
  out->WidthInBytes = p.extent.width, out->Height = p.extent.height, out->Depth = p.extent.depth;
  return CUDA_SUCCESS;
}

}  // namespace

std::shared_ptr<Function> function_behind(hipFunction_t function) {
  std::lock_guard lock(behind().mutex);
  auto it = behind().functions.find(function);
  return it == behind().functions.end() ? nullptr : it->second.lock();
}

void remember_function(hipFunction_t function, const std::shared_ptr<Function>& ours) {
  std::lock_guard lock(behind().mutex);
  behind().functions[function] = ours;
}

void convert_kernel(const CUDA_KERNEL_NODE_PARAMS& from, KernelNodeParts& to) {
  LaunchRequest r = request_of(from);
  CUfunction handle = from.func ? from.func : reinterpret_cast<CUfunction>(from.kern);
  require_context();
  const Launchable& what = launchable(handle, r.block);
  check_launch(what, r);
  auto group = workgroup_of(*what.kernel, r.block);
  if (r.grid[0] > most_blocks(group[0])) {
    throw Failure(
        CUDA_ERROR_NOT_SUPPORTED,
        "kernel nodes with more than 4294967295 threads along x are not supported on AMD devices");
  }
  to.arguments = std::make_unique<Kernarg>(what.function->entry->param_bytes);
  copy_params(*what.function->entry, r.params, r.extra, to.arguments->data());
  fill_hidden(to.arguments->hidden(), what, r);
  to.size = to.arguments->size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, to.arguments->data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &to.size, HIP_LAUNCH_PARAM_END};
  memcpy(to.extra, extra, sizeof extra);
  remember_function(what.kernel->function, what.function);
  to.params.func = what.kernel->function;
  to.params.gridDim = {r.grid[0], r.grid[1], r.grid[2]};
  to.params.blockDim = {group[0], group[1], group[2]};
  to.params.sharedMemBytes = r.dynamic_shared;
  to.params.extra = to.extra;
}

hipMemcpy3DParms convert_copy(const CUDA_MEMCPY3D* from) {
  return copy_parameters(plan_copy(from));
}

hipMemsetParams convert_set(const CUDA_MEMSET_NODE_PARAMS* from) {
  require(from && from->dst &&
          (from->elementSize == 1 || from->elementSize == 2 || from->elementSize == 4));
  hipMemsetParams p{};
  p.dst = reinterpret_cast<void*>(from->dst), p.elementSize = from->elementSize,
  p.value = from->value;
  p.width = from->width, p.height = from->height, p.pitch = from->pitch;
  return p;
}

CUgraphNodeType cuda_type(hipGraphNodeType type) {
  // The first twelve are the same.
  if (type == hipGraphNodeTypeMemcpyFromSymbol || type == hipGraphNodeTypeMemcpyToSymbol)
    return CU_GRAPH_NODE_TYPE_MEMCPY;
  if (type == hipGraphNodeTypeBatchMemOp) return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  return static_cast<CUgraphNodeType>(type);
}

}  // namespace aw

using namespace aw;

namespace {

struct Where {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* after;
  size_t count;

  hipGraphNode_t* to() const { return reinterpret_cast<hipGraphNode_t*>(out); }
  hipGraph_t in() const { return reinterpret_cast<hipGraph_t>(graph); }
  const hipGraphNode_t* behind() const { return reinterpret_cast<const hipGraphNode_t*>(after); }
};

hipGraphExec_t exec(CUgraphExec handle) {
  require(handle != nullptr);
  return reinterpret_cast<hipGraphExec_t>(handle);
}

template <class Version>
CUresult add_kernel(const Where& w, const Version* params) {
  require(w.out);
  return with_kernel(params, w.to(), [&](const hipKernelNodeParams* p) {
    return AW_HIP(hipGraphAddKernelNode)(w.to(), w.in(), w.behind(), w.count, p);
  });
}

template <class Version>
CUresult set_kernel(CUgraphNode handle, const Version* params) {
  hipGraphNode_t changed = node(handle);
  return with_kernel(params, &changed, [&](const hipKernelNodeParams* p) {
    return AW_HIP(hipGraphKernelNodeSetParams)(changed, p);
  });
}

template <class Version>
CUresult set_kernel(CUgraphExec graph, CUgraphNode handle, const Version* params) {
  return with_kernel(params, nullptr, [&](const hipKernelNodeParams* p) {
    return AW_HIP(hipGraphExecKernelNodeSetParams)(exec(graph), node(handle), p);
  });
}

CUresult add_copy(const Where& w, const CUDA_MEMCPY3D* copy) {
  require(w.out && copy);
  hipMemcpy3DParms p = convert_copy(copy);
  check(AW_HIP(hipGraphAddMemcpyNode)(w.to(), w.in(), w.behind(), w.count, &p));
  keep_copy(*w.to(), *copy);
  return CUDA_SUCCESS;
}

CUresult set_copy(CUgraphNode handle, const CUDA_MEMCPY3D* copy) {
  require(copy);
  hipMemcpy3DParms p = convert_copy(copy);
  check(AW_HIP(hipGraphMemcpyNodeSetParams)(node(handle), &p));
  keep_copy(node(handle), *copy);
  return CUDA_SUCCESS;
}

CUresult set_copy(CUgraphExec graph, CUgraphNode handle, const CUDA_MEMCPY3D* copy) {
  require(copy);
  hipMemcpy3DParms p = convert_copy(copy);
  return to_cuda(AW_HIP(hipGraphExecMemcpyNodeSetParams)(exec(graph), node(handle), &p));
}

template <class Version>
CUresult add_set(const Where& w, const Version* set) {
  require(w.out);
  require(set);
  auto from = as_version<CUDA_MEMSET_NODE_PARAMS>(*set);
  hipMemsetParams p = convert_set(&from);
  return to_cuda(AW_HIP(hipGraphAddMemsetNode)(w.to(), w.in(), w.behind(), w.count, &p));
}

template <class Version>
CUresult set_set(CUgraphNode handle, const Version* set) {
  require(set);
  auto from = as_version<CUDA_MEMSET_NODE_PARAMS>(*set);
  hipMemsetParams p = convert_set(&from);
  return to_cuda(AW_HIP(hipGraphMemsetNodeSetParams)(node(handle), &p));
}

template <class Version>
CUresult set_set(CUgraphExec graph, CUgraphNode handle, const Version* set) {
  require(set);
  auto from = as_version<CUDA_MEMSET_NODE_PARAMS>(*set);
  hipMemsetParams p = convert_set(&from);
  return to_cuda(AW_HIP(hipGraphExecMemsetNodeSetParams)(exec(graph), node(handle), &p));
}

static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(hipMemAllocNodeParams));

template <class Version>
CUresult add_alloc(const Where& w, Version* params) {
  require(w.out && params);
  hipMemAllocNodeParams p;
  memcpy(&p, params, sizeof p);
  if (p.poolProps.location.type == hipMemLocationTypeDevice)
    p.poolProps.location.id = hip_device(p.poolProps.location.id);
  std::vector<hipMemAccessDesc> access(p.accessDescCount);
  if (!access.empty()) memcpy(access.data(), params->accessDescs, access.size() * sizeof access[0]);
  for (auto& each : access) {
    if (each.location.type == hipMemLocationTypeDevice)
      each.location.id = hip_device(each.location.id);
  }
  p.accessDescs = access.data();
  check(AW_HIP(hipGraphAddMemAllocNode)(w.to(), w.in(), w.behind(), w.count, &p));
  params->dptr = reinterpret_cast<uint64_t>(p.dptr);
  return CUDA_SUCCESS;
}

CUresult add_any(const Where& w, CUgraphNodeParams* p) {
  require(w.out && p);
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return add_kernel(w, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return add_copy(w, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return add_set(w, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST: {
      hipHostNodeParams host = {p->host.fn, p->host.userData};
      return to_cuda(AW_HIP(hipGraphAddHostNode)(w.to(), w.in(), w.behind(), w.count, &host));
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return to_cuda(AW_HIP(hipGraphAddChildGraphNode)(
          w.to(), w.in(), w.behind(), w.count, reinterpret_cast<hipGraph_t>(p->graph.graph)));
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return to_cuda(AW_HIP(hipGraphAddEmptyNode)(w.to(), w.in(), w.behind(), w.count));
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return to_cuda(AW_HIP(hipGraphAddEventWaitNode)(
          w.to(), w.in(), w.behind(), w.count, reinterpret_cast<hipEvent_t>(p->eventWait.event)));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return to_cuda(AW_HIP(hipGraphAddEventRecordNode)(
          w.to(), w.in(), w.behind(), w.count, reinterpret_cast<hipEvent_t>(p->eventRecord.event)));
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return add_alloc(w, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return to_cuda(AW_HIP(hipGraphAddMemFreeNode)(w.to(), w.in(), w.behind(), w.count,
                                                    reinterpret_cast<void*>(p->free.dptr)));
    default:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED, "graph nodes of type " + std::to_string(p->type) +
                                                  " have no counterpart in HIP");
  }
}

void refuse_edges(const CUgraphEdgeData* data, size_t count) {
  static const CUgraphEdgeData plain{};
  for (size_t i = 0; data && i < count; ++i) {
    if (memcmp(&data[i], &plain, sizeof plain) != 0)
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "edges of graphs with ports or types have no counterpart in HIP");
  }
}

CUresult set_any(CUgraphNode handle, CUgraphNodeParams* p) {
  require(p);
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return set_kernel(handle, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return set_copy(handle, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return set_set(handle, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST: {
      hipHostNodeParams host = {p->host.fn, p->host.userData};
      return to_cuda(AW_HIP(hipGraphHostNodeSetParams)(node(handle), &host));
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return to_cuda(AW_HIP(hipGraphEventWaitNodeSetEvent)(
          node(handle), reinterpret_cast<hipEvent_t>(p->eventWait.event)));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return to_cuda(AW_HIP(hipGraphEventRecordNodeSetEvent)(
          node(handle), reinterpret_cast<hipEvent_t>(p->eventRecord.event)));
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

CUresult set_any(CUgraphExec graph, CUgraphNode handle, CUgraphNodeParams* p) {
  require(p);
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return set_kernel(graph, handle, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return set_copy(graph, handle, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return set_set(graph, handle, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST: {
      hipHostNodeParams host = {p->host.fn, p->host.userData};
      return to_cuda(AW_HIP(hipGraphExecHostNodeSetParams)(exec(graph), node(handle), &host));
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return to_cuda(AW_HIP(hipGraphExecChildGraphNodeSetParams)(
          exec(graph), node(handle), reinterpret_cast<hipGraph_t>(p->graph.graph)));
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return to_cuda(AW_HIP(hipGraphExecEventWaitNodeSetEvent)(
          exec(graph), node(handle), reinterpret_cast<hipEvent_t>(p->eventWait.event)));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return to_cuda(AW_HIP(hipGraphExecEventRecordNodeSetEvent)(
          exec(graph), node(handle), reinterpret_cast<hipEvent_t>(p->eventRecord.event)));
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

hipGraphNodeType type_of(CUgraphNode handle) {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  check(AW_HIP(hipGraphNodeGetType)(node(handle), &type));
  return type;
}

}  // namespace

AW_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphAddKernelNode">(
      [&] { return add_kernel({out, graph, after, count}, params); });
}
AW_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph,
                                           const CUgraphNode* after, size_t count,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphAddKernelNode_v2">(
      [&] { return add_kernel({out, graph, after, count}, params); });
}
AW_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  return api<"cuGraphKernelNodeGetParams">([&] { return get_kernel(handle, out); });
}
AW_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  return api<"cuGraphKernelNodeGetParams_v2">([&] { return get_kernel(handle, out); });
}
AW_EXPORT CUresult cuGraphKernelNodeSetParams(CUgraphNode handle,
                                              const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeSetParams">([&] { return set_kernel(handle, params); });
}
AW_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle,
                                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeSetParams_v2">([&] { return set_kernel(handle, params); });
}
AW_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec graph, CUgraphNode handle,
                                                  const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphExecKernelNodeSetParams">([&] { return set_kernel(graph, handle, params); });
}
AW_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec graph, CUgraphNode handle,
                                                     const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphExecKernelNodeSetParams_v2">(
      [&] { return set_kernel(graph, handle, params); });
}

AW_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
  return api<"cuGraphAddMemcpyNode">([&] { return add_copy({out, graph, after, count}, copy); });
}
AW_EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* out) {
  return api<"cuGraphMemcpyNodeGetParams">([&] { return get_copy(handle, out); });
}
AW_EXPORT CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* copy) {
  return api<"cuGraphMemcpyNodeSetParams">([&] { return set_copy(handle, copy); });
}
AW_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec graph, CUgraphNode handle,
                                                  const CUDA_MEMCPY3D* copy, CUcontext) {
  return api<"cuGraphExecMemcpyNodeSetParams">([&] { return set_copy(graph, handle, copy); });
}

AW_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_MEMSET_NODE_PARAMS* set,
                                        CUcontext) {
  return api<"cuGraphAddMemsetNode">([&] { return add_set({out, graph, after, count}, set); });
}
AW_EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* out) {
  return api<"cuGraphMemsetNodeGetParams">([&] { return get_set(handle, out); });
}
AW_EXPORT CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle,
                                              const CUDA_MEMSET_NODE_PARAMS* set) {
  return api<"cuGraphMemsetNodeSetParams">([&] { return set_set(handle, set); });
}
AW_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec graph, CUgraphNode handle,
                                                  const CUDA_MEMSET_NODE_PARAMS* set, CUcontext) {
  return api<"cuGraphExecMemsetNodeSetParams">([&] { return set_set(graph, handle, set); });
}

AW_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                          size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return api<"cuGraphAddMemAllocNode">(
      [&] { return add_alloc({out, graph, after, count}, params); });
}
AW_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle,
                                                CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return api<"cuGraphMemAllocNodeGetParams">([&] {
    require(out);
    hipMemAllocNodeParams p{};
    check(AW_HIP(hipGraphMemAllocNodeGetParams)(node(handle), &p));
    memcpy(out, &p, sizeof *out);
    if (out->poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      out->poolProps.location.id = cuda_device(p.poolProps.location.id);
  });
}
AW_EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* out) {
  return api<"cuGraphMemFreeNodeGetParams">([&] {
    require(out);
    return to_cuda(AW_HIP(hipGraphMemFreeNodeGetParams)(node(handle), out));
  });
}

AW_EXPORT CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraphNodeParams* p) {
  return api<"cuGraphAddNode">([&] { return add_any({out, graph, after, count}, p); });
}
AW_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUgraphNodeParams* p) {
  return api<"cuGraphAddNode_v2">([&] {
    refuse_edges(edges, count);
    return add_any({out, graph, after, count}, p);
  });
}
AW_EXPORT CUresult cuGraphAddNode_v3(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUgraphNodeParams* p) {
  return api<"cuGraphAddNode_v3">([&] {
    refuse_edges(edges, count);
    return add_any({out, graph, after, count}, p);
  });
}
AW_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* p) {
  return api<"cuGraphNodeSetParams">([&] { return set_any(handle, p); });
}
AW_EXPORT CUresult cuGraphNodeSetParams_v2(CUgraphNode handle, CUgraphNodeParams* p) {
  return api<"cuGraphNodeSetParams_v2">([&] { return set_any(handle, p); });
}
AW_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec graph, CUgraphNode handle,
                                            CUgraphNodeParams* p) {
  return api<"cuGraphExecNodeSetParams">([&] { return set_any(graph, handle, p); });
}
AW_EXPORT CUresult cuGraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams* out) {
  return api<"cuGraphNodeGetParams">([&] {
    require(out);
    CUgraphNodeType type = cuda_type(type_of(handle));
    *out = {};
    out->type = type;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) return get_kernel(handle, &out->kernel);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY) return get_copy(handle, &out->memcpy.copyParams);
    if (type == CU_GRAPH_NODE_TYPE_MEMSET) return get_set(handle, &out->memset);
    if (type == CU_GRAPH_NODE_TYPE_EMPTY) return CUDA_SUCCESS;
    if (type == CU_GRAPH_NODE_TYPE_MEM_FREE)
      return to_cuda(AW_HIP(hipGraphMemFreeNodeGetParams)(node(handle), &out->free.dptr));
    if (type == CU_GRAPH_NODE_TYPE_HOST) {
      hipHostNodeParams host{};
      check(AW_HIP(hipGraphHostNodeGetParams)(node(handle), &host));
      out->host.fn = host.fn, out->host.userData = host.userData;
      return CUDA_SUCCESS;
    }
    throw Failure(CUDA_ERROR_NOT_SUPPORTED, "the parameters of graph nodes of type " +
                                                std::to_string(type) +
                                                " are not reported by HIP in one structure");
  });
}

AW_EXPORT CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* out) {
  return api<"cuGraphNodeGetType">([&] {
    require(out);
    *out = cuda_type(type_of(handle));
  });
}

AW_EXPORT CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return api<"cuGraphDestroyNode">([&] {
    {
      std::lock_guard lock(kept().mutex);
      kept().nodes.erase(node(handle));
    }
    return to_cuda(AW_HIP(hipGraphDestroyNode)(node(handle)));
  });
}

AW_EXPORT CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return api<"cuGraphKernelNodeCopyAttributes">(
      [&] { return to_cuda(AW_HIP(hipGraphKernelNodeCopyAttributes)(node(from), node(to))); });
}

// Of what CUDA has, HIP keeps the access policy (1), whether the launch is cooperative (2) and the
// priority (8), as CUDA numbers them.
AW_EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, int id,
                                                 CUlaunchAttributeValue* value) {
  return api<"cuGraphKernelNodeGetAttribute">([&] {
    require(value);
    require(id == 1 || id == 2 || id == 8, CUDA_ERROR_NOT_SUPPORTED);
    hipLaunchAttributeValue v{};
    check(AW_HIP(hipGraphKernelNodeGetAttribute)(node(handle),
                                                 static_cast<hipLaunchAttributeID>(id), &v));
    memcpy(value, &v, sizeof *value);
  });
}
AW_EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, int id,
                                                 const CUlaunchAttributeValue* value) {
  return api<"cuGraphKernelNodeSetAttribute">([&] {
    require(value);
    require(id == 1 || id == 2 || id == 8, CUDA_ERROR_NOT_SUPPORTED);
    hipLaunchAttributeValue v{};
    memcpy(&v, value, sizeof v);
    return to_cuda(AW_HIP(hipGraphKernelNodeSetAttribute)(
        node(handle), static_cast<hipLaunchAttributeID>(id), &v));
  });
}

// What follows is the same as functions without edge data: HIP's edges have none.
extern "C" {
CUresult cuGraphAddDependencies(void*, void*, void*, size_t);
CUresult cuGraphRemoveDependencies(void*, void*, void*, size_t);
CUresult cuGraphGetEdges(void*, void*, void*, void*);
CUresult cuGraphNodeGetDependencies(void*, void*, void*);
CUresult cuGraphNodeGetDependentNodes(void*, void*, void*);
CUresult cuStreamUpdateCaptureDependencies(void*, void*, size_t, unsigned);
}

namespace {

CUresult clear_edges(CUresult code, CUgraphEdgeData* edges, const size_t* count) {
  if (!code && edges) memset(edges, 0, *count * sizeof *edges);
  return code;
}

}  // namespace

AW_EXPORT CUresult cuGraphAddDependencies_v2(void* graph, void* from, void* to,
                                             const CUgraphEdgeData* edges, size_t count) {
  return api<"cuGraphAddDependencies_v2">([&] {
    refuse_edges(edges, count);
    return cuGraphAddDependencies(graph, from, to, count);
  });
}
AW_EXPORT CUresult cuGraphRemoveDependencies_v2(void* graph, void* from, void* to,
                                                const CUgraphEdgeData* edges, size_t count) {
  return api<"cuGraphRemoveDependencies_v2">([&] {
    refuse_edges(edges, count);
    return cuGraphRemoveDependencies(graph, from, to, count);
  });
}
AW_EXPORT CUresult cuGraphGetEdges_v2(void* graph, void* from, void* to, CUgraphEdgeData* edges,
                                      size_t* count) {
  return api<"cuGraphGetEdges_v2">(
      [&] { return clear_edges(cuGraphGetEdges(graph, from, to, count), edges, count); });
}
AW_EXPORT CUresult cuGraphNodeGetDependencies_v2(void* handle, void* out, CUgraphEdgeData* edges,
                                                 size_t* count) {
  return api<"cuGraphNodeGetDependencies_v2">(
      [&] { return clear_edges(cuGraphNodeGetDependencies(handle, out, count), edges, count); });
}
AW_EXPORT CUresult cuGraphNodeGetDependentNodes_v2(void* handle, void* out, CUgraphEdgeData* edges,
                                                   size_t* count) {
  return api<"cuGraphNodeGetDependentNodes_v2">(
      [&] { return clear_edges(cuGraphNodeGetDependentNodes(handle, out, count), edges, count); });
}
AW_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(void* stream, void* nodes,
                                                        const CUgraphEdgeData* edges, size_t count,
                                                        unsigned flags) {
  return api<"cuStreamUpdateCaptureDependencies_v2">([&] {
    refuse_edges(edges, count);
    return cuStreamUpdateCaptureDependencies(stream, nodes, count, flags);
  });
}

AW_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                               const CUgraphNode* after,
                                               const CUgraphEdgeData* edges, size_t count,
                                               int mode) {
  return api<"cuStreamBeginCaptureToGraph">([&] {
    require_context();
    require(graph && mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
            mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    refuse_edges(edges, count);
    hipStream_t handle = stream_for(stream);
    check(AW_HIP(hipStreamBeginCaptureToGraph)(
        handle, reinterpret_cast<hipGraph_t>(graph), reinterpret_cast<const hipGraphNode_t*>(after),
        nullptr, count, static_cast<hipStreamCaptureMode>(mode)));
    keep_graph(handle);
    return CUDA_SUCCESS;
  });
}
