// Driver API reference: device management.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/text.h"
#include "cuda/device_attributes.h"
#include "cuda/fixed_attributes.h"
#include "hip/architecture.h"
#include "hip/devices.h"
#include "hip/forward.h"

namespace aw {
namespace {

// Beside those of every device; what the device does not do says 0.
constexpr FixedAttribute kFixed[] = {
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
};

// Attributes that HIP answers with the same meaning.
struct Asked {
  int number;
  hipDeviceAttribute_t attribute;
};
constexpr Asked kAsked[] = {
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, hipDeviceAttributeClockRate},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, hipDeviceAttributeKernelExecTimeout},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, hipDeviceAttributeIntegrated},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, hipDeviceAttributeComputeMode},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, hipDeviceAttributeEccEnabled},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, hipDeviceAttributePciBusId},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, hipDeviceAttributePciDeviceId},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, hipDeviceAttributeMemoryClockRate},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, hipDeviceAttributeMemoryBusWidth},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, hipDeviceAttributeL2CacheSize},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, hipDeviceAttributePciDomainID},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, hipDeviceAttributeManagedMemory},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, hipDeviceAttributeIsMultiGpuBoard},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, hipDeviceAttributeHostNativeAtomicSupported},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, hipDeviceAttributePageableMemoryAccess},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, hipDeviceAttributeConcurrentManagedAccess},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
     hipDeviceAttributeCanUseHostPointerForRegisteredMem},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, hipDeviceAttributeCooperativeLaunch},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
     hipDeviceAttributePageableMemoryAccessUsesHostPageTables},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
     hipDeviceAttributeDirectManagedMemAccessFromHost},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED,
     hipDeviceAttributeVirtualMemoryManagementSupported},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, hipDeviceAttributeMemoryPoolsSupported},
};

int from_hip(const HipDevice& d, hipDeviceAttribute_t attribute) {
  int value = 0;
  return hip.hipDeviceGetAttribute &&
                 hip.hipDeviceGetAttribute(&value, attribute, d.number) == hipSuccess
             ? value
             : 0;
}

int attribute_of(const HipDevice& d, int number) {
  return d.attributes[static_cast<size_t>(number)];
}

int find_attribute(const HipDevice& d, int number) {
  switch (number) {
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:  // registers per block and per
                                                       // multiprocessor, in 32 bits
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return static_cast<int>(d.registers_per_unit);
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return static_cast<int>(d.info.multiprocessors);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return static_cast<int>(d.threads_per_unit);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return static_cast<int>(std::max(architecture_of(d.architecture).shared_per_unit, d.shared));
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return static_cast<int>(d.shared);
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:  // the NUMA node of the device's memory, which HIP does not
                                       // tell
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;
    default:
      break;
  }
  for (auto& asked : kAsked) {
    if (asked.number == number) return from_hip(d, asked.attribute);
  }
  const int* fixed = fixed_value(kFixed, number);
  if (!fixed) fixed = fixed_value(kOfEveryDevice, number);
  return fixed ? *fixed : 0;
}

}  // namespace

int read_attribute_of(const HipDevice& device, int number) {
  return find_attribute(device, number);
}

bool device_attribute(int number, int* value) {
  if (number < 1 || number > kLastAttribute) return false;
  *value = attribute_of(current_hip_device(), number);
  return true;
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice dev) {
  return api<"cuDeviceGetName">([&] {
    require(name && length > 0);
    snprintf(name, static_cast<size_t>(length), "%s", hip_device_of(dev).name.c_str());
  });
}

static void write_uuid(CUuuid* uuid, CUdevice dev) {
  require(uuid);
  memcpy(uuid->bytes, hip_device_of(dev).uuid.data(), sizeof uuid->bytes);
}

AW_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid">([&] { write_uuid(uuid, dev); });
}

AW_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid_v2">([&] { write_uuid(uuid, dev); });
}

AW_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return api<"cuDeviceTotalMem_v2">([&] {
    require(bytes);
    *bytes = hip_device_of(dev).memory;
  });
}

