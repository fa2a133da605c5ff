// CUPTI's activity interface: buffers that the profiler gives, filled with records and handed back.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "cupti/buffers.h"
#include "cupti/session.h"

namespace aw::cupti {
namespace {

enum class Choice : uint8_t { as_their_kind, with, without };

struct Enabled {
  std::atomic<bool> kinds[kKindCount];
  std::atomic<Choice> chosen[3][kMostNumbers];  // by domain: functions with a wish of their own
  std::atomic<bool> any_chosen{false};
};

Enabled& enabled() {
  static Enabled& instance = *new Enabled;
  return instance;
}

struct External {
  std::vector<uint64_t> stacks[8];  // by kind
};

External& externals() {
  thread_local External instance;
  return instance;
}

constexpr uint32_t kSupported[] = {kMemcpy,
                                   kMemset,
                                   kKernel,
                                   kDriver,
                                   kRuntime,
                                   kConcurrentKernel,
                                   kMemcpy2,
                                   kCudaEvent,
                                   kMarker,
                                   kSynchronization,
                                   kExternalCorrelation,
                                   kMemory2,
                                   kGraphTrace};

// Kinds that a profiler may ask for and of which nothing happens here: no compilation by the driver
// counts as overhead of a profiler, names and streams are told by nobody.
constexpr uint32_t kQuiet[] = {kDevice, kContext, kName, kMarkerData, kOverhead, kStream, kMemory};

template <size_t N>
bool among(uint32_t kind, const uint32_t (&list)[N]) {
  return std::find(list, list + N, kind) != list + N;
}

bool is_on(uint32_t kind) { return enabled().kinds[kind].load(std::memory_order_relaxed); }

int switch_kind(uint32_t kind, bool on) {
  if (kind == 0 || kind >= kKindCount) return ended(kInvalidKind);
  if (!among(kind, kSupported) && !among(kind, kQuiet)) return ended(on ? kNotSupported : kSuccess);
  enabled().kinds[kind] = on;
  listen_again();
  return kSuccess;
}

int push_external(uint32_t kind, uint64_t id) {
  if (kind == 0 || kind >= std::size(externals().stacks)) return ended(kInvalidParameter);
  externals().stacks[kind].push_back(id);
  return kSuccess;
}

int pop_external(uint32_t kind, uint64_t* last) {
  if (kind == 0 || kind >= std::size(externals().stacks)) return ended(kInvalidParameter);
  auto& stack = externals().stacks[kind];
  if (stack.empty()) return ended(kQueueEmpty);
  if (last) *last = stack.back();
  stack.pop_back();
  return kSuccess;
}

int next_record(uint8_t* buffer, size_t valid, uint8_t** record) {
  if (!buffer || !record) return ended(kInvalidParameter);
  uint8_t* next = buffer;
  if (*record) {
    uint32_t kind;
    memcpy(&kind, *record, sizeof kind);
    size_t bytes = record_bytes(kind);
    if (!bytes || *record < buffer) return ended(kInvalidKind);
    next = *record + bytes;
  }
  if (next + sizeof(uint32_t) > buffer + valid) return ended(kMaxLimit);
  *record = next;
  return kSuccess;
}

// Records of one function, whatever holds for the others (cuptiActivityEnableDriverApi).
int choose(uint32_t domain, uint32_t number, uint8_t enable) {
  if (number == 0 || number >= kMostNumbers) return ended(kInvalidParameter);
  enabled().chosen[domain][number] = enable ? Choice::with : Choice::without;
  if (enable) enabled().any_chosen = true;
  listen_again();
  return kSuccess;
}

void write_external(const AwCall& call) {
  if (call.outer || !is_on(kExternalCorrelation)) return;
  for (uint32_t kind = 1; kind < std::size(externals().stacks); ++kind) {
    auto& stack = externals().stacks[kind];
    if (stack.empty()) continue;
    ExternalRecord r{};
    r.kind = kExternalCorrelation, r.external_kind = kind;
    r.external = stack.back(), r.correlation = call.correlation;
    write(&r, sizeof r);
  }
}

enum SynchronizationType : uint32_t {
  kEvent = 1,
  kStreamWait = 2,
  kStreamSync = 3,
  kContextSync = 4
};

// What a call of the driver waits for; 0 for other calls.
uint32_t synchronization_type(const char* name) {
  static constexpr struct {
    const char* name;
    uint32_t type;
  } table[] = {{"cuEventSynchronize", kEvent},
               {"cuStreamWaitEvent", kStreamWait},
               {"cuStreamWaitEvent_ptsz", kStreamWait},
               {"cuStreamSynchronize", kStreamSync},
               {"cuStreamSynchronize_ptsz", kStreamSync},
               {"cuCtxSynchronize", kContextSync},
               {"cuCtxSynchronize_v2", kContextSync}};
  for (auto& row : table) {
    if (strcmp(row.name, name) == 0) return row.type;
  }
  return 0;
}

void write_synchronization(const AwCall& call) {
  uint32_t type = synchronization_type(call.site->name);
  if (!type) return;
  SynchronizationRecord r{};
  r.kind = kSynchronization, r.type = type;
  r.start = profiler_time(call.begin), r.end = profiler_time(call.end);
  r.correlation = call.correlation, r.result = static_cast<uint32_t>(call.result);
  Place place = current_place(type == kContextSync || type == kEvent ? nullptr : call.params);
  r.context = place.context;
  r.stream = type == kStreamWait || type == kStreamSync ? place.stream : UINT32_MAX;
  const auto* handles = static_cast<const uint64_t*>(call.params);
  bool has_event = handles && (type == kEvent || (type == kStreamWait && call.params_bytes >= 16));
  r.event = has_event ? graph_number(handles[type == kEvent ? 0 : 1]) : UINT32_MAX;
  write(&r, sizeof r);
}

void write_call(const AwCall& call) {
  bool driver = call.site->domain == AW_DOMAIN_DRIVER;
  uint32_t kind = driver ? kDriver : kRuntime;
  uint32_t number = number_of(*call.site);
  if (!number) return;
  Choice choice = enabled().chosen[call.site->domain][number].load(std::memory_order_relaxed);
  if (choice == Choice::without || (choice != Choice::with && !is_on(kind))) return;
  ApiRecord r{};
  r.kind = kind, r.number = number;
  r.start = profiler_time(call.begin), r.end = profiler_time(call.end);
  r.process = static_cast<uint32_t>(getpid()), r.thread = profiler_thread();
  r.correlation = call.correlation, r.result = static_cast<uint32_t>(call.result);
  write(&r, sizeof r);
}

}  // namespace

uint32_t wanted_by_records() {
  auto& on = enabled().kinds;
  uint32_t out = 0;
  bool kernels = on[kKernel] || on[kConcurrentKernel], graphs = on[kGraphTrace];
  bool work = kernels || on[kMemcpy] || on[kMemcpy2] || on[kMemset] || on[kCudaEvent];
  if (work) out |= AW_LISTEN_WORK | AW_LISTEN_CALLS | (graphs ? 0u : uint32_t{AW_LISTEN_NODES});
  if (graphs) out |= AW_LISTEN_GRAPHS | AW_LISTEN_CALLS;
  if (enabled().any_chosen || on[kDriver] || on[kRuntime] || on[kExternalCorrelation] ||
      on[kSynchronization])
    out |= AW_LISTEN_CALLS;
  if (on[kMemory2]) out |= AW_LISTEN_MEMORY | AW_LISTEN_CALLS;
  if (on[kMarker]) out |= AW_LISTEN_RANGES;
  return out;
}

void record_call(const AwCall& call) {
  write_external(call);
  write_call(call);
  if (is_on(kSynchronization) && call.site->domain == AW_DOMAIN_DRIVER) write_synchronization(call);
}

bool records(uint32_t kind) { return is_on(kind); }
void stop_records(uint32_t kind) { enabled().kinds[kind] = false; }
void forget_choices() {
  enabled().any_chosen = false;
  for (auto& domain : enabled().chosen) {
    for (auto& choice : domain) choice = Choice::as_their_kind;
  }
}

}  // namespace aw::cupti

