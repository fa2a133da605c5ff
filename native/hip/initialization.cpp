#include <cstdlib>

#include "cuda/driver.h"
#include "hip/devices.h"

namespace aw {

void require_own_device() {
  const char* given = getenv("ANYWARP_DEVICE");  // the settings make cpu of none
  std::string wanted = given ? given : "";
  if (wanted.empty() || wanted == "hip" || wanted.rfind("hip:", 0) == 0) return;
  throw Failure(CUDA_ERROR_NO_DEVICE,
                "this driver library is for the device hip, and the device " + wanted +
                    " is asked for\nhelp: start the program by `anywarp run --device hip`");
}

void begin_process() { start_report(hip_device_of(0).name); }

}  // namespace aw
