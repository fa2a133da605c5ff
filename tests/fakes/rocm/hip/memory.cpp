// Memory: one sparse file, mapped once where no host code may touch it (device addresses) and once
// for the fake itself. Addresses are never used twice, so that what was freed is known.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.h"

namespace fake {
namespace {

constexpr size_t kGrain = 1 << 16;
constexpr size_t kCoarse = 1 << 21;

struct Arena {
  int file = -1;
  uintptr_t base = 0;
  uintptr_t alias = 0;
  uintptr_t next = 0;
  off_t end = 0;
  std::map<uintptr_t, Allocation*> all;     // alive, by base
  std::map<uintptr_t, Allocation*> former;  // freed, by base
};

// The address range is free on Linux in every process. FAKE_HIP_ARENA: where another begins, in
// hexadecimal, which is shorter (ThreadSanitizer has taken the usual one).
const char* other_arena() {
  static const char* const it = getenv("FAKE_HIP_ARENA");
  return it;
}

size_t span() { return size_t{1} << (other_arena() ? 36 : 42); }

// Which part of it this process uses: memory of two processes must be mappable side by side.
uintptr_t part() {
  uintptr_t all = other_arena() ? strtoull(other_arena(), nullptr, 16) : 0x200000000000;
  return all + (static_cast<uintptr_t>(getpid()) % 4) * span();
}

Arena& arena() {
  static Arena& it = []() -> Arena& {
    auto* made = new Arena;
    made->file = memfd_create("fake-hip", MFD_CLOEXEC);
    void* base = mmap(reinterpret_cast<void*>(part()), span(), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    void* alias =
        mmap(nullptr, span(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || alias == MAP_FAILED || made->file < 0) {
      perror("fake rocm: no address range for device memory");
      abort();
    }
    made->base = made->next = reinterpret_cast<uintptr_t>(base);
    made->alias = reinterpret_cast<uintptr_t>(alias);
    return *made;
  }();
  return it;
}

size_t rounded(size_t size, size_t grain) { return (size + grain - 1) / grain * grain; }

char* alias_of(uintptr_t address) {
  return reinterpret_cast<char*>(address - arena().base + arena().alias);
}

Allocation* at_or_before(const std::map<uintptr_t, Allocation*>& where, uintptr_t address) {
  auto found = where.upper_bound(address);
  if (found == where.begin()) return nullptr;
  Allocation* it = std::prev(found)->second;
  return address < it->base + std::max<size_t>(it->size, 1) ? it : nullptr;
}

off_t take_file(size_t size) {
  Arena& a = arena();
  off_t at = a.end;
  a.end += static_cast<off_t>(rounded(size, kGrain));
  if (ftruncate(a.file, a.end)) abort();
  return at;
}

void map_at(uintptr_t address, size_t size, int file, off_t at, bool readable) {
  mmap(alias_of(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, at);
  if (readable)
    mmap(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
         file, at);
}

void unmap_at(uintptr_t address, size_t size) {
  for (char* each : {alias_of(address), reinterpret_cast<char*>(address)})
    mmap(each, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

int poison() {  // FAKE_HIP_FILL: what new device memory holds
  static const int it = getenv("FAKE_HIP_FILL") ? atoi(getenv("FAKE_HIP_FILL")) : 0xA5;
  return it;
}

bool loose() {  // FAKE_HIP_HOST_ACCESS: device memory may be touched by the host (a card with a
                // large bar)
  static const bool it = getenv("FAKE_HIP_HOST_ACCESS") != nullptr;
  return it;
}

}  // namespace

int memory_file() { return arena().file; }
std::atomic<uint64_t>* shared_page(int64_t* at) {
  *at = take_file(kGrain);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, arena().file, *at);
  return static_cast<std::atomic<uint64_t>*>(page);
}
std::atomic<uint64_t>* foreign_page(pid_t pid, int file, int64_t at) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, file);
  int opened = open(path, O_RDWR | O_CLOEXEC);
  if (opened < 0) return nullptr;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, opened, at);
  close(opened);
  return page == MAP_FAILED ? nullptr : static_cast<std::atomic<uint64_t>*>(page);
}
bool in_arena(const void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  return at >= arena().base && at < arena().base + span();
}
Allocation* containing(const void* address) {
  return at_or_before(arena().all, reinterpret_cast<uintptr_t>(address));
}
char* view(const void* address) {
  return in_arena(address) ? alias_of(reinterpret_cast<uintptr_t>(address))
                           : static_cast<char*>(const_cast<void*>(address));
}

hipError_t allocate(size_t size, Memory memory, Device* device, unsigned flags, Pool* pool,
                    void** out) {
  bool on_device = memory == Memory::device || memory == Memory::managed;
  if (on_device && device->used + size > device->card.memory) return hipErrorOutOfMemory;
  if (size > span() / 4) return hipErrorOutOfMemory;
  Arena& a = arena();
  auto* made = new Allocation;
  size_t room = rounded(size, kGrain);
  made->base = a.next;
  a.next += room + kGrain;  // a gap behind each
  made->size = size;
  made->memory = memory;
  made->device = device->ordinal;
  made->flags = flags;
  made->pool = pool;
  made->number = next_number();
  made->at = take_file(room);
  made->readable = memory != Memory::device || loose();
  map_at(made->base, room, a.file, made->at, made->readable);
  if (on_device) device->used += size;
  a.all[made->base] = made;
  if (on_device && size <= (1 << 20))
    memset(view(reinterpret_cast<void*>(made->base)), poison(), size);
  *out = reinterpret_cast<void*>(made->base);
  return hipSuccess;
}

void release(Allocation* it) {
  Arena& a = arena();
  if (it->memory == Memory::device || it->memory == Memory::managed)
    device(it->device)->used -= it->size;
  it->alive = false;
  a.all.erase(it->base);
  if (it->memory == Memory::registered) return;
  a.former[it->base] = it;
  unmap_at(it->base, rounded(it->size, kGrain));
  if (it->memory == Memory::device || it->memory == Memory::host || it->memory == Memory::managed)
    fallocate(a.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, it->at,
              static_cast<off_t>(rounded(it->size, kGrain)));
}

std::vector<Allocation*> mappings() {
  std::vector<Allocation*> out;
  for (auto& [base, each] : arena().all)
    if (each->memory != Memory::reserved) out.push_back(each);
  return out;
}

hipError_t check_range(const void* address, size_t size, bool device_only, const char* what) {
  auto at = reinterpret_cast<uintptr_t>(address);
  Arena& a = arena();
  while (size) {
    Allocation* it = at_or_before(a.all, at);
    if (!it) {
      if (Allocation* gone = at_or_before(a.former, at)) {
        fault("%s lies in memory that was freed (allocation %llu)", what,
              static_cast<unsigned long long>(gone->number));
        return hipErrorInvalidValue;
      }
      if (in_arena(reinterpret_cast<void*>(at)) || device_only) return hipErrorInvalidValue;
      return hipSuccess;  // pageable memory of the program
    }
    size_t left = it->base + it->size - at;
    if (it->memory == Memory::reserved) return hipErrorInvalidValue;
    if (size <= left) return hipSuccess;
    if (it->memory != Memory::mapped && it->memory != Memory::registered)
      return hipErrorInvalidValue;
    size -= left;
    at += left;
  }
  return hipSuccess;
}

}  // namespace fake

using namespace fake;

#define NEED_DEVICES()      \
  Lock lock = lock_world(); \
  if (ready_world() != hipSuccess) return done(ready_world())

static hipError_t new_memory(void** out, size_t size, Memory memory, unsigned flags) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!size) return *out = nullptr, done(hipSuccess);
  if (forbidden_by_capture()) return done(hipErrorStreamCaptureUnsupported);
  return done(allocate(size, memory, current_device(), flags, nullptr, out));
}