AW_EXPORT CUresult cuDeviceGetAttribute(int* value, int number, CUdevice dev) {
  return api<"cuDeviceGetAttribute">([&] {
    require(value);
    const HipDevice& d = hip_device_of(dev);
    require(number >= 1 && number <= kLastAttribute);
    *value = attribute_of(d, number);
  });
}

AW_EXPORT CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  return api<"cuDeviceComputeCapability">([&] {
    require(major && minor);
    check_device(dev);
    *major = kCapabilityMajor, *minor = kCapabilityMinor;
  });
}

AW_EXPORT CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice dev) {
  return api<"cuDeviceGetProperties">([&] {
    require(p);
    const HipDevice& d = hip_device_of(dev);
    p->maxThreadsPerBlock = attribute_of(d, 1);
    for (int i = 0; i < 3; ++i)
      p->maxThreadsDim[i] = attribute_of(d, 2 + i), p->maxGridSize[i] = attribute_of(d, 5 + i);
    p->sharedMemPerBlock = attribute_of(d, 8);
    p->totalConstantMemory = attribute_of(d, 9);
    p->SIMDWidth = attribute_of(d, 10);
    p->memPitch = attribute_of(d, 11);
    p->regsPerBlock = attribute_of(d, 12);
    p->clockRate = attribute_of(d, 13);
    p->textureAlign = attribute_of(d, 14);
  });
}

AW_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice dev) {
  return api<"cuDeviceGetPCIBusId">([&] {
    constexpr int kLength = 12;  // 0000:BB:DD.0
    require(id && length > kLength);
    const auto& p = hip_device_of(dev).properties;
    snprintf(id, static_cast<size_t>(length), "%04x:%02x:%02x.0",
             static_cast<unsigned>(p.pciDomainID) & 0xffff,
             static_cast<unsigned>(p.pciBusID) & 0xff, static_cast<unsigned>(p.pciDeviceID) & 0x1f);
  });
}

AW_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* id) {
  return api<"cuDeviceGetByPCIBusId">([&] {
    require(out && id);
    unsigned domain = 0, bus, dev, function = 0;
    bool full = sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) == 4;
    bool brief = !full && sscanf(id, "%x:%x.%x", &bus, &dev, &function) == 3;
    require(full || brief);
    for (CUdevice each = 0; each < visible_devices(); ++each) {
      const auto& p = hip_device_of(each).properties;
      bool same = unsigned(p.pciDomainID) == domain && unsigned(p.pciBusID) == bus &&
                  unsigned(p.pciDeviceID) == dev;
      if (!same || function) continue;
      *out = each;
      return;
    }
    throw Failure(CUDA_ERROR_INVALID_DEVICE);
  });
}

AW_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceCanAccessPeer">([&] {
    require(can);
    int mine = hip_device(dev), other = hip_device(peer);
    *can = 0;
    return mine == other ? CUDA_SUCCESS : to_cuda(AW_HIP(hipDeviceCanAccessPeer)(can, mine, other));
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAttribute(int* value, int number, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceGetP2PAttribute">([&] {
    require(value && number >= 1 && number <= 5);
    int mine = hip_device(dev), other = hip_device(peer);
    require(mine != other, CUDA_ERROR_INVALID_DEVICE);
    // CUDA counts performance rank 1, access 2, atomics 3, arrays 4, HIP the same from 0; what is
    // newer HIP does not tell.
    *value = 0;
    if (number > 4) return CUDA_SUCCESS;
    return to_cuda(AW_HIP(hipDeviceGetP2PAttribute)(
        value, static_cast<hipDeviceP2PAttr>(number - 1), mine, other));
  });
}

AW_EXPORT CUresult cuDeviceGetExecAffinitySupport(int* supported, int type, CUdevice dev) {
  return api<"cuDeviceGetExecAffinitySupport">([&] {
    require(supported && type == 0);
    check_device(dev);
    *supported = 0;
  });
}
