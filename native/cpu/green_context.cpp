// Driver API reference: green contexts. A green context's share of the multiprocessors is how many
// threads may run the blocks of one of its launches.
#include <algorithm>
#include <cstring>

#include "cpu/capture.h"
#include "cpu/event.h"
#include "cpu/stream.h"
#include "cuda/contexts.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

constexpr auto kInvalidConfiguration = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
// Of compute capability 8.x (CUDA 12.9 driver API reference, cuDevSmResourceSplitByCount).
constexpr unsigned kLeast = 4, kAlignment = 2;

// CUdevResource, of multiprocessors. The bytes that headers call internal say where it comes from.
struct Resource {
  CUdevResourceType type;
  unsigned first;  // number of its first multiprocessor
  uint64_t split;  // which call made it; 0: it was asked of a device or a context
  uint8_t internal[offsetof(CUdevResource, sm) - 16];
  CUdevSmResource sm;
  uint8_t rest[sizeof(CUdevResource) - sizeof(void*) - offsetof(CUdevResource, sm) -
               sizeof(CUdevSmResource)];
  Resource* next;
};
static_assert(sizeof(Resource) == sizeof(CUdevResource) &&
              offsetof(Resource, sm) == offsetof(CUdevResource, sm) &&
              offsetof(Resource, next) == offsetof(CUdevResource, nextResource));

struct Description {
  Resource resource;
};

struct GreenContext {
  std::shared_ptr<Context> context;
  Resource resource;
};

Handles<Description>& descriptions() {
  static auto& instance = *new Handles<Description>;
  return instance;
}

Handles<GreenContext>& green_contexts() {
  static auto& instance = *new Handles<GreenContext>;
  return instance;
}

std::shared_ptr<GreenContext> green_of(const void* handle) {
  auto green = green_contexts().find(handle);
  require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return green;
}

Resource part(unsigned first, unsigned count, uint64_t split) {
  Resource r{};
  r.type = count ? CU_DEV_RESOURCE_TYPE_SM : CU_DEV_RESOURCE_TYPE_INVALID;
  r.first = first;
  r.split = split;
  r.sm.smCount = count;
  r.sm.minSmPartitionSize = kLeast;
  r.sm.smCoscheduledAlignment = kAlignment;
  return r;
}

Resource resource_of(const Context& context) {
  auto green = green_contexts().find(context.green);
  return green ? green->resource : part(0, device_info().multiprocessors, 0);
}

void write_resource(Resource* out, CUdevResourceType type, const Resource& resource) {
  require(out);
  require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  *out = resource;
}

void check_resource(const Resource& r) {
  require(r.type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
  unsigned all = device_info().multiprocessors;
  require(r.sm.smCount > 0 && r.sm.smCount <= all && r.first <= all - r.sm.smCount,
          kInvalidConfiguration);
}

// The input of a split: no result of another one.
Resource splittable(const Resource* input) {
  require(input);
  check_resource(*input);
  require(input->split == 0, kInvalidConfiguration);
  return *input;
}

uint64_t next_split() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

// How many multiprocessors a group gets of `left`, as its parameters ask; 0 stands for all that
// fit.
unsigned group_size(const CU_DEV_SM_RESOURCE_GROUP_PARAMS& g, unsigned input, unsigned left) {
  bool backfill = g.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL;
  // There are no locality domains whose multiprocessors could be found.
  require((g.flags & ~CU_DEV_SM_RESOURCE_GROUP_BACKFILL) == 0, kInvalidConfiguration);
  require(g.coscheduledSmCount == 0 || g.coscheduledSmCount == kAlignment, kInvalidConfiguration);
  if (g.smCount == 0)
    return left < kAlignment ? 0 : backfill ? left : left / kAlignment * kAlignment;
  require(g.smCount >= 2 && g.smCount <= input);
  require(backfill || g.smCount % kAlignment == 0);
  require(g.smCount <= left, kInvalidConfiguration);
  return g.smCount;
}

std::shared_ptr<Stream> add_stream(const std::shared_ptr<Context>& context, int priority) {
  auto stream = std::make_shared<Stream>(context, CU_STREAM_NON_BLOCKING,
                                         std::clamp(priority, kGreatestPriority, 0));
  std::lock_guard lock(context->mutex);
  context->streams.push_back(stream);
  return stream;
}

}  // namespace

