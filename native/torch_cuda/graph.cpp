// at::cuda::CUDAGraph for extensions: the stand-in's graphs.
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

// With it the class has more members, which extensions that do not include cuda.h know nothing of.
#undef CUDA_VERSION
#include <ATen/cuda/CUDAGraph.h>

#include <mutex>
#include <unordered_map>

#include "stand_in.h"

#if AWT_TORCH >= 213
namespace at::cuda {
namespace {

// By the address of torch's object, which has no member of ours.
struct Known {
  std::mutex mutex;
  std::unordered_map<const CUDAGraph*, awt::Graph*> graphs;
};
Known& known() {
  static auto& instance = *new Known;
  return instance;
}

awt::Graph* of(const CUDAGraph* graph) {
  const std::lock_guard lock(known().mutex);
  return known().graphs.at(graph);
}

}  // namespace

MempoolId_t graph_pool_handle() {
  uint64_t graph = 0, hand = 0;
  awt::require(awt_pool_new_id(0, &graph, &hand));
  return {graph, hand};
}

CUDAGraph::CUDAGraph(bool keep) : capture_stream_(getCurrentCUDAStream()), keep_graph_(keep) {
  awt::Graph* made = nullptr;
  awt::require(awt_graph_new(keep, &made));
  const std::lock_guard lock(known().mutex);
  known().graphs[this] = made;
}

CUDAGraph::~CUDAGraph() {
  awt::Graph* const made = of(this);
  {
    const std::lock_guard lock(known().mutex);
    known().graphs.erase(this);
  }
  awt_graph_delete(made);
}

void CUDAGraph::register_generator_state(const Generator& generator) {
  awt::require(awt_graph_add_generator(of(this), &generator));
}

void CUDAGraph::capture_begin(MempoolId_t pool, cudaStreamCaptureMode mode) {
  awt::require(awt_graph_capture_begin(of(this), pool.first, pool.second, mode));
}

void CUDAGraph::capture_end() {
  int filled = 0;
  awt::require(awt_graph_capture_end(of(this), &filled));
  if (!filled)
    TORCH_WARN(
        "The CUDA Graph is empty. This usually means that the graph was attempted to be captured "
        "on wrong device or stream.");
}

void CUDAGraph::instantiate() { awt::require(awt_graph_instantiate(of(this))); }
void CUDAGraph::replay() { awt::require(awt_graph_replay(of(this))); }
void CUDAGraph::reset() { awt::require(awt_graph_reset(of(this))); }

MempoolId_t CUDAGraph::pool() {
  uint64_t pool[2] = {};
  awt::require(awt_graph_pool(of(this), pool));
  return {pool[0], pool[1]};
}

void CUDAGraph::enable_debug_mode() { awt_graph_enable_debug(of(this)); }

void CUDAGraph::debug_dump(const std::string& path) {
  awt::require(awt_graph_dump(of(this), path.c_str()));
}

cudaGraph_t CUDAGraph::raw_cuda_graph() {
  uint64_t handle = 0;
  awt::require(awt_graph_raw(of(this), &handle));
  return reinterpret_cast<cudaGraph_t>(handle);
}

cudaGraphExec_t CUDAGraph::raw_cuda_graph_exec() {
  uint64_t handle = 0;
  awt::require(awt_graph_raw_exec(of(this), &handle));
  return reinterpret_cast<cudaGraphExec_t>(handle);
}

}  // namespace at::cuda

namespace at {
void CUDAGeneratorImpl::register_graph(cuda::CUDAGraph* graph) {
  graph->register_generator_state(
      Generator(c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_reclaim_from_nonowning(this)));
}
}  // namespace at
#endif
