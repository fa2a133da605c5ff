// Driver API reference: module management.
#include "cuda/module.h"

#include <cstring>

#include "core/activity_resources.h"
#include "cuda/contexts.h"
#include "cuda/image_file.h"
#include "cuda/jit_options.h"

using namespace aw;

namespace {

CUresult load(CUmodule* out, const void* image, unsigned count, const int* options, void** values) {
  require(out);
  auto context = current_context();
  JitOptions jit(count, options, values);
  jit.run([&] {
    auto description = describe(read_image(image));
    for (auto& line : description->diagnostics) jit.inform(line);
    *out = as_handle<CUmodule>(load_module(description, context)->handle);
  });
  return CUDA_SUCCESS;
}

const Variable& find_variable(const Module& module, const char* name) {
  auto it = module.description->variables.find(name);
  require(it != module.description->variables.end(), CUDA_ERROR_NOT_FOUND);
  return it->second;
}

}  // namespace

AW_EXPORT CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return api<"cuModuleLoadData">([&] { return load(out, image, 0, nullptr, nullptr); });
}

AW_EXPORT CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned count,
                                      const int* options, void** values) {
  return api<"cuModuleLoadDataEx">([&] { return load(out, image, count, options, values); });
}

AW_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return api<"cuModuleLoadFatBinary">([&] { return load(out, image, 0, nullptr, nullptr); });
}

AW_EXPORT CUresult cuModuleLoad(CUmodule* out, const char* path) {
  return api<"cuModuleLoad">([&] {
    require(out && path);
    auto context = current_context();
    std::string bytes = read_image_file(path);
    return load(out, bytes.c_str(), 0, nullptr, nullptr);
  });
}

AW_EXPORT CUresult cuModuleUnload(CUmodule handle) {
  return api<"cuModuleUnload">([&] {
    auto context = current_context();
    auto module = modules().remove(handle);
    require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
    tell_of(AW_RESOURCE_MODULE, module->handle, true);
    if (auto owner = module->context.lock()) owner->wait_for_streams();
    for (auto& [name, function] : module->functions) functions().remove(function->handle);
    forget_references(*module);
  });
}

AW_EXPORT CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return api<"cuModuleGetFunction">([&] {
    require(out && name);
    current_context();
    *out = as_handle<CUfunction>(find_function(*module_of(handle), name)->handle);
  });
}

AW_EXPORT CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return api<"cuModuleGetFunctionCount">([&] {
    require(count);
    *count = static_cast<unsigned>(module_of(handle)->description->entries.size());
  });
}

AW_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned count, CUmodule handle) {
  return api<"cuModuleEnumerateFunctions">([&] {
    require(out);
    auto module = module_of(handle);
    for (auto& entry : module->description->entries) {
      if (count-- == 0) return;
      *out++ = as_handle<CUfunction>(module->functions[entry.name]->handle);
    }
  });
}

AW_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule handle,
                                        const char* name) {
  return api<"cuModuleGetGlobal_v2">([&] {
    require(name);
    current_context();
    auto module = module_of(handle);
    const Variable& variable = find_variable(*module, name);
    if (address) *address = reinterpret_cast<uint64_t>(module->data->base) + variable.offset;
    if (bytes) *bytes = variable.size;
  });
}

AW_EXPORT CUresult cuModuleGetLoadingMode(int* mode) {
  return api<"cuModuleGetLoadingMode">([&] {
    require(mode);
    *mode = 2;  // lazy: a kernel is compiled when it is first launched
  });
}
