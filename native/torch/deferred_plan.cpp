#include "deferred_plan.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "alias.h"
#include "allocator.h"

namespace awt {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using torch::jit::Stack;
using Kind = OpInfo::Kind;

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

}  // namespace

OpFacts::OpFacts(const c10::OperatorHandle& given) : op(given), info(given) {
  const auto& schema = op.schema();
  const auto& results = schema.returns();
  view = metadata_only().count(schema.name()) != 0;
  view |= !results.empty() && results[0].alias_info() && !results[0].alias_info()->isWrite();
  for (const auto& tag : op.getTags()) {
    view |= tag == at::Tag::inplace_view;
    data |= tag == at::Tag::data_dependent_output || tag == at::Tag::dynamic_output_shape;
  }
  for (const auto& result : results) {
    data |= !is_tensors(*result.type());
    returned.push_back(argument_returned(schema, result));
  }
  copy = schema.name() == "aten::copy_";
  elsewhere = schema.name().rfind("aten::", 0) != 0;
  // Indices decide the shape only where they are masks, which is looked at in each call.
  if (schema.name() == "aten::index") data = false;
  has_meta = op.hasComputedKernelForDispatchKey(DispatchKey::Meta);
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
class MetaTwins {
 public:
  Tensor of(const Tensor& original) {
    if (!original.defined() || original.device().is_meta()) return original;
    if (original.device().is_cpu() && original.dim() == 0) return original;
    for (const auto& [tensor, twin] : tensors_)
      if (tensor.is_same(original)) return twin;
    const auto* impl = original.unsafeGetTensorImpl();
    auto twin = c10::make_intrusive<c10::TensorImpl>(
        c10::TensorImpl::VIEW, c10::Storage(storage_for(impl)),
        DispatchKeySet(DispatchKey::Meta) |
            (impl->key_set() & DispatchKeySet({DispatchKey::Conjugate, DispatchKey::Negative})),
        impl->dtype());
    twin->set_sizes_and_strides(impl->sizes(), impl->strides(), impl->storage_offset());
    tensors_.emplace_back(original, Tensor(std::move(twin)));
    return tensors_.back().second;
  }

  // The tensor of the call that a result of Meta is, or whose memory it is a view of; undefined for
  // a new one.
  Tensor original(const Tensor& result) const {
    for (const auto& [tensor, twin] : tensors_)
      if (twin.is_same(result)) return tensor;
    const auto* storage = result.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    for (const auto& [tensor, twin] : tensors_) {
      if (twin.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl() != storage) continue;
      auto view = c10::make_intrusive<c10::TensorImpl>(
          c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(), tensor.dtype());
      view->set_sizes_and_strides(result.sizes(), result.strides(), result.storage_offset());
      return Tensor(std::move(view));
    }
    return {};
  }

  // Gives the written arguments the shapes that the operator gave their twins.
  void resize_originals() {
    for (auto& [tensor, twin] : tensors_)
      if (tensor.sizes() != twin.sizes()) at::native::resize_output(tensor, twin.sizes());
  }

 private:
  c10::intrusive_ptr<c10::StorageImpl> storage_for(const c10::TensorImpl* impl) {
    auto* original = impl->unsafe_storage().unsafeGetStorageImpl();
    for (const auto& [storage, twin] : storages_)
      if (storage == original) return twin;
    auto* allocator = c10::GetAllocator(c10::DeviceType::Meta);
    auto twin = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                                      original->nbytes(), allocator->allocate(0),
                                                      allocator, true);
    storages_.emplace_back(original, twin);
    return twin;
  }

  std::vector<std::pair<c10::StorageImpl*, c10::intrusive_ptr<c10::StorageImpl>>> storages_;
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

IValue meta_list(MetaTwins& twins, const IValue& value) {
  const auto given = value.toList();
  c10::impl::GenericList list(given.elementType());
  for (const IValue& element : value.toListRef())
    list.push_back(element.isTensor() ? IValue(twins.of(element.toTensor())) : element);
  return IValue(std::move(list));
}

Stack meta_arguments(const OpFacts& facts, const Stack& stack, MetaTwins& twins) {
  const size_t count = facts.info.arguments.size(), first = stack.size() - count;
  Stack made;
  made.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const IValue& value = stack[first + i];
    const Kind kind = facts.info.arguments[i].kind;
    if (kind == Kind::kTensor && value.isTensor()) {
      made.emplace_back(twins.of(value.toTensor()));
    } else if (kind == Kind::kTensors && value.isList()) {
      made.push_back(meta_list(twins, value));
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

Tensor result_for(const Tensor& meta, const MetaTwins& twins, c10::DeviceIndex device) {
  if (!meta.defined()) return meta;
  if (!meta.device().is_meta()) return meta;  // of the host: a kernel's constant
  if (Tensor found = twins.original(meta); found.defined()) return found;
  const c10::DeviceGuard guard(c10::Device(c10::DeviceType::CUDA, device));
  return at::detail::empty_strided_generic(meta.sizes(), meta.strides(), device_allocator(),
                                           DispatchKeySet(DispatchKey::CUDA), meta.scalar_type());
}

}  // namespace

std::optional<std::vector<IValue>> plan_results(const OpFacts& facts, const Stack& stack,
                                                c10::DeviceIndex device) {
  if (!facts.has_meta) return std::nullopt;
  MetaTwins twins;
  Stack metas = meta_arguments(facts, stack, twins);
  try {
    const c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
    facts.op.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), &metas);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  }
  if (facts.info.writes) twins.resize_originals();
  const size_t first = stack.size() - facts.info.arguments.size();
  std::vector<IValue> results;
  for (size_t i = 0; i < metas.size(); ++i) {
    const IValue& meta = metas[i];
    if (facts.returned[i] >= 0) {
      results.push_back(stack[first + size_t(facts.returned[i])]);
    } else if (meta.isTensor()) {
      results.emplace_back(result_for(meta.toTensor(), twins, device));
    } else if (meta.isTensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& each : meta.toTensorVector())
        list.push_back(result_for(each, twins, device));
      results.emplace_back(std::move(list));
    } else {
      results.push_back(meta);
    }
  }
  return results;
}

}  // namespace awt
