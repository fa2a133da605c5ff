#include "rocm/forward.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

namespace aw::rocm {
namespace {

// The library that answers, opened once; a library that is not there stays away for the whole run.
struct Door {
  void* handle = nullptr;
  int runtime = 0;
  std::string path;
  std::string tried;
};

// What libcuda does for us: counting and telling. Without it (a program that uses the library
// alone) the same is said on stderr.
struct Reporter {
  std::atomic<uint64_t>* (*counter)(const char*) = nullptr;
  void (*absent)(const char*, const char*) = nullptr;
  void (*diagnose)(const char*) = nullptr;
  int (*hip_device)(int) = nullptr;  // of the driver over HIP only
  int (*cuda_device)(int) = nullptr;
};

const Reporter& reporter() {
  static const Reporter found = [] {
    Reporter made;
    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
      made.counter =
          reinterpret_cast<decltype(made.counter)>(dlsym(driver, "anywarp_call_counter"));
      made.absent = reinterpret_cast<decltype(made.absent)>(dlsym(driver, "anywarp_report_absent"));
      made.diagnose = reinterpret_cast<decltype(made.diagnose)>(dlsym(driver, "anywarp_diagnose"));
      made.hip_device =
          reinterpret_cast<decltype(made.hip_device)>(dlsym(driver, "anywarp_hip_device"));
      made.cuda_device =
          reinterpret_cast<decltype(made.cuda_device)>(dlsym(driver, "anywarp_cuda_device"));
    }
    return made;
  }();
  return found;
}

void write_line(const std::string& text) {
  const char* level = getenv("ANYWARP_LOG");
  if (level && !strcmp(level, "off")) return;
  const std::string line = "anywarp: " + text + "\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

bool first_time(const std::string& text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& said = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return said.insert(text).second;
}

void diagnose(const std::string& text) {
  if (!first_time(text)) return;
  if (reporter().diagnose)
    reporter().diagnose(text.c_str());
  else
    write_line(text);
}

void tell_absent(const char* name, const char* reason) {
  if (reporter().absent) return reporter().absent(name, reason);
  const std::string text = std::string(name) + " is not implemented: " + reason;
  if (first_time(text)) write_line(text);
}

// With where the user finds more.
std::string explained(const std::string& reason, const char* code) {
  return reason + " (anywarp explain " + code + ")";
}

std::atomic<uint64_t>* counter_of(const char* name) {
  static std::atomic<uint64_t> nowhere;
  return reporter().counter ? reporter().counter(name) : &nowhere;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Where the HIP runtime lies that this process has already; its libraries belong to it.
std::string folder_of_runtime(int* major) {
  for (const int each : {7, 6}) {
    const std::string name = "libamdhip64.so." + std::to_string(each);
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!handle) continue;
    *major = each;
    link_map* map = nullptr;
    std::string path;
    if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map) path = map->l_name;
    dlclose(handle);
    return folder_of(path);
  }
  return "";
}

int runtime_beside(const std::string& folder) {
  for (const int each : {7, 6}) {
    const std::string path = folder + "/libamdhip64.so." + std::to_string(each);
    if (!access(path.c_str(), R_OK)) return each;
  }
  return 0;
}

// Opens `name` in `folder` (empty: wherever the loader looks).
bool open_in(const std::string& folder, const char* name, int major, Door& door) {
  const std::string path = folder.empty() ? name : folder + "/" + name;
  if (!folder.empty() && access(path.c_str(), R_OK)) return false;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    if (!folder.empty())
      door.tried = dlerror();  // it is there and cannot be loaded: that is the news
    return false;
  }
  door.handle = handle;
  door.runtime = major;
  link_map* map = nullptr;
  if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map) door.path = map->l_name;
  if (char* real = realpath(door.path.c_str(), nullptr)) {
    door.path = real;
    free(real);
  }
  return true;
}

