// CUPTI's callback interface: a function of the profiler, called at the entry to and exit from
// functions, and when contexts, streams, modules and graphs come and go.
#include <string.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cuda/cuda_api.h"
#include "cupti/buffers.h"
#include "cupti/session.h"

extern "C" {
CUresult cuCtxGetCurrent(CUcontext* out);
CUresult cuCtxGetId(CUcontext context, unsigned long long* id);
CUresult cuFuncGetName(const char** name, CUfunction function);
}

namespace aw::cupti {
namespace {

using Callback = void (*)(void* user, uint32_t domain, uint32_t number, const void* data);

struct CallbackData {
  uint32_t site;  // 0 entry, 1 exit
  const char* function;
  const void* params;
  void* result;
  const char* symbol;
  CUcontext context;
  uint32_t context_id;
  uint64_t* correlation_data;
  uint32_t correlation;
};

struct ResourceData {
  CUcontext context;
  void* stream;
  void* descriptor;
};

struct ModuleData {
  uint32_t module;
  size_t bytes;
  const char* image;
};

struct GraphData {
  uint64_t graph, original_graph, node, original_node;
  uint32_t type;
  uint64_t dependency, exec;
};

struct SynchronizeData {
  CUcontext context;
  uint64_t stream;
};

struct Subscriber {
  std::mutex mutex;
  std::atomic<Callback> callback{nullptr};
  void* user = nullptr;
  std::atomic<bool> on[kDomainCount][kMostNumbers];
  std::atomic<uint32_t> counts[kDomainCount];
};

Subscriber& subscriber() {
  static Subscriber& instance = *new Subscriber;
  return instance;
}

void* handle() { return &subscriber(); }

bool wanted(uint32_t domain, uint32_t number) {
  return number && subscriber().on[domain][number].load(std::memory_order_relaxed);
}

// With the mutex held.
void set(uint32_t domain, uint32_t number, bool on) {
  Subscriber& s = subscriber();
  if (s.on[domain][number].exchange(on) == on) return;
  if (on) {
    ++s.counts[domain];
  } else {
    --s.counts[domain];
  }
}

struct Row {
  uint32_t domain, number;
  const char *in_12, *in_13;
};

constexpr Row kRows[] = {
#include "cupti/numbers.inc"
};

const char* own_name(const Row& row) {
  if (kMajor >= 13) return row.in_13;
  return row.in_12;
}

// Without what CUPTI adds to the names of runtime functions: _v and the version that brought it.
std::string_view without_version(std::string_view name) {
  size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < 6) return name;
  bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? name.substr(0, at) : name;
}

using Lookup = std::unordered_map<std::string_view, uint32_t>;

const Lookup& numbers(uint32_t domain) {
  static const Lookup* tables = [] {
    auto* made = new Lookup[3];
    for (const Row& row : kRows) {
      if (const char* name = own_name(row))
        made[row.domain][row.domain == kRuntimeDomain ? without_version(name) : name] = row.number;
    }
    return made;
  }();
  return tables[domain];
}

constexpr uint32_t kUnknown = UINT32_MAX;

CUcontext current() {
  CUcontext context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

// The kernel of a launch: its function is the first argument, or the second behind a configuration.
const char* symbol_of(const AwCall& call) {
  if (call.site->domain != AW_DOMAIN_DRIVER || !call.params || call.params_bytes < 16)
    return nullptr;
  std::string_view name = call.site->name;
  if (!name.starts_with("cuLaunch") || name.starts_with("cuLaunchHostFunc")) return nullptr;
  CUfunction function;
  size_t at = name.starts_with("cuLaunchKernelEx") ? 8 : 0;
  memcpy(&function, static_cast<const char*>(call.params) + at, sizeof function);
  const char* symbol = nullptr;
  return cuFuncGetName(&symbol, function) == CUDA_SUCCESS ? symbol : nullptr;
}

void call_back_synchronized(const AwCall& call) {
  std::string_view name = call.site->name;
  bool stream = name.starts_with("cuStreamSynchronize"),
       context = name.starts_with("cuCtxSynchronize");
  uint32_t number = stream ? 1 : context ? 2 : 0;
  if (!wanted(kSynchronizeDomain, number) || call.result) return;
  SynchronizeData data{current(), 0};
  if (stream && call.params) memcpy(&data.stream, call.params, sizeof data.stream);
  Subscriber& s = subscriber();
  if (Callback callback = s.callback.load()) callback(s.user, kSynchronizeDomain, number, &data);
}

int check(void* given, uint32_t domain, uint32_t number) {
  if (given != handle() || !subscriber().callback.load()) return ended(kInvalidParameter);
  if (domain == 0 || domain >= kDomainCount || number >= kMostNumbers)
    return ended(kInvalidParameter);
  return kSuccess;
}

void enable_domain(bool on, uint32_t domain) {
  std::lock_guard lock(subscriber().mutex);
  for (uint32_t number = 1; number < kMostNumbers; ++number) set(domain, number, on);
}

int subscribe(void** out, Callback callback, void* user) {
  if (!out || !callback) return ended(kInvalidParameter);
  Subscriber& s = subscriber();
  std::lock_guard lock(s.mutex);
  if (s.callback.load()) return ended(kMultipleSubscribers);
  s.user = user;
  s.callback.store(callback);
  *out = handle();
  return kSuccess;
}

// The number of what happened to a resource (CUpti_CallbackIdResource).
uint32_t resource_number(const AwResource& r) {
  switch (r.kind) {
    case AW_RESOURCE_CONTEXT:
      return r.gone ? 2 : 1;
    case AW_RESOURCE_STREAM:
      return r.gone ? 4 : 3;
    case AW_RESOURCE_MODULE:
      return r.gone ? 7 : 6;
    case AW_RESOURCE_GRAPH:
      return r.gone ? 10 : r.origin ? 11 : 9;
    case AW_RESOURCE_NODE:
      return r.gone ? 14 : r.origin ? 20 : 13;
    case AW_RESOURCE_GRAPH_EXEC:
      return r.gone ? 19 : 18;
    default:
      return 0;
  }
}

}  // namespace

uint32_t number_of(AwCallSite& site) {
  uint32_t known = site.client_id.load(std::memory_order_relaxed);
  if (known) return known == kUnknown ? 0 : known;
  uint32_t found = 0;
  if (site.domain == AW_DOMAIN_DRIVER || site.domain == AW_DOMAIN_RUNTIME) {
    auto& table = numbers(site.domain);
    if (auto at = table.find(site.name); at != table.end()) found = at->second;
  }
  site.client_id.store(found ? found : kUnknown, std::memory_order_relaxed);
  return found;
}

const char* name_of(uint32_t domain, uint32_t number) {
  for (const Row& row : kRows) {
    if (row.domain == domain && row.number == number) return own_name(row);
  }
  return nullptr;
}

uint32_t wanted_by_callbacks() {
  auto& counts = subscriber().counts;
  uint32_t out = 0;
  if (counts[kDriverDomain] || counts[kRuntimeDomain] || counts[kSynchronizeDomain])
    out |= AW_LISTEN_CALLS;
  if (counts[kResourceDomain]) out |= AW_LISTEN_RESOURCES;
  return out;
}

void call_back(AwCall& call, bool at_exit) {
  Subscriber& s = subscriber();
  uint32_t number = number_of(*call.site);
  if (at_exit && call.site->domain == AW_DOMAIN_DRIVER) call_back_synchronized(call);
  Callback callback = s.callback.load(std::memory_order_acquire);
  if (!callback || !number || !wanted(call.site->domain, number)) return;
  CUcontext context = current();
  unsigned long long id = 0;
  if (context) cuCtxGetId(context, &id);
  CallbackData data{};
  data.site = at_exit, data.function = call.site->name, data.params = call.params;
  data.result = at_exit ? &call.result : nullptr;
  data.symbol = symbol_of(call);
  data.context = context, data.context_id = static_cast<uint32_t>(id);
  data.correlation_data = &call.listener_data[7];
  data.correlation = call.correlation;
  callback(s.user, call.site->domain, number, &data);
}

void call_back(const AwResource& r) {
  uint32_t number = resource_number(r);
  Subscriber& s = subscriber();
  Callback callback = s.callback.load(std::memory_order_acquire);
  if (!callback || !wanted(kResourceDomain, number)) return;
  ModuleData module{static_cast<uint32_t>(r.handle), r.bytes,
                    reinterpret_cast<const char*>(r.origin)};
  GraphData graph{};
  ResourceData data{current(), nullptr, nullptr};
  if (r.kind == AW_RESOURCE_CONTEXT) data.context = reinterpret_cast<CUcontext>(r.handle);
  if (r.kind == AW_RESOURCE_STREAM) data.stream = reinterpret_cast<void*>(r.handle);
  if (r.kind == AW_RESOURCE_MODULE) data.descriptor = &module;
  if (r.kind >= AW_RESOURCE_GRAPH) data.descriptor = &graph;
  if (r.kind == AW_RESOURCE_GRAPH) graph.graph = r.handle, graph.original_graph = r.origin;
  if (r.kind == AW_RESOURCE_NODE)
    graph.node = r.handle, graph.graph = r.owner, graph.original_node = r.origin,
    graph.type = r.type;
  if (r.kind == AW_RESOURCE_GRAPH_EXEC) graph.exec = r.handle, graph.graph = r.owner;
  callback(s.user, kResourceDomain, number, &data);
}

}  // namespace aw::cupti

