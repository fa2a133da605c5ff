#include "deferred_plan.h"

#include <ATen/EmptyTensor.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "alias.h"
#include "allocator.h"
#include "plan_cache.h"
#include "versions.h"

namespace awt {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using torch::jit::Stack;
using Kind = OpInfo::Kind;

// Name spaces of operators that may run later.
std::unordered_set<std::string>& later_spaces() {
  static auto& spaces = *new std::unordered_set<std::string>{"aten"};
  return spaces;
}

// Operators that look at shapes only, though their schema does not say so.
const std::unordered_set<std::string>& metadata_only() {
  static const std::unordered_set<std::string> listed{
      "aten::is_same_size",   "aten::is_set_to",
      "aten::is_pinned",      "aten::_has_same_storage_numel",
      "aten::dense_dim",      "aten::sparse_dim",
      "aten::is_coalesced",   "aten::_unsafe_view",
      "aten::alias",          "aten::detach",
      "aten::lift",           "aten::lift_fresh",
      "aten::_reshape_alias", "aten::_version",
      "aten::set_data",       "aten::_fw_primal",
      "aten::qscheme",        "aten::_nested_tensor_size"};
  return listed;
}

// Operators whose only result lies as TensorIterator has it, without saying so by a tag; and two
// that have the tag and copy first.
bool is_iterated(const std::string& name, bool tagged) {
  static const std::unordered_set<std::string> also{"aten::complex", "aten::floor_divide",
                                                    "aten::polar", "aten::where"};
  static const std::unordered_set<std::string> not_these{"aten::masked_fill", "aten::mvlgamma"};
  return tagged ? !not_these.count(name) : also.count(name) != 0;
}

bool is_tensors(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  const auto* list = type.castRaw<c10::ListType>();
  return list && list->getElementType()->kind() == c10::TypeKind::TensorType;
}

int argument_returned(const c10::FunctionSchema& schema, const c10::Argument& result) {
  const auto* alias = result.alias_info();
  if (!alias || !alias->isWrite()) return -1;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* of_argument = schema.arguments()[i].alias_info();
    if (of_argument && of_argument->beforeSets() == alias->beforeSets()) return int(i);
  }
  return -1;
}

#if AWT_TORCH >= 209
using MetaKernel = c10::SafeKernelFunction;

std::unordered_map<c10::OperatorName, MetaKernel>& meta_kernels() {
  static auto& noted = *new std::unordered_map<c10::OperatorName, MetaKernel>;
  return noted;
}

bool run_noted_meta(const c10::OperatorHandle& op, Stack* metas) {
  const auto found = meta_kernels().find(op.operator_name());
  if (found == meta_kernels().end()) return false;
  found->second.callBoxed(op, DispatchKeySet(DispatchKey::Meta), metas);
  return true;
}
#else  // these give no kernel away
bool run_noted_meta(const c10::OperatorHandle&, Stack*) { return false; }
#endif

bool is_structured(const c10::OperatorHandle& op) {
#if AWT_TORCH >= 209
  return meta_kernels().count(op.operator_name()) != 0;
#else
  return false;
#endif
}

}  // namespace

void may_run_later(const std::string& space) { later_spaces().insert(space); }

void note_meta_kernel(const c10::OperatorHandle& op) {
#if AWT_TORCH >= 209
  if (op.hasKernelForDispatchKey(DispatchKey::Meta) && op.hasKernelForDispatchKey(DispatchKey::CPU))
    meta_kernels().emplace(op.operator_name(),
                           op.getComputedKernelForDispatchKey(DispatchKey::Meta));
#endif
}

