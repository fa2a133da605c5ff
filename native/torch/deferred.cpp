#include "deferred.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdlib>
#include <mutex>
#include <set>

#include "alias.h"
#include "allocator.h"
#include "deferred_call.h"
#include "deferred_plan.h"
#include "devices.h"
#include "driver.h"
#include "generator.h"
#include "storage_size.h"
#include "streams.h"
#include "sync_debug.h"

namespace awt {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using torch::jit::Stack;
using Kind = OpInfo::Kind;

const DriverFn<CUresult(CUstream)> synchronize_stream{"cuStreamSynchronize"};
const DriverFn<CUresult(void*, int, CUdeviceptr)> pointer_attribute{"cuPointerGetAttribute"};

constexpr size_t kStaged =
    64 << 10;  // host memory up to here is copied at once, so that the program may change it

bool read_setting() {
  const char* text = getenv("ANYWARP_ASYNC");
  return text && *text && std::string(text) != "0";
}

std::atomic<int> captures{0};

// The operators with random numbers that streams were given and may not have done.
struct Draws {
  std::mutex mutex;
  std::set<std::pair<c10::DeviceIndex, c10::StreamId>> streams;
};
Draws& draws() {
  static auto& instance = *new Draws;
  return instance;
}

// One call as it is found.
struct Call {
  const OpFacts& facts;
  Stack& stack;
  c10::DeviceIndex device;
  c10::Stream stream;
  bool capturing;

  size_t first() const { return stack.size() - facts.info.arguments.size(); }
};

template <class Visit>
void each_tensor(const Call& call, Visit visit) {
  for (size_t i = 0; i < call.facts.info.arguments.size(); ++i) {
    const auto& argument = call.facts.info.arguments[i];
    const IValue& value = call.stack[call.first() + i];
    if (argument.kind == Kind::kTensor && value.isTensor()) {
      visit(value.toTensor(), argument.written);
    } else if (argument.kind == Kind::kTensors && value.isList()) {
      for (const IValue& element : value.toListRef())
        if (element.isTensor()) visit(element.toTensor(), argument.written);
    }
  }
}

bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

// Whether an operator can run later at all, by its arguments.
bool can_wait(const Call& call) {
  if (call.facts.data || call.facts.elsewhere) return false;
  bool good = true;
  each_tensor(call, [&](const Tensor& tensor, bool written) {
    if (!tensor.defined()) return;
    const bool host = tensor.device().is_cpu();
    good &= host || is_plain_cuda(tensor);
    good &= !host || tensor.layout() == at::kStrided;
    if (host && written && !call.facts.info.copy) good = false;
  });
  if (call.facts.op.schema().name() == "aten::index") {
    for (const IValue& index : call.stack[call.first() + 1].toListRef())
      good &= !index.isTensor() || !index.toTensor().defined() || !is_mask(index.toTensor());
  }
  return good;
}

// Growing a storage that holds something moves its contents, which pending work may still change:
// they move in the order of the stream, before the operator finds the storage large enough.
void grow_storage(const Call& call) {
  const std::string& name = call.facts.op.schema().name();
  const bool like = name == "aten::resize_as_";
  if (!like && name != "aten::resize_") return;
  const Tensor& self = call.stack[call.first()].toTensor();
  if (!is_plain_cuda(self) || self.storage().nbytes() == 0) return;
  const IValue& wanted = call.stack[call.first() + 1];
  int64_t elements = 1;
  for (const int64_t size : like ? wanted.toTensor().sizes().vec() : wanted.toIntVector())
    elements *= size;
  const size_t bytes = size_t(elements + self.storage_offset()) * self.itemsize();
  if (elements > 0 && bytes > self.storage().nbytes())
    resize_storage(*self.storage().unsafeGetStorageImpl(), bytes);
}

// Memory that streams know: of a segment, or of the driver, from another library.
bool of_device(const void* data) {
  constexpr int kMemoryType = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  unsigned kind = 0;
  return device_of(data) >= 0 ||
         pointer_attribute(&kind, kMemoryType, reinterpret_cast<CUdeviceptr>(data)) == CUDA_SUCCESS;
}

Tensor copy_of(const Tensor& host) {
  const c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
  Tensor copy = at::empty_like(host);
  copy.copy_(host);
  if (host.unsafeGetTensorImpl()->is_wrapped_number())
    copy.unsafeGetTensorImpl()->set_wrapped_number(true);
  return copy;
}

// CPU tensors over the memory of the arguments, without owning it.
class Borrowed {
 public:
  explicit Borrowed(DeferredCall& call) : call_(call) {}

