// Records of CUPTI's activity interface: layouts and values as its public headers document them
// (cupti_activity.h of CUDA 12.9 for libcupti.so.12, of 13.5 for libcupti.so.13). Later versions of
// a record only add members at its end.
#pragma once

#include <cstddef>
#include <cstdint>

#define AW_RECORD struct __attribute__((packed, aligned(8)))

namespace aw::cupti {

constexpr int kMajor = ANYWARP_CUPTI_MAJOR;

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kName = 11,
  kMarker = 12,
  kMarkerData = 13,
  kOverhead = 17,
  kMemcpy2 = 22,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory = 45,
  kMemory2 = 49,
  kGraphTrace = 51,
  kKindCount = 60,
};

AW_RECORD KernelRecord {
  uint32_t kind;
  uint8_t cache_config, shared_memory_config;
  uint16_t registers;
  uint32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit, graph;
  void* access_policy;
  uint32_t channel, channel_type, cluster[3], cluster_policy;
  uint64_t local_total_v2;
  uint32_t max_potential_cluster, max_active_clusters;
#if ANYWARP_CUPTI_MAJOR >= 13
  uint8_t device_launched, padding3[7];
  int32_t priority;
  uint32_t padding4, execution_model, padding5, source_graph, padding6;
  uint64_t source_graph_node;
#endif
};

AW_RECORD MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind, source_kind, target_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type;
  uint8_t device_launched, pad2[3];
  uint64_t copies;
#if ANYWARP_CUPTI_MAJOR >= 13
  uint32_t source_graph, pad3;
  uint64_t source_graph_node;
#endif
};

AW_RECORD MemsetRecord {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
  uint32_t pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type, pad2;
#if ANYWARP_CUPTI_MAJOR >= 13
  uint32_t source_graph, pad3;
  uint64_t source_graph_node;
#endif
};

AW_RECORD ApiRecord {
  uint32_t kind, number;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};

AW_RECORD ExternalRecord {
  uint32_t kind, external_kind;
  uint64_t external;
  uint32_t correlation, reserved;
};

// What a record is about: a thread of a process, or a stream of a context of a device.
struct __attribute__((packed)) ObjectId {
  uint32_t first, second, third;
};

AW_RECORD MarkerRecord {
  uint32_t kind, flags;
  uint64_t timestamp;
  uint32_t id, object_kind;
  ObjectId object;
  uint32_t pad;
  const char* name;
  const char* domain;
};

AW_RECORD SynchronizationRecord {
  uint32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
  uint64_t event_sync;
  uint32_t result, pad;
};

AW_RECORD EventRecord {
  uint32_t kind, correlation, context, stream, event, pad, device, pad2;
  void* reserved;
  uint64_t device_timestamp, event_sync;
#if ANYWARP_CUPTI_MAJOR >= 13
  uint64_t graph_node;
  uint32_t graph, source_graph;
  uint64_t source_graph_node;
#endif
};

// CUPTI_ACTIVITY_KIND_MEMORY, one record for the life of an allocation.
AW_RECORD MemoryLifeRecord {
  uint32_t kind, memory_kind;
  uint64_t address, bytes, start, end, allocated_at, freed_at;
  uint32_t process, device, context, pad;
  const char* name;
};

// CUPTI_ACTIVITY_KIND_MEMORY2, one record for each allocation and each release.
AW_RECORD MemoryRecord {
  uint32_t kind, operation, memory_kind, correlation;
  uint64_t address, bytes, timestamp, at;
  uint32_t process, device, context, stream;
  const char* name;
  uint32_t async, pad1, pool_type, pad2;
  uint64_t pool_address, pool_threshold, pool_size, pool_used;
  const char* source;
};

AW_RECORD GraphRecord {
  uint32_t kind, correlation;
  uint64_t start, end;
  uint32_t device, graph, context, stream;
  void* reserved;
  uint32_t end_device, end_context;
};

AW_RECORD OverheadRecord {
  uint32_t kind, overhead, object_kind;
  ObjectId object;
  uint64_t start, end;
  uint32_t correlation, reserved;
  void* data;
};

// How long a record of a kind is; 0 for kinds that we never write.
size_t record_bytes(uint32_t kind);

}  // namespace aw::cupti
