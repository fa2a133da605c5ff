// NVML on amdsmi: memory, load, processes, clocks, temperature, power, fans, PCI Express, errors of
// the memory. Units are NVML's: bytes, percent, MHz, milliwatts, millijoules.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "rocm/nvml/device.h"

using namespace aw;
using namespace aw::nvml;

namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned long long kMebibyte = 1 << 20;

nvmlMemory memory_of(nvmlDevice device) {
  smi::VramUsage usage{};
  AW_SMI(get_gpu_vram_usage, device_of(device).processor, &usage);
  const auto total = usage.total * kMebibyte, used = std::min(usage.used, usage.total) * kMebibyte;
  return {total, total - used, used};
}

std::vector<smi::Process> processes_of(nvmlDevice device) {
  const auto& found = device_of(device);
  // The structure of older versions is not known for sure.
  require(smi::functions().version >= 26, NVML_ERROR_NOT_SUPPORTED);
  uint32_t count = 0;
  AW_SMI(get_gpu_process_list, found.processor, &count, nullptr);
  std::vector<smi::Process> list(count + 8);  // some may have come
  count = static_cast<uint32_t>(list.size());
  AW_SMI(get_gpu_process_list, found.processor, &count, list.data());
  list.resize(std::min<size_t>(count, list.size()));
  return list;
}

nvmlReturn list_v1(nvmlDevice device, unsigned* count, nvmlProcessInfo_v1* out) {
  copy_list(processes_of(device), count, out,
            [](const smi::Process& p) { return nvmlProcessInfo_v1{p.pid, p.vram_bytes}; });
  return NVML_SUCCESS;
}
nvmlReturn list_v2(nvmlDevice device, unsigned* count, nvmlProcessInfo_v2* out) {
  copy_list(processes_of(device), count, out, [](const smi::Process& p) {
    return nvmlProcessInfo_v2{p.pid, p.vram_bytes, kNoInstance, kNoInstance};
  });
  return NVML_SUCCESS;
}
// amdsmi does not tell who draws from who computes: all compute.
nvmlReturn list_none(nvmlDevice device, unsigned* count) {
  number_of(device);
  require(count);
  *count = 0;
  return NVML_SUCCESS;
}

// nvmlClockType_t: graphics, SM, memory, video.
smi::Clock clock_of(nvmlDevice device, unsigned kind) {
  constexpr unsigned kMost = 4;
  require(kind < kMost);
  constexpr unsigned kKinds[] = {smi::kClockGraphics, smi::kClockGraphics, smi::kClockMemory,
                                 smi::kClockVideo};
  smi::Clock clock{};
  AW_SMI(get_clock_info, device_of(device).processor, kKinds[kind], &clock);
  return clock;
}
unsigned known(uint32_t value) {
  require(value != UINT32_MAX, NVML_ERROR_NOT_SUPPORTED);
  return value;
}

int64_t celsius(nvmlDevice device, unsigned sensor, unsigned metric) {
  int64_t value = 0;
  AW_SMI(get_temp_metric, device_of(device).processor, sensor, metric, &value);
  return value;
}
// Cards for servers have no sensor at the edge; theirs is at the hottest place.
int64_t core_celsius(nvmlDevice device, unsigned metric) {
  try {
    return celsius(device, smi::kTemperatureEdge, metric);
  } catch (const Failure&) {
    return celsius(device, smi::kTemperatureHotspot, metric);
  }
}

unsigned power_mw(nvmlDevice device) {
  const auto& found = device_of(device);
  require(smi::functions().version >= 26, NVML_ERROR_NOT_SUPPORTED);
  smi::Power power{};
  AW_SMI(get_power_info, found.processor, &power);
  // What a card does not have is all ones; newer cards say `now`, older ones the average.
  for (uint64_t watts : {uint64_t{power.now}, uint64_t{power.average}, power.socket})
    if (watts && watts < 0xFFFF) return static_cast<unsigned>(watts * 1000);
  throw Failure(NVML_ERROR_NOT_SUPPORTED);
}
smi::PowerCap cap_of(nvmlDevice device) {
  smi::PowerCap cap{};
  AW_SMI(get_power_cap_info, device_of(device).processor, 0, &cap);
  return cap;
}
unsigned milliwatts(uint64_t microwatts) { return static_cast<unsigned>(microwatts / 1000); }

unsigned long long energy_mj(nvmlDevice device) {
  uint64_t ticks = 0, time = 0;
  float resolution = 0;
  AW_SMI(get_energy_count, device_of(device).processor, &ticks, &resolution, &time);
  return static_cast<unsigned long long>(static_cast<double>(ticks) *
                                         static_cast<double>(resolution) / 1000);
}

