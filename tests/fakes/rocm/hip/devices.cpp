// Devices as FAKE_HIP_DEVICES names them, contexts, errors, and the registry of objects.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.h"

namespace fake {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// ROCm's table of GPU specifications, and what rocminfo and hipDeviceProp_t say of these cards.
const Card kCards[] = {
    {"gfx90a", "gfx90a:sramecc+:xnack-", "AMD Instinct MI250X", 64 * kGiB, 110, 64, 65536, 131072,
     2048, 1700000, 1600000, 4096, 8 << 20, 9, 0},
    {"gfx942", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X", 192 * kGiB, 304, 64, 65536, 131072,
     2048, 2100000, 1300000, 8192, 4 << 20, 9, 4},
    {"gfx950", "gfx950:sramecc+:xnack-", "AMD Instinct MI355X", 288 * kGiB, 256, 64, 163840, 131072,
     2048, 2400000, 2000000, 8192, 4 << 20, 9, 5},
    {"gfx1030", "gfx1030", "AMD Radeon RX 6900 XT", 16 * kGiB, 40, 32, 65536, 65536, 1024, 2250000,
     1000000, 256, 4 << 20, 10, 3},
    {"gfx1100", "gfx1100", "AMD Radeon RX 7900 XTX", 24 * kGiB, 48, 32, 65536, 98304, 1024, 2482000,
     1249000, 384, 6 << 20, 11, 0},
    {"gfx1201", "gfx1201", "AMD Radeon RX 9070 XT", 16 * kGiB, 32, 32, 65536, 98304, 1024, 2970000,
     1258000, 256, 8 << 20, 12, 0},
    {"gfx803", "gfx803", "AMD Radeon RX 580", 8 * kGiB, 36, 64, 65536, 65536, 2560, 1340000,
     2000000, 256, 2 << 20, 8, 0},
};

thread_local int t_device = 0;
thread_local hipError_t t_error = hipSuccess;
thread_local std::vector<Object*> t_contexts;

std::unordered_set<const void*>& objects() {
  static auto& it = *new std::unordered_set<const void*>;
  return it;
}

std::vector<Device*> make_devices() {
  std::vector<Device*> made;
  const char* asked = getenv("FAKE_HIP_DEVICES");
  std::string all = asked ? asked : "gfx942";
  const char* memory = getenv("FAKE_HIP_MEMORY");
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find(',', at);
    std::string one = all.substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? all.size() : end + 1;
    std::string arch = one.substr(0, one.find(':'));
    const Card* card = nullptr;
    for (const Card& each : kCards)
      if (arch == each.arch) card = &each;
    auto* device = new Device{};
    device->card = card ? *card : kCards[1];
    if (!card) device->card.product = "AMD Radeon Graphics";
    device->name = one.find(':') == std::string::npos && card ? card->gcn_name : one;
    device->number = static_cast<int>(made.size());
    if (memory) device->card.memory = strtoull(memory, nullptr, 0);
    made.push_back(device);
  }
  return made;
}

std::string identity(int number) {
  char text[17];
  snprintf(text, sizeof text, "fa4e%012x", number + 1);
  return text;
}

// A variable as HIP reads it: one that is set and empty is a blank (ROCm/clr, flags.cpp).
std::string variable(const char* name) {
  const char* set = getenv(name);
  return !set ? "" : *set ? set : " ";
}

// The devices that HIP shows: of HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES, the entries before
// the first that names none, each once (ROCm/clr, rocdevice.cpp, Device::init).
std::vector<Device*> visible(const std::vector<Device*>& all) {
  std::string list = variable("HIP_VISIBLE_DEVICES");
  if (list.empty()) list = variable("CUDA_VISIBLE_DEVICES");
  if (list.empty()) return all;
  std::vector<Device*> out;
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string entry = list.substr(at, end - at);
    at = end + 1;
    Device* named = nullptr;
    for (Device* each : all) {
      bool uuid = entry.find("GPU-") != std::string::npos &&
                  ("GPU-" + identity(each->number)).find(entry) != std::string::npos;
      if (!named && (uuid || entry == std::to_string(each->number))) named = each;
    }
    if (!named) break;
    if (std::find(out.begin(), out.end(), named) == out.end()) out.push_back(named);
  }
  return out;
}

