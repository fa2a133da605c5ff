#include "hip/runtime.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/context.h"
#include "cuda/thread.h"

namespace aw {

HipFunctions hip;

namespace {

int version_found = 0;

struct Code {
  int hip, cuda;
};
constexpr Code kCodes[] = {
#include "hip_errors.inc"
};

// After these nothing more can be done in the context (CUDA Driver API, CUresult).
bool sticks(int code) {
  return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == 702 || code == CUDA_ERROR_ASSERT ||
         (code >= 714 && code <= 719);
}

std::vector<std::string> candidates() {
  const char* given = getenv("ANYWARP_HIP_LIBRARY");
  if (given && *given) return {given};
  std::vector<std::string> names;
  for (const char* folder : {"", "/opt/rocm/lib/"}) {
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"})
      names.push_back(std::string(folder) + name);
  }
  return names;
}

void* open_library() {
  std::string why;
  for (auto& name : candidates()) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    if (why.empty()) why = dlerror();
  }
  throw Failure(CUDA_ERROR_NO_DEVICE,
                "error[N007]: HIP's library, libamdhip64, cannot be opened (" + why +
                    ")\nhelp: install ROCm's HIP runtime (package hip-runtime-amd, or "
                    "libamdhip64-6 of Debian), or say where it "
                    "lies with ANYWARP_HIP_LIBRARY");
}

std::string version_text(int version) {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100);
}

}  // namespace

void open_hip() {
  void* library = open_library();
#define AW_FUNCTION(name, versions) \
  hip.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));
  AW_HIP_FUNCTIONS(AW_FUNCTION)
#undef AW_FUNCTION
  if (hip.hipRuntimeGetVersion) hip.hipRuntimeGetVersion(&version_found);
  if (version_found < kLeastHip || !hip.hipInit || !hip.hipGetDevicePropertiesR0600 ||
      !hip.hipModuleLaunchKernel) {
    throw Failure(CUDA_ERROR_NO_DEVICE,
                  "error[N008]: HIP " + version_text(version_found) +
                      " is too old: anywarp needs 6.0 or newer\nhelp: install ROCm 6 or 7");
  }
}

int hip_version() { return version_found; }

CUresult cuda_code(hipError_t error) {
  if (error == hipSuccess) return CUDA_SUCCESS;
  auto* found = std::lower_bound(std::begin(kCodes), std::end(kCodes), static_cast<int>(error),
                                 [](const Code& c, int wanted) { return c.hip < wanted; });
  int code = found != std::end(kCodes) && found->hip == error ? found->cuda : CUDA_ERROR_UNKNOWN;
  Context* context = thread_state.context;
  if (code == CUDA_ERROR_NO_DEVICE && context) {
    context->fail(CUDA_ERROR_LAUNCH_FAILED,
                  "error[N009]: HIP has lost the device\nhelp: look into the kernel's log (dmesg) "
                  "for amdgpu; a reset of the "
                  "device ends all work on it");
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  if (sticks(code) && context) context->fail(code, "");
  return static_cast<CUresult>(code);
}

CUresult lacks(const char* function, const char* counterpart) {
  static std::mutex mutex;
  static auto& told = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (told.insert(function).second) {
    std::string reason = "HIP " + version_text(version_found) + " has no " + counterpart;
    report_absent(function, reason.c_str());
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace aw
