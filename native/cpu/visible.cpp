// The processor as one device or several.
#include "cuda/visible.h"

#include <cstdlib>

#include "core/settings.h"
#include "core/text.h"
#include "cuda/device_list.h"
#include "cuda/driver.h"
#include "devices/identity.h"

namespace aw {

std::vector<int> find_visible_devices() {
  int count = settings().devices;
  if (count < 1 || count > kMostDevices) {
    throw Failure(CUDA_ERROR_NO_DEVICE,
                  "ANYWARP_DEVICES is no number from 1 to " + std::to_string(kMostDevices));
  }
  // Read now and not with the other settings: programs set it before they first use a device.
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  std::vector<std::vector<std::string>> uuids(static_cast<size_t>(count));
  for (int i = 0; list && i < count; ++i)
    uuids[static_cast<size_t>(i)] = {hexadecimal(uuid_bytes(i))};
  return listed_devices(list, uuids);
}

const DeviceInfo& device_info() { return machine_info(); }

}  // namespace aw
