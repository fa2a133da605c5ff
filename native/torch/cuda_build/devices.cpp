// Devices of a CUDA build of torch: its own account of them (c10/cuda), over our driver.
#include "devices.h"

#include <c10/cuda/CUDAFunctions.h>

namespace awt {

c10::DeviceIndex device_count() noexcept { return c10::cuda::device_count(); }

c10::DeviceIndex current_device() noexcept {
  c10::DeviceIndex found = 0;
  static_cast<void>(c10::cuda::GetDevice(&found));
  return found;
}

void set_device_unchecked(c10::DeviceIndex device) noexcept {
  static_cast<void>(c10::cuda::SetDevice(device));
}

void set_device(c10::DeviceIndex device) { c10::cuda::set_device(device); }

void require_devices() { c10::cuda::device_count_ensure_non_zero(); }

// The runtime makes contexts and binds them to threads when it is called.
void enter_thread() {}
void enter_thread_for(c10::DeviceIndex) {}
void enter_thread_anywhere() {}

bool context_made(c10::DeviceIndex device) noexcept { return has_primary_context(device); }
bool any_context_made() noexcept {
  return c10::cuda::getDeviceIndexWithPrimaryContext().has_value();
}
bool has_primary_context(c10::DeviceIndex device) { return c10::cuda::hasPrimaryContext(device); }

}  // namespace awt
