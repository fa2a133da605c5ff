#include "nvml/sensors.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/settings.h"
#include "devices/identity.h"
#include "nvml/api.h"

namespace aw::nvml {
namespace {

// The number that a file of the kernel's holds.
long long number_in(const std::string& path) {
  std::string text = first_line(path);
  require(!text.empty(), NVML_ERROR_NOT_SUPPORTED);
  char* end = nullptr;
  long long value = strtoll(text.c_str(), &end, 10);
  require(end != text.c_str(), NVML_ERROR_NOT_SUPPORTED);
  return value;
}

const std::string kClock = "/sys/devices/system/cpu/cpu0/cpufreq/";  // in kHz
const std::string kPower = "/sys/class/powercap/intel-rapl:0/";      // in microjoules, microwatts

// The sensor of the processor's package, by the names that drivers give it.
bool is_processor(const std::string& kind) {
  for (const char* name : {"x86_pkg_temp", "coretemp", "k10temp", "zenpower", "cpu"}) {
    if (kind.find(name) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

unsigned current_clock_mhz() {
  unsigned khz = 0;
  try {
    khz = static_cast<unsigned>(number_in(kClock + "scaling_cur_freq"));
  } catch (const Failure&) {
    khz = machine_info().clock_khz;  // as it was when the library was first asked
  }
  require(khz > 0, NVML_ERROR_NOT_SUPPORTED);
  return khz / 1000;
}

unsigned highest_clock_mhz() {
  return static_cast<unsigned>(number_in(kClock + "cpuinfo_max_freq") / 1000);
}

int temperature_celsius() {
  constexpr int kMostSensors = 32;
  for (int i = 0; i < kMostSensors; ++i) {
    std::string zone = "/sys/class/thermal/thermal_zone" + std::to_string(i) + "/";
    if (is_processor(first_line(zone + "type")))
      return static_cast<int>(number_in(zone + "temp") / 1000);
    std::string chip = "/sys/class/hwmon/hwmon" + std::to_string(i) + "/";
    if (is_processor(first_line(chip + "name")))
      return static_cast<int>(number_in(chip + "temp1_input") / 1000);
  }
  throw Failure(NVML_ERROR_NOT_SUPPORTED);
}

unsigned long long energy_millijoules() {
  return static_cast<unsigned long long>(number_in(kPower + "energy_uj") / 1000);
}

unsigned power_milliwatts() {
  constexpr long kNap = 100'000'000;
  long long before = number_in(kPower + "energy_uj");
  timespec nap{0, kNap};
  nanosleep(&nap, nullptr);
  long long spent = number_in(kPower + "energy_uj") - before;  // negative when the counter wrapped
  require(spent >= 0, NVML_ERROR_NOT_SUPPORTED);
  return static_cast<unsigned>(spent / (kNap / 1'000'000));
}

unsigned power_limit_milliwatts() {
  return static_cast<unsigned>(number_in(kPower + "constraint_0_power_limit_uw") / 1000);
}

}  // namespace aw::nvml
