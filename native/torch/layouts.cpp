#include "layouts.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <array>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "deferred.h"
#include "fallback.h"
#include "seam.h"

namespace awt {
namespace {

using at::SparseCsrTensorImpl;
using at::SparseTensorImpl;
using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::OperatorHandle;

const SparseTensorImpl* coo(const Tensor& tensor) {
  return static_cast<const SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

const SparseCsrTensorImpl* compressed(const Tensor& tensor) {
  return static_cast<const SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
}

void fill_coo(SparseTensorImpl* to, const SparseTensorImpl* from, const OfParts& part) {
  const Tensor indices = part(from->indices()), values = part(from->values());
  to->raw_resize_(from->sparse_dim(), from->dense_dim(), from->sizes());
  to->set_indices_and_values_unsafe(indices, values);
  to->set_coalesced(from->coalesced());
}

void fill_compressed(SparseCsrTensorImpl* to, const SparseCsrTensorImpl* from,
                     const OfParts& part) {
  to->set_member_tensors(part(from->compressed_indices()), part(from->plain_indices()),
                         part(from->values()), from->sizes());
}

Tensor made_of(const Tensor& sparse, c10::Device device, DispatchKey coo_key,
               DispatchKey compressed_key, const OfParts& part) {
  if (sparse.layout() == at::kSparse) {
    auto made = c10::make_intrusive<SparseTensorImpl>(DispatchKeySet(coo_key), sparse.dtype());
    fill_coo(made.get(), coo(sparse), part);
    return Tensor(std::move(made));
  }
  auto made = c10::make_intrusive<SparseCsrTensorImpl>(DispatchKeySet(compressed_key), device,
                                                       sparse.layout(), sparse.dtype());
  fill_compressed(made.get(), compressed(sparse), part);
  return Tensor(std::move(made));
}

}  // namespace

bool is_sparse(const Tensor& tensor) {
  const auto layout = tensor.layout();
  return layout == at::kSparse || layout == at::kSparseCsr || layout == at::kSparseCsc ||
         layout == at::kSparseBsr || layout == at::kSparseBsc;
}

Tensor sparse_on_cpu(const Tensor& sparse, const OfParts& part) {
  return made_of(sparse, c10::Device(c10::DeviceType::CPU), DispatchKey::SparseCPU,
                 DispatchKey::SparseCsrCPU, part);
}

Tensor sparse_on_device(const Tensor& sparse, c10::DeviceIndex device, const OfParts& part) {
  const c10::Device target(c10::DeviceType::CUDA, device);
  const c10::DeviceGuard guard(target);
  return made_of(sparse, target, DispatchKey::SparseCUDA, DispatchKey::SparseCsrCUDA, part);
}

void take_over_sparse(const Tensor& original, const Tensor& changed, const OfParts& part) {
  if (changed.layout() == at::kSparse)
    fill_coo(static_cast<SparseTensorImpl*>(original.unsafeGetTensorImpl()), coo(changed), part);
  else
    fill_compressed(static_cast<SparseCsrTensorImpl*>(original.unsafeGetTensorImpl()),
                    compressed(changed), part);
}

bool is_nested_or_quantized(const Tensor& tensor) {
  return tensor.key_set().has_any(
             DispatchKeySet({DispatchKey::NestedTensor, DispatchKey::Quantized})) &&
         tensor.unsafeGetTensorImpl()->has_storage();
}

Tensor alias_of_layout(const Tensor& original, c10::Storage storage) {
  if (original.is_nested()) {
    auto* impl = at::native::get_nested_tensor_impl(original);
    return Tensor(c10::make_intrusive<at::native::NestedTensorImpl>(
        std::move(storage), DispatchKeySet(DispatchKey::NestedTensorCPU), original.dtype(),
        impl->get_nested_sizes(), impl->get_nested_strides(), impl->get_storage_offsets()));
  }
  auto* impl = at::get_qtensorimpl(original);
  auto made = c10::make_intrusive<at::QTensorImpl>(std::move(storage),
                                                   DispatchKeySet(DispatchKey::QuantizedCPU),
                                                   original.dtype(), impl->quantizer());
  made->set_sizes_and_strides(impl->sizes(), impl->strides(), impl->storage_offset());
  return Tensor(std::move(made));
}

namespace {

// As the kernels of dense tensors, with the layout's own kernel of the CPU behind it.
struct LayoutKernel final : c10::OperatorKernel {
  LayoutKernel(const OperatorHandle& op, DispatchKey cpu) : info(op) {
    info.target = DispatchKeySet(cpu);
    info.has_counterpart = false;
    info.factors = {};
    info.wrapper = nullptr;
    using Places = OpInfo::Places;
    if (info.places == Places::kChecked || info.places == Places::kParts)
      info.places = Places::kOne;
    // Nested tensors keep their sizes on the CPU and hand them around.
    if (cpu == DispatchKey::NestedTensorCPU && info.places != Places::kAny)
      info.places = Places::kNested;
    // Takes only the quantizer of its tensor, for a device of its own.
    if (op.schema().name() == "aten::empty_quantized") info.places = Places::kAny;
  }
  void operator()(const OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
    if (deferring() && run_later(op, info, keys, stack)) return;
    run_on_aliases(op, info, keys, stack);
  }
  OpInfo info;
};

// The quantizer of a device tensor keeps its numbers on the CPU, where the kernels want them; what
// the program asks for is a copy.
Tensor on_device_of(const Tensor& self, const Tensor& numbers) {
  return numbers.to(numbers.options().device(self.device()), false, true);
}

at::PerChannelAffineQuantizer* channel_quantizer(const Tensor& self) {
  const auto quantizer = at::get_qtensorimpl(self)->quantizer();
  TORCH_CHECK(quantizer->qscheme() == at::kPerChannelAffine ||
                  quantizer->qscheme() == at::kPerChannelAffineFloatQParams,
              "Expected a per-channel quantized tensor, got ", toString(quantizer->qscheme()));
  return static_cast<at::PerChannelAffineQuantizer*>(quantizer.get());
}

Tensor per_channel_scales(const Tensor& self) {
  return on_device_of(self, channel_quantizer(self)->scales());
}

Tensor per_channel_zero_points(const Tensor& self) {
  return on_device_of(self, channel_quantizer(self)->zero_points());
}

// Sizes, strides and offsets of a nested tensor are its own and lie on the CPU, also on CUDA.
at::native::NestedTensorImpl* nested(const Tensor& self) {
  return at::native::get_nested_tensor_impl(self);
}
Tensor nested_sizes(const Tensor& self) { return nested(self)->get_nested_sizes(); }
Tensor nested_strides(const Tensor& self) { return nested(self)->get_nested_strides(); }
Tensor nested_offsets(const Tensor& self) { return nested(self)->get_storage_offsets(); }

TORCH_LIBRARY_IMPL(aten, NestedTensorCUDA, library) {
  library.impl("_nested_tensor_size", TORCH_FN(nested_sizes));
  library.impl("_nested_tensor_strides", TORCH_FN(nested_strides));
  library.impl("_nested_tensor_storage_offsets", TORCH_FN(nested_offsets));
}

TORCH_LIBRARY_IMPL(aten, QuantizedCUDA, library) {
  library.impl("q_per_channel_scales", TORCH_FN(per_channel_scales));
  library.impl("q_per_channel_zero_points", TORCH_FN(per_channel_zero_points));
}

constexpr std::array<std::pair<DispatchKey, DispatchKey>, 4> kLayouts{
    {{DispatchKey::SparseCUDA, DispatchKey::SparseCPU},
     {DispatchKey::SparseCsrCUDA, DispatchKey::SparseCsrCPU},
     {DispatchKey::QuantizedCUDA, DispatchKey::QuantizedCPU},
     {DispatchKey::NestedTensorCUDA, DispatchKey::NestedTensorCPU}}};

// What is registered above.
bool is_by_hand(const OperatorHandle& op) {
  static const std::unordered_set<std::string> names{
      "aten::_nested_tensor_size", "aten::_nested_tensor_strides",
      "aten::_nested_tensor_storage_offsets", "aten::q_per_channel_scales",
      "aten::q_per_channel_zero_points"};
  return names.count(op.schema().name()) != 0;
}

// copy_ is one function for all quantised tensors and looks for a kernel of the device itself.
bool is_for_layout(const OperatorHandle& op, DispatchKey device, DispatchKey cpu) {
  if (is_by_hand(op) || (op.hasKernelForDispatchKey(device) && !kLayoutsHaveKernels)) return false;
  // CUDA has no reduction of sparse products.
  if (op.schema().name().rfind("aten::_sparse_mm_reduce_impl", 0) == 0) return false;
  if (op.hasKernelForDispatchKey(cpu)) return true;
  return device == DispatchKey::QuantizedCUDA && op.schema().name() == "aten::copy_";
}

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

}  // namespace

void register_layouts() {
  static std::vector<std::unique_ptr<torch::Library>> libraries;
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto names = dispatcher.getAllOpNames();
  for (const auto& [device, cpu] : kLayouts) {
    libraries.push_back(
        std::make_unique<torch::Library>(torch::Library::IMPL, "aten", device, __FILE__, __LINE__));
    for (const auto& name : names) {
      if (name.name.rfind("aten::", 0) != 0) continue;
      const auto op = dispatcher.findSchema(name);
      if (!op || !is_for_layout(*op, device, cpu)) continue;
      libraries.back()->impl(
          full_name(name).c_str(),
          torch::CppFunction::makeFromBoxedFunctor(std::make_unique<LayoutKernel>(*op, cpu)));
    }
  }
}

}  // namespace awt
