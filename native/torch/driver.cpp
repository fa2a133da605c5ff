#include "driver.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <sstream>

#include "versions.h"

namespace awt {
namespace {

void* open_driver() {
  // `anywarp run` put our library first on the path; `import anywarp.torch` has loaded it by then.
  void* found = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  TORCH_CHECK(found, "Found no NVIDIA driver on your system: libcuda.so.1 cannot be loaded (",
              dlerror(), "). Start the program with `anywarp run --`");
  return found;
}

const DriverFn<CUresult(CUresult, const char**)> error_name{"cuGetErrorName"};
const DriverFn<CUresult(CUresult, const char**)> error_text{"cuGetErrorString"};

}  // namespace

void* driver_entry(const char* name) {
  static void* const library = open_driver();
  void* found = dlsym(library, name);
  TORCH_CHECK(found, "CUDA error: the driver library has no function ", name);
  return found;
}

void check(CUresult result) {
  if (__builtin_expect(result == CUDA_SUCCESS, 1)) return;
  const char* name = nullptr;
  const char* text = nullptr;
  error_name(result, &name);
  error_text(result, &text);
  std::ostringstream words;
  words << "CUDA error: " << (text ? text : "unknown error") << "\nSearch for `"
        << (name ? name : "CUDA_ERROR_UNKNOWN")
        << "' in the documentation of the CUDA driver API for more information.";
#if AWT_TORCH >= 208
  throw c10::AcceleratorError({__func__, __FILE__, uint32_t(__LINE__)}, int(result), words.str());
#else
  throw c10::Error({__func__, __FILE__, uint32_t(__LINE__)}, words.str());
#endif
}

}  // namespace awt
