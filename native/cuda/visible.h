// The devices of this process: how many the processor is split into, and which of them a program
// sees.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/api.h"

namespace aw {

constexpr int kMostDevices = 64;

// Reads ANYWARP_DEVICES and CUDA_VISIBLE_DEVICES, once: cuInit calls it. Throws NO_DEVICE when the
// program may see none.
void choose_visible_devices();

int visible_devices();

// Throws INVALID_DEVICE unless the program sees a device of that number.
void check_device(CUdevice dev);

// The number of a device among all of the machine: what its UUID and PCI address are made of.
int machine_number(CUdevice dev);

// 16 bytes, different for different processors and devices, the same in every process.
std::string uuid_bytes(int machine_number);

// Bytes that may be allocated on one device.
uint64_t device_memory();

// Of the context that is current on this thread; 0 without one.
int current_device();

}  // namespace aw
