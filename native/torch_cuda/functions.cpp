// c10::cuda's functions about devices, and errors.
#include <c10/cuda/CUDADeviceAssertionHost.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAMiscFunctions.h>

#include <sstream>

#include "stand_in.h"

namespace c10::cuda {

DeviceIndex device_count() noexcept { return awt::guard().deviceCount(); }

DeviceIndex device_count_ensure_non_zero() {
  const DeviceIndex count = device_count();
  TORCH_CHECK(count, "No CUDA GPUs are available");
  return count;
}

DeviceIndex current_device() { return awt::guard().getDevice().index(); }

void set_device(DeviceIndex device, const bool) { C10_CUDA_CHECK(SetDevice(device)); }

void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

void warn_or_error_on_sync() {
  int mode = 0;
  awt::require(awt_sync_debug(&mode));
  TORCH_CHECK(mode != 2, "called a synchronizing CUDA operation");
  if (mode == 1) TORCH_WARN("called a synchronizing CUDA operation");
}

cudaError_t GetDeviceCount(int* count) { return cudaGetDeviceCount(count); }

cudaError_t GetDevice(DeviceIndex* device) {
  *device = awt::guard().getDevice().index();
  return cudaSuccess;
}

// The device of torch and that of the runtime are two numbers per thread; kernels launched by
// <<<>>> go to the runtime's.
cudaError_t SetDevice(DeviceIndex device, const bool) {
  const cudaError_t result = cudaSetDevice(device);
  if (result == cudaSuccess) awt::guard().uncheckedSetDevice(Device(DeviceType::CUDA, device));
  return result;
}

cudaError_t MaybeSetDevice(DeviceIndex device) { return SetDevice(device, false); }

DeviceIndex ExchangeDevice(DeviceIndex device) {
  const DeviceIndex before = current_device();
  if (device != before) C10_CUDA_CHECK(SetDevice(device, false));
  return before;
}

DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }

void SetTargetDevice() {}

bool hasPrimaryContext(DeviceIndex device) {
  int yes = 0;
  awt::require(awt_device_has_context(device, &yes));
  return yes;
}

std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() {
  const DeviceIndex current = current_device();
  if (hasPrimaryContext(current)) return current;
  for (DeviceIndex each = 0; each < device_count(); ++each)
    if (hasPrimaryContext(each)) return each;
  return std::nullopt;
}

std::string get_cuda_error_help(cudaError_t) noexcept { return {}; }
const char* get_cuda_check_suffix() noexcept { return ""; }
#if AWT_TORCH >= 212
const char* get_cuda_async_error_suffix(cudaError_t) noexcept { return ""; }
#endif
std::mutex* getFreeMutex() {
  static std::mutex mutex;
  return &mutex;
}

void c10_cuda_check_implementation(const int32_t error, const char* file, const char* function,
                                   const uint32_t line, const bool) {
  if (C10_LIKELY(error == cudaSuccess)) return;
  (void)cudaGetLastError();
  std::ostringstream words;
  words << "CUDA error: " << cudaGetErrorString(static_cast<cudaError_t>(error));
#if AWT_TORCH >= 208
  throw c10::AcceleratorError({function, file, line}, error, words.str());
#else
  throw c10::Error({function, file, line}, words.str());
#endif
}

}  // namespace c10::cuda
