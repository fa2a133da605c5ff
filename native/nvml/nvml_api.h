// Types of NVIDIA's management library, as its reference manual and its Python binding lay them
// out.
#pragma once

#include <cstddef>
#include <cstdint>

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

// nvmlReturn_t
enum nvmlReturn : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999,
};

using nvmlDevice = struct nvmlDeviceOpaque*;
using nvmlEventSet = struct nvmlEventSetOpaque*;

struct nvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct nvmlPciInfo_v2 {
  char bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id, reserved[4];
};
struct nvmlPciInfoExt {
  unsigned version, domain, bus, device, pci_device_id, pci_subsystem_id, base_class, sub_class;
  char bus_id[32];
};
struct nvmlMemory {
  unsigned long long total, free, used;
};
struct nvmlMemory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct nvmlBAR1Memory {
  unsigned long long total, free, used;
};
struct nvmlProcessInfo_v1 {
  unsigned pid;
  unsigned long long used;
};
struct nvmlProcessInfo_v2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct nvmlProcessDetail {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
  unsigned long long used_protected;
};
struct nvmlProcessDetailList {
  unsigned version, mode, count;
  nvmlProcessDetail* processes;
};
struct nvmlUtilization {
  unsigned gpu, memory;
};
struct nvmlProcessUtilizationSample {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};
union nvmlValue {
  double real;
  unsigned whole;
  unsigned long long large;
  int with_sign;
};
struct nvmlFieldValue {
  unsigned field, scope;
  long long time, latency;
  unsigned type;
  nvmlReturn result;
  nvmlValue value;
};
struct nvmlSample {
  unsigned long long time;
  nvmlValue value;
};
struct nvmlGpuFabricInfo {
  unsigned char cluster[16];
  nvmlReturn status;
  unsigned clique;
  unsigned char state;
};
struct nvmlGpuFabricInfoV {
  unsigned version;
  unsigned char cluster[16];
  nvmlReturn status;
  unsigned clique;
  unsigned char state;
  unsigned health;
  unsigned char summary;  // from version 3 on
};
struct nvmlTemperature {
  unsigned version, sensor;
  int value;
};
struct nvmlUUID {
  unsigned version, type;
  union {
    char text[41];
    unsigned char bytes[16];
  };
};
struct nvmlConfComputeSystemState {
  unsigned environment, feature, tools;
};
struct nvmlConfComputeMemSize {
  unsigned long long protected_kib, unprotected_kib;
};
struct nvmlEventData {
  nvmlDevice device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct nvmlDriverVersionInfo {
  unsigned version;
  char text[80];
};

static_assert(sizeof(nvmlPciInfo) == 68 && sizeof(nvmlPciInfoExt) == 0x40);
static_assert(sizeof(nvmlMemory_v2) == 0x28 && sizeof(nvmlProcessDetailList) == 0x18);
static_assert(sizeof(nvmlGpuFabricInfoV) == 0x28 && offsetof(nvmlGpuFabricInfoV, summary) == 0x24);
static_assert(sizeof(nvmlTemperature) == 0xC && sizeof(nvmlUUID) == 0x34);
