// Driver API reference: library management.
#include "cuda/library.h"

#include "cuda/contexts.h"
#include "cuda/function_attributes.h"
#include "cuda/image_file.h"
#include "cuda/jit_options.h"
#include "cuda/visible.h"

namespace aw {
namespace {

Handles<Library>& libraries() {
  static auto& instance = *new Handles<Library>;
  return instance;
}

Handles<Kernel>& kernels() {
  static auto& instance = *new Handles<Kernel>;
  return instance;
}

std::shared_ptr<Library> library_of(CUlibrary handle) {
  auto library = libraries().find(handle);
  require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return library;
}

std::shared_ptr<Kernel> kernel_of(CUkernel handle) {
  auto kernel = kernels().find(handle);
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel;
}

void load_library(CUlibrary* out, const void* image, JitOptions& jit) {
  auto library = std::make_shared<Library>();
  library->description = describe(read_image(image));
  for (auto& line : library->description->diagnostics) jit.inform(line);
  for (auto& entry : library->description->entries) {
    auto kernel = std::make_shared<Kernel>();
    kernel->library = library;
    kernel->name = entry.name;
    kernel->handle = kernels().add(kernel);
    library->kernels[entry.name] = std::move(kernel);
  }
  library->handle = libraries().add(library);
  *out = as_handle<CUlibrary>(library->handle);
}

void unload(Module& module) {
  if (auto owner = module.context.lock()) owner->wait_for_streams();
  for (auto& [name, function] : module.functions) functions().remove(function->handle);
  modules().remove(module.handle);
}

CUresult get_variable(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  require(name);
  auto library = library_of(handle);
  auto it = library->description->variables.find(name);
  require(it != library->description->variables.end(), CUDA_ERROR_NOT_FOUND);
  auto module = library->module_in(current_context());
  if (address) *address = reinterpret_cast<uint64_t>(module->data->base) + it->second.offset;
  if (bytes) *bytes = it->second.size;
  return CUDA_SUCCESS;
}

}  // namespace

std::shared_ptr<Module> Library::module_in(const std::shared_ptr<Context>& context) {
  std::lock_guard lock(mutex);
  auto& module = by_context[context->id];
  if (!module) module = load_module(description, context);
  return module;
}

std::shared_ptr<Function> Kernel::function_in(const std::shared_ptr<Context>& context) {
  auto owner = library.lock();
  require(owner != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return find_function(*owner->module_in(context), name);
}

std::shared_ptr<Function> function_of_kernel(uintptr_t handle) {
  auto kernel = kernels().find(reinterpret_cast<CUkernel>(handle));
  return kernel ? kernel->function_in(current_context()) : nullptr;
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuLibraryLoadData(CUlibrary* out, const void* image, const int* jit_options,
                                     void** jit_values, unsigned jit_count, const int*, void**,
                                     unsigned) {
  return api<"cuLibraryLoadData">([&] {
    require(out && image);
    JitOptions jit(jit_count, jit_options, jit_values);
    jit.run([&] { load_library(out, image, jit); });
  });
}

AW_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, const int* jit_options,
                                         void** jit_values, unsigned jit_count, const int*, void**,
                                         unsigned) {
  return api<"cuLibraryLoadFromFile">([&] {
    require(out && path);
    JitOptions jit(jit_count, jit_options, jit_values);
    jit.run([&] {
      std::string bytes = read_image_file(path);
      load_library(out, bytes.c_str(), jit);
    });
  });
}

AW_EXPORT CUresult cuLibraryUnload(CUlibrary handle) {
  return api<"cuLibraryUnload">([&] {
    refuse_inside_callback();
    auto library = libraries().remove(handle);
    require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    std::lock_guard lock(library->mutex);
    for (auto& [id, module] : library->by_context) unload(*module);
    for (auto& [name, kernel] : library->kernels) kernels().remove(kernel->handle);
  });
}

AW_EXPORT CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
  return api<"cuLibraryGetKernel">([&] {
    require(out && name);
    auto library = library_of(handle);
    auto it = library->kernels.find(name);
    require(it != library->kernels.end(), CUDA_ERROR_NOT_FOUND);
    *out = as_handle<CUkernel>(it->second->handle);
  });
}

AW_EXPORT CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return api<"cuLibraryGetKernelCount">([&] {
    require(count);
    *count = static_cast<unsigned>(library_of(handle)->kernels.size());
  });
}

