// The environment variables that the native side reads, once (the list with meanings:
// src/anywarp/settings.py).
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace aw {

enum class LogLevel { off, error, warn, info, debug };

// Which versions of a kernel's code are used (ANYWARP_VERSIONS).
enum class VersionPolicy { automatic, best, plain };

struct Settings {
  std::string device;       // ANYWARP_DEVICE
  std::string cache_dir;    // ANYWARP_CACHE_DIR
  std::string library_dir;  // where this library lies
  std::string python;       // the interpreter that runs the compile service
  std::string build_id;
  std::string report_dir;        // empty: no report
  std::set<std::string> checks;  // ANYWARP_CHECK: what kernels check while they run
  LogLevel log = LogLevel::warn;
  VersionPolicy versions = VersionPolicy::automatic;
  unsigned threads = 1;
  int devices = 1;              // ANYWARP_DEVICES, else LOCAL_WORLD_SIZE; 0: no number
  uint64_t memory = 0;          // 0: what the machine has
  unsigned warps_per_wave = 0;  // ANYWARP_HIP_WARPS_PER_WAVE; 0: the compiler's choice
};

const Settings& settings();

// Reads a size such as 512M or 2GiB; 0 when the text is none.
uint64_t parse_size(const std::string& text);

// Reads the first line of a file, without its line end; empty when there is none.
std::string first_line(const std::string& path);

}  // namespace aw