static hipError_t free_memory(void* address, bool host) {
  if (!address) return hipSuccess;
  Allocation* it;
  {
    NEED_DEVICES();
    it = containing(address);
    auto& former = arena().former;
    if (!it && former.count(reinterpret_cast<uintptr_t>(address))) {
      fault("memory %p is freed twice", address);
      return done(hipErrorInvalidValue);
    }
    if (!it || it->base != reinterpret_cast<uintptr_t>(address)) return done(hipErrorInvalidValue);
    bool is_host = it->memory == Memory::host;
    if (is_host != host || it->memory == Memory::mapped || it->memory == Memory::reserved ||
        it->memory == Memory::opened)
      return done(hipErrorInvalidValue);
    if (it->memory == Memory::registered) return done(hipErrorInvalidValue);
    if (forbidden_by_capture()) return done(hipErrorStreamCaptureUnsupported);
  }
  // Freeing waits for the work that may use it.
  for (const WorkRef& each : pending()) finish(each);
  Lock lock = lock_world();
  if (it->alive) {
    returned(it);
    release(it);
  }
  return done(hipSuccess);
}

HIP(hipMalloc)(void** out, size_t size) { return new_memory(out, size, Memory::device, 0); }
HIP(hipExtMallocWithFlags)(void** out, size_t size, unsigned flags) {
  if (flags > hipDeviceMallocContiguous) return done(hipErrorInvalidValue);
  return new_memory(out, size, Memory::device, flags);
}
HIP(hipMallocManaged)(void** out, size_t size, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return done(hipErrorInvalidValue);
  if (!size) return done(hipErrorInvalidValue);
  return new_memory(out, size, Memory::managed, flags);
}
HIP(hipHostMalloc)(void** out, size_t size, unsigned flags) {
  const unsigned known = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                         hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent |
                         hipHostMallocUncached;
  if (flags & ~known) return done(hipErrorInvalidValue);
  if (flags & hipHostMallocCoherent && flags & hipHostMallocNonCoherent)
    return done(hipErrorInvalidValue);
  return new_memory(out, size, Memory::host, flags);
}
HIP(hipHostAlloc)(void** out, size_t size, unsigned flags) {
  return impl_hipHostMalloc(out, size, flags);
}
HIP(hipMallocHost)(void** out, size_t size) { return impl_hipHostMalloc(out, size, 0); }
HIP(hipMemAllocHost)(void** out, size_t size) { return impl_hipHostMalloc(out, size, 0); }
HIP(hipMallocPitch)(void** out, size_t* pitch, size_t width, size_t height) {
  if (!out || !pitch) return done(hipErrorInvalidValue);
  if (!width || !height) return *out = nullptr, *pitch = 0, done(hipSuccess);
  *pitch = rounded(width, 256);
  return impl_hipMalloc(out, *pitch * height);
}
extern "C" hipError_t hipMemAllocPitch(hipDeviceptr_t*, size_t*, size_t, size_t, unsigned);
HIP(hipMemAllocPitch)(hipDeviceptr_t* out, size_t* pitch, size_t width, size_t height,
                      unsigned element) {
  if (element != 4 && element != 8 && element != 16) return done(hipErrorInvalidValue);
  return impl_hipMallocPitch(reinterpret_cast<void**>(out), pitch, width, height);
}
HIP(hipMalloc3D)(hipPitchedPtr* out, hipExtent extent) {
  if (!out) return done(hipErrorInvalidValue);
  size_t pitch = rounded(extent.width, 256);
  void* address = nullptr;
  hipError_t status = impl_hipMalloc(&address, pitch * extent.height * extent.depth);
  if (status == hipSuccess) *out = {address, pitch, extent.width, extent.height};
  return status;
}
HIP(hipFree)(void* address) { return free_memory(address, false); }
HIP(hipHostFree)(void* address) { return free_memory(address, true); }
HIP(hipFreeHost)(void* address) { return free_memory(address, true); }
HIP(hipMemGetInfo)(size_t* free, size_t* total) {
  NEED_DEVICES();
  Device* it = current_device();
  if (free) *free = it->card.memory - it->used;
  if (total) *total = it->card.memory;
  return done(hipSuccess);
}
HIP(hipHostRegister)(void* address, size_t size, unsigned flags) {
  NEED_DEVICES();
  if (!address || !size || flags & ~unsigned{0x8000001f}) return done(hipErrorInvalidValue);
  Allocation* before = containing(address);
  if (before)
    return done(before->memory == Memory::registered ? hipErrorHostMemoryAlreadyRegistered
                                                     : hipErrorInvalidValue);
  auto* made = new Allocation;
  made->base = reinterpret_cast<uintptr_t>(address);
  made->size = size;
  made->memory = Memory::registered;
  made->device = current_device()->ordinal;
  made->flags = flags;
  made->number = next_number();
  arena().all[made->base] = made;
  return done(hipSuccess);
}
HIP(hipHostUnregister)(void* address) {
  Allocation* it;
  {
    NEED_DEVICES();
    it = containing(address);
    if (!it || it->memory != Memory::registered || it->base != reinterpret_cast<uintptr_t>(address))
      return done(hipErrorHostMemoryNotRegistered);
  }
  for (const WorkRef& each : pending()) finish(each);
  Lock lock = lock_world();
  release(it);
  return done(hipSuccess);
}
HIP(hipHostGetDevicePointer)(void** out, void* address, unsigned flags) {
  NEED_DEVICES();
  if (!out || !address || flags) return done(hipErrorInvalidValue);
  Allocation* it = containing(address);
  if (!it || (it->memory != Memory::host && it->memory != Memory::registered &&
              it->memory != Memory::managed))
    return done(hipErrorInvalidValue);
  *out = address;
  return done(hipSuccess);
}
HIP(hipHostGetFlags)(unsigned* flags, void* address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!flags || !it || (it->memory != Memory::host && it->memory != Memory::registered))
    return done(hipErrorInvalidValue);
  *flags = it->flags;
  return done(hipSuccess);
}
HIP(hipMemGetAddressRange)(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!it) return done(hipErrorNotFound);
  if (base) *base = reinterpret_cast<hipDeviceptr_t>(it->base);
  if (size) *size = it->size;
  return done(hipSuccess);
}
HIP(hipMemPtrGetInfo)(void* address, size_t* size) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!size || !it) return done(hipErrorInvalidValue);
  *size = it->size;
  return done(hipSuccess);
}
static hipMemoryType type_of(const Allocation& it) {
  switch (it.memory) {
    case Memory::host:
    case Memory::registered:
      return hipMemoryTypeHost;
    case Memory::managed:
      return hipMemoryTypeManaged;
    default:
      return hipMemoryTypeDevice;
  }
}
HIP(hipPointerGetAttributes)(hipPointerAttribute_t* out, const void* address) {
  NEED_DEVICES();
  if (!out || !address) return done(hipErrorInvalidValue);
  Allocation* it = containing(address);
  *out = {};
  if (!it) {  // HIP 6: memory that is not known is of no type, and that is no error
    out->type = hipMemoryTypeUnregistered;
    out->device = hipInvalidDeviceId;
    return done(hipSuccess);
  }
  out->type = type_of(*it);
  out->device = it->device;
  out->devicePointer = const_cast<void*>(address);
  out->hostPointer = out->type == hipMemoryTypeDevice ? nullptr : const_cast<void*>(address);
  out->isManaged = it->memory == Memory::managed;
  out->allocationFlags = it->flags;
  return done(hipSuccess);
}
HIP(hipPointerGetAttribute)(void* data, hipPointer_attribute attribute, hipDeviceptr_t address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!data) return done(hipErrorInvalidValue);
  if (!it) return done(hipErrorInvalidValue);
  bool host = it->memory == Memory::host || it->memory == Memory::registered ||
              it->memory == Memory::managed;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<void**>(data) = device(it->device)->context;
      break;
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) =
          it->memory == Memory::managed ? unsigned{hipMemoryTypeManaged} : unsigned{type_of(*it)};
      break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<void**>(data) = const_cast<void*>(static_cast<const void*>(address));
      break;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host) return done(hipErrorInvalidValue);
      *static_cast<void**>(data) = const_cast<void*>(static_cast<const void*>(address));
      break;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<uint64_t*>(data) = it->number;
      break;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = it->memory == Memory::managed;
      break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = it->device;
      break;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<void**>(data) = reinterpret_cast<void*>(it->base);
      break;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(data) = it->size;
      break;
    case HIP_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(data) = 1;
      break;
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *static_cast<unsigned*>(data) = 0;
      break;
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<void**>(data) = it->pool;
      break;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      *static_cast<unsigned*>(data) = 0;
      break;
    default:
      return done(hipErrorNotSupported);
  }
  return done(hipSuccess);
}
HIP(hipDrvPointerGetAttributes)(unsigned count, hipPointer_attribute* attributes, void** data,
                                hipDeviceptr_t address) {
  if (!attributes || !data) return done(hipErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i)
    if (hipError_t status = impl_hipPointerGetAttribute(data[i], attributes[i], address))
      return status;
  return done(hipSuccess);
}
HIP(hipPointerSetAttribute)(const void* value, hipPointer_attribute attribute,
                            hipDeviceptr_t address) {
  NEED_DEVICES();
  if (!value || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || !containing(address))
    return done(hipErrorInvalidValue);
  return done(hipSuccess);
}

