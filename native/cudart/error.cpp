// Runtime API reference: error handling, version management.
#include "core/runtime_errors.h"
#include "cudart/state.h"

namespace aw {
namespace {

// After these the context is of no use: they stay the last error until the device is reset.
bool sticks(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout ||
         (error >= cudaErrorAssert && error <= cudaErrorLaunchFailure &&
          error != cudaErrorTooManyPeers && error != cudaErrorHostMemoryAlreadyRegistered &&
          error != cudaErrorHostMemoryNotRegistered);
}

}  // namespace

cudaError_t rt::cudaGetLastError() {
  cudaError_t& last = thread_state().last;
  cudaError_t error = last;
  if (!sticks(error)) last = cudaSuccess;
  return error;
}

cudaError_t rt::cudaPeekAtLastError() { return thread_state().last; }

const char* rt::cudaGetErrorName(cudaError_t error) {
  const char* name = runtime_error_name(error);
  return name ? name : kUnrecognized;
}

const char* rt::cudaGetErrorString(cudaError_t error) {
  const char* words = runtime_error_words(error);
  if (!words && runtime_error_name(error)) cuGetErrorString(static_cast<CUresult>(error), &words);
  return words ? words : kUnrecognized;
}

cudaError_t rt::cudaRuntimeGetVersion(int* version) {
  require(version);
  *version = interface_version();
  return cudaSuccess;
}

cudaError_t rt::cudaDriverGetVersion(int* version) {
  require(version);
  return error_of(cuDriverGetVersion(version));
}

}  // namespace aw
