// Addresses and places of memory in the driver's types.
#pragma once

#include "cudart/api.h"

namespace aw {

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

inline CUdeviceptr* pointer_to_address(void** pointer) {
  return reinterpret_cast<CUdeviceptr*>(pointer);
}

inline CUmemLocation location_of(cudaMemLocation location) {
  CUmemLocation out = {};
  out.type = static_cast<CUmemLocationType>(location.type);
  out.id = location.id;
  return out;
}

// A device by its number; -1 (cudaCpuDeviceId) is the host.
inline CUmemLocation location_of(int device) {
  CUmemLocation out = {};
  out.type = device == cudaCpuDeviceId ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  out.id = device == cudaCpuDeviceId ? 0 : device;
  return out;
}

}  // namespace aw
