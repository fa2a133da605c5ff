// What the rest of torch asks of a CUDA build (CUDAHooksInterface.h): the truth about ours.
#include <ATen/detail/CUDAHooksInterface.h>

#include "allocator.h"
#include "devices.h"
#include "driver.h"
#include "generator.h"
#include "streams.h"
#include "versions.h"

namespace at {

// The registry finds it by this very name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}

  void init() const override { awt::enter_thread(); }
  bool hasCUDA() const override { return awt::device_count() > 0; }
  bool hasCUDART() const override { return true; }
  int getNumGPUs() const override { return awt::device_count(); }
  DeviceIndex current_device() const override { return awt::current_device(); }
  bool hasPrimaryContext(DeviceIndex device) const override { return awt::context_made(device); }
  void deviceSynchronize(DeviceIndex device) const override { awt::wait_for_device(device); }

  const Generator& getDefaultGenerator(DeviceIndex device) const override {
    return awt::default_generator(device);
  }
#if AWT_TORCH >= 206
  Generator getNewGenerator(DeviceIndex device) const override {
    return awt::new_generator(device);
  }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return hasCUDA(); }
  DeviceIndex deviceCount() const override { return awt::device_count(); }
  void setCurrentDevice(DeviceIndex device) const override { awt::set_device(device); }
  DeviceIndex getCurrentDevice() const override { return awt::current_device(); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    const DeviceIndex before = awt::current_device();
    if (device != before) awt::set_device(device);
    return before;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override {
    return device < 0 ? awt::current_device() : exchangeDevice(device);
  }
#endif

  Device getDeviceFromPtr(void* data) const override {
    static const awt::DriverFn<CUresult(void*, int, CUdeviceptr)> attribute{
        "cuPointerGetAttribute"};
    constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    int found = awt::device_of(data);
    if (found < 0 && awt::device_count() > 0) {  // memory of the driver, of no tensor's segment
      awt::enter_thread();
      const auto address = reinterpret_cast<CUdeviceptr>(data);
      if (attribute(&found, kDeviceOrdinal, address) != CUDA_SUCCESS) found = -1;
    }
    TORCH_CHECK_VALUE(
        found >= 0,
        "The specified pointer resides on host memory and is not registered with any CUDA device.");
    return {DeviceType::CUDA, DeviceIndex(found)};
  }
  bool isPinnedPtr(const void* data) const override { return awt::is_pinned(data); }
  Allocator* getPinnedMemoryAllocator() const override { return awt::pinned_allocator(); }
  Allocator* getCUDADeviceAllocator() const override { return awt::device_allocator(); }

  std::string showConfig() const override {
    return "  - anywarp: CUDA served by the processor's own kernels\n";
  }
  long versionCUDART() const override {
    static const awt::DriverFn<CUresult(int*)> version{"cuDriverGetVersion"};
    int found = 0;
    awt::check(version(&found));
    return found;
  }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at
