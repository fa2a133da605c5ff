#include "core/settings.h"

#include <dlfcn.h>
#include <pwd.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

namespace aw {
namespace {

std::string variable(const char* name) {
  const char* text = getenv(name);
  return text ? text : "";
}

std::string own_directory() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_directory), &info) || !info.dli_fname) return "";
  std::string path = info.dli_fname;
  if (char* real = realpath(path.c_str(), nullptr)) {
    path = real;
    free(real);
  }
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// The home of this user; one that cannot be used where the user has none, as Debian's `nobody`.
std::string home() {
  std::string named = variable("HOME");
  if (!named.empty()) return named;
  passwd entry, *found = nullptr;
  char texts[4096];
  if (getpwuid_r(getuid(), &entry, texts, sizeof texts, &found) == 0 && found) return entry.pw_dir;
  return "/nonexistent";
}

std::string default_cache_dir() {
  std::string base = variable("XDG_CACHE_HOME");
  if (!base.empty() && base[0] == '/') return base + "/anywarp";
  return home() + "/.cache/anywarp";
}

// As Python's Path.expanduser, which the other side applies.
std::string expand_home(std::string path) {
  if (path == "~" || path.rfind("~/", 0) == 0) return home() + path.substr(1);
  return path;
}

// As Python's pathlib writes paths: no double and no trailing slashes, because the text is hashed
// on both sides.
std::string normal_path(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c != '/' || out.empty() || out.back() != '/') out += c;
  }
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

LogLevel log_level(const std::string& text) {
  if (text == "off") return LogLevel::off;
  if (text == "error") return LogLevel::error;
  if (text == "info") return LogLevel::info;
  if (text == "debug") return LogLevel::debug;
  return LogLevel::warn;
}

VersionPolicy version_policy(const std::string& text) {
  return text == "best"    ? VersionPolicy::best
         : text == "plain" ? VersionPolicy::plain
                           : VersionPolicy::automatic;
}

unsigned thread_count(const std::string& text) {
  unsigned long asked = strtoul(text.c_str(), nullptr, 10);
  if (asked > 0) return static_cast<unsigned>(std::min(asked, 1024ul));
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<unsigned>(std::max(count, 1));
}

// Launchers of one process per device (torchrun) tell each how many there are on the machine; each
// then asks for the device of its number.
int local_processes(const std::string& text) {
  bool digits =
      !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::clamp(atoi(text.c_str()), 1, 64) : 1;
}

int device_count(const std::string& text) {
  if (text.empty()) return local_processes(variable("LOCAL_WORLD_SIZE"));
  bool digits = text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? atoi(text.c_str()) : 0;
}

std::set<std::string> check_names(const std::string& text) {
  static const std::set<std::string> known = {"memory", "race", "init", "sync"};
  std::set<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    if (name == "all") return known;
    if (known.count(name)) out.insert(name);
    at = end + 1;
  }
  return out;
}

// What lies beside the libraries; those for other devices than the processor have a folder of their
// own below.
std::string line_beside(const std::string& folder, const char* name) {
  std::string found = first_line(folder + "/" + name);
  return found.empty() ? first_line(folder + "/../" + name) : found;
}

// The interpreter into whose packages these libraries were installed:
// PREFIX/lib/pythonX.Y/site-packages/anywarp/lib belongs to PREFIX/bin/pythonX.Y.
std::string interpreter_around(const std::string& folder) {
  size_t packages = folder.rfind("-packages/anywarp/lib");
  size_t version = folder.rfind("/python", packages);
  if (packages == std::string::npos || version == std::string::npos) return "python3";
  std::string name = folder.substr(version + 1, folder.find('/', version + 1) - version - 1);
  size_t prefix = folder.rfind('/', version - 1);
  for (auto& each : {name, std::string("python3")}) {
    std::string path = folder.substr(0, prefix) + "/bin/" + each;
    if (prefix != std::string::npos && access(path.c_str(), X_OK) == 0) return path;
  }
  return "python3";
}

Settings read() {
  Settings s;
  s.library_dir = own_directory();
  s.device = variable("ANYWARP_DEVICE");
  if (s.device.empty()) s.device = "cpu";
  s.cache_dir = expand_home(variable("ANYWARP_CACHE_DIR"));
  if (s.cache_dir.empty()) s.cache_dir = default_cache_dir();
  s.cache_dir = normal_path(s.cache_dir);
  s.python = expand_home(variable("ANYWARP_PYTHON"));
  if (s.python.empty()) s.python = line_beside(s.library_dir, "python");
  if (s.python.empty()) s.python = interpreter_around(s.library_dir);
  s.build_id = variable("ANYWARP_BUILD_ID");
  if (s.build_id.empty()) s.build_id = line_beside(s.library_dir, "build_id");
  s.report_dir = expand_home(variable("ANYWARP_REPORT_DIR"));
  s.checks = check_names(variable("ANYWARP_CHECK"));
  s.log = log_level(variable("ANYWARP_LOG"));
  s.versions = version_policy(variable("ANYWARP_VERSIONS"));
  s.threads = thread_count(variable("ANYWARP_THREADS"));
  s.devices = device_count(variable("ANYWARP_DEVICES"));
  s.memory = parse_size(variable("ANYWARP_MEMORY"));
  std::string warps = variable("ANYWARP_HIP_WARPS_PER_WAVE");
  s.warps_per_wave = warps == "1" ? 1 : warps == "2" ? 2 : 0;
  return s;
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
  return line;
}

uint64_t parse_size(const std::string& text) {
  char* end = nullptr;
  unsigned long long number = strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return 0;
  static const std::string units = "KMGT";
  size_t unit = units.find(static_cast<char>(toupper(static_cast<unsigned char>(*end))));
  unsigned shift = *end && unit != std::string::npos ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
  return number > (UINT64_MAX >> shift) ? UINT64_MAX : static_cast<uint64_t>(number) << shift;
}

const Settings& settings() {
  static const Settings& instance = *new Settings(read());
  return instance;
}

}  // namespace aw
