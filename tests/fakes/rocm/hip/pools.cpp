// Stream-ordered memory: an allocation is there at once for later calls, a free takes effect in its
// place in the stream.
#include <algorithm>

#include "world.h"

using namespace fake;

#define NEED_DEVICES()      \
  Lock lock = lock_world(); \
  if (ready_world() != hipSuccess) return done(ready_world())

void fake::returned(Allocation* it) {
  Pool* pool = it->pool;
  if (!pool) return;
  pool->used -= it->size;
  if (pool->reserved > pool->threshold) pool->reserved = std::max(pool->used, pool->threshold);
}

HIP(hipMemPoolCreate)(hipMemPool_t* out, const hipMemPoolProps* properties) {
  NEED_DEVICES();
  if (!out || !properties || properties->allocType != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice)
    return done(hipErrorInvalidValue);
  Device* it = device(properties->location.id);
  if (!it) return done(hipErrorInvalidValue);
  auto* made = create<Pool>("pool");
  made->device = it;
  made->properties = *properties;
  made->own = true;
  *out = reinterpret_cast<hipMemPool_t>(made);
  return done(hipSuccess);
}
HIP(hipMemPoolDestroy)(hipMemPool_t handle) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!pool || !pool->own) return done(hipErrorInvalidValue);
  if (pool->device->pool == pool) pool->device->pool = pool->device->default_pool;
  pool->alive = false;
  return done(hipSuccess);
}
HIP(hipDeviceGetDefaultMemPool)(hipMemPool_t* out, int ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *out = reinterpret_cast<hipMemPool_t>(device(ordinal)->default_pool);
  return done(hipSuccess);
}
HIP(hipDeviceGetMemPool)(hipMemPool_t* out, int ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *out = reinterpret_cast<hipMemPool_t>(device(ordinal)->pool);
  return done(hipSuccess);
}
HIP(hipDeviceSetMemPool)(int ordinal, hipMemPool_t handle) {
  NEED_DEVICES();
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  auto* pool = find<Pool>(handle, "pool");
  if (!pool || pool->device != device(ordinal)) return done(hipErrorInvalidValue);
  device(ordinal)->pool = pool;
  return done(hipSuccess);
}
HIP(hipMemPoolTrimTo)(hipMemPool_t handle, size_t keep) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!pool) return done(hipErrorInvalidValue);
  pool->reserved = std::max<uint64_t>(pool->used, std::min<uint64_t>(pool->reserved, keep));
  return done(hipSuccess);
}
HIP(hipMemPoolSetAttribute)(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!pool || !value) return done(hipErrorInvalidValue);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      pool->reuse[attribute] = *static_cast<int*>(value);
      break;
    case hipMemPoolAttrReleaseThreshold:
      pool->threshold = *static_cast<uint64_t*>(value);
      break;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      if (*static_cast<uint64_t*>(value))
        return done(hipErrorInvalidValue);  // it can only be reset
      (attribute == hipMemPoolAttrUsedMemHigh ? pool->used_high : pool->reserved_high) =
          attribute == hipMemPoolAttrUsedMemHigh ? pool->used : pool->reserved;
      break;
    default:
      return done(hipErrorInvalidValue);
  }
  return done(hipSuccess);
}
HIP(hipMemPoolGetAttribute)(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!pool || !value) return done(hipErrorInvalidValue);
  auto* wide = static_cast<uint64_t*>(value);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool->reuse[attribute];
      break;
    case hipMemPoolAttrReleaseThreshold:
      *wide = pool->threshold;
      break;
    case hipMemPoolAttrReservedMemCurrent:
      *wide = pool->reserved;
      break;
    case hipMemPoolAttrReservedMemHigh:
      *wide = pool->reserved_high;
      break;
    case hipMemPoolAttrUsedMemCurrent:
      *wide = pool->used;
      break;
    case hipMemPoolAttrUsedMemHigh:
      *wide = pool->used_high;
      break;
    default:
      return done(hipErrorInvalidValue);
  }
  return done(hipSuccess);
}
HIP(hipMemPoolSetAccess)(hipMemPool_t handle, const hipMemAccessDesc* all, size_t count) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!pool || (count && !all)) return done(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (all[i].location.type != hipMemLocationTypeDevice) return done(hipErrorInvalidValue);
    // HIP 6.4.3 takes access from nobody
    if (!device(all[i].location.id) || all[i].flags == hipMemAccessFlagsProtNone)
      return done(hipErrorInvalidDevice);
    pool->granted[all[i].location.id] = all[i].flags;
  }
  return done(hipSuccess);
}
HIP(hipMemPoolGetAccess)(hipMemAccessFlags* out, hipMemPool_t handle, hipMemLocation* where) {
  NEED_DEVICES();
  auto* pool = find<Pool>(handle, "pool");
  if (!out || !pool || !where || where->type != hipMemLocationTypeDevice || !device(where->id))
    return done(hipErrorInvalidValue);
  auto granted = pool->granted.find(where->id);
  *out = where->id == pool->device->ordinal ? hipMemAccessFlagsProtReadWrite
         : granted == pool->granted.end()   ? hipMemAccessFlagsProtNone
                                            : granted->second;
  return done(hipSuccess);
}

static hipError_t allocate_from(Pool* pool, void** out, size_t size, hipStream_t handle) {
  hipError_t status;
  Stream* stream = stream_of(handle, &status);
  if (!stream) return done(status);
  if (!out || !pool) return done(hipErrorInvalidValue);
  if (!size) return *out = nullptr, done(hipSuccess);
  if (broken(stream)) return done(hipErrorStreamCaptureInvalidated);
  if (capturing(stream)) return done(hipErrorStreamCaptureUnsupported);
  if (pool->properties.maxSize && pool->used + size > pool->properties.maxSize)
    return done(hipErrorOutOfMemory);
  if ((status = allocate(size, Memory::device, pool->device, 0, pool, out)) != hipSuccess)
    return done(status);
  pool->used += size;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved = std::max(pool->reserved, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  submit(stream, "allocate", nullptr);
  return done(hipSuccess);
}
HIP(hipMallocAsync)(void** out, size_t size, hipStream_t handle) {
  NEED_DEVICES();
  return allocate_from(current_device()->pool, out, size, handle);
}
HIP(hipMallocFromPoolAsync)(void** out, size_t size, hipMemPool_t from, hipStream_t handle) {
  NEED_DEVICES();
  return allocate_from(find<Pool>(from, "pool"), out, size, handle);
}
HIP(hipFreeAsync)(void* address, hipStream_t handle) {
  WorkRef work;
  {
    NEED_DEVICES();
    hipError_t status;
    Stream* stream = stream_of(handle, &status);
    if (!stream) return done(status);
    if (!address) return done(hipErrorInvalidValue);
    if (broken(stream)) return done(hipErrorStreamCaptureInvalidated);
    if (capturing(stream)) return done(hipErrorStreamCaptureUnsupported);
    if ((status = check_range(address, 1, true, "hipFreeAsync")) != hipSuccess) return done(status);
    Allocation* it = containing(address);
    if (it->base != reinterpret_cast<uintptr_t>(address) || it->memory != Memory::device)
      return done(hipErrorInvalidValue);
    work = submit(stream, "free", [it] {
      Lock again = lock_world();
      if (!it->alive) return fault("memory %p is freed twice", reinterpret_cast<void*>(it->base));
      returned(it);
      release(it);
    });
  }
  follow(work);
  return done(hipSuccess);
}