extern "C" {
CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
}

AW_EXPORT CUresult cuDeviceGetDevResource(CUdevice dev, Resource* out, CUdevResourceType type) {
  return api<"cuDeviceGetDevResource">([&] {
    check_device(dev);
    write_resource(out, type, part(0, device_info().multiprocessors, 0));
  });
}

AW_EXPORT CUresult cuCtxGetDevResource(CUcontext handle, Resource* out, CUdevResourceType type) {
  return api<"cuCtxGetDevResource">(
      [&] { write_resource(out, type, resource_of(*context_of(handle))); });
}

AW_EXPORT CUresult cuGreenCtxGetDevResource(void* handle, Resource* out, CUdevResourceType type) {
  return api<"cuGreenCtxGetDevResource">(
      [&] { write_resource(out, type, green_of(handle)->resource); });
}

AW_EXPORT CUresult cuStreamGetDevResource(CUstream handle, Resource* out, CUdevResourceType type) {
  return api<"cuStreamGetDevResource">(
      [&] { write_resource(out, type, resource_of(*stream_of(handle)->context)); });
}

AW_EXPORT CUresult cuDevSmResourceSplitByCount(Resource* result, unsigned* groups,
                                               const Resource* input, Resource* remainder,
                                               unsigned flags, unsigned least) {
  return api<"cuDevSmResourceSplitByCount">([&] {
    require(groups);
    Resource from = splittable(input);
    require((flags & ~CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) == 0 &&
            least <= from.sm.smCount);
    unsigned floor = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING ? kAlignment : kLeast;
    unsigned size = std::max(floor, (least + kAlignment - 1) / kAlignment * kAlignment);
    require(size <= from.sm.smCount, kInvalidConfiguration);
    unsigned made = from.sm.smCount / size;
    if (result) {
      require(*groups > 0);
      made = std::min(made, *groups);
      uint64_t split = next_split();
      for (unsigned i = 0; i < made; ++i) result[i] = part(from.first + i * size, size, split);
      if (remainder)
        *remainder = part(from.first + made * size, from.sm.smCount - made * size, split);
    }
    *groups = made;
  });
}

AW_EXPORT CUresult cuDevSmResourceSplit(Resource* result, unsigned groups, const Resource* input,
                                        Resource* remainder, unsigned flags,
                                        CU_DEV_SM_RESOURCE_GROUP_PARAMS* params) {
  return api<"cuDevSmResourceSplit">([&] {
    require(groups > 0 && params && flags == 0);
    Resource from = splittable(input);
    require(groups <= from.sm.smCount, kInvalidConfiguration);
    std::vector<unsigned> sizes;
    unsigned left = from.sm.smCount;
    for (unsigned i = 0; i < groups; ++i) {
      sizes.push_back(group_size(params[i], from.sm.smCount, left));
      require(!result || sizes.back() > 0, kInvalidConfiguration);
      left -= sizes.back();
    }
    uint64_t split = next_split();
    unsigned first = from.first;
    for (unsigned i = 0; i < groups; first += sizes[i++]) {
      params[i].smCount = sizes[i];
      if (!result) continue;
      result[i] = part(first, sizes[i], split);
      result[i].sm.flags = params[i].flags;
    }
    if (remainder) *remainder = part(first, left, split);
  });
}

AW_EXPORT CUresult cuDevResourceGenerateDesc(void** out, Resource* resources, unsigned count) {
  return api<"cuDevResourceGenerateDesc">([&] {
    require(out && resources && count > 0);
    unsigned all = device_info().multiprocessors, total = 0;
    std::vector<bool> taken(all);
    for (unsigned i = 0; i < count; ++i) {
      const Resource& r = resources[i];
      check_resource(r);
      bool alone = count == 1 || (r.split && r.split == resources[0].split);
      require(alone, kInvalidConfiguration);
      for (unsigned sm = r.first; sm < r.first + r.sm.smCount; ++sm) {
        require(!taken[sm], kInvalidConfiguration);
        taken[sm] = true;
      }
      total += r.sm.smCount;
    }
    auto made = std::make_shared<Description>();
    made->resource = part(resources[0].first, total, 0);
    *out = as_handle<void*>(descriptions().add(made));
  });
}