// What was made and not destroyed, on request: a line for each object, one for the memory.
__attribute__((destructor)) void tell_leaks() {
  if (!getenv("FAKE_HIP_LEAKS")) return;
  Lock lock = lock_world();
  for (const void* each : objects()) {
    auto* object = static_cast<const Object*>(each);
    bool own = false;  // ours, not the program's
    for (Device* device : devices())
      own = own || each == device->null_stream || each == device->default_pool ||
            each == device->context;
    std::string kind = object->kind;
    if (object->alive && !own && kind != "function" && kind != "node")
      note("\"leak\":\"%s %llu\"", object->kind, static_cast<unsigned long long>(object->number));
  }
  size_t bytes = 0;
  for (Allocation* each : mappings()) bytes += each->size;
  note("\"leaked_bytes\":%zu", bytes);
}

}  // namespace

Lock lock_world() {
  static constinit std::recursive_mutex mutex;
  return Lock(mutex);
}

uint64_t next_number() {
  static uint64_t number = 0;
  return ++number;
}

void enter(Object* object, const char* kind) {
  object->kind = kind;
  object->number = next_number();
  objects().insert(object);
}

bool is_object(const void* handle) { return objects().count(handle) != 0; }

std::vector<Device*>& devices() {
  static std::vector<Device*>& it = []() -> std::vector<Device*>& {
    auto* made = new std::vector<Device*>(visible(make_devices()));
    int ordinal = 0;
    for (Device* each : *made) {
      each->ordinal = ordinal++;
      each->null_stream = create<Stream>("stream");
      each->null_stream->device = each;
      each->default_pool = each->pool = create<Pool>("pool");
      each->default_pool->device = each;
      each->default_pool->properties.location = {hipMemLocationTypeDevice, each->ordinal};
      each->context = create<Object>("context");
      each->limits[hipLimitStackSize] = 1024;
      each->limits[hipLimitPrintfFifoSize] = 1 << 20;
      each->limits[hipLimitMallocHeapSize] = 8 << 20;
    }
    return *made;
  }();
  return it;
}

Device* device(int ordinal) {
  auto& all = devices();
  return ordinal < 0 || ordinal >= static_cast<int>(all.size()) ? nullptr
                                                                : all[static_cast<size_t>(ordinal)];
}

Device* current_device() { return device(t_device); }

hipError_t done(hipError_t status) {
  if (status != hipSuccess && status != hipErrorNotReady) t_error = status;
  return status;
}

hipError_t ready_world() { return devices().empty() ? hipErrorNoDevice : hipSuccess; }

}  // namespace fake

using namespace fake;

extern "C" __attribute__((visibility("hidden")))
const int fake_hip_version;  // of the library that this is linked into

#define NEED_DEVICES()      \
  Lock lock = lock_world(); \
  if (ready_world() != hipSuccess) return done(ready_world())