using namespace aw::cupti;

AW_CUPTI cuptiSubscribe(void** out, Callback callback, void* user) {
  return subscribe(out, callback, user);
}
AW_CUPTI cuptiSubscribe_v2(void** out, Callback callback, void* user, void*) {
  return subscribe(out, callback, user);
}

AW_CUPTI cuptiUnsubscribe(void* given) {
  if (given != handle() || !subscriber().callback.load()) return ended(kInvalidParameter);
  for (uint32_t domain = 1; domain < kDomainCount; ++domain) enable_domain(false, domain);
  subscriber().callback = nullptr;
  listen_again();
  return kSuccess;
}

AW_CUPTI cuptiEnableCallback(uint32_t enable, void* given, uint32_t domain, uint32_t number) {
  if (int code = check(given, domain, number)) return code;
  {
    std::lock_guard lock(subscriber().mutex);
    set(domain, number, enable != 0);
  }
  listen_again();
  return kSuccess;
}

AW_CUPTI cuptiEnableDomain(uint32_t enable, void* given, uint32_t domain) {
  if (int code = check(given, domain, 1)) return code;
  enable_domain(enable != 0, domain);
  listen_again();
  return kSuccess;
}

AW_CUPTI cuptiEnableAllDomains(uint32_t enable, void* given) {
  if (int code = check(given, 1, 1)) return code;
  for (uint32_t domain = 1; domain < kDomainCount; ++domain) enable_domain(enable != 0, domain);
  listen_again();
  return kSuccess;
}

AW_CUPTI cuptiGetCallbackState(uint32_t* enable, void* given, uint32_t domain, uint32_t number) {
  if (!enable) return ended(kInvalidParameter);
  if (int code = check(given, domain, number)) return code;
  *enable = wanted(domain, number);
  return kSuccess;
}

AW_CUPTI cuptiGetCallbackName(uint32_t domain, uint32_t number, const char** name) {
  if (!name) return ended(kInvalidParameter);
  *name = name_of(domain, number);
  return *name ? kSuccess : ended(kInvalidParameter);
}

AW_CUPTI cuptiSupportedDomains(size_t* count, const uint32_t** domains) {
  static constexpr uint32_t all[] = {kDriverDomain, kRuntimeDomain, kResourceDomain,
                                     kSynchronizeDomain};
  if (!count || !domains) return ended(kInvalidParameter);
  *count = std::size(all), *domains = all;
  return kSuccess;
}

AW_CUPTI cuptiFinalize() {
  if (subscriber().callback.load()) cuptiUnsubscribe(handle());
  for (uint32_t kind = 1; kind < kKindCount; ++kind) stop_records(kind);
  forget_choices();
  flush();
  listen_again();
  return kSuccess;
}