OpFacts::OpFacts(const c10::OperatorHandle& given) : op(given), info(given) {
  const auto& schema = op.schema();
  const auto& results = schema.returns();
  view = metadata_only().count(schema.name()) != 0;
  view |= !results.empty() && results[0].alias_info() && !results[0].alias_info()->isWrite();
  for (const auto& tag : op.getTags()) {
    view |= tag == at::Tag::inplace_view;
    data |= tag == at::Tag::data_dependent_output || tag == at::Tag::dynamic_output_shape;
    iterated |= tag == at::Tag::pointwise;
  }
  for (const auto& result : results) {
    data |= !is_tensors(*result.type());
    returned.push_back(argument_returned(schema, result));
    lists.push_back(result.type()->kind() != c10::TypeKind::TensorType);
  }
  convolution = schema.name() == "aten::convolution" ||
                schema.name() == "aten::convolution_overrideable" ||
                schema.name() == "aten::_convolution";
  elsewhere = !later_spaces().count(schema.name().substr(0, schema.name().find("::")));
  // Indices decide the shape only where they are masks, which is looked at in each call.
  if (schema.name() == "aten::index") data = false;
  has_meta = op.hasComputedKernelForDispatchKey(DispatchKey::Meta);
  iterated = is_iterated(schema.name(), iterated);
  for (const auto& argument : schema.arguments()) iterated &= argument.name() != "memory_format";
  iterated &= results.size() == 1 && !lists[0] && !is_structured(op);
}

const OpFacts& facts_of(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static auto& known = *new std::unordered_map<c10::OperatorName, std::unique_ptr<OpFacts>>;
  std::lock_guard lock(mutex);
  auto& found = known[op.operator_name()];
  if (!found) found = std::make_unique<OpFacts>(op);
  return *found;
}

namespace {

// Meta tensors in the place of those of a call; one storage for one storage, one tensor for one
// tensor.
class MetaCounterparts {
 public:
  Tensor of(const Tensor& original) {
    if (!original.defined() || original.device().is_meta()) return original;
    if (original.device().is_cpu() && original.dim() == 0) return original;
    for (const auto& [tensor, counterpart] : tensors_)
      if (tensor.is_same(original)) return counterpart;
    const auto* impl = original.unsafeGetTensorImpl();
    auto counterpart = c10::make_intrusive<c10::TensorImpl>(
        c10::TensorImpl::VIEW, c10::Storage(storage_for(impl)),
        DispatchKeySet(DispatchKey::Meta) |
            (impl->key_set() & DispatchKeySet({DispatchKey::Conjugate, DispatchKey::Negative})),
        impl->dtype());
    counterpart->set_sizes_and_strides(impl->sizes(), impl->strides(), impl->storage_offset());
    tensors_.emplace_back(original, Tensor(std::move(counterpart)));
    return tensors_.back().second;
  }

  // The tensor of the call that a result of Meta is, or whose memory it is a view of; undefined for
  // a new one.
  Tensor original(const Tensor& result) const {
    for (const auto& [tensor, counterpart] : tensors_)
      if (counterpart.is_same(result)) return tensor;
    const auto* storage = result.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    for (const auto& [tensor, counterpart] : tensors_) {
      if (counterpart.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl() != storage)
        continue;
      auto view = c10::make_intrusive<c10::TensorImpl>(
          c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(), tensor.dtype());
      view->set_sizes_and_strides(result.sizes(), result.strides(), result.storage_offset());
      return Tensor(std::move(view));
    }
    return {};
  }

  bool was_resized(const Tensor& original) {
    return original.defined() && original.sizes() != of(original).sizes();
  }

  // Gives the written arguments the shapes and strides that the operator gave their counterparts;
  // false when they had the shapes.
  bool resize_originals() {
    bool changed = false;
    for (auto& [tensor, counterpart] : tensors_) {
      if (tensor.sizes() == counterpart.sizes()) continue;
      at::native::resize_output(tensor, counterpart.sizes());
      if (tensor.strides() != counterpart.strides() && counterpart.is_non_overlapping_and_dense())
        tensor.unsafeGetTensorImpl()->set_sizes_and_strides(counterpart.sizes(),
                                                            counterpart.strides());
      changed = true;
    }
    return changed;
  }

 private:
  c10::intrusive_ptr<c10::StorageImpl> storage_for(const c10::TensorImpl* impl) {
    auto* original = impl->unsafe_storage().unsafeGetStorageImpl();
    for (const auto& [storage, counterpart] : storages_)
      if (storage == original) return counterpart;
    auto* allocator = c10::GetAllocator(c10::DeviceType::Meta);
    auto counterpart = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), original->nbytes(), allocator->allocate(0), allocator,
        true);
    storages_.emplace_back(original, counterpart);
    return counterpart;
  }

  std::vector<std::pair<c10::StorageImpl*, c10::intrusive_ptr<c10::StorageImpl>>> storages_;
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

