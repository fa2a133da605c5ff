// CUDA's device run time (dynamic parallelism): what kernels ask of whoever runs their grid.
#pragma once

#include <cstdint>

#include "host_functions.h"

namespace aw {

struct DeviceCalls {
  // Returns what the function does, an error code or a pointer. `thread` is the number of the
  // thread in its grid; `arguments` are copies, each at a multiple of 8 bytes.
  virtual uint64_t answer(AwDeviceCall call, uint64_t thread, const uint8_t* arguments) = 0;

 protected:
  ~DeviceCalls() = default;
};

// Who answers calls of kernels on this thread; null: nobody, and they fail.
void set_device_calls(DeviceCalls* calls);

}  // namespace aw
