// Registration by compiled programs. These functions run before main and before constructors of
// other libraries, so they only write down; the driver is asked when something is used.
#include "cudart/registration.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "cudart/state.h"

namespace aw {
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::vector<Binary*> binaries;
  std::unordered_map<const void*, RegisteredFunction*> functions;
  std::unordered_map<const void*, RegisteredVariable*> variables;
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

template <class T>
T* look_up(const std::unordered_map<const void*, T*>& map, const void* key) {
  std::shared_lock lock(registry().mutex);
  auto it = map.find(key);
  return it == map.end() ? nullptr : it->second;
}

constinit std::atomic<bool> ending{false};

// Called when code is first loaded, which is after the constructors of the program's binaries: so
// this runs at the end before those take their binaries back.
void notice_the_end() {
  static const int registered = std::atexit([] { ending.store(true); });
  (void)registered;
}

Binary& binary_of(void** handle) { return *reinterpret_cast<Binary*>(handle); }

void place_managed(const Binary& binary, CUlibrary library) {
  for (RegisteredVariable* variable : binary.managed) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    check(cuLibraryGetManaged(&address, &bytes, library, variable->name.c_str()));
    *variable->managed = reinterpret_cast<void*>(address);
  }
}

// Loads the binary unless that was done; throws what came of it.
CUlibrary load(Binary& binary) {
  if (CUlibrary library = binary.library.load(std::memory_order_acquire)) return library;
  std::lock_guard lock(binary.mutex);
  if (CUlibrary library = binary.library.load(std::memory_order_relaxed)) return library;
  check(binary.failure);
  notice_the_end();
  CUlibrary library = nullptr;
  binary.failure =
      cuLibraryLoadData(&library, binary.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0);
  check(binary.failure);
  place_managed(binary, library);
  binary.library.store(library, std::memory_order_release);
  return library;
}

// Loads the binary of a function that is asked for: of one that holds no code for here, the user is
// told which.
CUlibrary load_for(const RegisteredFunction& function) {
  try {
    return load(*function.binary);
  } catch (const Failure& failure) {
    if (failure.code == cudaErrorNoKernelImageForDevice)
      report_absent(function.name.c_str(), "there is only machine code of it");
    throw;
  }
}

CUkernel resolve(RegisteredFunction& function) {
  CUkernel kernel = nullptr;
  CUresult found = cuLibraryGetKernel(&kernel, load_for(function), function.name.c_str());
  require(found != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidDeviceFunction);
  check(found);
  function.kernel.store(kernel, std::memory_order_release);
  return kernel;
}

template <class T>
void forget(std::unordered_map<const void*, T*>& map, const Binary& binary,
            const std::vector<const void*>& keys) {
  for (const void* key : keys) {
    auto it = map.find(key);
    if (it == map.end() || it->second->binary != &binary) continue;
    delete it->second;
    map.erase(it);
  }
}

}  // namespace

CUkernel kernel_of(const void* key) {
  require(key != nullptr, cudaErrorInvalidDeviceFunction);
  RegisteredFunction* function = look_up(registry().functions, key);
  // Handles may stand in the place of stubs; the driver knows whether they are some.
  if (!function) return static_cast<CUkernel>(const_cast<void*>(key));
  CUkernel kernel = function->kernel.load(std::memory_order_acquire);
  return kernel ? kernel : resolve(*function);
}

const void* stub_of(CUfunction function) {
  std::shared_lock lock(registry().mutex);
  for (auto& [stub, registered] : registry().functions) {
    CUkernel kernel = registered->kernel.load(std::memory_order_acquire);
    CUfunction found = nullptr;
    if (kernel && cuKernelGetFunction(&found, kernel) == CUDA_SUCCESS && found == function)
      return stub;
  }
  return nullptr;
}

DeviceVariable variable_of(const void* symbol) {
  RegisteredVariable* variable = look_up(registry().variables, symbol);
  require(variable != nullptr, cudaErrorInvalidSymbol);
  DeviceVariable found = {};
  CUresult result = cuLibraryGetGlobal(&found.address, &found.size, load(*variable->binary),
                                       variable->name.c_str());
  require(result != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidSymbol);
  check(result);
  return found;
}

void load_eagerly() {
  const char* wish = getenv("CUDA_MODULE_LOADING");
  if (!wish || strcmp(wish, "EAGER") != 0) return;
  std::vector<Binary*> all;
  {
    std::shared_lock lock(registry().mutex);
    all = registry().binaries;
  }
  for (Binary* binary : all) load(*binary);
}

void** rt::__cudaRegisterFatBinary(void* wrapper) {
  auto* binary = new Binary(wrapper);
  std::unique_lock lock(registry().mutex);
  registry().binaries.push_back(binary);
  return reinterpret_cast<void**>(binary);
}

void rt::__cudaRegisterFatBinaryEnd(void**) {}

void rt::__cudaUnregisterFatBinary(void** handle) {
  // At the end of the process there is nothing to tidy up, and kernels may still run, some for
  // ever.
  if (!handle || ending.load()) return;
  Binary& binary = binary_of(handle);
  {
    std::unique_lock lock(registry().mutex);
    if (std::erase(registry().binaries, &binary) == 0) return;
    forget(registry().functions, binary, binary.functions);
    forget(registry().variables, binary, binary.variables);
  }
  if (CUlibrary library = binary.library.load()) cuLibraryUnload(library);
  delete &binary;
}

void rt::__cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int,
                                uint3*, uint3*, dim3*, dim3*, int*) {
  Binary& binary = binary_of(handle);
  std::unique_lock lock(registry().mutex);
  auto& slot = registry().functions[stub];
  delete std::exchange(slot, new RegisteredFunction{&binary, name, nullptr});
  binary.functions.push_back(stub);
}

void rt::__cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, size_t size,
                           int, int) {
  Binary& binary = binary_of(handle);
  std::unique_lock lock(registry().mutex);
  auto& slot = registry().variables[shadow];
  delete std::exchange(slot, new RegisteredVariable{&binary, name, size, nullptr});
  binary.variables.push_back(shadow);
}

// The program reads and writes a managed variable through a pointer, which is also its shadow.
void rt::__cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                                  size_t size, int, int) {
  Binary& binary = binary_of(handle);
  std::unique_lock lock(registry().mutex);
  auto& slot = registry().variables[pointer];
  delete std::exchange(slot, new RegisteredVariable{&binary, name, size, pointer});
  binary.variables.push_back(pointer);
  binary.managed.push_back(slot);
}

// Called before the host touches a managed variable.
char rt::__cudaInitModule(void** handle) {
  cudaError_t error = guarded<Needs::context>("__cudaInitModule", [&] {
    load(binary_of(handle));
    return cudaSuccess;
  });
  return kept(error) == cudaSuccess;
}

}  // namespace aw
