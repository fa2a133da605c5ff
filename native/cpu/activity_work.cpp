#include "cpu/activity_work.h"

#include <utility>

#include "cpu/graph.h"
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cpu/versions.h"
#include "cuda/context.h"
#include "cuda/module.h"

namespace aw {
namespace {

struct Place {
  const Stream* stream = nullptr;
  Origin origin;
  uint64_t graph = 0, node = 0;
};

thread_local constinit Place place;

uint32_t kind_of(const Allocation& a) {
  switch (a.kind) {
    case MemoryKind::managed:
      return AW_MEMORY_MANAGED;
    case MemoryKind::host:
    case MemoryKind::registered:
      return AW_MEMORY_PINNED;
    default:
      return AW_MEMORY_DEVICE;
  }
}

uint32_t kind_at(const void* address, bool in_array) {
  if (in_array) return AW_MEMORY_ARRAY;
  Allocation found = allocation_at(reinterpret_cast<uint64_t>(address));
  return found.base ? kind_of(found) : uint32_t{AW_MEMORY_PAGEABLE};
}

struct Describer {
  AwRecord& r;

  void operator()(const EmptyWork&) const {}
  void operator()(const KernelWork& w) const {
    r.kind = AW_ACTIVITY_KERNEL;
    r.name = anywarp_activity_name(w.function->entry->name.c_str());
    for (int i = 0; i < 3; ++i) r.kernel.grid[i] = w.grid[i], r.kernel.block[i] = w.block[i];
    auto code = w.versions->general();
    r.kernel.dynamic_shared = w.dynamic_shared;
    r.kernel.static_shared = static_cast<uint32_t>(code->artifact.shared);
    r.kernel.local = static_cast<uint32_t>(code->artifact.local);
    r.flags = w.cooperative ? 1 : 0;
  }
  void operator()(const CopyWork& w) const {
    r.kind = AW_ACTIVITY_COPY;
    r.copy.bytes = w.width * w.height * w.depth;
    r.copy.to = reinterpret_cast<uint64_t>(w.to), r.copy.from = reinterpret_cast<uint64_t>(w.from);
    r.copy.to_kind = kind_at(w.to, w.to_array != nullptr);
    r.copy.from_kind = kind_at(w.from, w.from_array != nullptr);
    bool rows_apart = w.height > 1 && w.to_pitch != w.width;
    bool layers_apart = w.depth > 1 && w.to_layer != w.width * w.height;
    if (rows_apart || layers_apart) r.flags |= AW_COPY_HAS_GAPS;
  }
  void operator()(const SetWork& w) const {
    r.kind = AW_ACTIVITY_FILL;
    r.fill.address = reinterpret_cast<uint64_t>(w.to);
    r.fill.bytes = w.width * w.height * w.element;
    r.fill.value = w.value, r.fill.element = w.element;
  }
  void operator()(const HostWork& w) const {
    r.kind = AW_ACTIVITY_HOST;
    r.other.handle = reinterpret_cast<uint64_t>(w.function);
  }
  void operator()(const CallbackWork& w) const {
    r.kind = AW_ACTIVITY_HOST;
    r.other.handle = reinterpret_cast<uint64_t>(w.function);
  }
  void operator()(const RecordWork& w) const {
    r.kind = AW_ACTIVITY_EVENT_RECORD;
    r.other.handle = w.event;
  }
  void operator()(const WaitWork& w) const {
    r.kind = AW_ACTIVITY_EVENT_WAIT;
    r.other.handle = w.event;
  }
  void operator()(const FreeWork& w) const {
    r.kind = AW_ACTIVITY_FREE;
    r.other.handle = w.address;
  }
  void operator()(const WriteValueWork& w) const {
    r.kind = AW_ACTIVITY_VALUE;
    r.other.handle = w.address, r.other.value = w.value;
  }
  void operator()(const WaitValueWork& w) const {
    r.kind = AW_ACTIVITY_VALUE;
    r.other.handle = w.address, r.other.value = w.value;
    r.flags = 1;
  }
  void operator()(const GraphWork&) const {
    r.kind = AW_ACTIVITY_GRAPH;
    r.graph = place.graph;
  }
  void operator()(const NativeWork& w) const {
    r.kind = AW_ACTIVITY_KERNEL;
    r.name = anywarp_activity_name(w.task->work.name);
    for (int i = 0; i < 3; ++i) r.kernel.grid[i] = r.kernel.block[i] = 1;
  }
  // Conditions, allocations and the like, mostly of graphs.
  void operator()(const SpecialWork&) const {
    r.kind = AW_ACTIVITY_HOST;
    r.name = anywarp_activity_name("step of a graph");
  }
};

AwRecord about(const Stream& stream, Origin origin) {
  AwRecord r{};
  r.correlation = origin.correlation, r.queued = origin.queued;
  r.thread = thread_number();
  r.device = static_cast<uint32_t>(stream.context->device);
  r.context = static_cast<uint32_t>(stream.context->id);
  r.stream = static_cast<uint32_t>(stream.id);
  return r;
}

}  // namespace

WorkingFor::WorkingFor(const Stream& stream, Origin origin) { place = {&stream, origin, 0, 0}; }
WorkingFor::~WorkingFor() { place = {}; }

void set_current_node(uint64_t node) { place.node = node; }

void Observed::begin(const Work& work) {
  if (!place.stream || std::holds_alternative<EmptyWork>(work)) return;
  node_ = std::exchange(place.node, 0), graph_ = place.graph;
  if (auto* graph = std::get_if<GraphWork>(&work)) place.graph = graph->plan->exec;
  work_ = &work;
  begin_ = anywarp_activity_now();
}

void Observed::end() {
  uint64_t end = anywarp_activity_now();
  AwRecord r = about(*place.stream, place.origin);
  r.begin = begin_, r.end = end;
  r.graph = place.graph, r.node = node_;
  std::visit(Describer{r}, *work_);
  place.graph = graph_;
  if (r.kind) tell_record(r);
}

void tell_recorded(const Stream& stream, uint64_t event) {
  if (!listening(AW_LISTEN_WORK)) return;
  AwRecord r = about(stream, {current_correlation(), 0});
  r.kind = AW_ACTIVITY_EVENT_RECORD;
  r.begin = r.end = r.queued = anywarp_activity_now();
  r.other.handle = event;
  tell_record(r);
}

void tell_memory(const Allocation& a, bool is_free) {
  AwRecord r{};
  r.kind = AW_ACTIVITY_MEMORY;
  r.correlation = current_correlation();
  r.thread = thread_number();
  r.begin = r.end = anywarp_activity_now();
  r.device = static_cast<uint32_t>(a.device), r.context = static_cast<uint32_t>(a.context_id);
  r.memory.address = a.base, r.memory.bytes = a.bytes;
  r.memory.pool = reinterpret_cast<uint64_t>(a.pool.get());
  r.memory.kind = kind_of(a), r.memory.is_free = is_free;
  tell_record(r);
}

}  // namespace aw
