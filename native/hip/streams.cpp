// Driver API reference: stream management. Streams are HIP's; which context one belongs to and what
// was set for it is kept beside.
#include <algorithm>
#include <cstring>
#include <map>
#include <shared_mutex>
#include <unordered_map>

#include "core/activity_resources.h"
#include "cuda/contexts.h"
#include "hip/capture.h"
#include "hip/devices.h"
#include "hip/ownership.h"
#include "hip/services.h"

using namespace aw;

namespace {

struct StreamFacts {
  uintptr_t context = 0;  // handle
  int priority = 0;       // CUDA's
  std::map<int, CUlaunchAttributeValue> attributes;
};

struct Known {
  std::shared_mutex mutex;
  std::unordered_map<hipStream_t, StreamFacts> streams;
};

Known& known() {
  static auto& instance = *new Known;
  return instance;
}

// CUDA's priorities go from 0 to kGreatestPriority, HIP's to another least number.
int hip_priority(int priority) {
  int least = 0, greatest = 0;
  if (priority == 0 || !hip.hipDeviceGetStreamPriorityRange) return 0;
  (void)hip.hipDeviceGetStreamPriorityRange(&least, &greatest);
  return std::max(priority, greatest);
}

CUresult create(CUstream* out, unsigned flags, int priority) {
  Context& context = require_context();
  require(out && flags <= CU_STREAM_NON_BLOCKING);
  // Priorities outside the range are brought into it (cuStreamCreateWithPriority).
  priority = std::clamp(priority, kGreatestPriority, 0);
  int wanted = hip_priority(priority);
  hipStream_t made = nullptr;
  hipError_t error = wanted ? AW_HIP(hipStreamCreateWithPriority)(&made, flags, wanted)
                            : AW_HIP(hipStreamCreateWithFlags)(&made, flags);
  if (error != hipSuccess) return cuda_code(error);
  {
    std::unique_lock lock(known().mutex);
    known().streams[made] = {context.handle, priority, {}};
  }
  tell_of(AW_RESOURCE_STREAM, reinterpret_cast<uintptr_t>(made), false, context.handle);
  *out = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}

int priority_of(CUstream stream) {
  require_context();
  std::shared_lock lock(known().mutex);
  auto it = known().streams.find(handle_of(stream));
  return it == known().streams.end() ? 0 : it->second.priority;
}

CUresult destroy(CUstream stream) {
  require_context();
  require(reinterpret_cast<uintptr_t>(stream) > kPerThreadStream, CUDA_ERROR_INVALID_HANDLE);
  hipStream_t handle = handle_of(stream);
  tell_of(AW_RESOURCE_STREAM, reinterpret_cast<uintptr_t>(stream), true);
  CUresult code = to_cuda(AW_HIP(hipStreamDestroy)(handle));
  std::unique_lock lock(known().mutex);
  known().streams.erase(handle);
  return code;
}

uintptr_t context_handle_of(CUstream stream) {
  Context& current = require_context();
  std::shared_lock lock(known().mutex);
  auto it = known().streams.find(handle_of(stream));
  return it == known().streams.end() ? current.handle : it->second.context;
}

// A callback and what it is called with; gone when it was called.
struct Callback {
  CUstreamCallback function;
  CUstream stream;
  void* data;
};

void call_back(hipStream_t, hipError_t status, void* data) {
  Callback call = *static_cast<Callback*>(data);
  delete static_cast<Callback*>(data);
  thread_state.inside_callback = true;
  call.function(call.stream, status == hipSuccess ? CUDA_SUCCESS : cuda_code(status), call.data);
  thread_state.inside_callback = false;
}

constexpr int kPriorityAttribute = CU_STREAM_ATTRIBUTE_PRIORITY;

void require_stream_attribute(int id) {
  constexpr int kOfStreams[] = {CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, kPriorityAttribute,
                                CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                                CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN};
  for (int known_id : kOfStreams) {
    if (id == known_id) return;
  }
  throw Failure(CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

std::vector<hipStream_t> aw::made_streams() {
  std::shared_lock lock(known().mutex);
  std::vector<hipStream_t> out;
  for (const auto& [stream, facts] : known().streams) out.push_back(stream);
  return out;
}

namespace aw {

void destroy_streams_of(uintptr_t context) {
  std::unique_lock lock(known().mutex);
  for (auto it = known().streams.begin(); it != known().streams.end();) {
    bool ends =
        it->second.context == context && reinterpret_cast<uintptr_t>(it->first) > kPerThreadStream;
    if (ends) (void)hip.hipStreamDestroy(it->first);
    it = ends ? known().streams.erase(it) : std::next(it);
  }
}

}  // namespace aw

AW_EXPORT CUresult cuStreamCreate(CUstream* out, unsigned flags) {
  return api<"cuStreamCreate">([&] { return create(out, flags, 0); }, out, flags);
}

AW_EXPORT CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  return api<"cuStreamCreateWithPriority">([&] { return create(out, flags, priority); }, out, flags,
                                           priority);
}

AW_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  return api<"cuStreamDestroy_v2">([&] { return destroy(stream); }, stream);
}

AW_EXPORT CUresult cuStreamDestroy(CUstream stream) {
  return api<"cuStreamDestroy">([&] { return destroy(stream); });
}

AW_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return api<"cuStreamSynchronize">(
      [&] {
        Context& context = require_context();
        hipError_t error = hip.hipStreamSynchronize(unwaited(stream));
        drain_services(context);
        if (error == hipSuccess) context.check();
        return to_cuda(error);
      },
      stream);
}

