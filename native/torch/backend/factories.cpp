// Operators that make or re-seat device tensors, where there is no argument to alias.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "allocator.h"
#include "devices.h"
#include "storage_size.h"

namespace awt {
namespace {

using at::Tensor;

c10::Device device_for(std::optional<c10::Device> device) {
  if (!device || !device->has_index()) return {c10::DeviceType::CUDA, current_device()};
  return *device;
}

void check_pinning(std::optional<bool> pin) {
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
}

at::ScalarType type_for(std::optional<at::ScalarType> dtype) {
  return dtype.value_or(c10::typeMetaToScalarType(c10::get_default_dtype()));
}

Tensor empty_memory_format(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                           std::optional<at::Layout> layout, std::optional<c10::Device> device,
                           std::optional<bool> pin, std::optional<c10::MemoryFormat> format) {
  check_pinning(pin);
  const c10::DeviceGuard guard(device_for(device));
  enter_thread();
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), device_allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::CUDA), type_for(dtype),
                                   format);
}

Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                     std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                     std::optional<c10::Device> device, std::optional<bool> pin) {
  check_pinning(pin);
  const c10::DeviceGuard guard(device_for(device));
  enter_thread();
  return at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), device_allocator(),
      c10::DispatchKeySet(c10::DispatchKey::CUDA), type_for(dtype));
}

// A tensor may be set to more than its storage holds: the storage then grows, as CUDA's does.
void grow_when_due(const Tensor& self) {
  const size_t wanted =
      self.numel() == 0
          ? 0
          : at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.dtype().itemsize(),
                                             size_t(self.storage_offset()));
  c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
  if (wanted > storage->nbytes()) resize_storage(*storage, wanted);
}

// Zeros without memory, which forward-mode derivatives are made of.
Tensor efficient_zeros(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                       std::optional<at::Layout>, std::optional<c10::Device> device,
                       std::optional<bool> pin) {
  check_pinning(pin);
  at::native::ZeroTensorAllocator allocator(device_for(device));
  return at::detail::empty_generic(
      C10_AS_INTARRAYREF_SLOW(size), &allocator,
      c10::DispatchKeySet({c10::DispatchKey::CUDA, c10::DispatchKey::ZeroTensor}), type_for(dtype),
      std::nullopt);
}

Tensor& set_source(Tensor& self, c10::Storage source) {
  const int64_t elements = int64_t(source.nbytes() / self.dtype().itemsize());
  at::native::checkSetStorage(self, source, int64_t(0), at::IntArrayRef(elements),
                              at::IntArrayRef());
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(0);
  impl->set_sizes_contiguous(elements);
  return self;
}

Tensor& set_source_offset(Tensor& self, c10::Storage source, c10::SymInt offset,
                          c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  const auto strides = C10_AS_INTARRAYREF_SLOW(stride);
  at::native::checkSetStorage(self, source, offset.guard_int(__FILE__, __LINE__), sizes, strides);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset.guard_int(__FILE__, __LINE__));
  if (strides.data())
    impl->set_sizes_and_strides(sizes, strides);
  else
    impl->set_sizes_contiguous(sizes);
  grow_when_due(self);
  return self;
}

Tensor& set_source_tensor(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) return self;
  return set_source_offset(self, source.storage(), source.sym_storage_offset(), source.sym_sizes(),
                           source.sym_strides());
}

Tensor& set_nothing(Tensor& self) {
  const auto dtype = self.dtype();
  c10::Storage storage(c10::Storage::use_byte_size_t(), 0, device_allocator(), true);
  storage.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().unsafe_set_device(self.device());
  self.unsafeGetTensorImpl()->set_storage_and_dtype(std::move(storage), dtype);
  self.unsafeGetTensorImpl()->set_storage_offset(0);
  self.unsafeGetTensorImpl()->set_sizes_contiguous({0});
  return self;
}

void record_stream_of(Tensor& self, c10::Stream stream) {
  record_stream(self.storage().data_ptr(), stream);
}

// Views are metadata: torch's own functions for all backends make them.
Tensor view(const Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }
Tensor as_strided(const Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                  std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}
Tensor reshape_alias(const Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("view", TORCH_FN(view));
  library.impl("as_strided", TORCH_FN(as_strided));
  library.impl("_reshape_alias", TORCH_FN(reshape_alias));
  library.impl("unfold", TORCH_FN(at::native::unfold));
  library.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  library.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  library.impl("empty.memory_format", TORCH_FN(empty_memory_format));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("_efficientzerotensor", TORCH_FN(efficient_zeros));
  library.impl("set_.source_Storage", TORCH_FN(set_source));
  library.impl("set_.source_Storage_storage_offset", TORCH_FN(set_source_offset));
  library.impl("set_.source_Tensor", TORCH_FN(set_source_tensor));
  library.impl("set_", TORCH_FN(set_nothing));
  library.impl("record_stream", TORCH_FN(record_stream_of));
}

}  // namespace
}  // namespace awt
