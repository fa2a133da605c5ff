// Driver API reference: device management, which devices there are.
#include "cuda/visible.h"

using namespace aw;

AW_EXPORT CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return api<"cuDeviceGet">([&] {
    require(out);
    check_device(ordinal);
    *out = ordinal;
  });
}

AW_EXPORT CUresult cuDeviceGetCount(int* count) {
  return api<"cuDeviceGetCount">([&] {
    require(count);
    *count = visible_devices();
  });
}
