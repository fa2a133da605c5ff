// Driver API reference: memory pools, virtual memory, managed memory, interprocess memory: where
// structures name devices, or HIP's functions take other parameters.
#include <cstring>

#include "hip/capture.h"
#include "hip/devices.h"

using namespace aw;

namespace {

constexpr int kCpuDevice = CU_DEVICE_CPU;
static_assert(kCpuDevice == hipCpuDeviceId);

void* memory(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void to_hip(hipMemLocation& location) {
  if (location.type == hipMemLocationTypeDevice) location.id = hip_device(location.id);
}

void to_cuda_number(int type, int& id) {
  if (type == CU_MEM_LOCATION_TYPE_DEVICE) id = cuda_device(id);
}

hipMemLocation located(const CUmemLocation& l) {
  hipMemLocation location{};
  location.type = static_cast<hipMemLocationType>(l.type), location.id = l.id;
  to_hip(location);
  return location;
}

static_assert(sizeof(CUmemAccessDesc) == sizeof(hipMemAccessDesc) &&
              sizeof(CUmemPoolProps) == sizeof(hipMemPoolProps) &&
              sizeof(CUmemAllocationProp) == sizeof(hipMemAllocationProp));

std::vector<hipMemAccessDesc> accesses(const CUmemAccessDesc* list, size_t count) {
  require(list || count == 0);
  std::vector<hipMemAccessDesc> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i].location = located(list[i].location);
    out[i].flags = static_cast<hipMemAccessFlags>(list[i].flags);
  }
  return out;
}

hipMemAllocationProp properties(const CUmemAllocationProp* given) {
  require(given);
  hipMemAllocationProp p;
  memcpy(&p, given, sizeof p);
  to_hip(p.location);
  return p;
}

hipMemGenericAllocationHandle_t allocation(CUmemGenericAllocationHandle handle) {
  return reinterpret_cast<hipMemGenericAllocationHandle_t>(handle);
}

hipMemPool_t pool_of(CUmemoryPool pool) { return reinterpret_cast<hipMemPool_t>(pool); }

// A location as the functions of HIP 6 take it: a device, or -1 for the host.
int as_device(const CUmemLocation& l) {
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE) return hip_device(l.id);
  require(l.type >= CU_MEM_LOCATION_TYPE_HOST && l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  return kCpuDevice;
}

int as_device(CUdevice dev) { return dev == kCpuDevice ? kCpuDevice : hip_device(dev); }

CUresult advise(CUdeviceptr address, size_t count, int advice, int device) {
  require_context();
  require(address && count && advice >= CU_MEM_ADVISE_SET_READ_MOSTLY &&
          advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY);
  return to_cuda(
      AW_HIP(hipMemAdvise)(memory(address), count, static_cast<hipMemoryAdvise>(advice), device));
}

CUresult prefetch(CUdeviceptr address, size_t count, int device, CUstream stream) {
  require_context();
  require(address && count);
  return to_cuda(AW_HIP(hipMemPrefetchAsync)(memory(address), count, device,
                                             uncaptured(stream, "cuMemPrefetchAsync")));
}

// HIP tells locations as devices; CUDA 12 asks for their type and number too.
CUresult range_attribute(void* out, size_t size, CUmem_range_attribute attribute,
                         CUdeviceptr address, size_t count) {
  require_context();
  require(out && address && count && attribute >= CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
          attribute <= CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
  require(attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? size >= 4 && size % 4 == 0 : size == 4);
  int asked = attribute;
  if (attribute >= CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE)
    asked = attribute < CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE
                ? CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
                : CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  check(AW_HIP(hipMemRangeGetAttribute)(out, size, static_cast<hipMemRangeAttribute>(asked),
                                        memory(address), count));
  if (asked == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) return CUDA_SUCCESS;
  for (size_t i = 0; i < size / 4; ++i) {
    int device;
    memcpy(&device, static_cast<char*>(out) + 4 * i, 4);
    if (device >= 0) device = cuda_device(device);
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE ||
        attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE)
      device = device >= 0            ? CU_MEM_LOCATION_TYPE_DEVICE
               : device == kCpuDevice ? CU_MEM_LOCATION_TYPE_HOST
                                      : CU_MEM_LOCATION_TYPE_NONE;
    if ((attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID ||
         attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID) &&
        device < 0)
      device = 0;
    memcpy(static_cast<char*>(out) + 4 * i, &device, 4);
  }
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* given) {
  return api<"cuMemPoolCreate">([&] {
    require_context();
    require(out && given);
    hipMemPoolProps p;
    memcpy(&p, given, sizeof p);
    to_hip(p.location);
    return to_cuda(AW_HIP(hipMemPoolCreate)(reinterpret_cast<hipMemPool_t*>(out), &p));
  });
}

