#include "rocm/nvml/amdsmi.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "nvml/api.h"
#include "rocm/folders.h"

namespace aw::smi {
namespace {

struct State {
  std::mutex mutex;
  void* library = nullptr;
  Functions functions;
  std::vector<Device> devices;
};

State& state() {
  static State& instance = *new State;
  return instance;
}

constexpr int kLibraryNotFound = 12, kDriverNotLoaded = 9;  // NVML_ERROR_*

bool open(State& s) {
  for (const std::string& folder : aw::rocm::library_prefixes())
    for (int version : {27, 26, 25, 24, 0}) {
      const std::string name =
          folder + "libamd_smi.so" + (version ? "." + std::to_string(version) : "");
      s.library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!s.library) continue;
      s.functions.version = version;
      return true;
    }
  return false;
}

void load(State& s) {
  if (s.library) return;
  if (!open(s)) {
    diagnose(LogLevel::error,
             "error[N027]: NVML is answered by AMD's amdsmi, and libamd_smi.so was not found\n"
             "help: install ROCm's package `amd-smi-lib` (Debian: libamd-smi27), or add its folder "
             "to LD_LIBRARY_PATH");
    throw Failure(kLibraryNotFound);
  }
#define AW_LOAD(name, parameters) \
  s.functions.name =              \
      reinterpret_cast<decltype(s.functions.name)>(dlsym(s.library, "amdsmi_" #name));
  AW_AMDSMI_FUNCTIONS(AW_LOAD)
#undef AW_LOAD
}

std::vector<Device> find_devices(const Functions& f) {
  std::vector<Device> found;
  uint32_t count = 0;
  check(f.get_socket_handles(&count, nullptr));
  std::vector<Socket> sockets(count);
  check(f.get_socket_handles(&count, sockets.data()));
  for (Socket socket : sockets) {
    uint32_t several = 0;
    check(f.get_processor_handles(socket, &several, nullptr));
    std::vector<Processor> processors(several);
    check(f.get_processor_handles(socket, &several, processors.data()));
    for (Processor processor : processors) {
      unsigned type = 0;
      uint64_t bdf = 0;
      if (f.get_processor_type(processor, &type) != kSuccess || type != kTypeGpu) continue;
      check(f.get_gpu_device_bdf(processor, &bdf));
      found.push_back({processor, bdf});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Device& a, const Device& b) { return a.bdf < b.bdf; });
  return found;
}

}  // namespace

namespace {

// A program for ROCm, as PyTorch's build for it is, has HIP in its process and not our driver. It
// must not take the machine for one of NVIDIA's (vLLM's platforms/__init__.py asks NVML and amdsmi,
// and refuses to start where both have devices).
bool is_for_rocm() {
  auto there = [](const char* name) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    return library && (dlclose(library), true);
  };
  return (there("libamdhip64.so.7") || there("libamdhip64.so.6")) && !there("libcuda.so.1");
}

}  // namespace

void begin() {
  if (is_for_rocm()) throw Failure(kDriverNotLoaded);
  State& s = state();
  std::lock_guard lock(s.mutex);
  load(s);
  const Functions& f = s.functions;
  if (!f.init || !f.get_socket_handles || !f.get_processor_handles || !f.get_processor_type ||
      !f.get_gpu_device_bdf)
    throw Failure(kLibraryNotFound);
  if (int status = f.init(kInitGpus))
    throw Failure(status == kNoDriver ? kDriverNotLoaded : NVML_ERROR_UNKNOWN);
  if (nvml::users().load() == 0) s.devices = find_devices(f);
}

void end() {
  if (functions().shut_down) functions().shut_down();
}

const Functions& functions() { return state().functions; }
const std::vector<Device>& devices() { return state().devices; }

void check(int status) {
  switch (status) {
    case kSuccess:
      return;
    case kInvalid:
      throw Failure(NVML_ERROR_INVALID_ARGUMENT);
    case kTimeout:
      throw Failure(NVML_ERROR_TIMEOUT);
    case kNoPermission:
      throw Failure(4);  // NVML_ERROR_NO_PERMISSION
    case kNoMemory:
      throw Failure(NVML_ERROR_MEMORY);
    case kNotFound:
      throw Failure(NVML_ERROR_NOT_FOUND);
    case kNoDriver:
      throw Failure(kDriverNotLoaded);
    default:
      // A value that this card does not have comes back under several codes: file errors,
      // unexpected data, not supported.
      throw Failure(NVML_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace aw::smi
