// Driver API reference: graph management, attributes of kernel nodes, numbers of graphs and nodes.
#include "cpu/graph.h"
#include "cuda/module.h"

using namespace aw;

namespace {

std::shared_ptr<GraphNode> kernel_node(CUgraphNode handle) {
  auto node = node_of(handle);
  require(node->type == CU_GRAPH_NODE_TYPE_KERNEL);
  return node;
}

bool is_kernel_attribute(int id) {
  return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
         id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
         id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE ||
         (id >= CU_LAUNCH_ATTRIBUTE_PRIORITY &&
          id <= CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION) ||
         id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE ||
         id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ||
         id == CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING;
}

CUlaunchAttributeValue read(const GraphNode& node, int id) {
  auto it = node.attributes.find(id);
  if (it != node.attributes.end()) return it->second;
  CUlaunchAttributeValue value = {};
  auto* kernel = std::get_if<KernelWork>(node.work.get());  // null for a library's
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && kernel) value.cooperative = kernel->cooperative;
  return value;
}

void set_launch_attribute(GraphNode& node, int id, const CUlaunchAttributeValue& value) {
  bool several = id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
                 (value.clusterDim.x > 1 || value.clusterDim.y > 1 || value.clusterDim.z > 1);
  bool updatable = id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE &&
                   value.deviceUpdatableKernelNode.deviceUpdatable;
  require(!several && !updatable, CUDA_ERROR_NOT_SUPPORTED);
  std::lock_guard lock(node.graph->mutex);
  auto* kernel = std::get_if<KernelWork>(node.work.get());
  require(kernel || id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  node.attributes[id] = value;
  if (id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return;  // the others are hints
  KernelWork work = *kernel;
  work.cooperative = value.cooperative != 0;
  node.work = std::make_shared<const Work>(std::move(work));
}

}  // namespace

AW_EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, int id,
                                                 CUlaunchAttributeValue* value) {
  return api<"cuGraphKernelNodeGetAttribute">([&] {
    require(value && is_kernel_attribute(id));
    *value = read(*kernel_node(handle), id);
  });
}

AW_EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, int id,
                                                 const CUlaunchAttributeValue* value) {
  return api<"cuGraphKernelNodeSetAttribute">([&] {
    require(value && is_kernel_attribute(id));
    set_launch_attribute(*kernel_node(handle), id, *value);
  });
}

AW_EXPORT CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return api<"cuGraphKernelNodeCopyAttributes">([&] {
    auto target = kernel_node(to), source = kernel_node(from);
    auto attributes = source->attributes;
    attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE] = read(*source, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    target->attributes.clear();
    for (auto& [id, value] : attributes) set_launch_attribute(*target, id, value);
  });
}

AW_EXPORT CUresult cuGraphGetId(CUgraph handle, unsigned* id) {
  return api<"cuGraphGetId">([&] {
    require(id);
    *id = graph_of(handle)->id;
  });
}

AW_EXPORT CUresult cuGraphExecGetId(CUgraphExec handle, unsigned* id) {
  return api<"cuGraphExecGetId">([&] {
    require(id);
    *id = exec_of(handle)->id;
  });
}

AW_EXPORT CUresult cuGraphNodeGetContainingGraph(CUgraphNode handle, CUgraph* out) {
  return api<"cuGraphNodeGetContainingGraph">([&] {
    require(out);
    *out = as_handle<CUgraph>(node_of(handle)->graph->handle);
  });
}

AW_EXPORT CUresult cuGraphNodeGetLocalId(CUgraphNode handle, unsigned* id) {
  return api<"cuGraphNodeGetLocalId">([&] {
    require(id);
    *id = node_of(handle)->local_id;
  });
}

AW_EXPORT CUresult cuGraphNodeGetToolsId(CUgraphNode handle, unsigned long long* id) {
  return api<"cuGraphNodeGetToolsId">([&] {
    require(id);
    auto node = node_of(handle);
    *id = uint64_t{node->graph->id} << 32 | node->local_id;
  });
}