HIP(hipInit)(unsigned flags) {
  NEED_DEVICES();
  return done(flags ? hipErrorInvalidValue : hipSuccess);
}
static int version() {
  const char* asked = getenv("FAKE_HIP_VERSION");  // major * 10000000 + minor * 100000 + patch
  return asked ? atoi(asked) : fake_hip_version;
}
HIP(hipDriverGetVersion)(int* out) {
  return out ? (*out = version(), done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipRuntimeGetVersion)(int* out) {
  return out ? (*out = version(), done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipGetDeviceCount)(int* count) {
  if (!count) return done(hipErrorInvalidValue);
  Lock lock = lock_world();
  *count = static_cast<int>(devices().size());
  return done(ready_world());
}
HIP(hipDeviceGet)(hipDevice_t* out, int ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *out = ordinal;
  return done(hipSuccess);
}
HIP(hipSetDevice)(int ordinal) {
  NEED_DEVICES();
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  t_device = ordinal;
  return done(hipSuccess);
}
HIP(hipGetDevice)(int* out) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  *out = t_device;
  return done(hipSuccess);
}
HIP(hipSetDeviceFlags)(unsigned flags) {
  NEED_DEVICES();
  if (flags & ~unsigned{hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax})
    return done(hipErrorInvalidValue);
  current_device()->flags = flags;
  return done(hipSuccess);
}
HIP(hipGetDeviceFlags)(unsigned* flags) {
  NEED_DEVICES();
  if (!flags) return done(hipErrorInvalidValue);
  *flags = current_device()->flags;
  return done(hipSuccess);
}
HIP(hipDeviceGetName)(char* name, int size, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!name || size <= 0) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  snprintf(name, static_cast<size_t>(size), "%s", device(ordinal)->card.product);
  return done(hipSuccess);
}
HIP(hipDeviceGetUuid)(hipUUID* uuid, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!uuid) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  memcpy(uuid, identity(device(ordinal)->number).data(), 16);
  return done(hipSuccess);
}
HIP(hipDeviceTotalMem)(size_t* bytes, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!bytes) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *bytes = device(ordinal)->card.memory;
  return done(hipSuccess);
}
HIP(hipDeviceComputeCapability)(int* major, int* minor, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!major || !minor) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *major = device(ordinal)->card.major;
  *minor = device(ordinal)->card.minor;
  return done(hipSuccess);
}
HIP(hipDeviceGetPCIBusId)(char* text, int size, int ordinal) {
  NEED_DEVICES();
  if (!text || size < 13) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", 3 + device(ordinal)->number);
  return done(hipSuccess);
}
HIP(hipDeviceGetByPCIBusId)(int* out, const char* text) {
  NEED_DEVICES();
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (!out || !text || sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3)
    return done(hipErrorInvalidValue);
  for (Device* each : devices()) {
    if (domain || slot || static_cast<int>(bus) != 3 + each->number) continue;
    *out = each->ordinal;
    return done(hipSuccess);
  }
  return done(hipErrorInvalidDevice);
}
HIP(hipDeviceGetP2PAttribute)(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  NEED_DEVICES();
  if (!value) return done(hipErrorInvalidValue);
  if (!device(from) || !device(to) || from == to) return done(hipErrorInvalidDevice);
  *value = attribute == hipDevP2PAttrPerformanceRank ? 0 : 1;
  return done(attribute > hipDevP2PAttrHipArrayAccessSupported ? hipErrorInvalidValue : hipSuccess);
}
HIP(hipDeviceCanAccessPeer)(int* can, int from, int to) {
  NEED_DEVICES();
  if (!can) return done(hipErrorInvalidValue);
  if (!device(from) || !device(to)) return done(hipErrorInvalidDevice);
  *can = from != to;
  return done(hipSuccess);
}
HIP(hipDeviceEnablePeerAccess)(int peer, unsigned flags) {
  NEED_DEVICES();
  if (flags) return done(hipErrorInvalidValue);
  if (!device(peer) || peer == t_device) return done(hipErrorInvalidDevice);
  return done(current_device()->peers.insert(peer).second ? hipSuccess
                                                          : hipErrorPeerAccessAlreadyEnabled);
}
HIP(hipDeviceDisablePeerAccess)(int peer) {
  NEED_DEVICES();
  if (!device(peer) || peer == t_device) return done(hipErrorInvalidDevice);
  return done(current_device()->peers.erase(peer) ? hipSuccess : hipErrorPeerAccessNotEnabled);
}
HIP(hipGetDevicePropertiesR0600)(hipDeviceProp_tR0600* out, int ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  Device* it = device(ordinal);
  if (!it) return done(hipErrorInvalidDevice);
  const Card& card = it->card;
  hipDeviceProp_tR0600 p{};
  snprintf(p.name, sizeof p.name, "%s", card.product);
  snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", it->name.c_str());
  impl_hipDeviceGetUuid(&p.uuid, ordinal);
  p.totalGlobalMem = card.memory;
  p.sharedMemPerBlock = p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor =
      p.maxSharedMemoryPerMultiProcessor = static_cast<size_t>(card.lds);
  p.regsPerBlock = p.regsPerMultiprocessor = card.registers;
  p.warpSize = card.wave;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = 1024;
  for (int& each : p.maxThreadsDim) each = 1024;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = card.clock_khz;
  p.totalConstMem = 2147483647;
  p.major = card.major;
  p.minor = card.minor;
  p.textureAlignment = p.texturePitchAlignment = 256;
  p.multiProcessorCount = card.units;
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.cooperativeLaunch = 1;
  p.maxTexture1D = 16384;
  p.maxTexture2D[0] = p.maxTexture2D[1] = 16384;
  p.maxTexture3D[0] = p.maxTexture3D[1] = 16384;
  p.maxTexture3D[2] = 8192;
  p.pciBusID = 3 + it->number;
  p.asyncEngineCount = 2;
  p.memoryClockRate = card.memory_clock_khz;
  p.memoryBusWidth = card.bus_bits;
  p.l2CacheSize = card.l2;
  p.maxThreadsPerMultiProcessor = card.max_threads;
  p.streamPrioritiesSupported = 1;
  p.managedMemory = 1;
  p.maxBlocksPerMultiProcessor = 32;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.memoryPoolSupportedHandleTypes = hipMemHandleTypePosixFileDescriptor;
  p.isLargeBar = 1;
  p.ECCEnabled = 1;
  *out = p;
  return done(hipSuccess);
}
HIP(hipDeviceGetAttribute)(int* out, hipDeviceAttribute_t attribute, int ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  hipDeviceProp_tR0600 p;
  impl_hipGetDevicePropertiesR0600(&p, ordinal);
  auto clip = [](size_t value) {
    return value > 2147483647 ? 2147483647 : static_cast<int>(value);
  };
  switch (attribute) {
#define VALUE(name, value)       \
  case hipDeviceAttribute##name: \
    *out = value;                \
    break
    VALUE(EccEnabled, p.ECCEnabled);
    VALUE(AsyncEngineCount, p.asyncEngineCount);
    VALUE(CanMapHostMemory, 1);
    VALUE(CanUseHostPointerForRegisteredMem, 1);
    VALUE(ClockRate, p.clockRate);
    VALUE(ComputeMode, 0);
    VALUE(ConcurrentKernels, 1);
    VALUE(ConcurrentManagedAccess, 1);
    VALUE(CooperativeLaunch, 1);
    VALUE(DeviceOverlap, 1);
    VALUE(HostNativeAtomicSupported, 0);
    VALUE(Integrated, 0);
    VALUE(L2CacheSize, p.l2CacheSize);
    VALUE(ComputeCapabilityMajor, p.major);
    VALUE(ComputeCapabilityMinor, p.minor);
    VALUE(ManagedMemory, 1);
    VALUE(MaxBlocksPerMultiProcessor, p.maxBlocksPerMultiProcessor);
    VALUE(MaxBlockDimX, 1024);
    VALUE(MaxBlockDimY, 1024);
    VALUE(MaxBlockDimZ, 1024);
    VALUE(MaxGridDimX, p.maxGridSize[0]);
    VALUE(MaxGridDimY, p.maxGridSize[1]);
    VALUE(MaxGridDimZ, p.maxGridSize[2]);
    VALUE(MaxTexture1DWidth, p.maxTexture1D);
    VALUE(MaxTexture2DWidth, p.maxTexture2D[0]);
    VALUE(MaxTexture2DHeight, p.maxTexture2D[1]);
    VALUE(MaxTexture3DWidth, p.maxTexture3D[0]);
    VALUE(MaxTexture3DHeight, p.maxTexture3D[1]);
    VALUE(MaxTexture3DDepth, p.maxTexture3D[2]);
    VALUE(MaxThreadsPerBlock, 1024);
    VALUE(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor);
    VALUE(MaxPitch, clip(p.memPitch));
    VALUE(MemoryBusWidth, p.memoryBusWidth);
    VALUE(MemoryClockRate, p.memoryClockRate);
    VALUE(MultiprocessorCount, p.multiProcessorCount);
    VALUE(PhysicalMultiProcessorCount, p.multiProcessorCount);
    VALUE(PageableMemoryAccess, 0);
    VALUE(PciBusId, p.pciBusID);
    VALUE(PciDeviceId, 0);
    VALUE(PciDomainID, 0);
    VALUE(MaxRegistersPerBlock, p.regsPerBlock);
    VALUE(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor);
    VALUE(MaxSharedMemoryPerBlock, clip(p.sharedMemPerBlock));
    VALUE(SharedMemPerBlockOptin, clip(p.sharedMemPerBlockOptin));
    VALUE(SharedMemPerMultiprocessor, clip(p.sharedMemPerMultiprocessor));
    VALUE(MaxSharedMemoryPerMultiprocessor, clip(p.maxSharedMemoryPerMultiProcessor));
    VALUE(StreamPrioritiesSupported, 1);
    VALUE(TextureAlignment, 256);
    VALUE(TexturePitchAlignment, 256);
    VALUE(TotalConstantMemory, clip(p.totalConstMem));
    VALUE(TotalGlobalMem, clip(p.totalGlobalMem));
    VALUE(UnifiedAddressing, 1);
    VALUE(WarpSize, p.warpSize);
    VALUE(MemoryPoolsSupported, 1);
    VALUE(VirtualMemoryManagementSupported, 1);
    VALUE(HostRegisterSupported, 1);
    VALUE(MemoryPoolSupportedHandleTypes, hipMemHandleTypePosixFileDescriptor);
    VALUE(IsLargeBar, 1);
    VALUE(CanUseStreamWaitValue, 1);
    VALUE(ImageSupport, p.warpSize == 32);
    VALUE(FineGrainSupport, 1);
    VALUE(WallClockRate, 100000);
    VALUE(NumberOfXccs, 1);
    VALUE(AccessPolicyMaxWindowSize, 0);
    VALUE(ComputePreemptionSupported, 0);
    VALUE(KernelExecTimeout, 0);
    VALUE(PersistingL2CacheMaxSize, 0);
    VALUE(ReservedSharedMemPerBlock, 0);
    VALUE(SurfaceAlignment, 256);
    VALUE(TccDriver, 0);
#undef VALUE
    default:
      return done(hipErrorInvalidValue);
  }
  return done(hipSuccess);
}
HIP(hipDeviceGetLimit)(size_t* value, enum hipLimit_t limit) {
  NEED_DEVICES();
  if (!value || limit > hipLimitMallocHeapSize) return done(hipErrorInvalidValue);
  if (limit == hipLimitPrintfFifoSize) return done(hipErrorUnsupportedLimit);  // HIP 6.4.3
  *value = current_device()->limits[limit];
  return done(hipSuccess);
}
HIP(hipDeviceSetLimit)(enum hipLimit_t limit, size_t value) {
  NEED_DEVICES();
  if (limit > hipLimitMallocHeapSize) return done(hipErrorInvalidValue);
  if (limit == hipLimitPrintfFifoSize) return done(hipErrorUnsupportedLimit);
  current_device()->limits[limit] = value;
  return done(hipSuccess);
}
HIP(hipDeviceGetStreamPriorityRange)(int* least, int* greatest) {
  NEED_DEVICES();
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return done(hipSuccess);
}
HIP(hipDeviceGetCacheConfig)(hipFuncCache_t* out) {
  return out ? (*out = hipFuncCachePreferNone, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipDeviceSetCacheConfig)(hipFuncCache_t) { return done(hipSuccess); }
HIP(hipDeviceGetSharedMemConfig)(hipSharedMemConfig* out) {
  return out ? (*out = hipSharedMemBankSizeFourByte, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipDeviceSetSharedMemConfig)(hipSharedMemConfig) { return done(hipSuccess); }
HIP(hipDeviceSynchronize)() {
  Device* it;
  {
    NEED_DEVICES();
    if (breaks_captures()) return done(hipErrorStreamCaptureUnsupported);
    it = current_device();
  }
  finish_device(it);
  return done(hipSuccess);
}
HIP(hipDeviceReset)() {
  hipError_t status = impl_hipDeviceSynchronize();
  if (status == hipSuccess) note("\"did\":\"device reset\"");
  return status;
}

// Contexts: HIP has the primary one of each device.
static Device* device_of(const void* context) {
  for (Device* each : devices())
    if (each->context == context) return each;
  return nullptr;
}
HIP(hipDevicePrimaryCtxRetain)(hipCtx_t* out, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  device(ordinal)->retained++;
  *out = reinterpret_cast<hipCtx_t>(device(ordinal)->context);
  return done(hipSuccess);
}
HIP(hipDevicePrimaryCtxRelease)(hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  if (device(ordinal)->retained > 0) device(ordinal)->retained--;
  return done(hipSuccess);
}
HIP(hipDevicePrimaryCtxReset)(hipDevice_t ordinal) {
  NEED_DEVICES();
  return done(device(ordinal) ? hipSuccess : hipErrorInvalidDevice);
}
HIP(hipDevicePrimaryCtxGetState)(hipDevice_t ordinal, unsigned* flags, int* active) {
  NEED_DEVICES();
  if (!flags || !active) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  *flags = device(ordinal)->flags;
  *active = device(ordinal)->retained > 0;
  return done(hipSuccess);
}
HIP(hipDevicePrimaryCtxSetFlags)(hipDevice_t ordinal, unsigned flags) {
  NEED_DEVICES();
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  device(ordinal)->flags = flags;
  return done(hipSuccess);
}
HIP(hipCtxCreate)(hipCtx_t* out, unsigned flags, hipDevice_t ordinal) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  device(ordinal)->flags = flags;
  t_contexts.push_back(device(ordinal)->context);
  t_device = ordinal;
  *out = reinterpret_cast<hipCtx_t>(device(ordinal)->context);
  return done(hipSuccess);
}
HIP(hipCtxDestroy)(hipCtx_t context) {
  NEED_DEVICES();
  return done(device_of(context) ? hipSuccess : hipErrorInvalidValue);
}
HIP(hipCtxPushCurrent)(hipCtx_t context) {
  NEED_DEVICES();
  Device* it = device_of(context);
  if (!it) return done(hipErrorInvalidContext);
  t_contexts.push_back(it->context);
  t_device = it->ordinal;
  return done(hipSuccess);
}
HIP(hipCtxPopCurrent)(hipCtx_t* out) {
  NEED_DEVICES();
  if (t_contexts.empty()) return done(hipErrorInvalidContext);
  if (out) *out = reinterpret_cast<hipCtx_t>(t_contexts.back());
  t_contexts.pop_back();
  if (!t_contexts.empty()) t_device = device_of(t_contexts.back())->ordinal;
  return done(hipSuccess);
}
HIP(hipCtxSetCurrent)(hipCtx_t context) {
  NEED_DEVICES();
  if (!t_contexts.empty()) t_contexts.pop_back();
  if (!context) return done(hipSuccess);
  Device* it = device_of(context);
  if (!it) return done(hipErrorInvalidContext);
  t_contexts.push_back(it->context);
  t_device = it->ordinal;
  return done(hipSuccess);
}
HIP(hipCtxGetCurrent)(hipCtx_t* out) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  *out = t_contexts.empty() ? nullptr : reinterpret_cast<hipCtx_t>(t_contexts.back());
  return done(hipSuccess);
}
HIP(hipCtxGetDevice)(hipDevice_t* out) {
  NEED_DEVICES();
  if (!out) return done(hipErrorInvalidValue);
  *out = t_device;
  return done(hipSuccess);
}
HIP(hipCtxSynchronize)() { return impl_hipDeviceSynchronize(); }

