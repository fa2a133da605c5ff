// Driver API reference: device management.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/api.h"
#include "cuda/context.h"
#include "cuda/device_attributes.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

// Each device sits on a bus of its own, at 0000:BB:00.0.
constexpr int kPciLength = 12;

void write_uuid(CUuuid* out, CUdevice dev) {
  std::string bytes = uuid_bytes(machine_number(dev));
  memcpy(out->bytes, bytes.data(), sizeof out->bytes);
}

int attribute(int number) {
  int value = 0;
  device_attribute(number, &value);
  return value;
}

}  // namespace

AW_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice dev) {
  return api<"cuDeviceGetName">([&] {
    require(name && length > 0);
    check_device(dev);
    snprintf(name, static_cast<size_t>(length), "%s", device_info().name.c_str());
  });
}

AW_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid">([&] {
    require(uuid);
    check_device(dev);
    write_uuid(uuid, dev);
  });
}

AW_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid_v2">([&] {
    require(uuid);
    check_device(dev);
    write_uuid(uuid, dev);
  });
}

AW_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return api<"cuDeviceTotalMem_v2">([&] {
    require(bytes);
    check_device(dev);
    *bytes = device_memory();
  });
}

AW_EXPORT CUresult cuDeviceGetAttribute(int* value, int number, CUdevice dev) {
  return api<"cuDeviceGetAttribute">([&] {
    require(value);
    check_device(dev);
    require(device_attribute(number, value));
    if (number == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) *value = machine_number(dev);
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
    check_device(dev);
    p->maxThreadsPerBlock = attribute(1);
    for (int i = 0; i < 3; ++i)
      p->maxThreadsDim[i] = attribute(2 + i), p->maxGridSize[i] = attribute(5 + i);
    p->sharedMemPerBlock = attribute(8);
    p->totalConstantMemory = attribute(9);
    p->SIMDWidth = attribute(10);
    p->memPitch = attribute(11);
    p->regsPerBlock = attribute(12);
    p->clockRate = attribute(13);
    p->textureAlign = attribute(14);
  });
}

AW_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice dev) {
  return api<"cuDeviceGetPCIBusId">([&] {
    require(id && length > kPciLength);
    check_device(dev);
    snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0",
             static_cast<unsigned>(machine_number(dev)));
  });
}

AW_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* id) {
  return api<"cuDeviceGetByPCIBusId">([&] {
    require(out && id);
    unsigned domain = 0, bus, dev, function = 0;
    bool full = sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) == 4;
    bool brief = !full && sscanf(id, "%x:%x.%x", &bus, &dev, &function) == 3;
    require(full || brief);
    bool ours = !(domain | dev | function);
    for (CUdevice each = 0; ours && each < visible_devices(); ++each) {
      if (static_cast<unsigned>(machine_number(each)) != bus) continue;
      *out = each;
      return;
    }
    throw Failure(CUDA_ERROR_INVALID_DEVICE);
  });
}

AW_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceCanAccessPeer">([&] {
    require(can);
    check_device(dev);
    check_device(peer);
    *can = dev != peer;  // a device is not its own peer
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAttribute(int* value, int number, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceGetP2PAttribute">([&] {
    require(value && number >= CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
            number <= CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED);
    check_device(dev);
    check_device(peer);
    require(dev != peer, CUDA_ERROR_INVALID_DEVICE);
    *value =
        number >= CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED &&
        number <=
            CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED;  // and all links are of rank 0
  });
}

AW_EXPORT CUresult cuDeviceGetExecAffinitySupport(int* supported, int type, CUdevice dev) {
  return api<"cuDeviceGetExecAffinitySupport">([&] {
    require(supported && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    check_device(dev);
    *supported = 0;
  });
}
