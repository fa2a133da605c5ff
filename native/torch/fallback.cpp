#include "fallback.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <unordered_map>
#include <unordered_set>

#include "alias.h"
#include "deferred.h"
#include "device_checks.h"
#include "devices.h"
#include "generator.h"
#include "rescue.h"
#include "streams.h"

namespace awt {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;
using Kind = OpInfo::Kind;

bool is_tensor_list(const c10::Type& type) {
  const auto* list = type.castRaw<c10::ListType>();
  if (!list) return false;
  const c10::Type* element = list->getElementType().get();
  if (const auto* optional = element->castRaw<c10::OptionalType>())
    element = optional->getElementType().get();
  return element->kind() == c10::TypeKind::TensorType;
}

Kind kind_of(const c10::TypePtr& declared) {
  const c10::Type* type = declared.get();
  if (const auto* optional = type->castRaw<c10::OptionalType>())
    type = optional->getElementType().get();
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return Kind::kTensor;
    case c10::TypeKind::GeneratorType:
      return Kind::kGenerator;
    case c10::TypeKind::DeviceObjType:
      return Kind::kDevice;
    default:
      return is_tensor_list(*type) ? Kind::kTensors : Kind::kOther;
  }
}

// Copies between devices, and the operators whose index or step may stay on the host (native
// functions, CUDA kernels).
bool takes_both(const std::string& name) {
  static const std::unordered_set<std::string> listed{"aten::copy_",
                                                      "aten::_copy_from",
                                                      "aten::_copy_from_and_resize",
                                                      "aten::index",
                                                      "aten::index_put_",
                                                      "aten::_index_put_impl_",
                                                      "aten::index_put",
                                                      "aten::_unsafe_index",
                                                      "aten::_unsafe_index_put",
                                                      "aten::_foreach_copy_",
                                                      "aten::set_",
                                                      "aten::_pin_memory",
                                                      "aten::_use_cudnn_ctc_loss",
                                                      "aten::_use_miopen_ctc_loss",
                                                      "aten::copy",
                                                      "aten::to_padded_tensor"};
  if (listed.count(name)) return true;
  return name.rfind("aten::_foreach_", 0) == 0 || name.rfind("aten::_fused_", 0) == 0 ||
         name.rfind("aten::_nested", 0) == 0 || name.rfind("c10d::", 0) == 0;
}

template <class Visit>
void each_tensor(const IValue& value, Kind kind, Visit visit) {
  if (value.isNone()) return;
  if (kind == Kind::kTensor) {
    visit(value.toTensor());
  } else if (kind == Kind::kTensors) {
    for (const IValue& element : value.toListRef())
      if (element.isTensor()) visit(element.toTensor());
  }
}

}  // namespace

// The check that torch generates around CUDA's kernels: `self` first, then what is written, then
// the rest.
static void check_all_on_one(const OperatorHandle& op, const OpInfo& info, const IValue* values) {
  const auto& arguments = op.schema().arguments();
  std::optional<c10::Device> common;
  const auto visit = [&](size_t i) {
    each_tensor(values[i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      c10::impl::check_and_update_common_device(common, tensor, info.wrapper,
                                                arguments[i].name().c_str());
    });
  };
  if (!arguments.empty() && arguments[0].name() == "self") visit(0);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_out()) visit(i);
  for (size_t i = 0; i < arguments.size(); ++i) visit(i);
}

// Operators that are composite on CUDA and whole here: what their parts say there.
static void check_parts(const std::string& name, const IValue* values) {
  if (name == "aten::embedding") {
    const at::Tensor &weight = values[0].toTensor(), &index = values[1].toTensor();
    if (weight.device() != index.device())
      c10::impl::common_device_check_failure(weight.device(), index, "wrapper_CUDA__index_select",
                                             "index");
  } else if (name == "aten::convolution" || name == "aten::_convolution") {
    const at::Tensor& input = values[0].toTensor();
    for (const auto& [i, what] : {std::pair(1, "weight"), std::pair(2, "bias")}) {
      if (!values[i].isTensor() || !values[i].toTensor().defined()) continue;
      const at::Tensor& other = values[i].toTensor();
      TORCH_CHECK(input.device().type() == other.device().type(), "Input type (", input.toString(),
                  ") and ", what, " type (", other.toString(), ") should be the same");
    }
  }
}

