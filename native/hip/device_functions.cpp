// Driver API reference: device management.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/text.h"
#include "cuda/device_attributes.h"
#include "hip/architecture.h"
#include "hip/devices.h"
#include "hip/forward.h"

namespace aw {
namespace {

// Attributes by number (CUdevice_attribute). Sizes of blocks, grids and CUDA arrays are those of
// compute capability 8.0: arrays and textures are ours, in device memory. What the device does not
// do says 0.
struct Attribute {
  int number, value;
};

constexpr int kLastAttribute = 147;

constexpr Attribute kFixed[] = {
    {1, kMaxThreadsPerBlock},
    {2, static_cast<int>(kMaxBlock[0])},
    {3, static_cast<int>(kMaxBlock[1])},
    {4, static_cast<int>(kMaxBlock[2])},
    {5, static_cast<int>(kMaxGrid[0])},
    {6, static_cast<int>(kMaxGrid[1])},
    {7, static_cast<int>(kMaxGrid[2])},
    {8, kMaxSharedDefault},
    {9, 65536},        // constant memory
    {10, 32},          // warp size
    {11, 0x7fffffff},  // largest pitch
    {14, 512},         // texture alignment
    {15, 1},           // copies overlap kernels
    {19, 1},           // host memory can be mapped
    {21, 131072},
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},  // textures: 1D, 2D, 3D
    {27, 32768},
    {28, 32768},
    {29, 2048},  // 2D layered, layers
    {31, 1},     // kernels run at once
    {40, 2},     // copy engines
    {41, 1},     // unified addressing
    {42, 32768},
    {43, 2048},
    {45, 32768},
    {46, 32768},
    {47, 8192},
    {48, 8192},
    {49, 32768},
    {51, 32},  // texture pitch alignment
    {52, 32768},
    {53, 32768},
    {54, 2046},  // cubemaps
    {55, 32768},
    {56, 131072},
    {57, 65536},
    {58, 16384},
    {59, 16384},
    {60, 16384},  // surfaces
    {61, 32768},
    {62, 2048},
    {63, 32768},
    {64, 32768},
    {65, 2048},
    {66, 32768},
    {67, 32768},
    {68, 2046},
    {69, 1 << 28},
    {70, 131072},
    {71, 65000},
    {72, 2097120},  // over linear memory
    {73, 32768},
    {74, 32768},
    {77, 32768},  // mipmapped
    {75, kCapabilityMajor},
    {76, kCapabilityMinor},
    {78, 1},  // stream priorities
    {79, 1},
    {80, 1},
    {87, 2},  // single to double precision speed
    {92, 1},  // stream memory operations
    {93, 1},
    {94, 1},
    {99, 1},    // host memory can be registered
    {103, 1},   // shareable by file descriptors
    {106, 32},  // blocks of one multiprocessor
    {119, 1},
    {122, 1},
    {123, 1},
};

// Numbers of attributes that HIP answers with the same meaning.
struct Asked {
  int number;
  hipDeviceAttribute_t attribute;
};
constexpr Asked kAsked[] = {
    {13, hipDeviceAttributeClockRate},
    {17, hipDeviceAttributeKernelExecTimeout},
    {18, hipDeviceAttributeIntegrated},
    {20, hipDeviceAttributeComputeMode},
    {32, hipDeviceAttributeEccEnabled},
    {33, hipDeviceAttributePciBusId},
    {34, hipDeviceAttributePciDeviceId},
    {36, hipDeviceAttributeMemoryClockRate},
    {37, hipDeviceAttributeMemoryBusWidth},
    {38, hipDeviceAttributeL2CacheSize},
    {50, hipDeviceAttributePciDomainID},
    {83, hipDeviceAttributeManagedMemory},
    {84, hipDeviceAttributeIsMultiGpuBoard},
    {86, hipDeviceAttributeHostNativeAtomicSupported},
    {88, hipDeviceAttributePageableMemoryAccess},
    {89, hipDeviceAttributeConcurrentManagedAccess},
    {91, hipDeviceAttributeCanUseHostPointerForRegisteredMem},
    {95, hipDeviceAttributeCooperativeLaunch},
    {100, hipDeviceAttributePageableMemoryAccessUsesHostPageTables},
    {101, hipDeviceAttributeDirectManagedMemAccessFromHost},
    {102, hipDeviceAttributeVirtualMemoryManagementSupported},
    {115, hipDeviceAttributeMemoryPoolsSupported},
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
    case 12:  // registers per block and per multiprocessor, in 32 bits
    case 82:
      return static_cast<int>(d.registers_per_unit);
    case 16:
      return static_cast<int>(d.info.multiprocessors);
    case 39:
      return static_cast<int>(d.threads_per_unit);
    case 81:
      return static_cast<int>(std::max(architecture_of(d.architecture).shared_per_unit, d.shared));
    case 97:
      return static_cast<int>(d.shared);
    case 131:  // the NUMA node of the device's memory, which HIP does not tell
    case 134:
      return -1;
    default:
      break;
  }
  for (auto& asked : kAsked) {
    if (asked.number == number) return from_hip(d, asked.attribute);
  }
  for (auto& fixed : kFixed) {
    if (fixed.number == number) return fixed.value;
  }
  return 0;
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

AW_EXPORT CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return api<"cuDeviceGet">([&] {
    require(out);
    check_device(ordinal);
    *out = ordinal;
  });
}

AW_EXPORT CUresult cuDeviceGetCount(int* count) {
  return api<"cuDeviceGetCount">([&] {
    require(count);
    *count = visible_devices();
  });
}

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