  Tensor of(const Tensor& tensor, bool written) {
    if (!tensor.defined()) return tensor;
    if (!tensor.device().is_cuda()) return of_host(tensor);
    for (const auto& [impl, alias] : tensors_)
      if (impl == tensor.unsafeGetTensorImpl()) return note_written(alias, written);
    Tensor alias = alias_tensor(tensor.unsafeGetTensorImpl(), storage(tensor.storage(), written));
    tensors_.emplace_back(tensor.unsafeGetTensorImpl(), alias);
    return note_written(alias, written);
  }

  void leave_host_tensors() { keep_host_ = true; }

 private:
  Tensor of_host(const Tensor& tensor) {
    if (!keep_host_) return copy_of(tensor);
    call_.kept.push_back(tensor);
    return tensor;
  }

  Tensor note_written(const Tensor& alias, bool written) {
    if (!written) return alias;
    for (const auto& known : call_.written)
      if (known.alias.is_same(alias)) return alias;
    call_.written.push_back({alias, c10::DimVector(alias.sizes()), c10::DimVector(alias.strides()),
                             alias.storage_offset()});
    return alias;
  }

  c10::intrusive_ptr<c10::StorageImpl> storage(const c10::Storage& given, bool written) {
    c10::StorageImpl* original = given.unsafeGetStorageImpl();
    for (const auto& [known, alias] : storages_)
      if (known == original) return alias;
    void* data = written ? original->mutable_data() : const_cast<void*>(original->data());
    auto alias = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), original->nbytes(),
        c10::DataPtr(data, c10::Device(c10::DeviceType::CPU)), nullptr, false);
    if (data && device_of(data) >= 0) {
      call_.memory.push_back(data);
    } else if (data && !of_device(data)) {
      call_.owned.push_back(given);
    }
    storages_.emplace_back(original, alias);
    return alias;
  }

  DeferredCall& call_;
  bool keep_host_ = false;
  std::vector<std::pair<const c10::StorageImpl*, c10::intrusive_ptr<c10::StorageImpl>>> storages_;
  std::vector<std::pair<const c10::TensorImpl*, Tensor>> tensors_;
};

IValue borrow_list(Borrowed& borrowed, const IValue& value, bool written) {
  c10::impl::GenericList list(value.toList().elementType());
  for (const IValue& element : value.toListRef())
    list.push_back(element.isTensor() ? IValue(borrowed.of(element.toTensor(), written)) : element);
  return IValue(std::move(list));
}

void borrow_arguments(const Call& call, Borrowed& borrowed, Stack& made) {
  for (size_t i = 0; i < call.facts.info.arguments.size(); ++i) {
    const IValue& value = call.stack[call.first() + i];
    const auto& argument = call.facts.info.arguments[i];
    if (argument.kind == Kind::kTensor && value.isTensor()) {
      made.emplace_back(borrowed.of(value.toTensor(), argument.written));
    } else if (argument.kind == Kind::kTensors && value.isList()) {
      made.push_back(borrow_list(borrowed, value, argument.written));
    } else if (argument.kind == Kind::kDevice && !value.isNone() && value.toDevice().is_cuda()) {
      made.emplace_back(c10::Device(c10::DeviceType::CPU));
    } else {
      made.push_back(value);
    }
  }
}

// Aliases of the new results, where the call shall put what the kernel returns.
void borrow_results(const std::vector<IValue>& results, const OpFacts& facts, Borrowed& borrowed,
                    DeferredCall& later) {
  auto add = [&](const Tensor& result, bool fresh) {
    later.fresh.push_back(fresh);
    if (fresh) later.planned.push_back(borrowed.of(result, true));
  };
  for (size_t i = 0; i < results.size(); ++i) {
    const bool fresh = facts.returned[i] < 0;
    if (results[i].isTensor()) {
      add(results[i].toTensor(), fresh);
    } else if (results[i].isTensorList()) {
      for (const Tensor& each : results[i].toTensorVector()) add(each, fresh);
    }
  }
}

