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

// Raises torch's error where there is no device, or this is a forked child.
void require_devices();

// Makes the primary context of the current device current on this thread, once per thread and
// change; cheap. Every path that enters the driver on the current device calls it.
void enter_thread();

// The same for work on `device`: while the current device has no context, none is made there,
// because nobody asked for one.
void enter_thread_for(c10::DeviceIndex device);

// The same for calls that any context will do for, on any device.
void enter_thread_anywhere();

bool context_made(c10::DeviceIndex device) noexcept;  // by us
bool any_context_made() noexcept;
bool has_primary_context(c10::DeviceIndex device);  // by anybody: the driver's answer

}  // namespace awt
