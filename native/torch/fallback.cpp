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
#include "deferred_plan.h"
#include "device_checks.h"
#include "devices.h"
#include "generator.h"
#include "narrow_products.h"
#include "operator_watch.h"
#include "rescue.h"
#include "seam.h"
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

// Operators that copy between devices, or that look at the tensors themselves.
bool takes_any(const std::string& name) {
  static const std::unordered_set<std::string> listed{"aten::copy_",
                                                      "aten::_copy_from",
                                                      "aten::_copy_from_and_resize",
                                                      "aten::copy",
                                                      "aten::fill_",
                                                      "aten::set_",
                                                      "aten::_pin_memory",
                                                      "aten::_use_cudnn_ctc_loss",
                                                      "aten::_use_miopen_ctc_loss",
                                                      "aten::to_padded_tensor"};
  return listed.count(name) || name.rfind("aten::_nested", 0) == 0 || name.rfind("c10d::", 0) == 0;
}

// On CUDA it is made of other operators: the CPU has no kernel of its own either, or one that is
// only for lists.
bool is_composite(const OperatorHandle& op) {
  return !op.hasKernelForDispatchKey(DispatchKey::CPU) &&
         op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
}

OpInfo::Places places_of(const OperatorHandle& op, const std::string& full, bool checked) {
  using Places = OpInfo::Places;
  const std::string& name = op.schema().name();
  if (name == "aten::index") return Places::kIndex;
  if (name == "aten::masked_fill_") return Places::kMasked;
  if (name == "aten::_index_put_impl_" || full == "bernoulli_.Tensor") return Places::kPut;
  if (checked) return Places::kChecked;
  if (takes_any(name)) return Places::kAny;
  return is_composite(op) ? Places::kParts : Places::kOne;
}

template <class Visit>
void visit_tensors(const IValue& value, Kind kind, Visit visit) {
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
    visit_tensors(values[i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      c10::impl::check_and_update_common_device(common, tensor, info.wrapper,
                                                arguments[i].name().c_str());
    });
  };
  if (!arguments.empty() && arguments[0].name() == "self") visit(0);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_out()) visit(i);
  for (size_t i = 0; i < arguments.size(); ++i) visit(i);
}

// Indexing moves indices of the CPU to the device, and nothing back.
static void check_indices(const at::Tensor& self, const IValue& indices) {
  visit_tensors(indices, Kind::kTensors, [&](const at::Tensor& index) {
    TORCH_CHECK(!index.defined() || index.device().is_cpu() || index.device() == self.device(),
                "indices should be either on cpu or on the same device as the indexed tensor (",
                self.device(), ")");
  });
}

// Values of one element without dimensions are moved; where values are added up, CUDA's kernel
// says what it misses itself.
static void check_values(const at::Tensor& self, const at::Tensor& values, bool accumulate) {
  if (values.device() == self.device() || values.dim() == 0) return;
  TORCH_CHECK(!accumulate || !self.device().is_cuda(), "expected device ", self.device(),
              " but got device ", values.device(), " for value tensor");
  TORCH_CHECK(false,
              "Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", values.device(), "!");
}

// The value is read by the host, wherever it is.
static void check_mask(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.device() == self.device(),
              "expected self and mask to be on the same device, but got mask on ", mask.device(),
              " and self on ", self.device());
  TORCH_CHECK(self.is_cuda(), "masked_fill_: Expected inputs to be on same device");
}

// CUDA's kernels of these take no CPU scalar in the place of `argument`.
static bool takes_no_scalar(const std::string& name, const std::string& argument) {
  return (name == "aten::index_fill_" && argument == "index") ||
         name == "aten::binary_cross_entropy";
}

// What dropout was drawn from, which CUDA's kernels of attention read on the host, too.
static bool is_seed(const std::string& argument) {
  return argument == "philox_seed" || argument == "philox_offset" || argument == "rng_state";
}

