// What this machine's processor is called, and how cache keys name it (docs/contracts.md, section
// 2).
#pragma once

#include "core/device_info.h"

namespace aw {

DeviceInfo read_cpu_info();

}  // namespace aw
