// Driver API reference: device management. There is one device.
#include "devices/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/sha256.h"
#include "cuda/api.h"
#include "cuda/context.h"
#include "cuda/device_attributes.h"

using namespace aw;

namespace {

constexpr char kPciId[] = "0000:00:00.0";

void check_device(CUdevice dev) { require(dev == 0, CUDA_ERROR_INVALID_DEVICE); }

// Different for different processors, the same in every process.
void write_uuid(CUuuid* out) {
  std::string words = "anywarp device " + device().info().identity;
  auto digest = sha256(words.data(), words.size());
  memcpy(out->bytes, digest.data(), sizeof out->bytes);
}

int attribute(int number) {
  int value = 0;
  device_attribute(number, &value);
  return value;
}

}  // namespace

AW_EXPORT CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return api<"cuDeviceGet">([&] {
    require(out);
    require(ordinal == 0, CUDA_ERROR_INVALID_DEVICE);
    *out = 0;
  });
}

AW_EXPORT CUresult cuDeviceGetCount(int* count) {
  return api<"cuDeviceGetCount">([&] {
    require(count);
    *count = 1;
  });
}

AW_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice dev) {
  return api<"cuDeviceGetName">([&] {
    require(name && length > 0);
    check_device(dev);
    snprintf(name, static_cast<size_t>(length), "%s", device().info().name.c_str());
  });
}

AW_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid">([&] {
    require(uuid);
    check_device(dev);
    write_uuid(uuid);
  });
}

AW_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return api<"cuDeviceGetUuid_v2">([&] {
    require(uuid);
    check_device(dev);
    write_uuid(uuid);
  });
}

AW_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return api<"cuDeviceTotalMem_v2">([&] {
    require(bytes);
    check_device(dev);
    *bytes = device().info().memory;
  });
}

AW_EXPORT CUresult cuDeviceGetAttribute(int* value, int number, CUdevice dev) {
  return api<"cuDeviceGetAttribute">([&] {
    require(value);
    check_device(dev);
    require(device_attribute(number, value));
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
    require(id && length > static_cast<int>(sizeof kPciId) - 1);
    check_device(dev);
    memcpy(id, kPciId, sizeof kPciId);
  });
}

AW_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* id) {
  return api<"cuDeviceGetByPCIBusId">([&] {
    require(out && id);
    unsigned domain = 0, bus, dev, function = 0;
    bool full = sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) == 4;
    bool brief = !full && sscanf(id, "%x:%x.%x", &bus, &dev, &function) == 3;
    require(full || brief);
    require(!(domain | bus | dev | function), CUDA_ERROR_INVALID_DEVICE);
    *out = 0;
  });
}

AW_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceCanAccessPeer">([&] {
    require(can);
    check_device(dev);
    check_device(peer);
    *can = 0;  // a device is not its own peer
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAttribute(int* value, int number, CUdevice dev, CUdevice peer) {
  return api<"cuDeviceGetP2PAttribute">([&] {
    require(value && number >= 1 && number <= 5);
    check_device(dev);
    check_device(peer);
    throw Failure(CUDA_ERROR_INVALID_DEVICE);  // both are the same one
  });
}

AW_EXPORT CUresult cuDeviceGetExecAffinitySupport(int* supported, int type, CUdevice dev) {
  return api<"cuDeviceGetExecAffinitySupport">([&] {
    require(supported && type == 0);
    check_device(dev);
    *supported = 0;
  });
}
