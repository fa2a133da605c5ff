// NVML reference, device queries: clocks, temperature, power, modes, fields, affinity, events.
//
// What a processor does not have answers NOT_SUPPORTED, which NVML says for cards without it, too.
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/handles.h"
#include "devices/identity.h"
#include "nvml/api.h"
#include "nvml/sensors.h"

using namespace aw;
using namespace aw::nvml;

namespace {

// nvmlClockType_t: only the clock of the processors is known, which CUDA calls the SM's.
nvmlReturn read_clock(nvmlDevice device, unsigned kind, unsigned* mhz, unsigned (*read)()) {
  constexpr unsigned kGraphics = 0, kSm = 1, kMost = 4;
  require(mhz && kind < kMost);
  number_of(device);
  require(kind == kGraphics || kind == kSm, NVML_ERROR_NOT_SUPPORTED);
  *mhz = read();
  return NVML_SUCCESS;
}

void write_unsigned(nvmlFieldValue* field, unsigned value) {
  constexpr unsigned kUnsigned = 1;
  field->type = kUnsigned, field->value.whole = value;
}

// NVML_FI_DEV_*
constexpr unsigned kEnergy = 83, kPowerAverage = 185, kPowerInstant = 186;

void read_field(nvmlFieldValue* field) {
  constexpr unsigned kLarge = 3;
  switch (field->field) {
    case kEnergy:
      field->value.large = energy_millijoules();
      field->type = kLarge;
      return;
    case kPowerAverage:
    case kPowerInstant:
      return write_unsigned(field, power_milliwatts());
    default:
      throw Failure(NVML_ERROR_NOT_SUPPORTED);
  }
}

// The processors that this process may use, as NVML's array of words.
nvmlReturn read_affinity(nvmlDevice device, unsigned words, unsigned long* set) {
  require(set && words > 0);
  number_of(device);
  cpu_set_t mask;
  require(sched_getaffinity(0, sizeof mask, &mask) == 0, NVML_ERROR_OPERATING_SYSTEM);
  memset(set, 0, words * sizeof *set);
  memcpy(set, &mask, std::min<size_t>(words * sizeof *set, sizeof mask));
  return NVML_SUCCESS;
}

void set_affinity(nvmlDevice device, bool clear) {
  number_of(device);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  long count = std::min<long>(sysconf(_SC_NPROCESSORS_CONF), CPU_SETSIZE);
  for (long i = 0; i < count; ++i) CPU_SET(static_cast<size_t>(i), &mask);
  if (!clear) require(sched_getaffinity(0, sizeof mask, &mask) == 0, NVML_ERROR_OPERATING_SYSTEM);
  require(sched_setaffinity(0, sizeof mask, &mask) == 0, NVML_ERROR_OPERATING_SYSTEM);
}

nvmlReturn say_zero(nvmlDevice device, unsigned* value) {
  require(value);
  number_of(device);
  *value = 0;
  return NVML_SUCCESS;
}

struct EventSet {};

Handles<EventSet>& event_sets() {
  static auto& instance = *new Handles<EventSet>;
  return instance;
}

// No event of NVML's happens on this device, so that a wait always ends by its time.
nvmlReturn wait_for_event(nvmlEventSet set, unsigned milliseconds) {
  require(event_sets().find(set) != nullptr);
  timespec nap{static_cast<time_t>(milliseconds / 1000), (milliseconds % 1000) * 1'000'000L};
  nanosleep(&nap, nullptr);
  return NVML_ERROR_TIMEOUT;
}

}  // namespace