using namespace aw::cupti;

AW_CUPTI cuptiActivityEnable(uint32_t kind) { return switch_kind(kind, true); }
AW_CUPTI cuptiActivityDisable(uint32_t kind) { return switch_kind(kind, false); }
AW_CUPTI cuptiActivityEnable_v2(void*, uint32_t kind, void*) { return switch_kind(kind, true); }
AW_CUPTI cuptiActivityDisable_v2(void*, uint32_t kind, void*) { return switch_kind(kind, false); }
// Nothing that existed before is told of: contexts and devices have no records here.
AW_CUPTI cuptiActivityEnableAndDump(uint32_t kind) { return switch_kind(kind, true); }
AW_CUPTI cuptiActivityEnableContext(void*, uint32_t kind) { return switch_kind(kind, true); }
AW_CUPTI cuptiActivityDisableContext(void*, uint32_t kind) { return switch_kind(kind, false); }

AW_CUPTI cuptiActivityRegisterCallbacks(Request request, Complete complete) {
  if (!request || !complete) return ended(kInvalidParameter);
  register_buffers(request, complete);
  return kSuccess;
}

AW_CUPTI cuptiActivityFlushAll(uint32_t) {
  flush();
  return kSuccess;
}
AW_CUPTI cuptiActivityFlush(void*, uint32_t, uint32_t) {
  flush();
  return kSuccess;
}

