// Which device an address belongs to: one byte per 2 MiB of address space.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>

namespace awt {

constexpr size_t kGranule = 2 << 20;

// Enters or removes a range of device memory. Ranges that do not fill their granules are kept in a
// list besides, so memory of any alignment (a pluggable allocator's) is found as well.
void enter_memory(const void* address, size_t bytes, c10::DeviceIndex device);
void remove_memory(const void* address, size_t bytes);

}  // namespace awt