AW_EXPORT CUresult cuStreamQuery(CUstream stream) {
  return api<"cuStreamQuery">(
      [&] {
        Context& context = require_context();
        hipError_t error = hip.hipStreamQuery(unwaited(stream));
        if (error != hipSuccess) return cuda_code(error);
        drain_services(context);
        context.check();
        return CUDA_SUCCESS;
      },
      stream);
}

AW_EXPORT CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return api<"cuStreamGetPriority">([&] {
    require(priority);
    *priority = priority_of(stream);
  });
}

AW_EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                       unsigned flags) {
  return api<"cuStreamAddCallback">([&] {
    require_context();
    require(function && flags == 0);
    hipStream_t where = uncaptured(stream, "cuStreamAddCallback");
    auto* call = new Callback{function, stream, data};
    hipError_t error = AW_HIP(hipStreamAddCallback)(where, call_back, call, 0);
    if (error != hipSuccess) delete call;
    return to_cuda(error);
  });
}

AW_EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext* out) {
  return api<"cuStreamGetCtx">([&] {
    require(out);
    *out = as_handle<CUcontext>(context_handle_of(stream));
  });
}

AW_EXPORT CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* out, void** green) {
  return api<"cuStreamGetCtx_v2">([&] {
    require(out);
    if (green) *green = nullptr;
    *out = as_handle<CUcontext>(context_handle_of(stream));
  });
}

AW_EXPORT CUresult cuStreamGetDevice(CUstream stream, CUdevice* out) {
  return api<"cuStreamGetDevice">([&] {
    require(out);
    *out = context_of(as_handle<CUcontext>(context_handle_of(stream)))->device;
  });
}

AW_EXPORT CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return api<"cuStreamGetId">([&] {
    Context& context = require_context();
    require(id);
    hipStream_t handle = handle_of(stream);
    // HIP 6 has no numbers of streams. A handle is one for as long as the stream lives; default
    // streams differ by context.
    auto number = reinterpret_cast<uintptr_t>(handle);
    *id = number > kPerThreadStream ? number : context.id * 4 + number;
    return hip.hipStreamGetId && number > kPerThreadStream ? to_cuda(hip.hipStreamGetId(handle, id))
                                                           : CUDA_SUCCESS;
  });
}

// Attributes are hints to the hardware, of which HIP has the priority alone in all versions: they
// are kept for who asks.
AW_EXPORT CUresult cuStreamGetAttribute(CUstream stream, int id, CUlaunchAttributeValue* value) {
  return api<"cuStreamGetAttribute">([&] {
    require_context();
    require(value);
    require_stream_attribute(id);
    memset(value, 0, sizeof *value);
    hipStream_t handle = handle_of(stream);
    if (id == kPriorityAttribute)
      return to_cuda(AW_HIP(hipStreamGetPriority)(handle, &value->priority));
    std::shared_lock lock(known().mutex);
    auto it = known().streams.find(handle);
    if (it == known().streams.end()) return CUDA_SUCCESS;
    auto set = it->second.attributes.find(id);
    if (set != it->second.attributes.end()) *value = set->second;
    return CUDA_SUCCESS;
  });
}

AW_EXPORT CUresult cuStreamSetAttribute(CUstream stream, int id,
                                        const CUlaunchAttributeValue* value) {
  return api<"cuStreamSetAttribute">([&] {
    Context& context = require_context();
    require(value);
    require_stream_attribute(id);
    // The priority is fixed when a stream is made.
    require(id != kPriorityAttribute, CUDA_ERROR_NOT_SUPPORTED);
    std::unique_lock lock(known().mutex);
    StreamFacts& facts = known().streams[handle_of(stream)];
    if (!facts.context) facts.context = context.handle;
    facts.attributes[id] = *value;
  });
}

AW_EXPORT CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return api<"cuStreamCopyAttributes">([&] {
    require_context();
    std::unique_lock lock(known().mutex);
    auto copied = known().streams[handle_of(from)].attributes;
    known().streams[handle_of(to)].attributes = std::move(copied);
  });
}
