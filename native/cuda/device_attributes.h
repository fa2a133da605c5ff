// What cuDeviceGetAttribute answers.
#pragma once

#include "devices/identity.h"

namespace aw {

constexpr int kMaxThreadsPerBlock = 1024, kMaxSharedDefault = 48 << 10, kMaxSharedOptIn = 163 << 10,
              kMaxSharedPerProcessor = 164 << 10, kMaxThreadsPerProcessor = 2048,
              kMaxBlocksPerProcessor = 32, kReservedShared = 1 << 10;
constexpr unsigned kMaxBlock[3] = {1024, 1024, 64}, kMaxGrid[3] = {0x7fffffff, 65535, 65535};

// False for an attribute that does not exist.
bool device_attribute(int attribute, int* value);

}  // namespace aw