AW_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list,
                                      size_t count) {
  return api<"cuMemPoolSetAccess">([&] {
    auto all = accesses(list, count);
    return to_cuda(AW_HIP(hipMemPoolSetAccess)(pool_of(pool), all.data(), count));
  });
}

AW_EXPORT CUresult cuMemPoolGetAccess(int* flags, CUmemoryPool pool, CUmemLocation* location) {
  return api<"cuMemPoolGetAccess">([&] {
    require(flags && location);
    hipMemLocation where = located(*location);
    hipMemAccessFlags found{};
    check(AW_HIP(hipMemPoolGetAccess)(&found, pool_of(pool), &where));
    *flags = found;
  });
}

AW_EXPORT CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool pool, int type,
                                                    unsigned long long flags) {
  return api<"cuMemPoolExportToShareableHandle">([&] {
    require(out && flags == 0);
    return to_cuda(AW_HIP(hipMemPoolExportToShareableHandle)(
        out, pool_of(pool), static_cast<hipMemAllocationHandleType>(type), 0));
  });
}

AW_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle, int type,
                                                      unsigned long long flags) {
  return api<"cuMemPoolImportFromShareableHandle">([&] {
    require_context();
    require(out && flags == 0);
    return to_cuda(AW_HIP(hipMemPoolImportFromShareableHandle)(
        reinterpret_cast<hipMemPool_t*>(out), handle, static_cast<hipMemAllocationHandleType>(type),
        0));
  });
}

// Pools by location (CUDA 13): HIP knows those of devices by the device.
namespace {

CUresult pool_at(CUmemoryPool* out, const CUmemLocation* location, bool standard) {
  require(out && location);
  require(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  auto* to = reinterpret_cast<hipMemPool_t*>(out);
  int device = hip_device(location->id);
  return to_cuda(standard ? AW_HIP(hipDeviceGetDefaultMemPool)(to, device)
                          : AW_HIP(hipDeviceGetMemPool)(to, device));
}

}  // namespace

AW_EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, const CUmemLocation* location, int) {
  return api<"cuMemGetDefaultMemPool">([&] { return pool_at(out, location, true); });
}
AW_EXPORT CUresult cuMemGetMemPool(CUmemoryPool* out, const CUmemLocation* location, int) {
  return api<"cuMemGetMemPool">([&] { return pool_at(out, location, false); });
}
AW_EXPORT CUresult cuMemSetMemPool(const CUmemLocation* location, int, CUmemoryPool pool) {
  return api<"cuMemSetMemPool">([&] {
    require(location);
    require(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
    return to_cuda(AW_HIP(hipDeviceSetMemPool)(hip_device(location->id), pool_of(pool)));
  });
}

AW_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes,
                               const CUmemAllocationProp* given, unsigned long long flags) {
  return api<"cuMemCreate">([&] {
    require(out);
    hipMemAllocationProp p = properties(given);
    hipMemGenericAllocationHandle_t made = nullptr;
    check(AW_HIP(hipMemCreate)(&made, bytes, &p, flags));
    *out = reinterpret_cast<CUmemGenericAllocationHandle>(made);
  });
}

AW_EXPORT CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* given,
                                                 int option) {
  return api<"cuMemGetAllocationGranularity">([&] {
    require(out && (option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                    option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    hipMemAllocationProp p = properties(given);
    return to_cuda(AW_HIP(hipMemGetAllocationGranularity)(
        out, &p, static_cast<hipMemAllocationGranularity_flags>(option)));
  });
}

AW_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                          CUmemGenericAllocationHandle handle) {
  return api<"cuMemGetAllocationPropertiesFromHandle">([&] {
    require(out);
    hipMemAllocationProp p{};
    check(AW_HIP(hipMemGetAllocationPropertiesFromHandle)(&p, allocation(handle)));
    memcpy(out, &p, sizeof *out);
    to_cuda_number(out->location.type, out->location.id);
  });
}

AW_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* list,
                                  size_t count) {
  return api<"cuMemSetAccess">([&] {
    auto all = accesses(list, count);
    return to_cuda(AW_HIP(hipMemSetAccess)(memory(address), bytes, all.data(), count));
  });
}

AW_EXPORT CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                  CUdeviceptr address) {
  return api<"cuMemGetAccess">([&] {
    require(flags && location);
    hipMemLocation where = located(*location);
    return to_cuda(AW_HIP(hipMemGetAccess)(flags, &where, memory(address)));
  });
}

