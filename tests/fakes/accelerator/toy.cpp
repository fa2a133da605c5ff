// An accelerator for tests: a device of torch on the processor, under the key of PrivateUse1 or, as
// a simulation of a build for it, of XPU or MPS (TOY: the name of the device type).
//
// It has what a vendor registers: a guard with devices and streams, an allocator, generators,
// hooks, the kernels that make and move tensors; every other operator runs by torch's own fallback
// to the CPU, which copies. Its memory carries a mark, so that nobody can take an address of the
// host for one of it.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/detail/XPUHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_cpu_dispatch.h>
#include <ATen/ops/as_strided_cpu_dispatch.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/view_cpu_dispatch.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

namespace toy {
namespace {

constexpr auto kType = c10::DeviceType::TOY;
constexpr int kDevices = 2;

thread_local c10::DeviceIndex current = 0;
thread_local c10::StreamId streams[kDevices] = {};
std::atomic<c10::StreamId> next_stream{1};
std::atomic<int64_t> operators{0}, bytes_held[kDevices] = {}, most_held[kDevices] = {};

constexpr uint64_t kMark = 0x746f79746f79ull;
struct Header {
  uint64_t mark, bytes;
  c10::DeviceIndex device;
};
constexpr size_t kHead = 64;

void release(void* memory) {
  if (!memory) return;
  auto* header = reinterpret_cast<Header*>(static_cast<char*>(memory) - kHead);
  TORCH_INTERNAL_ASSERT(header->mark == kMark);
  bytes_held[header->device] -= int64_t(header->bytes);
  header->mark = 0;
  std::free(header);
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device here(kType, current);
    if (!bytes) return {nullptr, here};
    TORCH_CHECK_WITH(OutOfMemoryError, bytes < (size_t(1) << 32), "the toy is out of memory");
    char* memory = static_cast<char*>(std::aligned_alloc(64, (kHead + bytes + 63) / 64 * 64));
    new (memory) Header{kMark, bytes, current};
    const int64_t held = bytes_held[current] += int64_t(bytes);
    if (held > most_held[current]) most_held[current] = held;
    return {memory + kHead, memory + kHead, &release, here};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};
Allocator allocator;

struct Generator final : at::CPUGeneratorImpl {
  explicit Generator(c10::DeviceIndex device) {
    device_ = c10::Device(kType, device);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::TOY);
  }
};

const at::Generator& default_generator(c10::DeviceIndex device) {
  static const at::Generator all[kDevices] = {at::make_generator<Generator>(0),
                                              at::make_generator<Generator>(1)};
  return all[device < 0 ? current : device];
}

// Work is done at once, so an event is the moment at which it was recorded.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before(kType, current);
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {kType, current}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < kDevices, "the toy has ", kDevices, " devices");
    if (device.index() >= 0) current = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::DeviceIndex deviceCount() const noexcept override {
    return std::getenv("TOY_ABSENT") ? 0 : kDevices;
  }
  c10::Stream getStream(c10::Device device) const override {
    const auto index = device.has_index() ? device.index() : current;
    return c10::Stream(c10::Stream::UNSAFE, {kType, index}, streams[index]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT,
                       {kType, device.has_index() ? device.index() : current});
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return c10::Stream(c10::Stream::UNSAFE, {kType, device.has_index() ? device.index() : current},
                       next_stream++);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    streams[stream.device_index()] = stream.id();
    return before;
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void*>(uintptr_t(4096 + stream.id()));
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    TORCH_CHECK(stream.device_type() == kType, "a stream of the toy is wanted");
    if (!*event) *event = new double;
    *static_cast<double*>(*event) =
        double(std::chrono::steady_clock::now().time_since_epoch().count()) / 1e6;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<double*>(event);
  }
  void synchronizeEvent(void*) const override {}
  double elapsedTime(void* first, void* second, const c10::DeviceIndex) const override {
    return *static_cast<double*>(second) - *static_cast<double*>(first);
  }
};

using at::Tensor;

Tensor as_cpu(const Tensor& tensor) {
  return tensor.device().type() == kType
             ? at::from_blob(const_cast<void*>(tensor.const_data_ptr()), tensor.sizes(),
                             tensor.strides(), tensor.options().device(at::kCPU))
             : tensor;
}

c10::DeviceIndex index_of(std::optional<c10::Device> device) {
  return device && device->has_index() ? device->index() : current;
}