static void check_iterated(const OperatorHandle& op, const OpInfo& info, const IValue* values,
                           c10::Device device) {
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    visit_tensors(values[i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.device() == device) return;
      if (info.places == OpInfo::Places::kNested && !tensor.is_nested()) return;
      if (tensor.device().is_cpu() && tensor.dim() == 0 && !info.arguments[i].written &&
          !takes_no_scalar(op.schema().name(), arguments[i].name()))
        return;
      if (tensor.device().is_cpu() && is_seed(arguments[i].name())) return;
      TORCH_CHECK(false,
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  device, " and ", tensor.device(), "!");
    });
  }
}

static void check_devices(const OperatorHandle& op, const OpInfo& info, const Stack& stack,
                          c10::DeviceIndex device) {
  using Places = OpInfo::Places;
  if (info.places == Places::kAny) return;
  // Only the generator led here: torch's CPU kernel would say so.
  TORCH_CHECK(!info.has_generator || device_of_arguments(info, stack) >= 0,
              "Expected a 'cpu' device type for generator but found 'cuda'");
  const IValue* values = &stack[stack.size() - info.arguments.size()];
  switch (info.places) {
    case Places::kChecked:
      return check_all_on_one(op, info, values);
    case Places::kIndex:
      check_indices(values[0].toTensor(), values[1]);
      return;
    case Places::kPut:
      if (op.schema().name() == "aten::_index_put_impl_")
        check_values(values[0].toTensor(), values[2].toTensor(), values[3].toBool());
      return;
    case Places::kMasked:
      return check_mask(values[0].toTensor(), values[1].toTensor());
    default:
      return check_iterated(op, info, values, c10::Device(c10::DeviceType::CUDA, device));
  }
}

void check_as_cuda(const OperatorHandle& op, const OpInfo& info, const Stack& stack,
                   c10::DeviceIndex device) {
  check_devices(op, info, stack, device);
  const IValue* values = &stack[stack.size() - info.arguments.size()];
  if (info.refused) refuse_types(*info.refused, values);
  if (info.alert) alert(*info.alert, values);
}

HotRules::HotRules(const OperatorHandle& op) {
  const OpInfo info(op);
  scalars = info.places == OpInfo::Places::kOne || info.places == OpInfo::Places::kAny;
  refuses = info.refused != nullptr;
  alerts = info.alert != nullptr;
}

// cuDNN's convolutions, which nearly every build for CUDA has, say it in these words.
static void check_convolution(const OperatorHandle& op, const OpInfo& info, const Stack& stack) {
  if (op.schema().name() != "aten::convolution" && op.schema().name() != "aten::_convolution")
    return;
  const IValue* values = &stack[stack.size() - info.arguments.size()];
  const at::Tensor& input = values[0].toTensor();
  for (const auto& [i, what] : {std::pair(1, "weight"), std::pair(2, "bias")}) {
    if (!values[i].isTensor() || !values[i].toTensor().defined()) continue;
    const at::Tensor& other = values[i].toTensor();
    TORCH_CHECK(input.device().type() == other.device().type(), "Input type (", input.toString(),
                ") and ", what, " type (", other.toString(), ") should be the same");
  }
}

static bool on_several_devices(const OpInfo& info, const Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  std::optional<c10::Device> found;
  bool several = false;
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    visit_tensors(stack[first + i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      several |= found && *found != tensor.device();
      found = tensor.device();
    });
  }
  return several;
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
  has_counterpart = op.hasKernelForDispatchKey(kCounterpartKey);
  target = DispatchKeySet(has_counterpart ? kCounterpartKey : DispatchKey::CPU);
  for (const auto& tag : op.getTags()) draws |= tag == at::Tag::nondeterministic_seeded;
  copy = schema.name() == "aten::copy_";
  factors = factors_of(schema.name());
  const bool is_atens = schema.name().rfind("aten::", 0) == 0;
  const std::string& overload = schema.overload_name();
  std::string full = is_atens ? schema.name().substr(6) : "";
  if (is_atens && !overload.empty()) full += "." + overload;
  wrapper = checking_wrapper(full);
  alert = nondeterministic(full);
  refused = is_atens ? refused_types(schema.name().substr(6)) : nullptr;
  only_cpu = only_for_cpu(full);
  named_driver = names_driver(schema.name());
  places = places_of(op, full, wrapper != nullptr);
}