AW_EXPORT CUresult cuMemAdvise(CUdeviceptr address, size_t count, int advice, CUdevice dev) {
  return api<"cuMemAdvise">([&] { return advise(address, count, advice, as_device(dev)); });
}
AW_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr address, size_t count, int advice,
                                  CUmemLocation location) {
  return api<"cuMemAdvise_v2">([&] {
    // Without a location where the advice needs none.
    bool needs = advice == 3 || advice == 5 || advice == 6;
    return advise(address, count, advice,
                  needs ? as_device(location) : hip_device(current_device()));
  });
}

AW_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t count, CUdevice dev,
                                      CUstream stream) {
  return api<"cuMemPrefetchAsync">(
      [&] { return prefetch(address, count, as_device(dev), stream); });
}
AW_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t count, CUmemLocation location,
                                         unsigned flags, CUstream stream) {
  return api<"cuMemPrefetchAsync_v2">([&] {
    require(flags == 0);
    return prefetch(address, count, as_device(location), stream);
  });
}
AW_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* places, size_t* indices,
                                           size_t place_count, unsigned long long flags,
                                           CUstream stream) {
  return api<"cuMemPrefetchBatchAsync">([&] {
    require(addresses && sizes && count && places && indices && place_count &&
            place_count <= count && flags == 0);
    require(indices[0] == 0);
    for (size_t i = 0, k = 0; i < count; ++i) {
      if (k + 1 < place_count && indices[k + 1] == i) ++k;
      CUresult code = prefetch(addresses[i], sizes[i], as_device(places[k]), stream);
      if (code) return code;
    }
    return CUDA_SUCCESS;
  });
}

AW_EXPORT CUresult cuMemRangeGetAttribute(void* out, size_t size, CUmem_range_attribute attribute,
                                          CUdeviceptr address, size_t count) {
  return api<"cuMemRangeGetAttribute">(
      [&] { return range_attribute(out, size, attribute, address, count); });
}
AW_EXPORT CUresult cuMemRangeGetAttributes(void** out, size_t* sizes,
                                           CUmem_range_attribute* attributes,
                                           size_t attribute_count, CUdeviceptr address,
                                           size_t count) {
  return api<"cuMemRangeGetAttributes">([&] {
    require(out && sizes && attributes && attribute_count);
    for (size_t i = 0; i < attribute_count; ++i)
      range_attribute(out[i], sizes[i], attributes[i], address, count);
  });
}

// Discarded pages may have any content afterwards, the old one too.
namespace {

CUresult discard(CUdeviceptr* addresses, size_t* sizes, size_t count, unsigned long long flags) {
  require_context();
  require(addresses && sizes && count && flags == 0);
  for (size_t i = 0; i < count; ++i) require(addresses[i] && sizes[i]);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                          unsigned long long flags, CUstream) {
  return api<"cuMemDiscardBatchAsync">([&] { return discard(addresses, sizes, count, flags); });
}
AW_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes,
                                                     size_t count, CUmemLocation* places,
                                                     size_t* indices, size_t place_count,
                                                     unsigned long long flags, CUstream stream) {
  return api<"cuMemDiscardAndPrefetchBatchAsync">([&] {
    discard(addresses, sizes, count, flags);
    return cuMemPrefetchBatchAsync(addresses, sizes, count, places, indices, place_count, flags,
                                   stream);
  });
}

static_assert(sizeof(hipIpcMemHandle_t) == 64 && sizeof(hipIpcEventHandle_t) == 64);

AW_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, hipIpcMemHandle_t handle,
                                         unsigned flags) {
  return api<"cuIpcOpenMemHandle_v2">([&] {
    require_context();
    require(out && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);  // which must be given
    return to_cuda(AW_HIP(hipIpcOpenMemHandle)(reinterpret_cast<void**>(out), handle,
                                               hipIpcMemLazyEnablePeerAccess));
  });
}
AW_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* out, hipIpcMemHandle_t handle, unsigned flags) {
  return api<"cuIpcOpenMemHandle">([&] { return cuIpcOpenMemHandle_v2(out, handle, flags); });
}
AW_EXPORT CUresult cuIpcOpenEventHandle(CUevent* out, hipIpcEventHandle_t handle) {
  return api<"cuIpcOpenEventHandle">([&] {
    require_context();
    require(out);
    return to_cuda(AW_HIP(hipIpcOpenEventHandle)(reinterpret_cast<hipEvent_t*>(out), handle));
  });
}