// CUDA's rule: all on one device, but for CPU scalars.
void check_devices(const OperatorHandle& op, const OpInfo& info, const Stack& stack,
                   c10::DeviceIndex device) {
  if (info.mixes) return;
  // Only the generator led here: torch's CPU kernel would say so.
  TORCH_CHECK(!info.has_generator || device_of_arguments(info, stack) >= 0,
              "Expected a 'cpu' device type for generator but found 'cuda'");
  const size_t first = stack.size() - info.arguments.size();
  if (info.wrapper) return check_all_on_one(op, info, &stack[first]);
  if (info.parts_check) check_parts(op.schema().name(), &stack[first]);
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    each_tensor(stack[first + i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.device() == c10::Device(c10::DeviceType::CUDA, device))
        return;
      if (tensor.device().is_cpu() && tensor.dim() == 0) return;
      TORCH_CHECK(false,
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  "cuda:", int(device), " and ", tensor.device().str(), "!");
    });
  }
}

namespace {

IValue alias_list(Aliases& aliases, const IValue& value, const c10::TypePtr& type, bool written) {
  const auto from = value.toListRef();
  c10::impl::GenericList list(value.type<>()->castRaw<c10::ListType>()
                                  ? value.type<>()->castRaw<c10::ListType>()->getElementType()
                                  : type);
  list.reserve(from.size());
  for (const IValue& element : from)
    list.push_back(element.isTensor() ? IValue(aliases.in(element.toTensor(), written)) : element);
  return IValue(std::move(list));
}

void give_back(Aliases& aliases, IValue& value) {
  if (value.isTensor()) {
    value = IValue(aliases.out(std::move(value).toTensor()));
  } else if (value.isTensorList()) {
    auto list = value.toTensorList();
    for (size_t i = 0; i < list.size(); ++i) list.set(i, aliases.out(list.get(i)));
  }
}

void round_factors(const OpInfo& info, Stack* stack, size_t first) {
  for (const int argument : info.factors.arguments) {
    if (argument < 0) continue;
    IValue& value = (*stack)[first + size_t(argument)];
    if (value.isTensor()) value = IValue(to_tf32(value.toTensor()));
  }
}

bool any_meta(const OpInfo& info, const Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    if (info.arguments[i].kind != Kind::kTensor || !stack[first + i].isTensor()) continue;
    const at::Tensor& tensor = stack[first + i].toTensor();
    if (!tensor.defined()) continue;
    const auto* impl = tensor.unsafeGetTensorImpl();
    // Raises for a tensor whose memory a CUDA graph took back
    // (torch._C._set_storage_access_error_msg).
    if (C10_UNLIKELY(!impl->has_storage() && is_plain_cuda(tensor))) impl->storage();
    if (!impl->has_storage() || !impl->unsafe_storage().device().is_meta()) continue;
    impl->unsafe_storage().unsafeGetStorageImpl()->data_ptr();  // raises for such a storage
    return true;
  }
  return false;
}

}  // namespace

OpInfo::OpInfo(const OperatorHandle& op) {
  const auto& schema = op.schema();
  for (const auto& argument : schema.arguments()) {
    const bool written = argument.alias_info() && argument.alias_info()->isWrite();
    arguments.push_back({kind_of(argument.type()), written});
    writes |= written;
    has_generator |= arguments.back().kind == Kind::kGenerator;
  }
  has_twin = op.hasKernelForDispatchKey(kTwinKey);
  target = DispatchKeySet(has_twin ? kTwinKey : DispatchKey::CPU);
  for (const auto& tag : op.getTags()) draws |= tag == at::Tag::nondeterministic_seeded;
  mixes = takes_both(schema.name());
  factors = factors_of(schema.name());
  if (schema.name().rfind("aten::", 0) != 0) return;
  const std::string name = schema.name().substr(6);
  const std::string& overload = schema.overload_name();
  parts_check = name == "embedding" || name == "convolution" || name == "_convolution";
  wrapper = checking_wrapper(overload.empty() ? name : name + "." + overload);
  alert = nondeterministic_name(overload.empty() ? name : name + "." + overload);
}

c10::DeviceIndex device_of_arguments(const OpInfo& info, const Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  c10::DeviceIndex found = -1;
  for (size_t i = 0; i < info.arguments.size() && found < 0; ++i) {
    const IValue& value = stack[first + i];
    each_tensor(value, info.arguments[i].kind, [&](const at::Tensor& tensor) {
      if (found < 0 && tensor.defined() && tensor.device().is_cuda())
        found = tensor.device().index();
    });
  }
  for (size_t i = 0; i < info.arguments.size() && found < 0; ++i) {
    const IValue& value = stack[first + i];
    if (info.arguments[i].kind != Kind::kDevice || value.isNone()) continue;
    const c10::Device device = value.toDevice();
    if (device.is_cuda()) found = device.has_index() ? device.index() : current_device();
  }
  return found;
}

