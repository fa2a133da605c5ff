// The device `cuda` as torch's C++ sees it (DeviceGuardImplInterface.h, CUDAHooksInterface.h,
// GeneratorImpl.h): everything is asked of the accelerator.
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/GeneratorImpl.h>

#include <array>
#include <atomic>
#include <mutex>

#include "mapped.h"
#include "torch/versions.h"

namespace awa {
namespace {

std::atomic<c10::DeviceType> chosen{c10::DeviceType::PrivateUse1};
constexpr int kMostDevices = 64;

}  // namespace

c10::DeviceType target() noexcept { return chosen.load(std::memory_order_relaxed); }
void set_target(c10::DeviceType type) noexcept { chosen = type; }
std::string target_name() { return c10::DeviceTypeName(target(), true); }

const c10::impl::DeviceGuardImplInterface* guard() noexcept {
  return c10::impl::device_guard_impl_registry[size_t(target())].load();
}

const c10::impl::DeviceGuardImplInterface& required_guard() {
  const auto* found = guard();
  TORCH_CHECK(found, "torch has no device ", target_name(), ", to which anywarp maps cuda");
  return *found;
}

c10::DeviceIndex device_count() noexcept { return guard() ? guard()->deviceCount() : 0; }

c10::Device inner(c10::Device cuda) {
  return cuda.is_cuda() ? c10::Device(target(), cuda.index()) : cuda;
}
c10::Device outer(c10::Device accelerator) {
  if (accelerator.type() != target()) return accelerator;
  return {c10::DeviceType::CUDA, std::max<c10::DeviceIndex>(accelerator.index(), 0)};
}
c10::Stream inner(const c10::Stream& cuda) {
  return c10::Stream(c10::Stream::UNSAFE, inner(cuda.device()), cuda.id());
}
c10::Stream outer(const c10::Stream& accelerator) {
  return c10::Stream(c10::Stream::UNSAFE, outer(accelerator.device()), accelerator.id());
}

namespace {

struct MappedGenerator final : c10::GeneratorImpl {
  MappedGenerator(at::Generator inner, c10::DeviceIndex device)
      : GeneratorImpl(c10::Device(c10::DeviceType::CUDA, device),
                      c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        inner_(std::move(inner)) {}
  c10::GeneratorImpl* theirs() const { return inner_.unsafeGetGeneratorImpl(); }
  void set_current_seed(uint64_t seed) override { theirs()->set_current_seed(seed); }
  void set_offset(uint64_t offset) override { theirs()->set_offset(offset); }
  uint64_t get_offset() const override { return theirs()->get_offset(); }
  uint64_t current_seed() const override { return theirs()->current_seed(); }
  uint64_t seed() override { return theirs()->seed(); }
  void set_state(const c10::TensorImpl& state) override { theirs()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return theirs()->get_state(); }
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& state) override {
    const auto* mapped = dynamic_cast<const MappedGenerator*>(state.get());
    TORCH_CHECK(mapped, "a state of a generator of cuda is wanted");
    theirs()->graphsafe_set_state(mapped->inner_.getIntrusivePtr());
  }
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    return c10::make_intrusive<MappedGenerator>(at::Generator(theirs()->graphsafe_get_state()),
                                                device().index());
  }
  GeneratorImpl* clone_impl() const override {
    return new MappedGenerator(inner_.clone(), device().index());
  }

  at::Generator inner_;
};

const at::AcceleratorHooksInterface& hooks() {
  return at::globalContext().getAcceleratorHooksInterface(target());
}

c10::DeviceIndex known(c10::DeviceIndex device) {
  if (device < 0) device = std::max<c10::DeviceIndex>(required_guard().getDevice().index(), 0);
  TORCH_CHECK(device < device_count(), "CUDA error: invalid device ordinal");
  return device;
}

}  // namespace

at::Generator inner(const at::Generator& cuda) {
  const auto* mapped = dynamic_cast<const MappedGenerator*>(cuda.unsafeGetGeneratorImpl());
  return mapped ? mapped->inner_ : cuda;
}

at::Generator new_generator(c10::DeviceIndex device) {
  device = known(device);
  return at::make_generator<MappedGenerator>(hooks().getNewGenerator(device), device);
}

// Kept for the whole process, as torch hands out references to it.
static const at::Generator& kept_generator(c10::DeviceIndex device) {
  static std::array<at::Generator, kMostDevices> kept;
  static std::mutex making;
  device = known(device);
  std::lock_guard lock(making);
  at::Generator& place = kept.at(size_t(device));
  if (!place.defined())
    place = at::make_generator<MappedGenerator>(hooks().getDefaultGenerator(device), device);
  return place;
}
at::Generator default_generator(c10::DeviceIndex device) { return kept_generator(device); }

namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return outer(required_guard().exchangeDevice(inner(device)));
  }
  c10::Device getDevice() const override { return outer(required_guard().getDevice()); }
  void setDevice(c10::Device device) const override { required_guard().setDevice(inner(device)); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (guard()) guard()->uncheckedSetDevice(inner(device));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Stream getStream(c10::Device device) const override {
    return outer(required_guard().getStream(inner(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return outer(required_guard().getDefaultStream(inner(device)));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high) const override {
    return outer(required_guard().getStreamFromGlobalPool(inner(device), high));
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return outer(required_guard().getNewStream(inner(device), priority));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return outer(required_guard().exchangeStream(inner(stream)));
  }
  bool queryStream(const c10::Stream& stream) const override {
    return required_guard().queryStream(inner(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    required_guard().synchronizeStream(inner(stream));
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    required_guard().synchronizeDevice(device);
  }
#if AWT_TORCH >= 211
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return required_guard().getStreamNativeHandle(inner(stream));
  }
#endif
#if AWT_TORCH >= 212
  bool isStreamCapturing(const c10::Stream& stream) const override {
    return required_guard().isStreamCapturing(inner(stream));
  }
#endif

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
              const c10::EventFlag flag) const override {
    required_guard().record(event, inner(stream), device, flag);
  }
  void block(void* event, const c10::Stream& stream) const override {
    required_guard().block(event, inner(stream));
  }
  bool queryEvent(void* event) const override { return required_guard().queryEvent(event); }
  void destroyEvent(void* event, const c10::DeviceIndex device) const noexcept override {
    if (guard()) guard()->destroyEvent(event, device);
  }
  void synchronizeEvent(void* event) const override { required_guard().synchronizeEvent(event); }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex device) const override {
    return required_guard().elapsedTime(first, second, device);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    if (data.device().is_cuda() && data.get_context()) {
      const auto* held = static_cast<const c10::StorageImpl*>(data.get_context());
      required_guard().recordDataPtrOnStream(held->data_ptr(), inner(stream));
    }
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace
}  // namespace awa

// torch takes PrivateUse1, or what it was built for, for the accelerator of the process, and its
// engine of autograd follows the streams of no other (pytorch/pytorch#161129). This library is
// loaded before libtorch_cpu, so that torch's calls of this function come here.
namespace at {
#if AWT_TORCH >= 208
namespace accelerator {
#endif
TORCH_API std::optional<c10::DeviceType> getAccelerator(bool) { return c10::DeviceType::CUDA; }
#if AWT_TORCH >= 208
}  // namespace accelerator
#endif

// The registry finds it by this very name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override { awa::hooks().init(); }
  bool hasCUDA() const override { return awa::device_count() > 0; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return hasCUDA(); }
  int getNumGPUs() const override { return awa::device_count(); }
  DeviceIndex deviceCount() const override { return awa::device_count(); }
  DeviceIndex current_device() const override { return awa::required_guard().getDevice().index(); }
  void setCurrentDevice(DeviceIndex device) const override {
    awa::required_guard().setDevice({awa::target(), device});
  }
  DeviceIndex getCurrentDevice() const override { return current_device(); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    return awa::required_guard().exchangeDevice({awa::target(), device}).index();
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override {
    return device < 0 ? current_device() : exchangeDevice(device);
  }
  bool hasPrimaryContext(DeviceIndex device) const override {
    return awa::hooks().hasPrimaryContext(device);
  }
  void deviceSynchronize(DeviceIndex device) const override {
    awa::required_guard().synchronizeDevice(device);
  }
  const Generator& getDefaultGenerator(DeviceIndex device) const override {
    return awa::kept_generator(device);
  }
  Generator getNewGenerator(DeviceIndex device) const override {
    return awa::new_generator(device);
  }
  Device getDeviceFromPtr(void* data) const override {
    return awa::outer(awa::hooks().getDeviceFromPtr(data));
  }
  bool isPinnedPtr(const void* data) const override { return awa::hooks().isPinnedPtr(data); }
  Allocator* getPinnedMemoryAllocator() const override {
    return awa::hooks().getPinnedMemoryAllocator();
  }
  Allocator* getCUDADeviceAllocator() const override { return awa::allocator(); }
  std::string showConfig() const override {
    return "  - anywarp: CUDA mapped to " + awa::target_name() + "\n";
  }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at