IValue meta_list(MetaCounterparts& counterparts, const IValue& value) {
  const auto given = value.toList();
  c10::impl::GenericList list(given.elementType());
  for (const IValue& element : value.toListRef())
    list.push_back(element.isTensor() ? IValue(counterparts.of(element.toTensor())) : element);
  return IValue(std::move(list));
}

Stack meta_arguments(const OpFacts& facts, const Stack& stack, MetaCounterparts& counterparts) {
  const size_t count = facts.info.arguments.size(), first = stack.size() - count;
  Stack made;
  made.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const IValue& value = stack[first + i];
    const Kind kind = facts.info.arguments[i].kind;
    if (kind == Kind::kTensor && value.isTensor()) {
      made.emplace_back(counterparts.of(value.toTensor()));
    } else if (kind == Kind::kTensors && value.isList()) {
      made.push_back(meta_list(counterparts, value));
    } else if (kind == Kind::kDevice && !value.isNone()) {
      made.emplace_back(c10::Device(c10::DeviceType::Meta));
    } else if (kind == Kind::kGenerator) {
      made.emplace_back();
    } else {
      made.push_back(value);
    }
  }
  return made;
}

Tensor new_result(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype,
                  c10::DeviceIndex device) {
  const c10::DeviceGuard guard(c10::Device(c10::DeviceType::CUDA, device));
  return at::detail::empty_strided_generic(sizes, strides, device_allocator(),
                                           DispatchKeySet(DispatchKey::CUDA), dtype);
}

// What a Meta kernel returned, made real; and its shapes, while all results are new.
class Planner {
 public:
  Planner(const MetaCounterparts& counterparts, c10::DeviceIndex device)
      : counterparts_(counterparts), device_(device) {}

  IValue of(const IValue& meta) {
    shapes.emplace_back();
    if (meta.isTensor()) return of_tensor(meta.toTensor());
    if (!meta.isTensorList()) return meta;
    std::vector<Tensor> list;
    for (const Tensor& each : meta.toTensorVector()) list.push_back(of_tensor(each));
    return list;
  }

  ResultShapes shapes;
  bool all_new = true;

 private:
  Tensor of_tensor(const Tensor& meta) {
    shapes.back().emplace_back();
    if (!meta.defined()) return meta;
    all_new &= meta.device().is_meta();
    if (!meta.device().is_meta()) return meta;  // of the host: a kernel's constant
    if (Tensor found = counterparts_.original(meta); found.defined()) {
      all_new = false;
      return found;
    }
    shapes.back().back() = {true, meta.sizes().vec(), meta.strides().vec(), meta.scalar_type()};
    return new_result(meta.sizes(), meta.strides(), meta.scalar_type(), device_);
  }

  const MetaCounterparts& counterparts_;
  c10::DeviceIndex device_;
};

IValue remade(const std::vector<ResultShape>& shapes, bool list, c10::DeviceIndex device) {
  std::vector<Tensor> made;
  for (const auto& shape : shapes)
    made.push_back(shape.defined ? new_result(shape.sizes, shape.strides, shape.dtype, device)
                                 : Tensor());
  if (list) return made;
  return made.at(0);
}

std::vector<IValue> from_shapes(const OpFacts& facts, const ResultShapes& shapes,
                                const Stack& stack, c10::DeviceIndex device) {
  const size_t first = stack.size() - facts.info.arguments.size();
  std::vector<IValue> results;
  for (size_t i = 0; i < facts.returned.size(); ++i) {
    if (facts.returned[i] >= 0) {
      results.push_back(stack[first + size_t(facts.returned[i])]);
    } else {
      results.push_back(remade(shapes[i], facts.lists[i], device));
    }
  }
  return results;
}

// Runs the Meta kernel; false when there is none.
bool run_meta(const OpFacts& facts, Stack* metas) {
  if (!facts.has_meta) return false;
  try {
    const c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
    if (!run_noted_meta(facts.op, metas))
      facts.op.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), metas);
    return true;
  } catch (const c10::NotImplementedError&) {
    return false;
  }
}