[[noreturn]] void refuse_in_capture(const Call& call, const char* why) {
  const InContext in(call.device);
  synchronize_stream(native_stream(
      call.stream));  // refused, and the capture is spoilt, as by any call that does not fit
  TORCH_CHECK_NOT_IMPLEMENTED(false, call.facts.op.schema().name(),
                              " cannot become part of a CUDA graph: ", why);
}

enum class Way { kLater, kNow, kWithoutWaiting };

// Copies between host and device: which ones a stream can do without the program.
Way way_of_copy(const Call& call) {
  const Tensor& to = call.stack[call.first()].toTensor();
  const Tensor& from = call.stack[call.first() + 1].toTensor();
  if (to.device().is_cuda() && from.device().is_cuda()) return Way::kLater;
  if (!call.stack[call.first() + 2].toBool()) return Way::kNow;
  const Tensor& host = to.device().is_cpu() ? to : from;
  if (is_pinned(host.storage().data())) return Way::kLater;
  if (call.capturing) return Way::kNow;
  return from.device().is_cpu() && from.nbytes() <= kStaged ? Way::kLater : Way::kNow;
}

Way way_of(const Call& call) {
  if (call.facts.view) return Way::kWithoutWaiting;
  if (!can_wait(call)) return Way::kNow;
  return call.facts.info.copy ? way_of_copy(call) : Way::kLater;
}

bool keeps_host_tensors(const Call& call) {
  if (!call.facts.info.copy) return false;
  const Tensor& to = call.stack[call.first()].toTensor();
  const Tensor& from = call.stack[call.first() + 1].toTensor();
  return !to.device().is_cuda() || is_pinned(from.storage().data());
}

// Streams of other devices whose memory the call touches: it comes behind their work, and their
// later work behind it.
std::vector<c10::Stream> other_streams(const Call& call) {
  std::vector<c10::Stream> found;
  each_tensor(call, [&](const Tensor& tensor, bool) {
    if (!tensor.defined() || !tensor.device().is_cuda()) return;
    const auto device = tensor.device().index();
    if (device == call.device) return;
    for (const auto& known : found)
      if (known.device_index() == device) return;
    found.push_back(current_stream(device));
  });
  return found;
}

void order(c10::Stream before, c10::Stream after) {
  void* event = nullptr;
  record_event(&event, before, false);
  stream_waits(after, event);
  destroy_event(event);
}

// CUDA's copies between devices make the stream of each wait for the other's.
void order_devices(const Call& call) {
  for (const auto& other : other_streams(call)) {
    order(other, call.stream);
    order(call.stream, other);
  }
}

// Even where operators run at once, a copy that need not wait does not, while its stream is busy.
bool joins_stream(const Call& call) {
  return driver_busy() && way_of(call) == Way::kLater && !stream_done(call.stream);
}

void wait_for_draws_elsewhere(c10::Stream stream) {
  {
    std::lock_guard lock(draws().mutex);
    auto& known = draws().streams;
    if (known.empty() ||
        (known.size() == 1 && *known.begin() == std::pair(stream.device_index(), stream.id())))
      return;
  }
  settle_draws();
}

at::Generator generator_of(const Call& call) {
  for (size_t i = call.first(); i < call.stack.size(); ++i)
    if (call.stack[i].isGenerator()) return call.stack[i].toGenerator();
  return default_generator(call.device);
}

void give(const Call& call, std::vector<IValue> results) {
  auto later = std::make_unique<DeferredCall>();
  later->name = call.facts.op.schema().name();
  later->op = &call.facts.op, later->info = &call.facts.info, later->device = call.device;
  Borrowed borrowed(*later);
  if (keeps_host_tensors(call)) borrowed.leave_host_tensors();
  borrow_arguments(call, borrowed, later->arguments);
  borrow_results(results, call.facts, borrowed, *later);
  const bool draws_numbers = call.facts.info.draws || call.facts.info.has_generator;
  if (draws_numbers && call.capturing) note_captured_draw(call.stream, generator_of(call));
  if (draws_numbers && !call.capturing) {
    wait_for_draws_elsewhere(call.stream);
    note_draws(call.stream);
  }
  const auto others = other_streams(call);
  for (const auto& other : others) order(other, call.stream);
  submit(std::move(later), call.stream, call.capturing);
  for (const auto& other : others) order(call.stream, other);
  torch::jit::drop(call.stack, call.facts.info.arguments.size());
  for (auto& result : results) call.stack.push_back(std::move(result));
}

