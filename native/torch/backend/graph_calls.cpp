// What names/graphs.py and native/torch_cuda call: graphs as addresses of their objects.
#include <torch/library.h>

#include <memory>

#include "exported.h"
#include "graph.h"

using namespace awt;

AWT_EXPORT int awt_graph_new(int keep, Graph** graph) {
  return exported([&] { *graph = new Graph(keep != 0); });
}
AWT_EXPORT void awt_graph_delete(Graph* graph) { delete graph; }

AWT_EXPORT int awt_graph_add_generator(Graph* graph, const at::Generator* generator) {
  return exported([&] { graph->add_generator(*generator); });
}
AWT_EXPORT int awt_graph_capture_begin(Graph* graph, uint64_t first, uint64_t second, int mode) {
  return exported([&] { graph->capture_begin({first, second}, mode); });
}
AWT_EXPORT int awt_graph_capture_end(Graph* graph, int* filled) {
  return exported([&] { *filled = graph->capture_end(); });
}
AWT_EXPORT int awt_graph_instantiate(Graph* graph) {
  return exported([&] { graph->instantiate(); });
}
AWT_EXPORT int awt_graph_replay(Graph* graph) {
  return exported([&] { graph->replay(); });
}
AWT_EXPORT int awt_graph_reset(Graph* graph) {
  return exported([&] { graph->reset(); });
}
AWT_EXPORT int awt_graph_pool(Graph* graph, uint64_t* pool) {
  return exported([&] {
    const PoolId found = graph->pool();
    pool[0] = found.first, pool[1] = found.second;
  });
}
AWT_EXPORT void awt_graph_enable_debug(Graph* graph) { graph->enable_debug(); }
AWT_EXPORT int awt_graph_dump(Graph* graph, const char* path) {
  return exported([&] { graph->dump(path); });
}
AWT_EXPORT int awt_graph_raw(Graph* graph, uint64_t* handle) {
  return exported([&] { *handle = reinterpret_cast<uint64_t>(graph->raw()); });
}
AWT_EXPORT int awt_graph_raw_exec(Graph* graph, uint64_t* handle) {
  return exported([&] { *handle = reinterpret_cast<uint64_t>(graph->raw_exec()); });
}

namespace {

void add_generator(int64_t graph, const std::optional<at::Generator>& generator) {
  reinterpret_cast<Graph*>(graph)->add_generator(generator.value());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(anywarp, library) {
  library.def("graph_generator(int graph, Generator? generator) -> ()",
              torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, &add_generator));
}