smi::Pcie pcie_of(nvmlDevice device) {
  smi::Pcie pcie{};
  AW_SMI(get_pcie_info, device_of(device).processor, &pcie);
  return pcie;
}
// Generations by MT/s (PCI-SIG): each doubles, the third but for its coding.
unsigned generation(uint32_t speed) {
  unsigned number = 0;
  for (uint32_t least : {2500U, 5000U, 8000U, 16000U, 32000U, 64000U}) number += speed >= least;
  require(number > 0 && speed != UINT32_MAX, NVML_ERROR_NOT_SUPPORTED);
  return number;
}
unsigned lanes(uint16_t width) {
  require(width && width != UINT16_MAX, NVML_ERROR_NOT_SUPPORTED);
  return width;
}

template <class Read>
nvmlReturn say(nvmlDevice device, unsigned* to, Read&& read) {
  require(to);
  number_of(device);
  *to = read();
  return NVML_SUCCESS;
}

unsigned fan_percent(nvmlDevice device) {
  int64_t speed = 0;
  uint64_t most = 0;
  AW_SMI(get_gpu_fan_speed, device_of(device).processor, 0, &speed);
  AW_SMI(get_gpu_fan_speed_max, device_of(device).processor, 0, &most);
  require(most > 0 && speed >= 0, NVML_ERROR_NOT_SUPPORTED);
  return static_cast<unsigned>(static_cast<uint64_t>(speed) * 100 / most);
}

