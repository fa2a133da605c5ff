#include "devices/identity.h"

#include <algorithm>

#include "core/settings.h"
#include "core/sha256.h"
#include "core/text.h"
#include "devices/cpu_info.h"

namespace aw {

const DeviceInfo& machine_info() {
  static const DeviceInfo& info = *new DeviceInfo(read_cpu_info());
  return info;
}

std::string uuid_bytes(int machine_number) {
  std::string words = "anywarp device " + machine_info().identity;
  if (machine_number > 0) words += " " + std::to_string(machine_number);
  auto digest = sha256(words.data(), words.size());
  return {reinterpret_cast<const char*>(digest.data()), 16};
}

std::string uuid_text(int machine_number) {
  std::string text = hexadecimal(uuid_bytes(machine_number));
  for (size_t place : {8, 13, 18, 23}) text.insert(place, "-");
  return "GPU-" + text;
}

uint64_t device_memory() {
  return machine_info().memory / static_cast<uint64_t>(std::max(settings().devices, 1));
}

}  // namespace aw
