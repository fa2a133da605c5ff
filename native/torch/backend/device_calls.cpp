// What names/device.py asks of the driver and of the stand-in: devices and their properties.
#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "devices.h"
#include "driver.h"
#include "exported.h"
#include "versions.h"

namespace {

using awt::DriverFn;

const DriverFn<CUresult(int*, int, CUdevice)> get_attribute{"cuDeviceGetAttribute"};
const DriverFn<CUresult(char*, int, CUdevice)> get_name{"cuDeviceGetName"};
const DriverFn<CUresult(size_t*, CUdevice)> get_memory{"cuDeviceTotalMem_v2"};
const DriverFn<CUresult(unsigned char*, CUdevice)> get_uuid{"cuDeviceGetUuid_v2"};
const DriverFn<CUresult(int*, CUdevice, CUdevice)> can_access{"cuDeviceCanAccessPeer"};
const DriverFn<CUresult(int*)> get_version{"cuDriverGetVersion"};

c10::DeviceIndex known(int device) {
  if (device < 0 || device >= awt::device_count()) awt::check(CUDA_ERROR_INVALID_DEVICE);
  return static_cast<c10::DeviceIndex>(device);
}

}  // namespace

// Raises "No CUDA GPUs are available"; makes no context.
AWT_EXPORT int awt_device_init() {
  return awt::exported([] {
    awt::require_devices();
    // torch takes no memory for page-locked before it knows that the device is in use.
#if AWT_TORCH >= 206
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
#else
    at::globalContext().lazyInitCUDA();
#endif
  });
}

// Makes the context of the current device, as every call of the CUDA runtime does.
AWT_EXPORT int awt_device_enter() {
  return awt::exported([] { awt::enter_thread(); });
}

AWT_EXPORT int awt_device_count(int* out) {
  return awt::exported([&] { *out = awt::device_count(); });
}

AWT_EXPORT int awt_device_current(int* out) {
  return awt::exported([&] { *out = awt::current_device(); });
}

AWT_EXPORT int awt_device_set(int device) {
  return awt::exported([&] { awt::set_device(known(device)); });
}

// Changes the device unless it is negative; *out is the one before.
AWT_EXPORT int awt_device_exchange(int device, int* out) {
  return awt::exported([&] {
    *out = awt::current_device();
    if (device >= 0) awt::set_device(known(device));
  });
}

AWT_EXPORT int awt_device_has_context(int device, int* out) {
  return awt::exported([&] { *out = awt::has_primary_context(known(device)); });
}

AWT_EXPORT int awt_device_attribute(int device, int attribute, int* out) {
  return awt::exported([&] { awt::check(get_attribute(out, attribute, known(device))); });
}

// At most 255 characters and a zero.
AWT_EXPORT int awt_device_name(int device, char* out) {
  return awt::exported([&] { awt::check(get_name(out, 256, known(device))); });
}

AWT_EXPORT int awt_device_memory(int device, uint64_t* out) {
  return awt::exported([&] {
    size_t bytes = 0;
    awt::check(get_memory(&bytes, known(device)));
    *out = bytes;
  });
}

// 16 bytes.
AWT_EXPORT int awt_device_uuid(int device, unsigned char* out) {
  return awt::exported([&] { awt::check(get_uuid(out, known(device))); });
}

AWT_EXPORT int awt_device_can_access(int device, int peer, int* out) {
  return awt::exported([&] { awt::check(can_access(out, known(device), known(peer))); });
}

// 1000 * major + 10 * minor.
AWT_EXPORT int awt_driver_version(int* out) {
  return awt::exported([&] { awt::check(get_version(out)); });
}