AW_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary handle) {
  return api<"cuLibraryEnumerateKernels">([&] {
    require(out);
    auto library = library_of(handle);
    for (auto& entry : library->description->entries) {
      if (count-- == 0) return;
      *out++ = as_handle<CUkernel>(library->kernels[entry.name]->handle);
    }
  });
}

AW_EXPORT CUresult cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
  return api<"cuLibraryGetModule">([&] {
    require(out);
    *out = as_handle<CUmodule>(library_of(handle)->module_in(current_context())->handle);
  });
}

AW_EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                                      const char* name) {
  return api<"cuLibraryGetGlobal">([&] { return get_variable(address, bytes, handle, name); });
}

AW_EXPORT CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                                       const char* name) {
  return api<"cuLibraryGetManaged">([&] { return get_variable(address, bytes, handle, name); });
}

AW_EXPORT CUresult cuKernelGetFunction(CUfunction* out, CUkernel handle) {
  return api<"cuKernelGetFunction">([&] {
    require(out);
    *out = as_handle<CUfunction>(kernel_of(handle)->function_in(current_context())->handle);
  });
}

AW_EXPORT CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel handle) {
  return api<"cuKernelGetLibrary">([&] {
    require(out);
    auto library = kernel_of(handle)->library.lock();
    require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    *out = as_handle<CUlibrary>(library->handle);
  });
}

AW_EXPORT CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return api<"cuKernelGetName">([&] {
    require(name);
    *name = kernel_of(handle)->name.c_str();
  });
}

AW_EXPORT CUresult cuKernelGetAttribute(int* value, int attribute, CUkernel handle, CUdevice dev) {
  return api<"cuKernelGetAttribute">([&] {
    require(value);
    check_device(dev);
    *value = read_attribute(*kernel_of(handle)->function_in(current_context()), attribute);
  });
}

AW_EXPORT CUresult cuKernelSetAttribute(int attribute, int value, CUkernel handle, CUdevice dev) {
  return api<"cuKernelSetAttribute">([&] {
    check_device(dev);
    write_attribute(*kernel_of(handle)->function_in(current_context()), attribute, value);
  });
}

AW_EXPORT CUresult cuKernelSetCacheConfig(CUkernel handle, int config, CUdevice dev) {
  return api<"cuKernelSetCacheConfig">([&] {
    check_device(dev);
    require(config >= 0 && config <= 3);
    kernel_of(handle);
  });
}

AW_EXPORT CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset,
                                        size_t* size) {
  return api<"cuKernelGetParamInfo">([&] {
    auto kernel = kernel_of(handle);
    auto library = kernel->library.lock();
    require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    for (auto& entry : library->description->entries) {
      if (entry.name == kernel->name) return write_parameter(entry, index, offset, size);
    }
    throw Failure(CUDA_ERROR_NOT_FOUND);
  });
}

AW_EXPORT CUresult cuKernelGetParamCount(CUkernel handle, size_t* count) {
  return api<"cuKernelGetParamCount">([&] {
    require(count);
    *count = kernel_of(handle)->function_in(current_context())->entry->params.size();
  });
}

// Functions that host and device share come from nowhere in PTX, so that no library has one.
AW_EXPORT CUresult cuLibraryGetUnifiedFunction(void** out, CUlibrary handle, const char* symbol) {
  return api<"cuLibraryGetUnifiedFunction">([&] {
    require(out && symbol);
    library_of(handle);
    return CUDA_ERROR_NOT_FOUND;
  });
}