struct On {
  explicit On(c10::DeviceIndex device) : before(current) { current = device; }
  ~On() { current = before; }
  c10::DeviceIndex before;
};

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::TOY);

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
             std::optional<at::Device> device, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
  On here(index_of(device));
  return at::detail::empty_generic(size, &allocator, kKeys, c10::dtype_or_default(type), format);
}
Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<at::ScalarType> type, std::optional<at::Layout>,
                     std::optional<at::Device> device, std::optional<bool>) {
  On here(index_of(device));
  return at::detail::empty_strided_generic(size, stride, &allocator, kKeys,
                                           c10::dtype_or_default(type));
}
Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  TORCH_CHECK(from.device().type() == kType || from.device().is_cpu(),
              "the toy copies to and from the host");
  Tensor there = as_cpu(to);
  there.copy_(as_cpu(from));
  return to;
}
Tensor& copy_(Tensor& to, const Tensor& from, bool) {
  copy_from(from, to, false);
  return to;
}
Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}
at::Scalar item(const Tensor& tensor) { return as_cpu(tensor).item(); }
const Tensor& resize_(const Tensor& tensor, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  On here(tensor.device().index());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  const size_t wanted = at::detail::computeStorageNbytes(
      tensor.sizes(), tensor.strides(), tensor.itemsize(), size_t(tensor.storage_offset()));
  if (wanted > storage->nbytes()) {
    c10::DataPtr made = allocator.allocate(wanted);
    if (storage->data()) std::memcpy(made.get(), storage->data(), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(made));
    storage->set_nbytes(wanted);
  }
  return tensor;
}
Tensor& set_storage(Tensor& tensor, at::Storage storage, int64_t offset, at::IntArrayRef size,
                    at::IntArrayRef stride) {
  return at::cpu::set_(tensor, std::move(storage), offset, size, stride);
}
Tensor& set_whole_storage(Tensor& tensor, at::Storage storage) {
  const int64_t elements = int64_t(storage.nbytes()) / int64_t(tensor.itemsize());
  return at::cpu::set_(tensor, std::move(storage), 0, elements, {});
}
Tensor& set_tensor(Tensor& tensor, const Tensor& other) {
  return at::cpu::set_(tensor, other.storage(), other.storage_offset(), other.sizes(),
                       other.strides());
}
Tensor as_strided(const Tensor& tensor, at::IntArrayRef size, at::IntArrayRef stride,
                  std::optional<int64_t> offset) {
  return at::cpu::as_strided(tensor, size, stride, offset);
}
Tensor view(const Tensor& tensor, at::IntArrayRef size) { return at::cpu::view(tensor, size); }
Tensor reshape_alias(const Tensor& tensor, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::cpu::_reshape_alias(tensor, size, stride);
}
void record_stream(Tensor&, at::Stream stream) {
  TORCH_CHECK(stream.device_type() == kType, "a stream of the toy is wanted");
}

// Any other operator, on the CPU; one of them the toy refuses, as accelerators lack some.
void on_the_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++operators;
  TORCH_CHECK_NOT_IMPLEMENTED(op.schema().name() != "aten::erfinv", "Could not run '",
                              op.schema().name(), "' on the toy");
  for (auto& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (!value.isGenerator()) continue;
    TORCH_CHECK(value.toGenerator().device().type() == kType, "a generator of the toy is wanted");
  }
  at::native::cpu_fallback(op, stack);
}
// torch's fallback draws from the CPU's own generator: the toy's are drawn from here.
template <class Draw>
Tensor& drawn(Tensor& tensor, std::optional<at::Generator> generator, Draw draw) {
  ++operators;
  at::Generator own = generator ? *generator : default_generator(tensor.device().index());
  auto* impl = dynamic_cast<Generator*>(own.unsafeGetGeneratorImpl());
  TORCH_CHECK(impl, "a generator of the toy is wanted");
  at::Generator host = at::detail::createCPUGenerator();
  host.set_state(own.get_state());
  Tensor there = as_cpu(tensor);
  draw(there, host);
  own.set_state(host.get_state());
  return tensor;
}
Tensor& normal_(Tensor& tensor, double mean, double deviation, std::optional<at::Generator> from) {
  return drawn(tensor, from,
               [&](Tensor& there, at::Generator& host) { there.normal_(mean, deviation, host); });
}
Tensor& uniform_(Tensor& tensor, double low, double high, std::optional<at::Generator> from) {
  return drawn(tensor, from,
               [&](Tensor& there, at::Generator& host) { there.uniform_(low, high, host); });
}
Tensor& bernoulli_(Tensor& tensor, double chance, std::optional<at::Generator> from) {
  return drawn(tensor, from,
               [&](Tensor& there, at::Generator& host) { there.bernoulli_(chance, host); });
}

