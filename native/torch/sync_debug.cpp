#include "sync_debug.h"

#include <ATen/core/Tensor.h>

#include "streams.h"

namespace awt {
namespace {

bool copies_across(const OpInfo& info, const torch::jit::Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  const auto& to = stack[first].toTensor();
  const auto& from = stack[first + 1].toTensor();
  return to.is_cuda() != from.is_cuda() && to.numel() > 0 && !stack[first + 2].toBool();
}

bool any_mask(const c10::IValue& indices) {
  for (const c10::IValue& index : indices.toListRef()) {
    if (!index.isTensor() || !index.toTensor().defined()) continue;
    const auto type = index.toTensor().scalar_type();
    if (type == at::kBool || type == at::kByte) return true;
  }
  return false;
}

bool waits(const c10::OperatorHandle& op, const OpInfo& info, const torch::jit::Stack& stack) {
  if (info.copy) return copies_across(info, stack);
  const size_t first = stack.size() - info.arguments.size();
  const std::string& name = op.schema().name();
  if (name == "aten::index") return any_mask(stack[first + 1]);
  if (name == "aten::repeat_interleave") return stack.back().isNone();  // output_size
  for (const auto& tag : op.getTags()) {
    if (tag == at::Tag::data_dependent_output || tag == at::Tag::dynamic_output_shape) return true;
  }
  return false;
}

}  // namespace

void note_waiting(const c10::OperatorHandle& op, const OpInfo& info, const torch::jit::Stack& stack,
                  c10::DeviceIndex device) {
  if (waits(op, info, stack)) note_synchronization(current_stream(device));
}

}  // namespace awt
