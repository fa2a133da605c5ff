// Driver API reference: external resource interoperability, semaphores, and graph nodes of them.
#include "cpu/semaphores.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/handles.h"
#include "cpu/graph.h"
#include "cpu/stream.h"
#include "cuda/context.h"

namespace aw {
namespace {

Handles<Semaphore>& all_semaphores() {
  static auto& instance = *new Handles<Semaphore>;
  return instance;
}

std::shared_ptr<Semaphore> semaphore_of(CUexternalSemaphore handle) {
  auto found = all_semaphores().find(handle);
  require(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return found;
}

uint64_t* map_counter(int file) {
  struct stat status;
  require(fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(uint64_t)));
  void* got = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(got != MAP_FAILED);
  return static_cast<uint64_t*>(got);
}

template <class Task>
Work semaphore_work(const typename Task::NodeParams* p) {
  require(p && p->extSemArray && p->paramsArray && p->numExtSems > 0);
  auto task = std::make_shared<Task>();
  for (unsigned i = 0; i < p->numExtSems; ++i) {
    task->semaphores.push_back(semaphore_of(p->extSemArray[i]));
    task->handles.push_back(p->extSemArray[i]);
    task->values.push_back(p->paramsArray[i]);
  }
  return SpecialWork{std::move(task)};
}

}  // namespace

Semaphore::~Semaphore() {
  if (timeline) munmap(timeline, sizeof *timeline);
  if (file >= 0) close(file);
}

void Semaphore::signal(uint64_t value) const {
  if (timeline) return __atomic_store_n(timeline, value, __ATOMIC_RELEASE);
  uint64_t one = 1;
  require(write(file, &one, sizeof one) == sizeof one, CUDA_ERROR_UNKNOWN);
}

bool Semaphore::reached(uint64_t value) const {
  if (timeline) return __atomic_load_n(timeline, __ATOMIC_ACQUIRE) >= value;
  // Another reader may take the count between the two calls; the file may block then, so that is
  // prevented at import.
  uint64_t count;
  return read(file, &count, sizeof count) == sizeof count;
}

template <>
void SignalTask::perform(Context&) const {
  for (size_t i = 0; i < semaphores.size(); ++i)
    semaphores[i]->signal(values[i].params.fence.value);
}

template <>
void SemaphoreWaitTask::perform(Context& context) const {
  for (size_t i = 0; i < semaphores.size(); ++i) {
    while (!semaphores[i]->reached(values[i].params.fence.value) && !context.error)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Work signal_work(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return semaphore_work<SignalTask>(params);
}

Work wait_work(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return semaphore_work<SemaphoreWaitTask>(params);
}

}  // namespace aw

using namespace aw;

namespace {

template <class Task>
auto params_in(CUgraphNode node) {
  auto found = node_of(node);
  auto* special = std::get_if<SpecialWork>(found->work.get());
  auto* task = special ? dynamic_cast<const Task*>(special->task.get()) : nullptr;
  require(task);
  return task->params();
}

}  // namespace

AW_EXPORT CUresult cuImportExternalSemaphore(
    CUexternalSemaphore* out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  return api<"cuImportExternalSemaphore">([&] {
    require(out && description && description->flags == 0);
    current_context();
    if (description->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
        description->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD) {
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "semaphores are imported as file descriptors only: an eventfd as binary one, a "
                    "file whose first eight bytes count as time line");
    }
    auto made = std::make_shared<Semaphore>();
    if (description->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD) {
      made->timeline = map_counter(description->handle.fd);
    } else {
      struct stat status;
      require(fstat(description->handle.fd, &status) == 0 && status.st_size == 0);
      int flags = fcntl(description->handle.fd, F_GETFL);
      require(flags >= 0 && fcntl(description->handle.fd, F_SETFL, flags | O_NONBLOCK) == 0);
    }
    made->file = description->handle.fd;  // which is ours from here on, as documented
    made->handle = all_semaphores().add(made);
    *out = as_handle<CUexternalSemaphore>(made->handle);
  });
}

AW_EXPORT CUresult cuDestroyExternalSemaphore(CUexternalSemaphore handle) {
  return api<"cuDestroyExternalSemaphore">(
      [&] { require(all_semaphores().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}

AW_EXPORT CUresult cuSignalExternalSemaphoresAsync(
    const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params,
    unsigned count, CUstream stream) {
  return api<"cuSignalExternalSemaphoresAsync">([&] {
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS p = {const_cast<CUexternalSemaphore*>(semaphores), params,
                                         count};
    stream_of(stream)->submit(signal_work(&p));
  });
}

AW_EXPORT CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* params,
                                                 unsigned count, CUstream stream) {
  return api<"cuWaitExternalSemaphoresAsync">([&] {
    CUDA_EXT_SEM_WAIT_NODE_PARAMS p = {const_cast<CUexternalSemaphore*>(semaphores), params, count};
    stream_of(stream)->submit(wait_work(&p));
  });
}

AW_EXPORT CUresult cuGraphAddExternalSemaphoresSignalNode(
    CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return api<"cuGraphAddExternalSemaphoresSignalNode">([&] {
    require(out);
    *out = as_handle<CUgraphNode>(add_node(graph, after, count, signal_work(params))->handle);
  });
}

AW_EXPORT CUresult
cuGraphAddExternalSemaphoresWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     size_t count, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return api<"cuGraphAddExternalSemaphoresWaitNode">([&] {
    require(out);
    *out = as_handle<CUgraphNode>(add_node(graph, after, count, wait_work(params))->handle);
  });
}

AW_EXPORT CUresult cuGraphExternalSemaphoresSignalNodeGetParams(
    CUgraphNode node, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* out) {
  return api<"cuGraphExternalSemaphoresSignalNodeGetParams">([&] {
    require(out);
    *out = params_in<SignalTask>(node);
  });
}

AW_EXPORT CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node,
                                                              CUDA_EXT_SEM_WAIT_NODE_PARAMS* out) {
  return api<"cuGraphExternalSemaphoresWaitNodeGetParams">([&] {
    require(out);
    *out = params_in<SemaphoreWaitTask>(node);
  });
}

AW_EXPORT CUresult cuGraphExternalSemaphoresSignalNodeSetParams(
    CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return api<"cuGraphExternalSemaphoresSignalNodeSetParams">(
      [&] { replace_work(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signal_work(params)); });
}

AW_EXPORT CUresult cuGraphExternalSemaphoresWaitNodeSetParams(
    CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return api<"cuGraphExternalSemaphoresWaitNodeSetParams">(
      [&] { replace_work(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, wait_work(params)); });
}

AW_EXPORT CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return api<"cuGraphExecExternalSemaphoresSignalNodeSetParams">(
      [&] { replace_work(exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signal_work(params)); });
}

AW_EXPORT CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return api<"cuGraphExecExternalSemaphoresWaitNodeSetParams">(
      [&] { replace_work(exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, wait_work(params)); });
}