const Door& door() {
  static const Door& opened = *new Door([] {
    Door made;
    int loaded = 0;
    const std::string beside = folder_of_runtime(&loaded);
    const char* set = getenv("ANYWARP_ROCM_PATH");
    const std::string chosen = set ? set : "";
    std::string folders[] = {chosen, chosen.empty() ? "" : chosen + "/lib", beside, "/opt/rocm/lib",
                             ""};
    for (size_t place = 0; place < std::size(folders); place++) {
      const bool anywhere = place + 1 == std::size(folders);
      if (folders[place].empty() && !anywhere) continue;
      // The same name serves two versions of some libraries; the runtime beside them tells which it
      // is.
      const int here = loaded ? loaded : anywhere ? 0 : runtime_beside(folders[place]);
      for (const char* const* name = library.sonames; **name; name++) {
        const int major = **name - '0';
        if (here && here != major) continue;
        if (open_in(folders[place], *name + 2, major, made)) return made;
      }
    }
    return made;
  }());
  return opened;
}

// Takes the next `NAME@67` off `text`; false at its end.
bool next_symbol(const char*& text, std::string* name, int* first, int* last) {
  if (!*text) return false;
  const char* end = strchr(text, '|');
  const std::string entry = end ? std::string(text, end) : text;
  text = end ? end + 1 : text + entry.size();
  const size_t at = entry.find('@');
  *name = entry.substr(0, at);
  *first = entry[at + 1] - '0';
  *last = entry[at + 2] - '0';
  return true;
}

void tell_missing_library() {
  std::string names;
  for (const char* const* name = library.sonames; **name; name++) {
    const std::string each = *name + 2;
    if (names.find(each) == std::string::npos) names += (names.empty() ? "" : " or ") + each;
  }
  const std::string why = door().tried.empty() ? "" : " (" + door().tried + ")";
  diagnose(std::string("error[N020]: ") + library.title + " is answered by ROCm's " +
           library.target + ", which is not here: no " + names +
           " in the folder that ANYWARP_ROCM_PATH names, beside the HIP runtime, in /opt/rocm/lib "
           "or on the library path" +
           why + "\nhelp: install the package " + library.package +
           " of ROCm, or set ANYWARP_ROCM_PATH to the folder that holds it");
}

}  // namespace

void* symbol(const char* name) noexcept {
  return door().handle ? dlsym(door().handle, name) : nullptr;
}

int hip_device(int device) noexcept {
  return reporter().hip_device ? reporter().hip_device(device) : device;
}

int cuda_device(int number) noexcept {
  return reporter().cuda_device ? reporter().cuda_device(number) : number;
}

int runtime_major() noexcept { return door().runtime; }

void count(unsigned index) noexcept {
  State& state = states[index];
  std::atomic<uint64_t>* calls = state.calls.load(std::memory_order_acquire);
  if (!calls)
    state.calls.store(calls = counter_of(functions[index].name), std::memory_order_release);
  calls->store(calls->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void* resolve(unsigned index) noexcept {
  count(index);
  const char* text = functions[index].target;
  std::string name;
  int first = 0, last = 0;
  for (int answer = 0; next_symbol(text, &name, &first, &last); answer++) {
    if (door().runtime < first || door().runtime > last) continue;
    void* found = symbol(name.c_str());
    if (!found) continue;
    static std::mutex& mutex = *new std::mutex;
    std::lock_guard lock(mutex);
    states[index].answer = answer;
    states[index].target.store(found, std::memory_order_release);
    return found;
  }
  return nullptr;
}

int missing(unsigned index) noexcept {
  if (!door().handle) {
    tell_missing_library();
    return library.not_initialized;
  }
  const Function& function = functions[index];
  std::string names, name;
  const char* text = function.target;
  int first = 0, last = 0;
  while (next_symbol(text, &name, &first, &last)) names += (names.empty() ? "" : " or ") + name;
  const std::string reason =
      std::string(library.target) + " has no " + names + " in this version (" + door().path + ")";
  tell_absent(function.name, explained(reason, "N021").c_str());
  return library.not_supported;
}

int refuse(int problem, unsigned index) noexcept {
  if (problem & 4) return library.invalid_handle;
  if (problem & 1) return library.invalid_value;
  const std::string reason =
      std::string("an argument has a value that ") + library.target + " does not have";
  tell_absent(functions[index].name, explained(reason, "N022").c_str());
  return library.not_supported;
}

int unknown_value() noexcept { return library.internal; }

int absent(unsigned index) noexcept {
  tell_absent(functions[index].name, functions[index].reason);
  return library.not_supported;
}

int unsupported(const char* function, const char* reason, const char* code) noexcept {
  tell_absent(function, explained(reason, code).c_str());
  return library.not_supported;
}

}  // namespace aw::rocm