// Virtual memory: addresses and the memory behind them apart.
static size_t granularity() { return kCoarse; }
HIP(hipMemGetAllocationGranularity)(size_t* out, const hipMemAllocationProp* properties,
                                    hipMemAllocationGranularity_flags) {
  NEED_DEVICES();
  if (!out || !properties || properties->type != hipMemAllocationTypePinned)
    return done(hipErrorInvalidValue);
  *out = granularity();
  return done(hipSuccess);
}
HIP(hipMemAddressReserve)(void** out, size_t size, size_t alignment, void* wish,
                          unsigned long long flags) {
  NEED_DEVICES();
  if (!out || !size || size % granularity() || flags || (alignment & (alignment - 1)))
    return done(hipErrorInvalidValue);
  Arena& a = arena();
  (void)wish;
  a.next = rounded(a.next, std::max(alignment, granularity()));
  auto* made = new Allocation;
  made->base = a.next;
  a.next += size + kCoarse;
  made->size = size;
  made->memory = Memory::reserved;
  made->device = current_device()->ordinal;
  made->number = next_number();
  a.all[made->base] = made;
  *out = reinterpret_cast<void*>(made->base);
  return done(hipSuccess);
}
static std::map<uintptr_t, size_t>& reservations() {
  static auto& it = *new std::map<uintptr_t, size_t>;
  return it;
}
HIP(hipMemAddressFree)(void* address, size_t size) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!it || it->memory != Memory::reserved || it->base != reinterpret_cast<uintptr_t>(address) ||
      it->size != size)
    return done(hipErrorInvalidValue);
  arena().all.erase(it->base);
  it->alive = false;
  arena().former[it->base] = it;
  return done(hipSuccess);
}
HIP(hipMemCreate)(hipMemGenericAllocationHandle_t* out, size_t size,
                  const hipMemAllocationProp* properties, unsigned long long flags) {
  NEED_DEVICES();
  if (!out || !size || size % granularity() || !properties || flags)
    return done(hipErrorInvalidValue);
  if (properties->type != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice)
    return done(hipErrorInvalidValue);
  Device* it = device(properties->location.id);
  if (!it) return done(hipErrorInvalidDevice);
  if (it->used + size > it->card.memory) return done(hipErrorOutOfMemory);
  it->used += size;
  auto* made = create<Physical>("memory handle");
  made->size = size;
  made->at = take_file(size);
  made->properties = *properties;
  *out = reinterpret_cast<hipMemGenericAllocationHandle_t>(made);
  return done(hipSuccess);
}
static void drop(Physical* it) {
  if (--it->references) return;
  it->alive = false;
  if (it->foreign < 0) device(it->properties.location.id)->used -= it->size;
}
HIP(hipMemRelease)(hipMemGenericAllocationHandle_t handle) {
  NEED_DEVICES();
  auto* it = find<Physical>(handle, "memory handle");
  if (!it) return done(hipErrorInvalidValue);
  drop(it);
  return done(hipSuccess);
}
HIP(hipMemMap)(void* address, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
               unsigned long long flags) {
  NEED_DEVICES();
  auto* memory = find<Physical>(handle, "memory handle");
  if (!memory || !address || !size || offset || flags || size % granularity() ||
      size > memory->size)
    return done(hipErrorInvalidValue);
  Allocation* range = containing(address);
  auto at = reinterpret_cast<uintptr_t>(address);
  if (!range || range->memory != Memory::reserved || at + size > range->base + range->size)
    return done(hipErrorInvalidValue);
  Arena& a = arena();
  // Split the reservation around it.
  size_t before = at - range->base, behind = range->base + range->size - at - size;
  reservations()[range->base] = range->size;
  auto* made = new Allocation(*range);
  made->base = at;
  made->size = size;
  made->memory = Memory::mapped;
  made->readable = false;
  made->physical = memory;
  made->device = memory->properties.location.id;
  made->at = memory->at;
  made->number = next_number();
  if (behind) {
    auto* rest = new Allocation(*range);
    rest->base = at + size;
    rest->size = behind;
    a.all[rest->base] = rest;
  }
  if (before)
    range->size = before;
  else
    a.all.erase(range->base);
  a.all[at] = made;
  memory->references++;
  map_at(at, size, memory->foreign >= 0 ? memory->foreign : a.file, memory->at, false);
  return done(hipSuccess);
}
HIP(hipMemUnmap)(void* address, size_t size) {
  {
    NEED_DEVICES();
    if (!address || !size) return done(hipErrorInvalidValue);
  }
  for (const WorkRef& each : pending()) finish(each);
  Lock lock = lock_world();
  Arena& a = arena();
  auto from = reinterpret_cast<uintptr_t>(address);
  for (uintptr_t at = from; at < from + size;) {
    Allocation* it = containing(reinterpret_cast<void*>(at));
    if (!it || it->memory != Memory::mapped || it->base != at || at + it->size > from + size)
      return done(hipErrorInvalidValue);
    at += it->size;
  }
  for (uintptr_t at = from; at < from + size;) {
    Allocation* it = a.all[at];
    at += it->size;
    unmap_at(it->base, it->size);
    drop(it->physical);
    it->physical = nullptr;
    it->memory = Memory::reserved;
    it->flags = 0;
  }
  // Join neighbours again, so that the reservation can be freed as one.
  for (auto each = a.all.begin(); each != a.all.end();) {
    auto following = std::next(each);
    if (following == a.all.end()) break;
    Allocation *left = each->second, *right = following->second;
    if (left->memory == Memory::reserved && right->memory == Memory::reserved &&
        left->base + left->size == right->base) {
      left->size += right->size;
      a.all.erase(following);
    } else {
      each = following;
    }
  }
  return done(hipSuccess);
}
HIP(hipMemSetAccess)(void* address, size_t size, const hipMemAccessDesc* access, size_t count) {
  NEED_DEVICES();
  if (!address || !size || !access || !count) return done(hipErrorInvalidValue);
  if (hipError_t status = check_range(address, size, true, "hipMemSetAccess")) return done(status);
  for (size_t i = 0; i < count; ++i)
    if (access[i].location.type != hipMemLocationTypeDevice || !device(access[i].location.id))
      return done(hipErrorInvalidValue);
  for (auto& [base, each] : arena().all)
    if (each->memory == Memory::mapped && base >= reinterpret_cast<uintptr_t>(address) &&
        base < reinterpret_cast<uintptr_t>(address) + size)
      each->flags = access[0].flags;
  return done(hipSuccess);
}
HIP(hipMemGetAccess)(unsigned long long* flags, const hipMemLocation* location, void* address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!flags || !location || !it || it->memory != Memory::mapped) return done(hipErrorInvalidValue);
  *flags = it->flags;
  return done(hipSuccess);
}
HIP(hipMemRetainAllocationHandle)(hipMemGenericAllocationHandle_t* out, void* address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!out || !it || it->memory != Memory::mapped) return done(hipErrorInvalidValue);
  it->physical->references++;
  *out = reinterpret_cast<hipMemGenericAllocationHandle_t>(it->physical);
  return done(hipSuccess);
}
HIP(hipMemGetAllocationPropertiesFromHandle)(hipMemAllocationProp* out,
                                             hipMemGenericAllocationHandle_t handle) {
  NEED_DEVICES();
  auto* it = find<Physical>(handle, "memory handle");
  if (!out || !it) return done(hipErrorInvalidValue);
  *out = it->properties;
  return done(hipSuccess);
}
// A shared handle is the file of all memory; where in it the memory lies stands in front of what is
// exported.
HIP(hipMemExportToShareableHandle)(void* out, hipMemGenericAllocationHandle_t handle,
                                   hipMemAllocationHandleType kind, unsigned long long flags) {
  NEED_DEVICES();
  auto* it = find<Physical>(handle, "memory handle");
  if (!out || !it || flags || kind != hipMemHandleTypePosixFileDescriptor)
    return done(hipErrorInvalidValue);
  if (it->properties.requestedHandleType != hipMemHandleTypePosixFileDescriptor)
    return done(hipErrorInvalidValue);
  int made = memfd_create("fake-hip-export", 0);
  int64_t words[3] = {it->at, static_cast<int64_t>(it->size), it->properties.location.id};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), arena().file);
  if (write(made, words, sizeof words) < 0 || write(made, path, sizeof path) < 0)
    return done(hipErrorUnknown);
  *static_cast<int*>(out) = made;
  return done(hipSuccess);
}
HIP(hipMemImportFromShareableHandle)(hipMemGenericAllocationHandle_t* out, void* handle,
                                     hipMemAllocationHandleType kind) {
  NEED_DEVICES();
  if (!out || kind != hipMemHandleTypePosixFileDescriptor) return done(hipErrorInvalidValue);
  auto number = static_cast<int>(reinterpret_cast<intptr_t>(handle));
  int64_t words[3];
  char path[64];
  if (pread(number, words, sizeof words, 0) != sizeof words ||
      pread(number, path, sizeof path, sizeof words) != sizeof path)
    return done(hipErrorInvalidValue);
  auto* made = create<Physical>("memory handle");
  made->size = static_cast<size_t>(words[1]);
  made->at = words[0];
  made->foreign = open(path, O_RDWR | O_CLOEXEC);
  made->properties.type = hipMemAllocationTypePinned;
  made->properties.location = {hipMemLocationTypeDevice, static_cast<int>(words[2])};
  *out = reinterpret_cast<hipMemGenericAllocationHandle_t>(made);
  return done(made->foreign < 0 ? hipErrorInvalidValue : hipSuccess);
}