// Errors.
HIP(hipGetLastError)() {
  hipError_t status = t_error;
  t_error = hipSuccess;
  return status;
}
HIP(hipExtGetLastError)() { return impl_hipGetLastError(); }
HIP(hipPeekAtLastError)() { return t_error; }
static const char* error_name(hipError_t status) {
  switch (static_cast<int>(status)) {
#define NAME(x) \
  case x:       \
    return #x
    NAME(hipSuccess);
    NAME(hipErrorInvalidValue);
    NAME(hipErrorOutOfMemory);
    NAME(hipErrorNotInitialized);
    NAME(hipErrorDeinitialized);
    NAME(hipErrorInvalidConfiguration);
    NAME(hipErrorNoDevice);
    NAME(hipErrorInvalidDevice);
    NAME(hipErrorInvalidImage);
    NAME(hipErrorInvalidContext);
    NAME(hipErrorNoBinaryForGpu);
    NAME(hipErrorFileNotFound);
    NAME(hipErrorInvalidHandle);
    NAME(hipErrorNotFound);
    NAME(hipErrorNotReady);
    NAME(hipErrorIllegalAddress);
    NAME(hipErrorLaunchOutOfResources);
    NAME(hipErrorLaunchFailure);
    NAME(hipErrorNotSupported);
    NAME(hipErrorUnknown);
#undef NAME
    default:
      return "hipErrorOther";
  }
}
extern "C" const char* impl_hipGetErrorName(hipError_t status) { return error_name(status); }
extern "C" const char* impl_hipGetErrorString(hipError_t status) { return error_name(status); }
HIP(hipDrvGetErrorName)(hipError_t status, const char** out) {
  return out ? (*out = error_name(status), hipSuccess) : hipErrorInvalidValue;
}
HIP(hipDrvGetErrorString)(hipError_t status, const char** out) {
  return out ? (*out = error_name(status), hipSuccess) : hipErrorInvalidValue;
}
HIP(hipProfilerStart)() { return done(hipErrorNotSupported); }
HIP(hipProfilerStop)() { return done(hipErrorNotSupported); }
