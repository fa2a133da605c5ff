// Devices as the runtime sees them: which one a thread uses, and the primary contexts it retained.
#pragma once

#include "cudart/api.h"

namespace aw {

constexpr int kMostDevices = 64;

// Initialises the driver once; throws what it answers.
void ensure_driver();

// The version of the interface: that of our headers, or the driver's where that is older, as
// programs refuse a driver that is older than the runtime.
int interface_version();

int device_count();

// Throws INVALID_DEVICE for a number that is no device.
void check_device(int device);

// The device of the current context, or where the thread's context would be made.
int current_device();

// The primary context of a device, which is retained once for the life of the process.
CUcontext primary_context(int device);

// Makes the primary context of a device current on this thread.
void use_device(int device);

}  // namespace aw