// What torch has no fallback for: it asks a vendor for the convolution.
Tensor convolution(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                   at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                   bool transposed, at::IntArrayRef more, int64_t groups) {
  ++operators;
  const auto plus = bias && bias->defined() ? std::optional<Tensor>(as_cpu(*bias)) : std::nullopt;
  return at::convolution(as_cpu(x), as_cpu(weight), plus, stride, padding, dilation, transposed,
                         more, groups)
      .to(x.device());
}
std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& slope, const Tensor& x, const Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef more,
    int64_t groups, std::array<bool, 3> wanted) {
  ++operators;
  const auto found =
      at::convolution_backward(as_cpu(slope), as_cpu(x), as_cpu(weight),
                               {weight.size(transposed ? 1 : 0) * (transposed ? groups : 1)},
                               stride, padding, dilation, transposed, more, groups, wanted);
  const auto back = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.to(x.device()) : tensor;
  };
  return {back(std::get<0>(found)), back(std::get<1>(found)), back(std::get<2>(found))};
}

template <class Interface>
struct Hooks : Interface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return Guard().deviceCount() > 0; }
  void init() const override {}
  c10::DeviceIndex deviceCount() const override { return Guard().deviceCount(); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<Generator>(device < 0 ? current : device);
  }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return c10::GetAllocator(c10::DeviceType::CPU);
  }
};

C10_REGISTER_GUARD_IMPL(TOY, Guard)
REGISTER_ALLOCATOR(kType, &allocator)

TORCH_LIBRARY_IMPL(_, TOY, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_host>());
}

TORCH_LIBRARY_IMPL(aten, TOY, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  if (kType != c10::DeviceType::PrivateUse1) library.impl("copy_", &copy_);
  library.impl("_local_scalar_dense", &item);
  library.impl("resize_", &resize_);
  library.impl("set_.source_Storage_storage_offset", &set_storage);
  library.impl("set_.source_Storage", &set_whole_storage);
  library.impl("set_.source_Tensor", &set_tensor);
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("record_stream", &record_stream);
  library.impl("convolution_overrideable", &convolution);
  library.impl("convolution_backward_overrideable", &convolution_backward);
  library.impl("normal_", &normal_);
  library.impl("uniform_", &uniform_);
  library.impl("bernoulli_.float", &bernoulli_);
}

TORCH_LIBRARY_FRAGMENT(toy, library) {
  library.def("rng_state(int device) -> Tensor", [](int64_t device) {
    return default_generator(c10::DeviceIndex(device)).get_state();
  });
  library.def("set_rng_state(Tensor state, int device) -> ()",
              [](const Tensor& state, int64_t device) {
                at::Generator(default_generator(c10::DeviceIndex(device))).set_state(state);
              });
}

}  // namespace
}  // namespace toy

// What the toy's Python module asks.
#define TOY_EXPORT extern "C" __attribute__((visibility("default")))
TOY_EXPORT void toy_register() {
  if constexpr (toy::kType == c10::DeviceType::PrivateUse1) {
    static toy::Hooks<at::PrivateUse1HooksInterface> hooks;
    at::RegisterPrivateUse1HooksInterface(&hooks);
  }
}
TOY_EXPORT void toy_seed(uint64_t seed) {
  for (c10::DeviceIndex each = 0; each < toy::kDevices; ++each)
    at::Generator(toy::default_generator(each)).set_current_seed(seed);
}
TOY_EXPORT int64_t toy_operators() { return toy::operators; }
TOY_EXPORT int64_t toy_bytes(int device) { return toy::bytes_held[device]; }
TOY_EXPORT int64_t toy_most(int device) { return toy::most_held[device]; }
TOY_EXPORT void toy_forget_most(int device) {
  toy::most_held[device] = toy::bytes_held[device].load();
}
TOY_EXPORT bool toy_is_mine(const void* memory) {
  return memory &&
         reinterpret_cast<const toy::Header*>(static_cast<const char*>(memory) - toy::kHead)
                 ->mark == toy::kMark;
}

#if defined(TOY_IS_XPU)
namespace at {
// The registry finds them by these very names.
struct XPUHooks final : toy::Hooks<XPUHooksInterface> {};
REGISTER_XPU_HOOKS(XPUHooks)
}  // namespace at
#elif defined(TOY_IS_MPS)
namespace at {
struct MPSHooks final : toy::Hooks<MPSHooksInterface> {
  explicit MPSHooks(MPSHooksArgs) {}
};
REGISTER_MPS_HOOKS(MPSHooks)
}  // namespace at
#endif
