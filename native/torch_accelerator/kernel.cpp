// The kernel behind every operator on `cuda`: the same operator on tensors of the accelerator.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "mapped.h"

namespace awa {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using torch::jit::Stack;

bool holds(const IValue& value, bool (*wanted)(const IValue&)) {
  if (!value.isList()) return wanted(value);
  for (const IValue& element : value.toListRef())
    if (holds(element, wanted)) return true;
  return false;
}

// A FakeTensor, or what a kernel for it has made: a key of `cuda` and memory of nobody's, whatever
// device it says.
bool has_meta(const IValue& value) {
  return holds(value, [](const IValue& one) {
    if (!one.isTensor() || !one.toTensor().defined()) return false;
    const auto* impl = one.toTensor().unsafeGetTensorImpl();
    return impl->key_set().has_backend(c10::BackendComponent::CUDABit) && impl->has_storage() &&
           impl->unsafe_storage().device_type() == c10::DeviceType::Meta;
  });
}

template <class Change>
IValue changed(const IValue& value, const Change& change) {
  if (!value.isList()) return change(value);
  if (!holds(value, [](const IValue& one) { return one.isTensor(); })) return value;
  const auto given = value.toList();
  c10::impl::GenericList made(given.elementType());
  for (const IValue& element : value.toListRef()) made.push_back(changed(element, change));
  return made;
}

IValue on_accelerator(Call& call, const IValue& value) {
  if (value.isTensor()) return call.in(value.toTensor());
  if (value.isStorage()) return call.in(value.toStorage());
  if (value.isDevice()) return inner(value.toDevice());
  if (value.isStream()) return inner(value.toStream());
  if (value.isGenerator()) return inner(value.toGenerator());
  return value;
}

}  // namespace

IValue on_cuda(Call& call, const IValue& value) {
  return changed(value, [&](const IValue& one) {
    return one.isTensor() ? IValue(call.out(one.toTensor())) : one;
  });
}

namespace {

// A call that reaches this kernel has passed autograd, autocast and the modes of Python.
constexpr DispatchKeySet kAbove =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
    DispatchKeySet({DispatchKey::Python, DispatchKey::PythonTLSSnapshot});

// torch's words up to its list of what is registered where.
std::string first_words(const c10::Error& error) {
  const std::string all = error.what_without_backtrace();
  return all.substr(0, std::min(all.find(" This could be because"), all.find('\n')));
}

void run(const c10::OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const size_t given = op.schema().arguments().size(), first = stack->size() - given;
  for (size_t i = first; i < stack->size(); ++i) {
    if (!has_meta((*stack)[i])) continue;
    op.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), stack);  // of a FakeTensor
    return;
  }
  Call call;
  for (size_t i = first; i < stack->size(); ++i)
    (*stack)[i] =
        changed((*stack)[i], [&](const IValue& one) { return on_accelerator(call, one); });
  try {
    c10::impl::ExcludeDispatchKeyGuard below(kAbove);
    op.callBoxed(stack);
  } catch (const c10::NotImplementedError& error) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, op.schema().name(), " on cuda, which anywarp maps to ",
                                target_name(), " here: ", first_words(error));
  }
  call.write_back();
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i)
    (*stack)[i] =
        is_work((*stack)[i]) ? mapped_work((*stack)[i], call) : on_cuda(call, (*stack)[i]);
}

}  // namespace

namespace {

struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// Of aten every operator that is not made of others above autograd: a composite one looks at its
// tensors' device to choose its parts, and the accelerator may have a kernel for the whole. Of c10d
// those whose kernel for `cuda` would ask a process group for the backend of `cuda`.
bool is_ours(const c10::OperatorHandle& op, bool aten) {
  const bool taken = op.hasKernelForDispatchKey(DispatchKey::CUDA);
  return aten ? !taken && !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)
              : taken;
}

void register_of(torch::Library& library, const std::string& space) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind(space + "::", 0) != 0) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op || !is_ours(*op, space == "aten")) continue;
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace

void register_operators() {
  using torch::Library;
  static Library aten(Library::IMPL, "aten", DispatchKey::CUDA, __FILE__, __LINE__);
  static Library c10d(Library::IMPL, "c10d", DispatchKey::CUDA, __FILE__, __LINE__);
  // torch warns who takes the place of a kernel by mistake.
  Quiet quiet;
  c10::WarningUtils::WarningHandlerGuard silence(&quiet);
  register_of(aten, "aten");
  register_of(c10d, "c10d");
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run>());
}

}  // namespace awa
