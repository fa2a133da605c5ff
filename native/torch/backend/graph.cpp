#include "graph.h"

#include <c10/util/Exception.h>

#include <unordered_map>

#include "allocator.h"
#include "deferred.h"
#include "devices.h"
#include "generator.h"
#include "streams.h"
#include "versions.h"

namespace awt {
namespace {

const DriverFn<CUresult(CUstream, int)> begin_capture_on{"cuStreamBeginCapture_v2"};
const DriverFn<CUresult(CUstream, CUgraph*)> end_capture_on{"cuStreamEndCapture"};
const DriverFn<CUresult(CUstream, int*, uint64_t*)> capture_state{"cuStreamGetCaptureInfo"};
const DriverFn<CUresult(CUgraphExec*, CUgraph, unsigned long long)> graph_instantiate{
    "cuGraphInstantiateWithFlags"};
const DriverFn<CUresult(CUgraphExec, CUstream)> graph_launch{"cuGraphLaunch"};
const DriverFn<CUresult(CUgraph, CUgraphNode*, size_t*)> graph_nodes{"cuGraphGetNodes"};
const DriverFn<CUresult(CUgraph)> graph_destroy{"cuGraphDestroy"};
const DriverFn<CUresult(CUgraphExec)> exec_destroy{"cuGraphExecDestroy"};
const DriverFn<CUresult(CUgraph, const char*, unsigned)> graph_print{"cuGraphDebugDotPrint"};

constexpr unsigned kVerbose = 1;
constexpr int kActive = 1;

uint64_t capture_id(c10::Stream stream) {
  int status = 0;
  uint64_t id = 0;
  const InContext in(stream.device_index());
  check(capture_state(native_stream(stream), &status, &id));
  return status == kActive ? id : 0;
}

// Graphs under capture by the driver's number of the capture.
struct UnderCapture {
  std::mutex mutex;
  std::unordered_map<uint64_t, Graph*> graphs;
};
UnderCapture& under_capture() {
  static auto& instance = *new UnderCapture;
  return instance;
}

// As CUDA has it: of the common pool and the default stream, wherever the capture allocates.
c10::DataPtr memory_of_generator(c10::DeviceIndex device) {
  void* memory = allocate_raw_on(sizeof(int64_t), default_stream(device));
  return {memory, memory, &free_raw, c10::Device(c10::DeviceType::CUDA, device)};
}

}  // namespace

Graph::~Graph() { destroy(); }

void Graph::add_generator(at::Generator generator) {
  for (const auto& known : generators_)
    if (known == generator) return;
  generators_.push_back(std::move(generator));
}

void Graph::note_draw(const at::Generator& generator) {
#if AWT_TORCH < 214
  require_capture(generator);
#else
  const size_t known = generators_.size();
  add_generator(generator);
  if (generators_.size() > known) awt::begin_capture(generator);
  give_memory(generator);
#endif
  draws_ = true;
}

void Graph::give_memory(const at::Generator& generator) {
  for (const auto& known : memory_)
    if (known.generator == generator) return;
  const c10::DeviceIndex device = generator.device().index();
  memory_.push_back({generator, memory_of_generator(device), memory_of_generator(device)});
}

void note_captured_draw(c10::Stream stream, const at::Generator& generator) {
  const uint64_t id = capture_id(stream);
  std::unique_lock lock(under_capture().mutex);
  const auto found = under_capture().graphs.find(id);
  TORCH_CHECK(found != under_capture().graphs.end(),
              "random numbers can be captured only between capture_begin() and capture_end() of a "
              "torch.cuda.CUDAGraph");
  Graph* graph = found->second;
  lock.unlock();
  graph->note_draw(generator);
}

void Graph::capture_begin(PoolId pool, int mode) {
  TORCH_CHECK(!exec_ && !graph_,
              "This CUDAGraph instance already owns a captured graph. To capture a new graph, "
              "create a new instance.");
  enter_thread();
  device_ = current_device();
  const c10::Stream stream = current_stream(device_);
  TORCH_CHECK(stream != default_stream(device_),
              "CUDA graphs must be captured on a non-default stream. (However, after capture, it's "
              "ok to replay "
              "them on the default stream.)");
  settle_draws();  // what was given before draws from the state as it is
  stream_ = stream;
  pool_ = pool == PoolId{0, 0} ? new_pool_id(false) : pool;
  add_generator(default_generator(device_));
#if AWT_TORCH < 214  // newer ones at the first number drawn
  for (const auto& generator : generators_) give_memory(generator);
#endif
  CUstream native = native_stream(stream);
  check(begin_capture_on(native, mode));
  const uint64_t id = capture_id(stream);
  try {
    begin_allocate_to_pool(device_, pool_,
                           [id](c10::Stream wanted) { return capture_id(wanted) == id; });
  } catch (...) {
    CUgraph unused = nullptr;
    if (end_capture_on(native, &unused) == CUDA_SUCCESS) graph_destroy(unused);
    throw;
  }
  owns_pool_ = true;
  for (const auto& generator : generators_) awt::begin_capture(generator);
  mark_capture(device_, true);
  count_capture(1);
  capturing_ = true;
  capture_ = id;
  std::lock_guard lock(under_capture().mutex);
  under_capture().graphs[id] = this;
}

void Graph::stop_capture() {
  if (!std::exchange(capturing_, false)) return;
  {
    std::lock_guard lock(under_capture().mutex);
    under_capture().graphs.erase(capture_);
  }
  count_capture(-1);
  mark_capture(device_, false);
  for (const auto& generator : generators_) awt::end_capture(generator);
  end_allocate_to_pool(device_, pool_);
}

bool Graph::capture_end() {
  TORCH_CHECK(capturing_, "capture_end was called without capture_begin.");
  TORCH_CHECK(current_stream(current_device()) == *stream_,
              "Capture must end on the same stream it began on.");
  const InContext in(device_);
  const CUresult result = end_capture_on(native_stream(*stream_), &graph_);
  stop_capture();
  if (result != CUDA_SUCCESS) graph_ = nullptr;
  check(result);
  TORCH_CHECK(graph_, "Invalid capture.");
  size_t nodes = 0;
  check(graph_nodes(graph_, nullptr, &nodes));
  ended_ = true;
  if (keep_graph_) return nodes != 0;
  instantiate();
  if (!debug_) check(graph_destroy(std::exchange(graph_, nullptr)));
  return nodes != 0;
}

void Graph::instantiate() {
  TORCH_CHECK(ended_, "capture_end() must have been called before calling instantiate");
  const InContext in(device_);
  if (exec_) {
    TORCH_CHECK(keep_graph_,
                "instantiate() is intended to be called by the user only when keep_graph=true");
    check(exec_destroy(std::exchange(exec_, nullptr)));
  }
  check(graph_instantiate(&exec_, graph_, 0));
}

void Graph::replay() {
  TORCH_CHECK(ended_, "Called CUDAGraph::replay without a preceding successful capture.");
  if (!exec_) {
    TORCH_INTERNAL_ASSERT(keep_graph_);
    instantiate();
  }
  const InContext in(device_);
  const c10::Stream stream = current_stream(device_);
  if (draws_) {
    settle_draws();  // elsewhere: a replay draws what comes next
    note_draws(stream);
    if (capture_id(stream))
      for (const auto& generator : generators_) note_captured_draw(stream, generator);
  }
  check(graph_launch(exec_, native_stream(stream)));
}

void Graph::destroy() noexcept {
  try {
    if (capturing_) {
      // Abandoned in the middle: the stream must not stay captured for ever.
      CUgraph unused = nullptr;
      const InContext in(device_);
      if (end_capture_on(native_stream(*stream_), &unused) == CUDA_SUCCESS) graph_destroy(unused);
      stop_capture();
    }
    if (graph_) graph_destroy(std::exchange(graph_, nullptr));
    if (exec_) exec_destroy(std::exchange(exec_, nullptr));
    if (std::exchange(owns_pool_, false)) release_pool(device_, pool_);
  } catch (...) {
    // At the end of the process the driver may be gone.
  }
  memory_.clear();
  draws_ = false;
  generators_.clear();
  ended_ = false;
}

void Graph::reset() { destroy(); }

PoolId Graph::pool() const {
  TORCH_CHECK(ended_, "Called CUDAGraph::pool() without a preceding successful capture.");
  return pool_;
}

void Graph::dump(const std::string& path) {
  TORCH_CHECK(debug_, "CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()");
  TORCH_CHECK(graph_, "CUDA Graphs debug_dump: there is no captured graph");
  check(graph_print(graph_, path.c_str(), kVerbose));
  if (keep_graph_) return;
  check(graph_destroy(std::exchange(graph_, nullptr)));
}

CUgraph Graph::raw() const {
  TORCH_CHECK(keep_graph_,
              "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized "
              "with keep_graph=true");
  TORCH_CHECK(graph_,
              "You cannot access the raw cudaGraph_t instance until capture_end() has been called");
  return graph_;
}

CUgraphExec Graph::raw_exec() const {
  TORCH_CHECK(
      exec_,
      "You cannot access the raw cudaGraphExec_t instance until instantiate() has been called");
  return exec_;
}

}  // namespace awt
