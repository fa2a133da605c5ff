// From what the hub tells to CUPTI's records.
#include "cupti/records.h"

#include <unistd.h>

#include <atomic>

#include "cupti/buffers.h"
#include "cupti/session.h"

namespace aw::cupti {
namespace {

constexpr uint32_t kCompute = 1, kCopyChannel = 2;

bool on_device(uint32_t kind) { return kind == AW_MEMORY_DEVICE || kind == AW_MEMORY_MANAGED; }

// CUpti_ActivityMemcpyKind.
uint8_t copy_kind(uint32_t to, uint32_t from) {
  enum : uint8_t {
    htod = 1,
    dtoh = 2,
    htoa = 3,
    atoh = 4,
    atoa = 5,
    atod = 6,
    dtoa = 7,
    dtod = 8,
    htoh = 9
  };
  if (to == AW_MEMORY_ARRAY) return from == AW_MEMORY_ARRAY ? atoa : on_device(from) ? dtoa : htoa;
  if (from == AW_MEMORY_ARRAY) return on_device(to) ? atod : atoh;
  if (on_device(to)) return on_device(from) ? dtod : htod;
  return on_device(from) ? dtoh : htoh;
}

// Numbers of nodes: those of their graphs above, so that they are unique (cuptiGetGraphNodeId).
uint64_t node_number(const AwRecord& r) { return r.node ? graph_number(r.node) : 0; }

void write_kernel(const AwRecord& r) {
  static std::atomic<int64_t> grids{1};
  KernelRecord k{};
  k.kind = records(kConcurrentKernel) ? kConcurrentKernel : kKernel;
  k.start = profiler_time(r.begin), k.end = profiler_time(r.end);
  k.queued = profiler_time(r.queued);
  k.device = r.device, k.context = r.context, k.stream = r.stream, k.correlation = r.correlation;
  for (int i = 0; i < 3; ++i) {
    k.grid[i] = static_cast<int32_t>(r.kernel.grid[i]);
    k.block[i] = static_cast<int32_t>(r.kernel.block[i]);
  }
  k.static_shared = static_cast<int32_t>(r.kernel.static_shared);
  k.dynamic_shared = static_cast<int32_t>(r.kernel.dynamic_shared);
  k.shared_executed = r.kernel.static_shared + r.kernel.dynamic_shared;
  k.local_per_thread = r.kernel.local;
  k.grid_id = grids++;
  k.name = anywarp_activity_text(r.name);
  k.launch_type = r.flags & 1;
  k.graph = graph_number(r.graph), k.graph_node = node_number(r);
  k.channel_type = kCompute;
#if ANYWARP_CUPTI_MAJOR >= 13
  k.execution_model = 1;  // SIMT
  k.source_graph = k.graph, k.source_graph_node = k.graph_node;
#endif
  write(&k, sizeof k);
}

void write_copy(const AwRecord& r) {
  MemcpyRecord m{};
  m.kind = kMemcpy;
  m.copy_kind = copy_kind(r.copy.to_kind, r.copy.from_kind);
  m.source_kind = static_cast<uint8_t>(r.copy.from_kind);
  m.target_kind = static_cast<uint8_t>(r.copy.to_kind);
  m.flags = r.flags & 1;
  m.bytes = r.copy.bytes, m.start = profiler_time(r.begin), m.end = profiler_time(r.end);
  m.device = r.device, m.context = r.context, m.stream = r.stream, m.correlation = r.correlation;
  m.graph = graph_number(r.graph), m.graph_node = node_number(r);
  m.channel_type = kCopyChannel, m.copies = 1;
  write(&m, sizeof m);
}

void write_fill(const AwRecord& r) {
  MemsetRecord m{};
  m.kind = kMemset, m.value = r.fill.value;
  m.bytes = r.fill.bytes, m.start = profiler_time(r.begin), m.end = profiler_time(r.end);
  m.device = r.device, m.context = r.context, m.stream = r.stream, m.correlation = r.correlation;
  m.flags = r.flags & 1, m.memory_kind = AW_MEMORY_DEVICE;
  m.graph = graph_number(r.graph), m.graph_node = node_number(r);
  m.channel_type = kCompute;
  write(&m, sizeof m);
}

void write_event(const AwRecord& r) {
  EventRecord e{};
  e.kind = kCudaEvent, e.correlation = r.correlation;
  e.context = r.context, e.stream = r.stream, e.device = r.device;
  e.event = graph_number(r.other.handle);
  e.device_timestamp = profiler_time(r.end);
  write(&e, sizeof e);
}

void write_graph(const AwRecord& r) {
  GraphRecord g{};
  g.kind = kGraphTrace, g.correlation = r.correlation;
  g.start = profiler_time(r.begin), g.end = profiler_time(r.end);
  g.device = g.end_device = r.device, g.context = g.end_context = r.context;
  g.stream = r.stream, g.graph = graph_number(r.graph);
  write(&g, sizeof g);
}

void write_memory(const AwRecord& r) {
  MemoryRecord m{};
  m.kind = kMemory2, m.operation = r.memory.is_free ? 2 : 1, m.memory_kind = r.memory.kind;
  m.correlation = r.correlation, m.address = r.memory.address, m.bytes = r.memory.bytes;
  m.timestamp = profiler_time(r.begin);
  m.process = static_cast<uint32_t>(getpid()), m.device = r.device, m.context = r.context;
  m.stream = UINT32_MAX;  // of no stream
  m.pool_type = r.memory.pool ? 1 : 0, m.pool_address = r.memory.pool;
  write(&m, sizeof m);
}

void write_marker(const AwRecord& r, uint32_t id, uint32_t flags, uint64_t time) {
  MarkerRecord m{};
  m.kind = kMarker, m.flags = flags, m.timestamp = profiler_time(time), m.id = id;
  m.object_kind = 2;  // a thread
  m.object = {static_cast<uint32_t>(getpid()), profiler_thread(), 0};
  m.name =
      flags & 4 ? nullptr : anywarp_activity_text(r.name);  // an end has no name, as documented
  m.domain = nullptr;
  write(&m, sizeof m);
}

void write_markers(const AwRecord& r) {
  static std::atomic<uint32_t> next{1};
  uint32_t id = next++;
  if (r.kind == AW_ACTIVITY_MARK) return write_marker(r, id, 1, r.begin);
  write_marker(r, id, 2, r.begin);
  write_marker(r, id, 4, r.end);
}

}  // namespace

size_t record_bytes(uint32_t kind) {
  switch (kind) {
    case kMemcpy:
      return sizeof(MemcpyRecord);
    case kMemset:
      return sizeof(MemsetRecord);
    case kKernel:
    case kConcurrentKernel:
      return sizeof(KernelRecord);
    case kDriver:
    case kRuntime:
      return sizeof(ApiRecord);
    case kMarker:
      return sizeof(MarkerRecord);
    case kCudaEvent:
      return sizeof(EventRecord);
    case kSynchronization:
      return sizeof(SynchronizationRecord);
    case kExternalCorrelation:
      return sizeof(ExternalRecord);
    case kMemory2:
      return sizeof(MemoryRecord);
    case kGraphTrace:
      return sizeof(GraphRecord);
    default:
      return 0;
  }
}

void record_activity(const AwRecord& r) {
  switch (r.kind) {
    case AW_ACTIVITY_KERNEL:
      if (records(kKernel) || records(kConcurrentKernel)) write_kernel(r);
      return;
    case AW_ACTIVITY_COPY:
      if (records(kMemcpy)) write_copy(r);
      return;
    case AW_ACTIVITY_FILL:
      if (records(kMemset)) write_fill(r);
      return;
    case AW_ACTIVITY_EVENT_RECORD:
      if (records(kCudaEvent)) write_event(r);
      return;
    case AW_ACTIVITY_GRAPH:
      if (records(kGraphTrace)) write_graph(r);
      return;
    case AW_ACTIVITY_MEMORY:
      if (records(kMemory2)) write_memory(r);
      return;
    case AW_ACTIVITY_RANGE:
    case AW_ACTIVITY_MARK:
      if (records(kMarker)) write_markers(r);
      return;
    default:
      return;
  }
}

}  // namespace aw::cupti
