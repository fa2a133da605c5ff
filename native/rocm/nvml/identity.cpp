// NVML on amdsmi: which devices there are, what each is, and how they are connected.
#include <cstdio>
#include <cstring>

#include "rocm/nvml/device.h"

using namespace aw;
using namespace aw::nvml;

int aw::nvml::device_count() { return static_cast<int>(smi::devices().size()); }

int aw::nvml::number_of(nvmlDevice device) {
  auto number = reinterpret_cast<uintptr_t>(device);
  require(number >= 1 && number <= smi::devices().size());
  return static_cast<int>(number - 1);
}

const smi::Device& aw::nvml::device_of(nvmlDevice device) {
  return smi::devices()[static_cast<size_t>(number_of(device))];
}

namespace {

std::string bus_text(const smi::Device& device, int digits) {
  char text[32];
  snprintf(text, sizeof text, "%0*X:%02X:%02X.%X", digits, device.domain(), device.bus(),
           device.slot(), device.function());
  return text;
}

// As libcuda tells it: HIP's 16 bytes, which are the characters of a number, written as CUDA writes
// bytes. amdsmi's own number where this version does not know HIP's.
std::string uuid_text(const smi::Device& device) {
  smi::Enumeration enumeration{};
  const auto get = smi::functions().get_gpu_enumeration_info;
  constexpr size_t kPrefix = 4, kBytes = 16;  // "GPU-"
  if (get && get(device.processor, &enumeration) == smi::kSuccess &&
      strlen(enumeration.hip_uuid) == kPrefix + kBytes) {
    std::string out = "GPU-";
    for (size_t i = 0; i < kBytes; ++i) {
      char hex[4];
      snprintf(hex, sizeof hex, "%02x",
               static_cast<unsigned char>(enumeration.hip_uuid[kPrefix + i]));
      if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
      out += hex;
    }
    return out;
  }
  char text[64] = {};
  unsigned length = sizeof text;
  AW_SMI(get_gpu_device_uuid, device.processor, &length, text);
  return std::string("GPU-") + text;
}

template <class Pci>
void fill(const smi::Device& device, Pci* pci) {
  pci->domain = device.domain(), pci->bus = device.bus(), pci->device = device.slot();
  snprintf(pci->bus_id, sizeof pci->bus_id, "%s",
           bus_text(device, sizeof pci->bus_id > 16 ? 8 : 4).c_str());
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
  for (int i = 0; i < device_count(); ++i) {
    const auto& each = smi::devices()[static_cast<size_t>(i)];
    if (each.domain() != domain || each.bus() != bus || each.slot() != slot ||
        each.function() != function)
      continue;
    *device = handle_of(i);
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

bool by_xgmi(nvmlDevice a, nvmlDevice b) {
  uint64_t hops = 0;
  unsigned type = 0;
  AW_SMI(topo_get_link_type, device_of(a).processor, device_of(b).processor, &hops, &type);
  return type == smi::kLinkXgmi;
}

}  // namespace

AW_EXPORT nvmlReturn nvmlInit() { return api<"nvmlInit", Needs::nothing>(begin_using); }
AW_EXPORT nvmlReturn nvmlInit_v2() { return api<"nvmlInit_v2", Needs::nothing>(begin_using); }
AW_EXPORT nvmlReturn nvmlInitWithFlags(unsigned) {
  return api<"nvmlInitWithFlags", Needs::nothing>(begin_using);
}
AW_EXPORT nvmlReturn nvmlShutdown() {
  return api<"nvmlShutdown">([] {
    smi::end();
    users().fetch_sub(1);
  });
}

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
    for (int i = 0; i < device_count(); ++i) {
      if (uuid_text(smi::devices()[static_cast<size_t>(i)]) != uuid) continue;
      *device = handle_of(i);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetUUID(nvmlDevice device, char* uuid, unsigned length) {
  return api<"nvmlDeviceGetUUID">([&] { copy_text(uuid_text(device_of(device)), uuid, length); });
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
AW_EXPORT nvmlReturn nvmlDeviceGetName(nvmlDevice device, char* name, unsigned length) {
  return api<"nvmlDeviceGetName">([&] {
    smi::Text info{};
    AW_SMI(get_gpu_asic_info, device_of(device).processor, &info);
    copy_text(std::string(info.text, strnlen(info.text, sizeof info.text)), name, length);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetVbiosVersion(nvmlDevice device, char* version, unsigned length) {
  return api<"nvmlDeviceGetVbiosVersion">([&] {
    smi::Text info{};
    AW_SMI(get_gpu_vbios_info, device_of(device).processor, &info);
    copy_text(std::string(info.text, strnlen(info.text, sizeof info.text)), version, length);
  });
}
// NVIDIA's names of products; none of them fits.
AW_EXPORT nvmlReturn nvmlDeviceGetBrand(nvmlDevice device, unsigned* brand) {
  return api<"nvmlDeviceGetBrand">([&] {
    require(brand);
    number_of(device);
    *brand = 0;
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo(nvmlDevice device, nvmlPciInfo* pci) {
  return api<"nvmlDeviceGetPciInfo">([&] { return pci_info(device, pci); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo_v3(nvmlDevice device, nvmlPciInfo* pci) {
  return api<"nvmlDeviceGetPciInfo_v3">([&] { return pci_info(device, pci); });
}
nvmlReturn aw::nvml::pci_info(nvmlDevice device, nvmlPciInfo* pci) {
  require(pci);
  const auto& found = device_of(device);
  *pci = {};
  fill(found, pci);
  snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%s", bus_text(found, 4).c_str());
  return NVML_SUCCESS;
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfo_v2(nvmlDevice device, nvmlPciInfo_v2* pci) {
  return api<"nvmlDeviceGetPciInfo_v2">([&] {
    require(pci);
    *pci = {};
    fill(device_of(device), pci);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPciInfoExt(nvmlDevice device, nvmlPciInfoExt* pci) {
  return api<"nvmlDeviceGetPciInfoExt">([&] {
    require(pci);
    const unsigned version = pci->version;
    *pci = {};
    pci->version = version;
    fill(device_of(device), pci);
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetDriverVersion">([&] {
    require(device_count() > 0, NVML_ERROR_NOT_SUPPORTED);
    smi::Text info{};
    AW_SMI(get_gpu_driver_info, smi::devices()[0].processor, &info);
    copy_text(std::string(info.text, strnlen(info.text, sizeof info.text)), version, length);
  });
}

// Reads, writes and atomics go over what HIP says is accessible; the index "NVLINK" is answered for
// XGMI.
AW_EXPORT nvmlReturn nvmlDeviceGetP2PStatus(nvmlDevice a, nvmlDevice b, unsigned index,
                                            unsigned* status) {
  return api<"nvmlDeviceGetP2PStatus">([&] {
    constexpr unsigned kLink = 2, kMost = 5, kOk = 0, kNotSupported = 5;
    require(status && index < kMost);
    bool reachable = false;
    if (number_of(a) != number_of(b))
      AW_SMI(is_P2P_accessible, device_of(a).processor, device_of(b).processor, &reachable);
    if (reachable && index == kLink) reachable = by_xgmi(a, b);
    *status = reachable ? kOk : kNotSupported;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetTopologyCommonAncestor(nvmlDevice a, nvmlDevice b,
                                                         unsigned* level) {
  return api<"nvmlDeviceGetTopologyCommonAncestor">([&] {
    constexpr unsigned kInternal = 0, kNode = 40, kSystem = 50;  // NVML_TOPOLOGY_*
    require(level);
    if (number_of(a) == number_of(b)) return void(*level = kInternal);
    uint32_t first = 0, second = 0;
    AW_SMI(topo_get_numa_node_number, device_of(a).processor, &first);
    AW_SMI(topo_get_numa_node_number, device_of(b).processor, &second);
    *level = first == second ? kNode : kSystem;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetNumaNodeId(nvmlDevice device, unsigned* node) {
  return api<"nvmlDeviceGetNumaNodeId">([&] {
    require(node);
    AW_SMI(topo_get_numa_node_number, device_of(device).processor, node);
  });
}
