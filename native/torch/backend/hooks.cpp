// What the rest of torch asks of a CUDA build (CUDAHooksInterface.h): the truth about ours.
#include <ATen/detail/CUDAHooksInterface.h>

#include <array>
#include <atomic>

#include "allocator.h"
#include "devices.h"
#include "driver.h"
#include "generator.h"
#include "streams.h"
#include "versions.h"

namespace at {

// The registry finds it by this very name. Functions without `override` do so only in some versions
// of torch.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}

#if AWT_TORCH >= 206
  void init() const override { awt::require_devices(); }
#else
  void init() const { awt::require_devices(); }
  void initCUDA() const { init(); }
#endif
  bool hasCUDA() const override { return awt::device_count() > 0; }
  bool hasCUDART() const override { return true; }
  int getNumGPUs() const override { return awt::device_count(); }
  DeviceIndex current_device() const override { return awt::current_device(); }
  bool hasPrimaryContext(DeviceIndex device) const override {
    return awt::has_primary_context(device);
  }
  void deviceSynchronize(DeviceIndex device) const override { awt::wait_for_device(device); }

#if AWT_TORCH < 206
  const Generator& getDefaultGenerator(DeviceIndex device) const {
    return awt::default_generator(device);
  }
  const Generator& getDefaultCUDAGenerator(DeviceIndex device) const {
    return awt::default_generator(device);
  }
#else
  const Generator& getDefaultGenerator(DeviceIndex device) const override {
    return awt::default_generator(device);
  }
  Generator getNewGenerator(DeviceIndex device) const override {
    return awt::new_generator(device);
  }
  bool isBuilt() const { return true; }
  bool isAvailable() const { return hasCUDA(); }
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
      awt::enter_thread_anywhere();
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

  // There is no cuFFT that would keep plans: the sizes can be set and read, and the cache stays
  // empty.
  int64_t cuFFTGetPlanCacheMaxSize(DeviceIndex device) const override {
    return plan_cache_size(device);
  }
  void cuFFTSetPlanCacheMaxSize(DeviceIndex device, int64_t size) const override {
    TORCH_CHECK(size >= 0, "cuFFT plan cache size must be non-negative, but got ", size);
    plan_cache_size(device) = size;
  }
  int64_t cuFFTGetPlanCacheSize(DeviceIndex device) const override {
    plan_cache_size(device);
    return 0;
  }
  void cuFFTClearPlanCache(DeviceIndex device) const override { plan_cache_size(device); }

  std::string showConfig() const override {
    return "  - anywarp: CUDA served by the processor's own kernels\n";
  }
  long versionCUDART() const override {
    static const awt::DriverFn<CUresult(int*)> version{"cuDriverGetVersion"};
    int found = 0;
    awt::check(version(&found));
    return found;
  }

 private:
  static std::atomic<int64_t>& plan_cache_size(DeviceIndex device) {
    TORCH_CHECK(0 <= device && device < awt::device_count(),
                "cufft_plan_cache: expected 0 <= device_index < ", int(awt::device_count()),
                ", but got device_index=", int(device));
    struct Sizes : std::array<std::atomic<int64_t>, 64> {
      Sizes() {
        for (auto& size : *this) size = 4096;  // with what torch's cache of cuFFT plans begins
      }
    };
    static Sizes sizes;
    return sizes[size_t(device)];
  }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at
