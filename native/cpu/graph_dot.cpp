// Driver API reference: graph management, cuGraphDebugDotPrint: a graph in the DOT language of
// Graphviz.
#include <cstdio>
#include <memory>
#include <sstream>

#include "cpu/graph.h"
#include "cuda/module.h"

using namespace aw;

namespace {

constexpr unsigned kDotFlagsMask = 0x1ffff, kVerbose = 1;  // CUgraphDebugDot_flags

const char* label_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "graph";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "event wait";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "event record";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return "semaphore signal";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return "semaphore wait";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "memory allocation";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "memory free";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return "memory operations";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "conditional";
    default:
      return "empty";
  }
}

struct Details {
  std::ostream& out;

  void operator()(const KernelWork& w) const {
    out << "\\n"
        << w.function->entry->name << "\\ngrid " << w.grid[0] << "," << w.grid[1] << ","
        << w.grid[2] << " block " << w.block[0] << "," << w.block[1] << "," << w.block[2];
  }
  void operator()(const CopyWork& w) const {
    out << "\\n" << w.width << "x" << w.height << "x" << w.depth << " bytes";
  }
  void operator()(const SetWork& w) const {
    out << "\\n" << w.width << "x" << w.height << " of " << w.element << " bytes to " << w.value;
  }
  void operator()(const HostWork& w) const {
    out << "\\nfunction " << reinterpret_cast<const void*>(w.function) << "\\ndata " << w.data;
  }
  template <class Other>
  void operator()(const Other&) const {}
};

void write_dot(std::ostream& out, Graph& graph, unsigned flags) {
  std::lock_guard lock(graph.mutex);
  out << "subgraph cluster_" << graph.handle << " {\nlabel=\"graph_" << graph.handle << "\"\n";
  for (auto& node : graph.nodes) {
    out << "\"node_" << node->handle << "\" [shape=record, label=\"" << label_of(node->type);
    if (flags & kVerbose) std::visit(Details{out}, *node->work);
    out << "\"]\n";
    for (GraphNode* before : node->after)
      out << "\"node_" << before->handle << "\" -> \"node_" << node->handle << "\"\n";
    if (node->child) write_dot(out, *node->child, flags);
    for (auto& body : node->bodies) write_dot(out, *body, flags);
  }
  out << "}\n";
}

}  // namespace

AW_EXPORT CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned flags) {
  return api<"cuGraphDebugDotPrint">([&] {
    require(path && (flags & ~kDotFlagsMask) == 0);
    auto graph = graph_of(handle);
    std::ostringstream text;
    text << "digraph dot {\n";
    write_dot(text, *graph, flags);
    text << "}\n";
    std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path, "w"), &fclose);
    require(file != nullptr);
    std::string words = text.str();
    require(fwrite(words.data(), 1, words.size(), file.get()) == words.size(),
            CUDA_ERROR_OPERATING_SYSTEM);
  });
}
