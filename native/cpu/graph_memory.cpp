// Driver API reference: graph management, memory nodes.
#include "cpu/graph_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "cpu/advice.h"
#include "cpu/stream.h"
#include "cuda/visible.h"

namespace aw {
namespace {

// What cuDeviceGetGraphMemAttribute tells, in bytes.
struct Counters {
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  std::set<GraphMemory*> idle;  // whose pages wait for the next launch
};

std::mutex& counting() {
  static auto& instance = *new std::mutex;
  return instance;
}

Counters& counters(int device) {
  static auto& all = *new std::array<Counters, kMostDevices>;
  return all[static_cast<size_t>(device)];
}

void* start_of(const GraphMemory& m) { return reinterpret_cast<void*>(m.base); }

// With the mutex held.
void release_pages(GraphMemory& m) {
  if (!m.reserved) return;
  madvise(start_of(m), m.bytes, MADV_DONTNEED);
  m.reserved = false;
  counters(m.device).reserved -= m.bytes;
}

void enter_memory(const std::shared_ptr<GraphMemory>& m) {
  Allocation a;
  a.base = m->base, a.bytes = m->bytes, a.kind = m->kind;
  if (m->kind == MemoryKind::managed) a.advice = std::make_shared<Advice>();
  a.context = m->context, a.context_id = m->context_id, a.device = m->device;
  a.graph_memory = m;
  {
    std::lock_guard lock(counting());
    Counters& c = counters(m->device);
    c.idle.erase(m.get());
    c.used += m->bytes, c.used_high = std::max(c.used_high, c.used);
    if (!m->reserved) c.reserved += m->bytes;
    c.reserved_high = std::max(c.reserved_high, c.reserved);
    m->reserved = true;
  }
  enter(std::move(a));
}

template <class Task>
const Task* task_of(const Work& work) {
  auto* special = std::get_if<SpecialWork>(&work);
  return special ? dynamic_cast<const Task*>(special->task.get()) : nullptr;
}

void collect(const std::vector<GraphExec::Step>& steps,
             std::vector<std::shared_ptr<GraphMemory>>& made, std::set<uint64_t>& freed) {
  for (auto& step : steps) {
    if (auto memory = memory_allocated_by(*step.work)) made.push_back(memory);
    if (auto* task = task_of<GraphFreeTask>(*step.work)) freed.insert(task->address);
    collect(step.child, made, freed);
  }
}

}  // namespace

GraphMemory::GraphMemory(const std::shared_ptr<Context>& owner, int on, MemoryKind what,
                         uint64_t size)
    : device(on), kind(what), context(owner), context_id(owner->id) {
  constexpr uint64_t kPage = 4096;
  require(size <= device_memory(), CUDA_ERROR_OUT_OF_MEMORY);
  bytes = (std::max<uint64_t>(size, 1) + kPage - 1) / kPage * kPage;
  void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(got != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  base = reinterpret_cast<uint64_t>(got);
}

GraphMemory::~GraphMemory() {
  std::lock_guard lock(counting());
  counters(device).idle.erase(this);
  release_pages(*this);
  munmap(start_of(*this), bytes);
}

void withdraw(GraphMemory& m) {
  std::lock_guard lock(counting());
  counters(m.device).used -= m.bytes;
  counters(m.device).idle.insert(&m);
}

void AllocTask::perform(Context&) const {
  if (allocation_at(memory->base).base != memory->base) enter_memory(memory);
}

void GraphFreeTask::perform(Context&) const {
  begin_free(address);
  finish_free(address);
}

std::shared_ptr<GraphMemory> memory_allocated_by(const Work& work) {
  auto* task = task_of<AllocTask>(work);
  return task ? task->memory : nullptr;
}

std::vector<std::shared_ptr<GraphMemory>> left_behind(const std::vector<GraphExec::Step>& steps) {
  std::vector<std::shared_ptr<GraphMemory>> made;
  std::set<uint64_t> freed;
  collect(steps, made, freed);
  std::erase_if(made, [&](auto& memory) { return freed.count(memory->base) > 0; });
  return made;
}

void promise(const std::vector<std::shared_ptr<GraphMemory>>& memory, bool again) {
  for (auto& m : memory) {
    Allocation a = allocation_at(m->base);
    require(again || !a.base || a.freeing);
  }
  for (auto& m : memory) {
    if (!revive(m->base)) enter_memory(m);
  }
}

Work alloc_work(CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  require(p && p->poolProps.handleTypes == 0);
  const CUmemLocation& location = p->poolProps.location;
  bool managed = p->poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  require(managed || p->poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
  if (!managed || location.type != CU_MEM_LOCATION_TYPE_NONE) check_location(location);
  bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  MemoryKind kind = managed     ? MemoryKind::managed
                    : on_device ? MemoryKind::device
                                : MemoryKind::host;
  require(p->accessDescs || p->accessDescCount == 0);
  auto task = std::make_shared<AllocTask>();
  for (size_t i = 0; i < p->accessDescCount; ++i) {
    require(p->accessDescs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            p->accessDescs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    check_device(p->accessDescs[i].location.id);
    task->access.push_back(p->accessDescs[i]);
  }
  auto context = current_context();
  int device = on_device ? location.id : context->device;
  task->memory = std::make_shared<GraphMemory>(context, device, kind, p->bytesize);
  p->dptr = task->memory->base;
  task->params = *p;
  task->params.accessDescs = task->access.empty() ? nullptr : task->access.data();
  return SpecialWork{std::move(task)};
}

Work free_work(CUdeviceptr address) {
  require(address != 0);
  auto task = std::make_shared<GraphFreeTask>();
  task->address = address;
  return SpecialWork{std::move(task)};
}

}  // namespace aw

using namespace aw;

namespace {

uint64_t* counter(Counters& c, int attribute) {
  uint64_t* all[] = {&c.used, &c.used_high, &c.reserved, &c.reserved_high};
  require(attribute >= CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT &&
          attribute <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
  return all[attribute];
}

}  // namespace

AW_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                          size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return api<"cuGraphAddMemAllocNode">([&] {
    require(out);
    *out = as_handle<CUgraphNode>(add_node(graph, after, count, alloc_work(params))->handle);
  });
}

AW_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return api<"cuGraphMemAllocNodeGetParams">([&] {
    auto found = node_of(node);
    auto* task = task_of<AllocTask>(*found->work);
    require(out && task);
    *out = task->params;
  });
}

AW_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                         size_t count, CUdeviceptr address) {
  return api<"cuGraphAddMemFreeNode">([&] {
    require(out);
    *out = as_handle<CUgraphNode>(add_node(graph, after, count, free_work(address))->handle);
  });
}

AW_EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* out) {
  return api<"cuGraphMemFreeNodeGetParams">([&] {
    auto found = node_of(node);
    auto* task = task_of<GraphFreeTask>(*found->work);
    require(out && task);
    *out = task->address;
  });
}

AW_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, int attribute, void* value) {
  return api<"cuDeviceGetGraphMemAttribute">([&] {
    require(value);
    check_device(dev);
    std::lock_guard lock(counting());
    memcpy(value, counter(counters(dev), attribute), sizeof(uint64_t));
  });
}

// High-water marks can only be brought down to what is in use.
AW_EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, int attribute, void* value) {
  return api<"cuDeviceSetGraphMemAttribute">([&] {
    require(value && (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                      attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
    check_device(dev);
    uint64_t number;
    memcpy(&number, value, sizeof number);
    require(number == 0);
    std::lock_guard lock(counting());
    Counters& c = counters(dev);
    *counter(c, attribute) = *counter(c, attribute - 1);
  });
}

AW_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice dev) {
  return api<"cuDeviceGraphMemTrim">([&] {
    check_device(dev);
    std::lock_guard lock(counting());
    for (GraphMemory* m : counters(dev).idle) release_pages(*m);
    counters(dev).idle.clear();
  });
}
