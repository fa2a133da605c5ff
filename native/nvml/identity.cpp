// NVML reference, device queries: which devices there are and what each is.
#include "devices/identity.h"

#include <cstdio>
#include <cstring>

#include "nvml/api.h"

using namespace aw;
using namespace aw::nvml;

namespace {

// Each device sits on a bus of its own, as libcuda says (cuDeviceGetPCIBusId).
void write_bus(int number, char* to, size_t length, int digits) {
  snprintf(to, length, "%0*X:%02X:00.0", digits, 0, number);
}

void fill(nvmlPciInfo* pci, int number) {
  *pci = {};
  write_bus(number, pci->bus_id_legacy, sizeof pci->bus_id_legacy, 4);
  write_bus(number, pci->bus_id, sizeof pci->bus_id, 8);
  pci->bus = static_cast<unsigned>(number);
}

nvmlReturn count_devices(unsigned* count) {
  require(count);
  *count = static_cast<unsigned>(device_count());
  return NVML_SUCCESS;
}

nvmlReturn by_index(unsigned index, nvmlDevice* device) {
  require(device && index < static_cast<unsigned>(device_count()));
  *device = handle_of(static_cast<int>(index));
  return NVML_SUCCESS;
}

nvmlReturn by_bus(const char* text, nvmlDevice* device) {
  require(text && device);
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  bool whole = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3;
  if (!whole) domain = 0, whole = sscanf(text, "%x:%x.%x", &bus, &slot, &function) >= 2;
  require(whole);
  bool there = !domain && !slot && !function && bus < static_cast<unsigned>(device_count());
  require(there, NVML_ERROR_NOT_FOUND);
  *device = handle_of(static_cast<int>(bus));
  return NVML_SUCCESS;
}

nvmlReturn by_uuid(const std::string& text, nvmlDevice* device) {
  for (int i = 0; i < device_count(); ++i) {
    if (uuid_text(i) != text) continue;
    *device = handle_of(i);
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

}  // namespace

AW_EXPORT nvmlReturn nvmlDeviceGetCount(unsigned* count) {
  return api<"nvmlDeviceGetCount">([&] { return count_devices(count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetCount_v2(unsigned* count) {
  return api<"nvmlDeviceGetCount_v2">([&] { return count_devices(count); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByIndex">([&] { return by_index(index, device); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByIndex_v2">([&] { return by_index(index, device); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetHandleByPciBusId(const char* bus, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByPciBusId">([&] { return by_bus(bus, device); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByPciBusId_v2">([&] { return by_bus(bus, device); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByUUID">([&] {
    require(uuid && device);
    return by_uuid(uuid, device);
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetHandleByUUIDV(const nvmlUUID* uuid, nvmlDevice* device) {
  return api<"nvmlDeviceGetHandleByUUIDV">([&] {
    constexpr unsigned kText = 1, kBytes = 2;
    require(uuid && device && (uuid->type == kText || uuid->type == kBytes));
    if (uuid->type == kText) return by_uuid({uuid->text, strnlen(uuid->text, 41)}, device);
    for (int i = 0; i < device_count(); ++i) {
      if (memcmp(uuid_bytes(i).data(), uuid->bytes, sizeof uuid->bytes)) continue;
      *device = handle_of(i);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetName(nvmlDevice device, char* name, unsigned length) {
  return api<"nvmlDeviceGetName">([&] {
    number_of(device);
    copy_text(machine_info().name, name, length);
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetUUID(nvmlDevice device, char* uuid, unsigned length) {
  return api<"nvmlDeviceGetUUID">([&] { copy_text(uuid_text(number_of(device)), uuid, length); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetIndex(nvmlDevice device, unsigned* index) {
  return api<"nvmlDeviceGetIndex">([&] {
    require(index);
    *index = static_cast<unsigned>(number_of(device));
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetMinorNumber(nvmlDevice device, unsigned* minor) {
  return api<"nvmlDeviceGetMinorNumber">([&] {
    require(minor);
    *minor = static_cast<unsigned>(number_of(device));
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetBoardId(nvmlDevice device, unsigned* board) {
  return api<"nvmlDeviceGetBoardId">([&] {
    require(board);
    number_of(device);
    *board = 0;  // all devices are parts of one processor
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetMultiGpuBoard(nvmlDevice device, unsigned* several) {
  return api<"nvmlDeviceGetMultiGpuBoard">([&] {
    require(several);
    number_of(device);
    *several = device_count() > 1;
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo(nvmlDevice device, nvmlPciInfo* pci) {
  return api<"nvmlDeviceGetPciInfo">([&] {
    require(pci);
    fill(pci, number_of(device));
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo_v3(nvmlDevice device, nvmlPciInfo* pci) {
  return api<"nvmlDeviceGetPciInfo_v3">([&] {
    require(pci);
    fill(pci, number_of(device));
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo_v2(nvmlDevice device, nvmlPciInfo_v2* pci) {
  return api<"nvmlDeviceGetPciInfo_v2">([&] {
    require(pci);
    int number = number_of(device);
    *pci = {};
    write_bus(number, pci->bus_id, sizeof pci->bus_id, 4);
    pci->bus = static_cast<unsigned>(number);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfoExt(nvmlDevice device, nvmlPciInfoExt* pci) {
  return api<"nvmlDeviceGetPciInfoExt">([&] {
    require(pci);
    int number = number_of(device);
    unsigned version = pci->version;
    *pci = {};
    pci->version = version;
    write_bus(number, pci->bus_id, sizeof pci->bus_id, 8);
    pci->bus = static_cast<unsigned>(number);
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetCudaComputeCapability(nvmlDevice device, int* major, int* minor) {
  return api<"nvmlDeviceGetCudaComputeCapability">([&] {
    require(major && minor);
    number_of(device);
    *major = kCapabilityMajor, *minor = kCapabilityMinor;
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetArchitecture(nvmlDevice device, unsigned* architecture) {
  return api<"nvmlDeviceGetArchitecture">([&] {
    constexpr unsigned kAmpere = 7;  // the architecture of compute capability 8.0
    require(architecture);
    number_of(device);
    *architecture = kAmpere;
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetBrand(nvmlDevice device, unsigned* brand) {
  return api<"nvmlDeviceGetBrand">([&] {
    require(brand);
    number_of(device);
    *brand = 0;  // unknown: none of NVIDIA's
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetTopologyCommonAncestor(nvmlDevice a, nvmlDevice b,
                                                         unsigned* level) {
  return api<"nvmlDeviceGetTopologyCommonAncestor">([&] {
    require(level);
    number_of(a), number_of(b);
    *level = 0;  // internal: parts of one board
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetTopologyNearestGpus(nvmlDevice device, unsigned, unsigned* count,
                                                      nvmlDevice* devices) {
  return api<"nvmlDeviceGetTopologyNearestGpus">([&] {
    require(count);
    int own = number_of(device);
    unsigned room = *count, next = 0;
    *count = static_cast<unsigned>(device_count() - 1);
    if (!devices) return;  // the first of two calls asks how many
    require(room >= *count, NVML_ERROR_INSUFFICIENT_SIZE);
    for (int i = 0; i < device_count(); ++i) {
      if (i != own) devices[next++] = handle_of(i);
    }
  });
}

AW_EXPORT nvmlReturn nvmlDeviceOnSameBoard(nvmlDevice a, nvmlDevice b, int* same) {
  return api<"nvmlDeviceOnSameBoard">([&] {
    require(same);
    number_of(a), number_of(b);
    *same = 1;
  });
}

// What cuDeviceGetP2PAttribute answers: any device reaches the memory of any other, by plain loads,
// stores and atomics; there are no links between them.
AW_EXPORT nvmlReturn nvmlDeviceGetP2PStatus(nvmlDevice a, nvmlDevice b, unsigned index,
                                            unsigned* status) {
  return api<"nvmlDeviceGetP2PStatus">([&] {
    constexpr unsigned kLink = 2, kMost = 5, kOk = 0, kNotSupported = 5;
    require(status && index < kMost);
    number_of(a), number_of(b);
    *status = index == kLink ? kNotSupported : kOk;
  });
}