AW_EXPORT CUresult cuGreenCtxCreate(void** out, void* description, CUdevice dev, unsigned flags) {
  return api<"cuGreenCtxCreate">([&] {
    require(out && (flags & ~CU_GREEN_CTX_DEFAULT_STREAM) == 0);
    check_device(dev);
    auto wanted = descriptions().find(description);
    require(wanted != nullptr);
    CUcontext primary;
    if (CUresult code = cuDevicePrimaryCtxRetain(&primary, dev)) throw Failure(code);
    auto green = std::make_shared<GreenContext>();
    green->resource = wanted->resource;
    green->context = make_context(dev, context_of(primary)->flags, kDriverVersion);
    green->context->multiprocessors = green->resource.sm.smCount;
    uintptr_t handle = green_contexts().add(green);
    green->context->green = handle;
    *out = as_handle<void*>(handle);
  });
}

AW_EXPORT CUresult cuGreenCtxDestroy(void* handle) {
  return api<"cuGreenCtxDestroy">([&] {
    refuse_inside_callback();
    auto green = green_contexts().remove(handle);
    require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    for (auto& stream : live_streams(*green->context)) {
      if (auto capture = stream->capture()) capture->invalidated = true;
    }
    destroy_context(green->context);
    if (CUresult code = cuDevicePrimaryCtxRelease_v2(green->context->device)) throw Failure(code);
  });
}

AW_EXPORT CUresult cuCtxFromGreenCtx(CUcontext* out, void* handle) {
  return api<"cuCtxFromGreenCtx">([&] {
    require(out);
    *out = as_handle<CUcontext>(green_of(handle)->context->handle);
  });
}

AW_EXPORT CUresult cuGreenCtxGetId(void* handle, unsigned long long* id) {
  return api<"cuGreenCtxGetId">([&] {
    require(id);
    *id = (handle ? green_of(handle) : green_of(as_handle<void*>(current_context()->green)))
              ->context->id;
  });
}

AW_EXPORT CUresult cuGreenCtxStreamCreate(CUstream* out, void* handle, unsigned flags,
                                          int priority) {
  return api<"cuGreenCtxStreamCreate">([&] {
    require(out && flags == CU_STREAM_NON_BLOCKING);
    auto green = green_of(handle);
    green->context->check();
    auto stream = add_stream(green->context, priority);
    stream->handle = streams().add(stream);
    *out = as_handle<CUstream>(stream->handle);
  });
}

AW_EXPORT CUresult cuStreamGetGreenCtx(CUstream handle, void** out) {
  return api<"cuStreamGetGreenCtx">([&] {
    require(out);
    *out = as_handle<void*>(stream_of(handle)->context->green);
  });
}

AW_EXPORT CUresult cuGreenCtxRecordEvent(void* handle, CUevent event) {
  return api<"cuGreenCtxRecordEvent">([&] {
    auto context = green_of(handle)->context;
    auto recorded = event_of(event);
    context->check();
    refuse_captures(*context);
    // Behind the latest work of every stream, and in the way of none.
    auto behind = std::make_shared<Stream>(context, CU_STREAM_NON_BLOCKING, 0);
    behind->submit(WaitWork{context->legacy->last(), 0});
    for (auto& stream : live_streams(*context)) behind->submit(WaitWork{stream->last(), 0});
    record_event(*recorded, *behind);
    behind->retire();
  });
}

AW_EXPORT CUresult cuGreenCtxWaitEvent(void* handle, CUevent event) {
  return api<"cuGreenCtxWaitEvent">([&] {
    auto context = green_of(handle)->context;
    auto awaited = event_of(event);
    context->check();
    refuse_captures(*context);
    {
      std::lock_guard lock(awaited->mutex);
      if (awaited->capture) awaited->capture->invalidated = true;
      require(!awaited->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    wait_for_event(*awaited, *context->legacy);
    for (auto& stream : live_streams(*context)) wait_for_event(*awaited, *stream);
  });
}
