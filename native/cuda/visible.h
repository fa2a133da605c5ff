// The devices that a program sees, which need not be all of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/api.h"
#include "devices/identity.h"

namespace aw {

// Finds them, once: cuInit calls it. Throws NO_DEVICE when the program may see none.
void choose_visible_devices();

// What each driver defines for it: their numbers among all of the machine, in the order in which
// the program counts them (device_list.h).
std::vector<int> find_visible_devices();

int visible_devices();

// Throws INVALID_DEVICE unless the program sees a device of that number.
void check_device(CUdevice dev);

// Throws INVALID_VALUE for what is no place of memory, INVALID_DEVICE for a device that is not
// seen.
inline void check_location(const CUmemLocation& location) {
  require(location.type >= CU_MEM_LOCATION_TYPE_DEVICE &&
          location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) check_device(location.id);
}

// The number of a device among all of the machine: what its UUID and PCI address are made of.
int machine_number(CUdevice dev);

// Of the context that is current on this thread; 0 without one.
int current_device();

}  // namespace aw