// Memory of another process: its file, found through /proc, mapped at an address of ours.
struct Shared {
  pid_t pid;
  int file;
  int64_t at, size;
  int device;
  uint64_t offset;
};
HIP(hipIpcGetMemHandle)(hipIpcMemHandle_t* out, void* address) {
  NEED_DEVICES();
  Allocation* it = containing(address);
  if (!out || !it || it->memory != Memory::device) return done(hipErrorInvalidValue);
  Shared words{getpid(),   arena().file,
               it->at,     static_cast<int64_t>(it->size),
               it->device, reinterpret_cast<uintptr_t>(address) - it->base};
  memset(out, 0, sizeof *out);
  memcpy(out, &words, sizeof words);
  return done(hipSuccess);
}
HIP(hipIpcOpenMemHandle)(void** out, hipIpcMemHandle_t handle, unsigned flags) {
  NEED_DEVICES();
  if (!out || flags != hipIpcMemLazyEnablePeerAccess) return done(hipErrorInvalidValue);
  Shared words;
  memcpy(&words, &handle, sizeof words);
  if (words.pid == getpid()) return done(hipErrorInvalidContext);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", words.pid, words.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0 || !device(words.device)) return done(hipErrorInvalidValue);
  Arena& a = arena();
  auto* made = new Allocation;
  size_t room = rounded(static_cast<size_t>(words.size), kGrain);
  made->base = a.next;
  a.next += room + kGrain;
  made->size = static_cast<size_t>(words.size);
  made->memory = Memory::opened;
  made->device = words.device;
  made->number = next_number();
  made->at = words.at;
  made->readable = false;
  map_at(made->base, room, file, words.at, false);
  made->flags = static_cast<unsigned>(file);
  a.all[made->base] = made;
  *out = reinterpret_cast<void*>(made->base + words.offset);
  return done(hipSuccess);
}
HIP(hipIpcCloseMemHandle)(void* address) {
  Allocation* it;
  {
    NEED_DEVICES();
    it = containing(address);
    if (!it || it->memory != Memory::opened) return done(hipErrorInvalidValue);
  }
  for (const WorkRef& each : pending()) finish(each);
  Lock lock = lock_world();
  close(static_cast<int>(it->flags));
  release(it);
  return done(hipSuccess);
}
