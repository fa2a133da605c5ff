#include "rescue.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <optional>
#include <string>

#include "operator_watch.h"
#include "rescue_refused.h"

namespace awt {
namespace {

using at::ScalarType;
using at::Tensor;
using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;
using Kind = OpInfo::Kind;

std::optional<ScalarType> wider(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return ScalarType::Float;
    case ScalarType::ComplexHalf:
      return ScalarType::ComplexFloat;
    default:
      return std::nullopt;
  }
}

bool has_narrow_type(const Tensor& tensor) {
  return tensor.defined() && wider(tensor.scalar_type()).has_value();
}

// What kernels of the CPU say of a type that they were not compiled for.
bool says_not_implemented(const char* words) {
  static const char* const said[] = {"not implemented for 'Half'",
                                     "not implemented for 'BFloat16'",
                                     "not implemented for 'ComplexHalf'",
                                     "doesn't support tensors of type: Half",
                                     "doesn't support tensors of type: ComplexHalf",
                                     "doesn't support tensors of type: BFloat16"};
  for (const char* each : said)
    if (std::strstr(words, each)) return true;
  return false;
}

// Half, or what stands for it in results; the first narrow type among the arguments decides.
struct Narrowed {
  ScalarType real = ScalarType::Half;
  bool found = false;
  void see(const Tensor& tensor) {
    if (found || !has_narrow_type(tensor)) return;
    real = tensor.scalar_type() == ScalarType::BFloat16 ? ScalarType::BFloat16 : ScalarType::Half;
    found = true;
  }
};

// One call again in wider types.
class Widened {
 public:
  Widened(const OperatorHandle& op, const OpInfo& info, const Stack& arguments)
      : op_(op), info_(info), stack_(arguments) {
    for (size_t i = 0; i < stack_.size(); ++i) widen(stack_[i], i);
  }

  void run(Stack* results) {
    op_.redispatchBoxed(info_.target, &stack_);
    for (auto& [narrow, wide] : written_) {
      if (narrow.sizes() != wide.sizes()) narrow.resize_(wide.sizes());
      narrow.copy_(wide);
    }
    for (IValue& value : stack_) results->push_back(narrowed(std::move(value)));
  }

 private:
  Tensor widen(const Tensor& tensor, bool written) {
    narrow_.see(tensor);
    if (!has_narrow_type(tensor)) return tensor;
    for (const auto& [narrow, wide] : written_)
      if (narrow.is_same(tensor)) return wide;
    Tensor wide = tensor.to(*wider(tensor.scalar_type()));
    if (written) written_.emplace_back(tensor, wide);
    return wide;
  }

  void widen(IValue& value, size_t index) {
    const auto& argument = info_.arguments[index];
    if (argument.kind == Kind::kTensor && value.isTensor()) {
      value = IValue(widen(value.toTensor(), argument.written));
    } else if (argument.kind == Kind::kTensors && value.isTensorList()) {
      auto list = value.toTensorList().copy();
      for (size_t i = 0; i < list.size(); ++i) list.set(i, widen(list.get(i), argument.written));
      value = IValue(std::move(list));
    } else if (is_type(index) && !value.isNone()) {
      asked_ = value.toScalarType();
      if (const auto type = wider(*asked_)) value = IValue(*type);
    }
  }

  bool is_type(size_t index) const {
    const auto& argument = op_.schema().arguments()[index];
    const c10::Type* type = argument.real_type().get();
    if (const auto* optional = type->castRaw<c10::OptionalType>())
      type = optional->getElementType().get();
    return type->kind() == c10::TypeKind::ScalarTypeType;
  }

  Tensor narrowed(const Tensor& result) const {
    if (!result.defined()) return result;
    for (const auto& [narrow, wide] : written_)
      if (wide.is_same(result)) return narrow;
    const auto type = result.scalar_type();
    if (type != ScalarType::Float && type != ScalarType::ComplexFloat) return result;
    if (asked_) return result.to(*asked_);
    return result.to(type == ScalarType::Float ? narrow_.real : ScalarType::ComplexHalf);
  }

  IValue narrowed(IValue value) const {
    if (value.isTensor()) return narrowed(value.toTensor());
    if (!value.isTensorList()) return value;
    auto list = value.toTensorList();
    for (size_t i = 0; i < list.size(); ++i) list.set(i, narrowed(list.get(i)));
    return list;
  }

  const OperatorHandle& op_;
  const OpInfo& info_;
  Stack stack_;
  Narrowed narrow_;
  std::optional<ScalarType> asked_;
  std::vector<std::pair<Tensor, Tensor>> written_;
};

}  // namespace

bool has_narrow(const OpInfo& info, const Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    const IValue& value = stack[first + i];
    if (info.arguments[i].kind == Kind::kTensor && value.isTensor()) {
      if (has_narrow_type(value.toTensor())) return true;
    } else if (info.arguments[i].kind == Kind::kTensors && value.isList()) {
      for (const IValue& each : value.toListRef())
        if (each.isTensor() && has_narrow_type(each.toTensor())) return true;
    }
  }
  return false;
}

void run_or_widen(const OperatorHandle& op, const OpInfo& info, Stack* stack) {
  // A kernel that throws may have emptied its arguments.
  const size_t first = stack->size() - info.arguments.size();
  const Stack arguments(stack->begin() + int64_t(first), stack->end());
  try {
    op.redispatchBoxed(info.target, stack);
    return;
  } catch (const c10::Error& error) {
    if (!says_not_implemented(error.what_without_backtrace()) ||
        refused_by_cuda(op.schema().name(), error.what_without_backtrace()))
      throw;
  }
  stack->resize(first);
  stack->insert(stack->end(), arguments.begin(), arguments.end());
  run_widened(op, info, stack);
}

void run_widened(const OperatorHandle& op, const OpInfo& info, Stack* stack) {
  const size_t first = stack->size() - info.arguments.size();
  const Stack arguments(stack->begin() + int64_t(first), stack->end());
  stack->resize(first);
  Watch::widened();
  Widened(op, info, arguments).run(stack);
}

}  // namespace awt
