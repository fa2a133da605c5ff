// Sizes in the words of torch's messages.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <string>
#include <utility>

namespace awt {

std::string size_text(size_t bytes);  // "20.00 MiB"

// What cuMemGetInfo says of a device.
std::pair<size_t, size_t> free_and_total(c10::DeviceIndex device);

}  // namespace awt
