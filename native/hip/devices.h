// The devices that a program sees, as HIP tells them (a part of a partitioned GPU and a die of an
// MI250 are devices of their own), and what CUDA's interface says of them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cuda/visible.h"
#include "hip/runtime.h"

namespace aw {

struct HipDevice {
  int number = 0;  // HIP's
  hipDeviceProp_tR0600 properties{};
  std::string architecture;  // as HIP calls it: gfx942:sramecc+:xnack-
  std::string name, uuid;
  uint64_t memory = 0;
  uint32_t wave = 64, shared = 65536, threads_per_unit = 2048, registers_per_unit = 65536;
  DeviceInfo info;
  std::array<int, 148> attributes{};  // by CUdevice_attribute; read once
};

// What cuDeviceGetAttribute answers for a number.
int read_attribute_of(const HipDevice& device, int number);

// The device of CUDA's number; throws INVALID_DEVICE.
const HipDevice& hip_device_of(CUdevice dev);
// HIP's number of it.
inline int hip_device(CUdevice dev) { return hip_device_of(dev).number; }
CUdevice cuda_device(int hip_number);  // -1 for one that the program does not see

// That of the current context; the first without one.
const HipDevice& current_hip_device();

}  // namespace aw