void call_kernel(const OperatorHandle& op, const OpInfo& info, Stack* stack,
                 c10::DeviceIndex device) {
  const size_t first = stack->size() - info.arguments.size();
  for (size_t i = 0; i < info.arguments.size() && info.has_generator && !info.has_twin; ++i) {
    if (info.arguments[i].kind != Kind::kGenerator) continue;
    IValue& value = (*stack)[first + i];
    auto given = value.isNone() ? std::nullopt : std::optional(value.toGenerator());
    value = IValue(host_generator(given, device));
  }
  c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
  OnDevice here(device);
  if (info.factors && tf32_allowed(info.factors.convolution)) round_factors(info, stack, first);
  if (has_narrow(info, *stack))
    run_or_widen(op, info, stack);
  else
    op.redispatchBoxed(info.target, stack);
}

void run_on_aliases(const OperatorHandle& op, const OpInfo& info, DispatchKeySet, Stack* stack) {
  c10::DeviceIndex device = device_of_arguments(info, *stack);
  if (device < 0) device = current_device();
  check_devices(op, info, *stack, device);
  if (info.alert) at::globalContext().alertNotDeterministic(info.alert);
  enter_thread();
  wait_for_driver(device);
  Aliases aliases(device);
  const size_t first = stack->size() - info.arguments.size();
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    IValue& value = (*stack)[first + i];
    const auto& argument = info.arguments[i];
    if (argument.kind == Kind::kTensor && value.isTensor()) {
      value = IValue(aliases.in(value.toTensor(), argument.written));
    } else if (argument.kind == Kind::kTensors && value.isList()) {
      value = alias_list(aliases, value, op.schema().arguments()[i].type(), argument.written);
    } else if (argument.kind == Kind::kDevice && !value.isNone()) {
      if (value.toDevice().is_cpu()) aliases.leave_on_cpu();
      if (value.toDevice().is_cuda()) value = IValue(c10::Device(c10::DeviceType::CPU));
    }
  }
  call_kernel(op, info, stack, device);
  if (info.writes) aliases.write_back();
  const size_t results = op.schema().returns().size();
  for (size_t i = stack->size() - results; i < stack->size(); ++i) give_back(aliases, (*stack)[i]);
}

namespace {

// One per operator of aten, with what its schema says.
struct OpKernel final : c10::OperatorKernel {
  explicit OpKernel(const OperatorHandle& op) : info(op) {}
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    if (C10_UNLIKELY(any_meta(info, *stack))) {
      op.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), stack);
      return;
    }
    if (C10_UNLIKELY(deferring()) && run_later(op, info, keys, stack)) return;
    run_on_aliases(op, info, keys, stack);
  }
  OpInfo info;
};

// For operators that come later (extensions) and have a CPU kernel only.
void any_operator(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const OpInfo info(op);
  TORCH_CHECK_NOT_IMPLEMENTED(
      info.has_twin || op.hasKernelForDispatchKey(DispatchKey::CPU) ||
          op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd),
      "Could not run '", op.schema().name(), "' with arguments from the 'CUDA' backend. ",
      "anywarp serves it neither by a kernel of its own nor by one of the CPU.");
  OpKernel kernel(op);
  kernel(op, keys, stack);
}

bool has_kind(const OpInfo& info, Kind kind) {
  for (const auto& argument : info.arguments)
    if (argument.kind == kind) return true;
  return false;
}

bool is_view(const OperatorHandle& op) {
  const auto& returns = op.schema().returns();
  return !returns.empty() && returns[0].alias_info() && !returns[0].alias_info()->isWrite();
}

// Composite operators with a tensor and no device run whole on the CPU's side; those with a device
// make tensors of it and must come apart above us.
bool to_be_served(const OperatorHandle& op, const OpInfo& info) {
  if (op.hasKernelForDispatchKey(DispatchKey::CUDA)) return false;  // ours, in factories.cpp
  if (info.has_twin || op.hasKernelForDispatchKey(DispatchKey::CPU)) return true;
  if (!op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) return false;
  if (info.draws || info.has_generator) return false;  // what they are made of draws on the device
  if (is_view(op)) return false;  // metadata only: composite code makes a device view as it is
  return !has_kind(info, Kind::kDevice) &&
         (has_kind(info, Kind::kTensor) || has_kind(info, Kind::kTensors));
}

}  // namespace

c10::BoxedKernel boxed_kernel(const OperatorHandle& op) {
  return c10::BoxedKernel::makeFromFunctor(std::make_unique<OpKernel>(op));
}

// Called when every other registration of this library is in place.
void register_operators() {
  static torch::Library library(torch::Library::IMPL, "aten", DispatchKey::CUDA, __FILE__,
                                __LINE__);
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op) continue;
    auto kernel = std::make_unique<OpKernel>(*op);
    if (!to_be_served(*op, kernel->info)) continue;
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
  }
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

}  // namespace awt