AW_EXPORT nvmlReturn nvmlDeviceGetClockInfo(nvmlDevice device, unsigned kind, unsigned* mhz) {
  return api<"nvmlDeviceGetClockInfo">(
      [&] { return read_clock(device, kind, mhz, current_clock_mhz); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMaxClockInfo(nvmlDevice device, unsigned kind, unsigned* mhz) {
  return api<"nvmlDeviceGetMaxClockInfo">(
      [&] { return read_clock(device, kind, mhz, highest_clock_mhz); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetClock(nvmlDevice device, unsigned kind, unsigned id,
                                        unsigned* mhz) {
  return api<"nvmlDeviceGetClock">([&] {
    constexpr unsigned kCurrent = 0, kBoost = 3, kMost = 4;
    require(id < kMost);
    require(id == kCurrent || id == kBoost, NVML_ERROR_NOT_SUPPORTED);
    return read_clock(device, kind, mhz, id == kBoost ? highest_clock_mhz : current_clock_mhz);
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetTemperature(nvmlDevice device, unsigned sensor,
                                              unsigned* celsius) {
  return api<"nvmlDeviceGetTemperature">([&] {
    require(celsius && sensor == 0);
    number_of(device);
    *celsius = static_cast<unsigned>(std::max(temperature_celsius(), 0));
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetTemperatureV(nvmlDevice device, nvmlTemperature* temperature) {
  return api<"nvmlDeviceGetTemperatureV">([&] {
    require(temperature && temperature->sensor == 0);
    require(temperature->version == (sizeof(nvmlTemperature) | 1 << 24),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    number_of(device);
    temperature->value = temperature_celsius();
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetPowerUsage(nvmlDevice device, unsigned* milliwatts) {
  return api<"nvmlDeviceGetPowerUsage">([&] {
    require(milliwatts);
    number_of(device);
    *milliwatts = power_milliwatts();
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetPowerManagementLimit(nvmlDevice device, unsigned* milliwatts) {
  return api<"nvmlDeviceGetPowerManagementLimit">([&] {
    require(milliwatts);
    number_of(device);
    *milliwatts = power_limit_milliwatts();
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetEnforcedPowerLimit(nvmlDevice device, unsigned* milliwatts) {
  return api<"nvmlDeviceGetEnforcedPowerLimit">([&] {
    require(milliwatts);
    number_of(device);
    *milliwatts = power_limit_milliwatts();
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetTotalEnergyConsumption(nvmlDevice device,
                                                         unsigned long long* millijoules) {
  return api<"nvmlDeviceGetTotalEnergyConsumption">([&] {
    require(millijoules);
    number_of(device);
    *millijoules = energy_millijoules();
  });
}

// Any number of processes may compute; nothing is shown on a screen; there are no partitions.
AW_EXPORT nvmlReturn nvmlDeviceGetComputeMode(nvmlDevice device, unsigned* mode) {
  return api<"nvmlDeviceGetComputeMode">([&] { return say_zero(device, mode); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetDisplayMode(nvmlDevice device, unsigned* mode) {
  return api<"nvmlDeviceGetDisplayMode">([&] { return say_zero(device, mode); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetDisplayActive(nvmlDevice device, unsigned* mode) {
  return api<"nvmlDeviceGetDisplayActive">([&] { return say_zero(device, mode); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetVirtualizationMode(nvmlDevice device, unsigned* mode) {
  return api<"nvmlDeviceGetVirtualizationMode">([&] { return say_zero(device, mode); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMaxMigDeviceCount(nvmlDevice device, unsigned* count) {
  return api<"nvmlDeviceGetMaxMigDeviceCount">([&] { return say_zero(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceIsMigDeviceHandle(nvmlDevice device, unsigned* is) {
  return api<"nvmlDeviceIsMigDeviceHandle">([&] { return say_zero(device, is); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMigMode(nvmlDevice device, unsigned* current, unsigned* pending) {
  return api<"nvmlDeviceGetMigMode">([&] {
    require(current && pending);
    number_of(device);
    return NVML_ERROR_NOT_SUPPORTED;
  });
}

// Links and a fabric between cards, and PCI Express: a processor has none of its own.
AW_EXPORT nvmlReturn nvmlDeviceGetGpuFabricInfo(nvmlDevice device, nvmlGpuFabricInfo* fabric) {
  return api<"nvmlDeviceGetGpuFabricInfo">([&] {
    require(fabric);
    number_of(device);
    *fabric = {};  // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetGpuFabricInfoV(nvmlDevice device, nvmlGpuFabricInfoV* fabric) {
  return api<"nvmlDeviceGetGpuFabricInfoV">([&] {
    constexpr unsigned kSecond = 0x02000024, kThird = 0x03000028;
    require(fabric);
    number_of(device);
    unsigned version = fabric->version;
    require(version == kSecond || version == kThird, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    memset(fabric, 0, version & 0xFFFFFF);
    fabric->version = version;
  });
}

#define AW_NO_LINK(name, ...)                                 \
  AW_EXPORT nvmlReturn name(nvmlDevice device, __VA_ARGS__) { \
    return api<#name>([&] {                                   \
      number_of(device);                                      \
      return NVML_ERROR_NOT_SUPPORTED;                        \
    });                                                       \
  }
AW_NO_LINK(nvmlDeviceGetNvLinkState, unsigned, unsigned*)
AW_NO_LINK(nvmlDeviceGetNvLinkCapability, unsigned, unsigned, unsigned*)
AW_NO_LINK(nvmlDeviceGetNvLinkVersion, unsigned, unsigned*)
AW_NO_LINK(nvmlDeviceGetNvLinkRemotePciInfo_v2, unsigned, nvmlPciInfo*)
AW_NO_LINK(nvmlDeviceGetNvLinkRemoteDeviceType, unsigned, unsigned*)
AW_NO_LINK(nvmlDeviceGetCurrPcieLinkGeneration, unsigned*)
AW_NO_LINK(nvmlDeviceGetCurrPcieLinkWidth, unsigned*)
AW_NO_LINK(nvmlDeviceGetMaxPcieLinkGeneration, unsigned*)
AW_NO_LINK(nvmlDeviceGetMaxPcieLinkWidth, unsigned*)
AW_NO_LINK(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned*)
AW_NO_LINK(nvmlDeviceGetPcieLinkMaxSpeed, unsigned*)
AW_NO_LINK(nvmlDeviceGetPcieSpeed, unsigned*)
AW_NO_LINK(nvmlDeviceGetPcieReplayCounter, unsigned*)
AW_NO_LINK(nvmlDeviceGetPcieThroughput, unsigned, unsigned*)

AW_EXPORT nvmlReturn nvmlDeviceGetFieldValues(nvmlDevice device, int count,
                                              nvmlFieldValue* values) {
  return api<"nvmlDeviceGetFieldValues">([&] {
    require(values && count > 0);
    number_of(device);
    for (int i = 0; i < count; ++i) {
      nvmlFieldValue& field = values[i];
      field.time = static_cast<long long>(epoch_us()), field.latency = 0;
      try {
        read_field(&field);
        field.result = NVML_SUCCESS;
      } catch (const Failure& failure) {
        field.result = static_cast<nvmlReturn>(failure.code);
      }
    }
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetCpuAffinity(nvmlDevice device, unsigned words,
                                              unsigned long* set) {
  return api<"nvmlDeviceGetCpuAffinity">([&] { return read_affinity(device, words, set); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice device, unsigned words,
                                                         unsigned long* set, unsigned scope) {
  return api<"nvmlDeviceGetCpuAffinityWithinScope">([&] {
    require(scope <= 1);
    return read_affinity(device, words, set);
  });
}
AW_EXPORT nvmlReturn nvmlDeviceSetCpuAffinity(nvmlDevice device) {
  return api<"nvmlDeviceSetCpuAffinity">([&] { set_affinity(device, false); });
}
AW_EXPORT nvmlReturn nvmlDeviceClearCpuAffinity(nvmlDevice device) {
  return api<"nvmlDeviceClearCpuAffinity">([&] { set_affinity(device, true); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetSupportedEventTypes(nvmlDevice device,
                                                      unsigned long long* types) {
  return api<"nvmlDeviceGetSupportedEventTypes">([&] {
    require(types);
    number_of(device);
    *types = 0;
  });
}
AW_EXPORT nvmlReturn nvmlEventSetCreate(nvmlEventSet* set) {
  return api<"nvmlEventSetCreate">([&] {
    require(set);
    *set = reinterpret_cast<nvmlEventSet>(event_sets().add(std::make_shared<EventSet>()));
  });
}
AW_EXPORT nvmlReturn nvmlEventSetFree(nvmlEventSet set) {
  return api<"nvmlEventSetFree">([&] { require(event_sets().remove(set) != nullptr); });
}
AW_EXPORT nvmlReturn nvmlDeviceRegisterEvents(nvmlDevice device, unsigned long long types,
                                              nvmlEventSet set) {
  return api<"nvmlDeviceRegisterEvents">([&] {
    number_of(device);
    require(event_sets().find(set) != nullptr);
    require(types == 0, NVML_ERROR_NOT_SUPPORTED);
  });
}
AW_EXPORT nvmlReturn nvmlEventSetWait(nvmlEventSet set, nvmlEventData*, unsigned milliseconds) {
  return api<"nvmlEventSetWait">([&] { return wait_for_event(set, milliseconds); });
}
AW_EXPORT nvmlReturn nvmlEventSetWait_v2(nvmlEventSet set, nvmlEventData*, unsigned milliseconds) {
  return api<"nvmlEventSetWait_v2">([&] { return wait_for_event(set, milliseconds); });
}