c10::DeviceIndex device_of_arguments(const OpInfo& info, const Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  c10::DeviceIndex found = -1;
  for (size_t i = 0; i < info.arguments.size() && found < 0; ++i) {
    const IValue& value = stack[first + i];
    visit_tensors(value, info.arguments[i].kind, [&](const at::Tensor& tensor) {
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
  for (size_t i = 0; i < info.arguments.size() && info.has_generator && !info.has_counterpart;
       ++i) {
    if (info.arguments[i].kind != Kind::kGenerator) continue;
    IValue& value = (*stack)[first + i];
    auto given = value.isNone() ? std::nullopt : std::optional(value.toGenerator());
    value = IValue(host_generator(given, device));
  }
  c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
  OnDevice here(device);
  if (info.factors && tf32_allowed(info.factors.convolution)) round_factors(info, stack, first);
  if (info.factors && better_widened(info, *stack))
    run_widened(op, info, stack);
  else if (has_narrow(info, *stack))
    run_or_widen(op, info, stack);
  else
    op.redispatchBoxed(info.target, stack);
}

// Copies have two ends.
static void wait_for_others(const OpInfo& info, const Stack& stack, c10::DeviceIndex own) {
  const size_t first = stack.size() - info.arguments.size();
  for (size_t i = 0; i < info.arguments.size(); ++i)
    visit_tensors(stack[first + i], info.arguments[i].kind, [&](const at::Tensor& tensor) {
      if (tensor.defined() && tensor.is_cuda() && tensor.device().index() != own)
        wait_for_driver_beside(tensor.device().index());
    });
}

void run_on_aliases(const OperatorHandle& op, const OpInfo& info, DispatchKeySet, Stack* stack) {
  c10::DeviceIndex device = device_of_arguments(info, *stack);
  if (device < 0) device = current_device();
  check_as_cuda(op, info, *stack, device);
  enter_thread_for(device);
  wait_for_driver(device);
  if (info.places != OpInfo::Places::kOne && info.places != OpInfo::Places::kChecked)
    wait_for_others(info, *stack, device);
  const size_t first = stack->size() - info.arguments.size();
  if (info.named_driver) driver_as_on_cuda(op.schema().name(), &(*stack)[first]);
  Watch watch(op.schema().name().c_str(), device);
  if (C10_UNLIKELY(bool(watch)) && op.schema().name() == "aten::copy_")
    watch.copies((*stack)[first].toTensor(), (*stack)[first + 1].toTensor());
  Aliases aliases(device);
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
    // The composite kernel on the tensors as they are: its parts find what CUDA's would.
    if (info.places == OpInfo::Places::kParts && on_several_devices(info, *stack)) {
      check_convolution(op, info, *stack);
      op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
      return;
    }
    if (C10_UNLIKELY(deferring() || (info.copy && driver_busy())) &&
        run_later(op, info, keys, stack))
      return;
    run_on_aliases(op, info, keys, stack);
  }
  OpInfo info;
};

// For operators that come later (extensions) and have a CPU kernel only.
void any_operator(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const OpInfo info(op);
  TORCH_CHECK_NOT_IMPLEMENTED(
      info.has_counterpart || (!info.only_cpu && op.hasKernelForDispatchKey(DispatchKey::CPU)) ||
          op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd),
      "Could not run '", op.schema().name(), "' with arguments from the 'CUDA' backend. ",
      info.only_cpu ? "CUDA has no such kernel."
                    : "anywarp serves it neither by a kernel of its own nor by one of the CPU.");
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
  if (op.hasKernelForDispatchKey(DispatchKey::CUDA) && !takes_the_place(op)) return false;
  if (info.only_cpu && !info.has_counterpart) return false;
  if (info.has_counterpart || op.hasKernelForDispatchKey(DispatchKey::CPU)) return true;
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
    note_meta_kernel(*op);
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
  }
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

}  // namespace awt
