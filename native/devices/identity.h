// What the devices of this machine are, for all libraries that speak of them: how many, how they
// are named, how much memory each has.
#pragma once

#include <cstdint>
#include <string>

#include "core/device_info.h"

namespace aw {

constexpr int kMostDevices = 64;

// What CUDA's interfaces say of every device here.
constexpr int kCapabilityMajor = 8, kCapabilityMinor = 0;

// The processor, read once.
const DeviceInfo& machine_info();

// 16 bytes, different for different processors and devices, the same in every process.
std::string uuid_bytes(int machine_number);

// The same as NVIDIA's tools print it: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
std::string uuid_text(int machine_number);

// Bytes that may be allocated on one device.
uint64_t device_memory();

}  // namespace aw
