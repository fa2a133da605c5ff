// Runtime API reference: library management.
#include "cudart/locations.h"
#include "cudart/state.h"

namespace aw {
namespace {

// Options have the same numbers in both interfaces.
auto* jit_options(cudaJitOption* options) { return reinterpret_cast<CUjit_option*>(options); }

auto* library_options(cudaLibraryOption* options) {
  return reinterpret_cast<CUlibraryOption*>(options);
}

cudaError_t of_symbol(CUresult result) {
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorSymbolNotFound : error_of(result);
}

}  // namespace

cudaError_t rt::cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit,
                                    void** jit_values, unsigned jit_count,
                                    cudaLibraryOption* options, void** values, unsigned count) {
  require(library && code);
  return error_of(cuLibraryLoadData(library, code, jit_options(jit), jit_values, jit_count,
                                    library_options(options), values, count));
}

cudaError_t rt::cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                        cudaJitOption* jit, void** jit_values, unsigned jit_count,
                                        cudaLibraryOption* options, void** values, unsigned count) {
  require(library && path);
  return error_of(cuLibraryLoadFromFile(library, path, jit_options(jit), jit_values, jit_count,
                                        library_options(options), values, count));
}

cudaError_t rt::cudaLibraryUnload(cudaLibrary_t library) {
  return error_of(cuLibraryUnload(library));
}

cudaError_t rt::cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library,
                                     const char* name) {
  return of_symbol(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t rt::cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return error_of(cuLibraryGetKernelCount(count, library));
}

cudaError_t rt::cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                            cudaLibrary_t library) {
  return error_of(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t rt::cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                     const char* name) {
  return of_symbol(cuLibraryGetGlobal(pointer_to_address(address), bytes, library, name));
}

cudaError_t rt::cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library,
                                      const char* name) {
  return of_symbol(cuLibraryGetManaged(pointer_to_address(address), bytes, library, name));
}

cudaError_t rt::cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library,
                                              const char* symbol) {
  return of_symbol(cuLibraryGetUnifiedFunction(function, library, symbol));
}

cudaError_t rt::cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                int value, int device) {
  check_device(device);
  return error_of(
      cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device));
}

}  // namespace aw
