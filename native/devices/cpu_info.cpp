#include "devices/cpu_info.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core/settings.h"
#include "core/sha256.h"

namespace aw {
namespace {

struct Processor {
  std::string model_line, flags_line, model;
  double mhz = 0;
};

std::string after_colon(const std::string& line) {
  size_t colon = line.find(':');
  size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? "" : line.substr(begin);
}

// Reads the first processor of /proc/cpuinfo.
Processor first_processor() {
  Processor p;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.rfind("model name", 0) == 0) p.model_line = line, p.model = after_colon(line);
    if (line.rfind("flags", 0) == 0) p.flags_line = line;
    if (line.rfind("cpu MHz", 0) == 0) p.mhz = strtod(after_colon(line).c_str(), nullptr);
  }
  return p;
}

std::string machine() {
  utsname names;
  return uname(&names) == 0 ? names.machine : "unknown";
}

std::string identity(const Processor& p) {
  if (p.model_line.empty() || p.flags_line.empty()) return "cpu:generic-" + machine();
  return "cpu:" + sha256_hex(p.model_line + p.flags_line).substr(0, 16);
}

// Physical memory, or the limit of the control group the process runs in, whichever is smaller.
uint64_t machine_memory() {
  uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit = strtoull(first_line(path).c_str(), nullptr, 10);
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

unsigned positive(long value) { return value > 0 ? static_cast<unsigned>(value) : 0; }

}  // namespace

DeviceInfo read_cpu_info() {
  Processor p = first_processor();
  DeviceInfo info;
  info.name = "anywarp CPU (" + (p.model.empty() ? machine() : p.model) + ")";
  info.identity = identity(p);
  info.memory = settings().memory ? settings().memory : machine_memory();
  info.multiprocessors = settings().threads;
  info.clock_khz = static_cast<unsigned>(p.mhz * 1000);
#ifdef _SC_LEVEL3_CACHE_SIZE
  info.cache_bytes =
      std::max(positive(sysconf(_SC_LEVEL3_CACHE_SIZE)), positive(sysconf(_SC_LEVEL2_CACHE_SIZE)));
#endif
  return info;
}

}  // namespace aw