void read_field(nvmlDevice device, nvmlFieldValue* field) {
  constexpr unsigned kMemoryTemperature = 82, kEnergy = 83, kPowerAverage = 185,
                     kPowerInstant = 186;  // NVML_FI_DEV_*
  constexpr unsigned kUnsigned = 1, kLarge = 3;
  switch (field->field) {
    case kEnergy:
      field->value.large = energy_mj(device);
      field->type = kLarge;
      return;
    case kMemoryTemperature:
      field->value.whole =
          static_cast<unsigned>(celsius(device, smi::kTemperatureMemory, smi::kTemperatureNow));
      field->type = kUnsigned;
      return;
    case kPowerAverage:
    case kPowerInstant:
      field->value.whole = power_mw(device);
      field->type = kUnsigned;
      return;
    default:
      throw Failure(NVML_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace

AW_EXPORT nvmlReturn nvmlDeviceGetMemoryInfo(nvmlDevice device, nvmlMemory* memory) {
  return api<"nvmlDeviceGetMemoryInfo">([&] {
    require(memory);
    *memory = memory_of(device);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMemoryInfo_v2(nvmlDevice device, nvmlMemory_v2* memory) {
  return api<"nvmlDeviceGetMemoryInfo_v2">([&] {
    require(memory);
    require(memory->version == (sizeof(nvmlMemory_v2) | 2 << 24),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    const nvmlMemory found = memory_of(device);
    memory->total = found.total, memory->reserved = 0, memory->free = found.free,
    memory->used = found.used;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetBAR1MemoryInfo(nvmlDevice device, nvmlBAR1Memory* memory) {
  return api<"nvmlDeviceGetBAR1MemoryInfo">([&] {
    require(memory);
    uint64_t total = 0, used = 0;
    AW_SMI(get_gpu_memory_total, device_of(device).processor, smi::kMemoryVisible, &total);
    AW_SMI(get_gpu_memory_usage, device_of(device).processor, smi::kMemoryVisible, &used);
    *memory = {total, total - std::min(used, total), used};
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetUtilizationRates(nvmlDevice device, nvmlUtilization* rates) {
  return api<"nvmlDeviceGetUtilizationRates">([&] {
    require(rates);
    smi::Activity activity{};
    AW_SMI(get_gpu_activity, device_of(device).processor, &activity);
    require(activity.graphics <= 100, NVML_ERROR_NOT_SUPPORTED);
    *rates = {activity.graphics, activity.memory <= 100 ? activity.memory : 0};
  });
}

#define AW_PROCESSES(kind, v1, v2)                                                         \
  AW_EXPORT nvmlReturn nvmlDeviceGet##kind##RunningProcesses(nvmlDevice d, unsigned* n,    \
                                                             nvmlProcessInfo_v1* p) {      \
    return api<"nvmlDeviceGet" #kind "RunningProcesses">([&] { return v1; });              \
  }                                                                                        \
  AW_EXPORT nvmlReturn nvmlDeviceGet##kind##RunningProcesses_v2(nvmlDevice d, unsigned* n, \
                                                                nvmlProcessInfo_v2* p) {   \
    return api<"nvmlDeviceGet" #kind "RunningProcesses_v2">([&] { return v2; });           \
  }                                                                                        \
  AW_EXPORT nvmlReturn nvmlDeviceGet##kind##RunningProcesses_v3(nvmlDevice d, unsigned* n, \
                                                                nvmlProcessInfo_v2* p) {   \
    return api<"nvmlDeviceGet" #kind "RunningProcesses_v3">([&] { return v2; });           \
  }
AW_PROCESSES(Compute, list_v1(d, n, p), list_v2(d, n, p))
AW_PROCESSES(Graphics, (static_cast<void>(p), list_none(d, n)),
             (static_cast<void>(p), list_none(d, n)))
AW_PROCESSES(MPSCompute, (static_cast<void>(p), list_none(d, n)),
             (static_cast<void>(p), list_none(d, n)))

AW_EXPORT nvmlReturn nvmlDeviceGetClockInfo(nvmlDevice device, unsigned kind, unsigned* mhz) {
  return api<"nvmlDeviceGetClockInfo">(
      [&] { return say(device, mhz, [&] { return known(clock_of(device, kind).now); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMaxClockInfo(nvmlDevice device, unsigned kind, unsigned* mhz) {
  return api<"nvmlDeviceGetMaxClockInfo">(
      [&] { return say(device, mhz, [&] { return known(clock_of(device, kind).most); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetClock(nvmlDevice device, unsigned kind, unsigned id,
                                        unsigned* mhz) {
  return api<"nvmlDeviceGetClock">([&] {
    constexpr unsigned kCurrent = 0, kBoost = 3, kMost = 4;
    require(id < kMost);
    require(id == kCurrent || id == kBoost, NVML_ERROR_NOT_SUPPORTED);
    return say(device, mhz, [&] {
      const auto clock = clock_of(device, kind);
      return known(id == kBoost ? clock.most : clock.now);
    });
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetTemperature(nvmlDevice device, unsigned sensor,
                                              unsigned* degrees) {
  return api<"nvmlDeviceGetTemperature">([&] {
    require(sensor == 0);
    return say(device, degrees, [&] {
      return static_cast<unsigned>(
          std::max<int64_t>(core_celsius(device, smi::kTemperatureNow), 0));
    });
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetTemperatureV(nvmlDevice device, nvmlTemperature* temperature) {
  return api<"nvmlDeviceGetTemperatureV">([&] {
    require(temperature && temperature->sensor == 0);
    require(temperature->version == (sizeof(nvmlTemperature) | 1 << 24),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    temperature->value = static_cast<int>(core_celsius(device, smi::kTemperatureNow));
  });
}
// NVML_TEMPERATURE_THRESHOLD_SHUTDOWN and _SLOWDOWN: amdsmi's emergency and critical.
AW_EXPORT nvmlReturn nvmlDeviceGetTemperatureThreshold(nvmlDevice device, unsigned kind,
                                                       unsigned* degrees) {
  return api<"nvmlDeviceGetTemperatureThreshold">([&] {
    constexpr unsigned kShutdown = 0, kSlowdown = 1;
    require(kind == kShutdown || kind == kSlowdown, NVML_ERROR_NOT_SUPPORTED);
    const unsigned metric =
        kind == kShutdown ? smi::kTemperatureEmergency : smi::kTemperatureCritical;
    return say(device, degrees,
               [&] { return static_cast<unsigned>(core_celsius(device, metric)); });
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetPowerUsage(nvmlDevice device, unsigned* mw) {
  return api<"nvmlDeviceGetPowerUsage">(
      [&] { return say(device, mw, [&] { return power_mw(device); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPowerManagementLimit(nvmlDevice device, unsigned* mw) {
  return api<"nvmlDeviceGetPowerManagementLimit">(
      [&] { return say(device, mw, [&] { return milliwatts(cap_of(device).cap); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetEnforcedPowerLimit(nvmlDevice device, unsigned* mw) {
  return api<"nvmlDeviceGetEnforcedPowerLimit">(
      [&] { return say(device, mw, [&] { return milliwatts(cap_of(device).cap); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice device, unsigned* mw) {
  return api<"nvmlDeviceGetPowerManagementDefaultLimit">(
      [&] { return say(device, mw, [&] { return milliwatts(cap_of(device).default_cap); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice device,
                                                                  unsigned* least, unsigned* most) {
  return api<"nvmlDeviceGetPowerManagementLimitConstraints">([&] {
    require(least && most);
    const auto cap = cap_of(device);
    *least = milliwatts(cap.least), *most = milliwatts(cap.most);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetTotalEnergyConsumption(nvmlDevice device,
                                                         unsigned long long* millijoules) {
  return api<"nvmlDeviceGetTotalEnergyConsumption">([&] {
    require(millijoules);
    *millijoules = energy_mj(device);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetFanSpeed(nvmlDevice device, unsigned* percent) {
  return api<"nvmlDeviceGetFanSpeed">(
      [&] { return say(device, percent, [&] { return fan_percent(device); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetFanSpeed_v2(nvmlDevice device, unsigned fan, unsigned* percent) {
  return api<"nvmlDeviceGetFanSpeed_v2">([&] {
    require(fan == 0);
    return say(device, percent, [&] { return fan_percent(device); });
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice device, unsigned* number) {
  return api<"nvmlDeviceGetCurrPcieLinkGeneration">(
      [&] { return say(device, number, [&] { return generation(pcie_of(device).now.speed); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice device, unsigned* number) {
  return api<"nvmlDeviceGetMaxPcieLinkGeneration">(
      [&] { return say(device, number, [&] { return generation(pcie_of(device).most.speed); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice device, unsigned* width) {
  return api<"nvmlDeviceGetCurrPcieLinkWidth">(
      [&] { return say(device, width, [&] { return lanes(pcie_of(device).now.width); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice device, unsigned* width) {
  return api<"nvmlDeviceGetMaxPcieLinkWidth">(
      [&] { return say(device, width, [&] { return lanes(pcie_of(device).most.width); }); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPcieReplayCounter(nvmlDevice device, unsigned* count) {
  return api<"nvmlDeviceGetPcieReplayCounter">([&] {
    return say(device, count, [&] { return static_cast<unsigned>(pcie_of(device).now.replays); });
  });
}

// Kind 0: corrected errors, 1: uncorrected; amdsmi counts since the driver was loaded, which NVML
// calls volatile.
AW_EXPORT nvmlReturn nvmlDeviceGetTotalEccErrors(nvmlDevice device, unsigned kind, unsigned counter,
                                                 unsigned long long* count) {
  return api<"nvmlDeviceGetTotalEccErrors">([&] {
    require(count && kind <= 1 && counter <= 1);
    require(counter == 0, NVML_ERROR_NOT_SUPPORTED);
    smi::ErrorCount errors{};
    AW_SMI(get_gpu_total_ecc_count, device_of(device).processor, &errors);
    *count = kind ? errors.uncorrectable : errors.correctable;
  });
}

// Any number of processes may compute; nothing of NVIDIA's partitions is there.
#define AW_SAYS_ZERO(name)                                                    \
  AW_EXPORT nvmlReturn name(nvmlDevice device, unsigned* value) {             \
    return api<#name>([&] { return say(device, value, [] { return 0U; }); }); \
  }
AW_SAYS_ZERO(nvmlDeviceGetComputeMode)
AW_SAYS_ZERO(nvmlDeviceGetDisplayMode)
AW_SAYS_ZERO(nvmlDeviceGetDisplayActive)
AW_SAYS_ZERO(nvmlDeviceGetMaxMigDeviceCount)
AW_SAYS_ZERO(nvmlDeviceIsMigDeviceHandle)
AW_EXPORT nvmlReturn nvmlDeviceGetMigMode(nvmlDevice device, unsigned* current, unsigned* pending) {
  return api<"nvmlDeviceGetMigMode">([&] {
    require(current && pending);
    number_of(device);
    return NVML_ERROR_NOT_SUPPORTED;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetGpuFabricInfoV(nvmlDevice device, nvmlGpuFabricInfoV* fabric) {
  return api<"nvmlDeviceGetGpuFabricInfoV">([&] {
    constexpr unsigned kSecond = 0x02000024, kThird = 0x03000028;
    require(fabric);
    number_of(device);
    const unsigned version = fabric->version;
    require(version == kSecond || version == kThird, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    memset(fabric, 0, version & 0xFFFFFF);  // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
    fabric->version = version;
  });
}
AW_EXPORT nvmlReturn nvmlSystemGetConfComputeState(nvmlConfComputeSystemState* state) {
  return api<"nvmlSystemGetConfComputeState">([&] {
    require(state);
    *state = {};
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetFieldValues(nvmlDevice device, int count,
                                              nvmlFieldValue* values) {
  return api<"nvmlDeviceGetFieldValues">([&] {
    require(values && count > 0);
    number_of(device);
    for (int i = 0; i < count; ++i) {
      nvmlFieldValue& field = values[i];
      field.time = static_cast<long long>(epoch_us()), field.latency = 0;
      try {
        read_field(device, &field);
        field.result = NVML_SUCCESS;
      } catch (const Failure& failure) {
        field.result = static_cast<nvmlReturn>(failure.code);
      }
    }
  });
}
