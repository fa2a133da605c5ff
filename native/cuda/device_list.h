// CUDA_VISIBLE_DEVICES, which says what devices of the machine a program sees and how it counts
// them (CUDA Programming Guide, CUDA environment variables).
#pragma once

#include <string>
#include <vector>

namespace aw {

// What one entry names: a device by its number, or by the beginning of its UUID, which is written
// as plain_uuid() does. -1 and "": neither.
struct DeviceName {
  long number = -1;
  std::string uuid;
};

std::vector<DeviceName> device_names(const std::string& list);

// Without dashes and in lower case, so that a UUID and its beginning can be compared.
std::string plain_uuid(const std::string& text);

// The numbers of the devices that a list leaves, in its order; of all devices without a list.
// `uuids` has for each device its UUID, in every way in which it is written.
std::vector<int> listed_devices(const char* list,
                                const std::vector<std::vector<std::string>>& uuids);

}  // namespace aw