AW_CUPTI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  return next_record(buffer, valid, record);
}
AW_CUPTI cuptiActivityGetNextRecord_v2(void*, uint8_t* buffer, size_t valid, uint8_t** record) {
  return next_record(buffer, valid, record);
}

AW_CUPTI cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  if (!dropped) return ended(kInvalidParameter);
  *dropped = take_dropped();
  return kSuccess;
}
AW_CUPTI cuptiActivityGetNumDroppedRecords_v2(void*, void*, uint32_t, size_t* dropped) {
  return cuptiActivityGetNumDroppedRecords(nullptr, 0, dropped);
}

AW_CUPTI cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  return push_external(kind, id);
}
AW_CUPTI cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  return pop_external(kind, last);
}
AW_CUPTI cuptiActivityPushExternalCorrelationId_v2(void*, uint32_t kind, uint64_t id) {
  return push_external(kind, id);
}
AW_CUPTI cuptiActivityPopExternalCorrelationId_v2(void*, uint32_t kind, uint64_t* last) {
  return pop_external(kind, last);
}

AW_CUPTI cuptiActivityEnableDriverApi(uint32_t number, uint8_t enable) {
  return choose(AW_DOMAIN_DRIVER, number, enable);
}
AW_CUPTI cuptiActivityEnableRuntimeApi(uint32_t number, uint8_t enable) {
  return choose(AW_DOMAIN_RUNTIME, number, enable);
}
AW_CUPTI cuptiActivityEnableDriverApi_v2(void*, uint32_t number, uint8_t enable) {
  return choose(AW_DOMAIN_DRIVER, number, enable);
}
AW_CUPTI cuptiActivityEnableRuntimeApi_v2(void*, uint32_t number, uint8_t enable) {
  return choose(AW_DOMAIN_RUNTIME, number, enable);
}

AW_CUPTI cuptiActivityRegisterTimestampCallback(uint64_t (*clock)()) {
  if (!clock) return ended(kInvalidParameter);
  set_profiler_clock(clock);
  return kSuccess;
}

AW_CUPTI cuptiGetTimestamp(uint64_t* timestamp) {
  if (!timestamp) return ended(kInvalidParameter);
  *timestamp = profiler_now();
  return kSuccess;
}
AW_CUPTI cuptiGetTimestamp_v2(void*, uint64_t* timestamp) { return cuptiGetTimestamp(timestamp); }

AW_CUPTI cuptiSetThreadIdType(uint32_t type) {
  if (type > 1) return ended(kInvalidParameter);
  set_system_threads(type == 1);
  return kSuccess;
}
AW_CUPTI cuptiGetThreadIdType(uint32_t* type) {
  if (!type) return ended(kInvalidParameter);
  *type = system_threads();
  return kSuccess;
}

// Moments of the queue are always in the records; the others change what has no part here.
AW_CUPTI cuptiActivityEnableLatencyTimestamps(uint8_t) { return kSuccess; }
AW_CUPTI cuptiActivityEnableAllSyncRecords(uint8_t) { return kSuccess; }
AW_CUPTI cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return kSuccess; }
AW_CUPTI cuptiActivityEnableLaunchAttributes(uint8_t) { return kSuccess; }
