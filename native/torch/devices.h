// Devices, the current device of a thread, and the context that makes driver calls work on it.
#pragma once

#include <c10/core/Device.h>

namespace awt {

// Number of devices that the driver shows (CUDA_VISIBLE_DEVICES and ANYWARP_DEVICES considered); 0
// on any error, never raises.
c10::DeviceIndex device_count() noexcept;

c10::DeviceIndex current_device() noexcept;
void set_device_unchecked(c10::DeviceIndex device) noexcept;
void set_device(c10::DeviceIndex device);  // raises "CUDA error: invalid device ordinal"

// Makes the primary context of the current device current on this thread, once per thread and
// change; cheap. Every path that enters the driver or runs an operator calls it.
void enter_thread();

bool context_made(c10::DeviceIndex device) noexcept;  // hasPrimaryContext

}  // namespace awt