// Convolutions give the order of channels that their input or their weight has; Meta kernels look
// at the input only.
void order_channels(const Tensor& input, const Tensor& weight, const Tensor& result) {
  auto format = input.suggest_memory_format();
  if (format == c10::MemoryFormat::Contiguous) format = weight.suggest_memory_format();
  const int64_t dimensions = format == c10::MemoryFormat::ChannelsLast     ? 4
                             : format == c10::MemoryFormat::ChannelsLast3d ? 5
                                                                           : 0;
  if (result.dim() == dimensions) result.unsafeGetTensorImpl()->empty_tensor_restride(format);
}

bool broadcasts_to(at::IntArrayRef from, at::IntArrayRef to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 1; i <= from.size(); ++i)
    if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i]) return false;
  return true;
}

// Meta kernels in Python have strides of their own for results, and none for outputs
// (torch._prims_common).
void lie_as_iterated(const OpFacts& facts, const Stack& stack, MetaCounterparts& counterparts,
                     const Tensor& result) {
  if (!result.defined() || !result.device().is_meta()) return;
  const size_t first = stack.size() - facts.info.arguments.size();
  if (facts.returned[0] >= 0 &&
      !counterparts.was_resized(stack[first + size_t(facts.returned[0])].toTensor()))
    return;
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).check_all_same_device(false).declare_static_dtype_and_device(
      result.scalar_type(), result.device());
  config.add_owned_output(Tensor());
  bool any = false;
  for (size_t i = 0; i < facts.info.arguments.size(); ++i) {
    const IValue& value = stack[first + i];
    if (facts.info.arguments[i].written || !value.isTensor() || !value.toTensor().defined())
      continue;
    if (!broadcasts_to(value.toTensor().sizes(), result.sizes())) return;
    config.add_owned_const_input(counterparts.of(value.toTensor()));
    any = true;
  }
  if (!any) return;
  const at::TensorIterator iterator = config.build();
  const Tensor& lies = iterator.output();
  if (lies.sizes() == result.sizes())
    result.unsafeGetTensorImpl()->set_sizes_and_strides(lies.sizes(), lies.strides());
}

// In place: what is returned was given. Raises nothing early, but needs no shapes: an output that
// has none yet has to wait for them.
std::optional<std::vector<IValue>> without_meta(const OpFacts& facts, const Stack& stack,
                                                c10::DeviceIndex device) {
  for (const int argument : facts.returned)
    if (argument < 0) return std::nullopt;
  const size_t first = stack.size() - facts.info.arguments.size();
  for (const int argument : facts.returned) {
    const IValue& value = stack[first + size_t(argument)];
    if (facts.op.schema().arguments()[size_t(argument)].is_out() && value.isTensor() &&
        value.toTensor().numel() == 0)
      return std::nullopt;
  }
  return from_shapes(facts, {}, stack, device);
}

}  // namespace

std::optional<std::vector<IValue>> plan_results(const OpFacts& facts, const Stack& stack,
                                                c10::DeviceIndex device) {
  auto key = call_key(facts.info, stack);
  if (key) {
    if (const auto* known = kept_shapes(*key)) return from_shapes(facts, *known, stack, device);
  }
  MetaCounterparts counterparts;
  Stack metas = meta_arguments(facts, stack, counterparts);
  if (!run_meta(facts, &metas)) return without_meta(facts, stack, device);
  if (facts.convolution)
    order_channels(stack[stack.size() - facts.info.arguments.size()].toTensor(),
                   stack[stack.size() - facts.info.arguments.size() + 1].toTensor(),
                   metas[0].toTensor());
  if (facts.iterated) lie_as_iterated(facts, stack, counterparts, metas[0].toTensor());
  const bool resized = facts.info.writes && counterparts.resize_originals();
  const size_t first = stack.size() - facts.info.arguments.size();
  Planner planner(counterparts, device);
  std::vector<IValue> results;
  for (size_t i = 0; i < metas.size(); ++i) {
    if (facts.returned[i] >= 0) {
      planner.shapes.emplace_back();
      results.push_back(stack[first + size_t(facts.returned[i])]);
    } else {
      results.push_back(planner.of(metas[i]));
    }
  }
  if (key && planner.all_new && !resized) keep_shapes(std::move(*key), std::move(planner.shapes));
  return results;
}

}  // namespace awt