bool is_captured(c10::Stream stream) {
  if (captures.load(std::memory_order_relaxed) == 0 && !captured_elsewhere()) return false;
  return stream_capturing(stream);
}

bool capturing_here(c10::DeviceIndex device) noexcept {
  if (must_not_wait()) return false;
  try {
    return is_captured(current_stream(device));
  } catch (...) {
    return false;
  }
}

void tell_generators() noexcept {
  static const bool told = (set_deferred_calls({&capturing_here, &settle_draws}), true);
  (void)told;
}

}  // namespace

int reasons_to_defer = read_setting() ? 1 : 0;

bool asynchronous() noexcept {
  static const bool on = read_setting();
  return on;
}

void count_reasons(int change) noexcept {
  __atomic_fetch_add(&reasons_to_defer, change, __ATOMIC_RELAXED);
}

void count_capture(int change) noexcept {
  tell_generators();
  captures += change;
  count_reasons(change);
}

void note_draws(c10::Stream stream) {
  tell_generators();
  std::lock_guard lock(draws().mutex);
  draws().streams.emplace(stream.device_index(), stream.id());
}

void settle_draws() {
  if (must_not_wait()) return;
  std::set<std::pair<c10::DeviceIndex, c10::StreamId>> waiting;
  {
    std::lock_guard lock(draws().mutex);
    waiting.swap(draws().streams);
  }
  for (const auto& [device, id] : waiting) {
    const c10::Stream stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::CUDA, device), id);
    if (!stream_capturing(stream)) wait_for_stream(stream);
  }
}

bool run_later(const c10::OperatorHandle& op, const OpInfo& info, c10::DispatchKeySet keys,
               Stack* stack) {
  if (must_not_wait()) return false;  // part of an operator that runs
  c10::DeviceIndex device = device_of_arguments(info, *stack);
  if (device < 0) device = current_device();
  const bool listened = c10::impl::GPUTrace::get_trace() != nullptr;
  if (sync_debug_mode() != 0 || listened) note_waiting(op, info, *stack, device);
  enter_thread_for(device);
  const c10::Stream stream = current_stream(device);
  const bool capturing = is_captured(stream);
  if (!capturing && !asynchronous() && !info.copy) return false;
  const OpFacts& facts = facts_of(op);
  const Call call{facts, *stack, device, stream, capturing};
  if (!capturing && !asynchronous() && !joins_stream(call)) {
    if (listened) order_devices(call);
    return false;
  }
  switch (way_of(call)) {
    case Way::kNow:
      return false;  // which waits for the stream, and is refused in a capture
    case Way::kWithoutWaiting: {
      grow_storage(call);
      const WithoutWaiting scope;
      run_on_aliases(op, info, keys, stack);
      return true;
    }
    case Way::kLater:
      break;
  }
  check_as_cuda(op, info, *stack, device);
  auto results = plan_results(facts, *stack, device);
  if (!results && capturing)
    refuse_in_capture(call, "no Meta kernel tells the shapes of its results");
  if (!results) return false;
  give(call, std::move(*results));
  return true;
}

bool give_to_stream(c10::DeviceIndex device, std::string name, std::vector<const void*> memory,
                    std::function<void()> work) {
  if (!deferring() || on_driver_thread()) return false;
  enter_thread_for(device);
  const c10::Stream stream = current_stream(device);
  const bool capturing = is_captured(stream);
  if (!capturing && !asynchronous()) return false;
  auto later = std::make_unique<DeferredCall>();
  later->name = std::move(name), later->work = std::move(work), later->device = device;
  later->memory = std::move(memory);
  submit(std::move(later), stream, capturing);
  return true;
}

}  // namespace awt
