#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include "mapped.h"

namespace awa {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

void release(void* storage) { c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage)); }

// A pointer of `cuda` that holds a storage of the accelerator.
c10::DataPtr holding(c10::Storage accelerator, c10::DeviceIndex device) {
  void* memory = const_cast<void*>(accelerator.data());
  StorageImpl* held = accelerator.unsafeReleaseStorageImpl();
  return {memory, held, &release, c10::Device(c10::DeviceType::CUDA, device)};
}

StorageImpl* held_by(const StorageImpl* cuda) {
  const c10::DataPtr& data = cuda->data_ptr();
  return data.get_deleter() == &release ? static_cast<StorageImpl*>(data.get_context()) : nullptr;
}

c10::DeviceIndex index_of(const c10::Storage& storage) {
  return std::max<c10::DeviceIndex>(storage.device().index(), 0);
}

struct MappedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    c10::Allocator* theirs = c10::GetAllocator(target());
    const c10::Device here = required_guard().getDevice();
    c10::Storage made(c10::make_storage_impl(StorageImpl::use_byte_size_t(), c10::SymInt(bytes),
                                             theirs->allocate(bytes), theirs, true, here));
    const c10::DeviceIndex device = index_of(made);
    return holding(std::move(made), device);
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, size_t) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "a lazily copied storage is not mapped to ", target_name());
  }
};

// What a tensor says of itself beside its backend.
void take_over(TensorImpl* to, const TensorImpl* from) {
  if (to->is_conj() != from->is_conj()) to->_set_conj(from->is_conj());
  if (to->is_neg() != from->is_neg()) to->_set_neg(from->is_neg());
  if (to->sizes() == from->sizes() && to->strides() == from->strides() &&
      to->storage_offset() == from->storage_offset())
    return;
  to->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
}

at::Tensor tensor_like(const TensorImpl* other, c10::Storage storage, DispatchKey backend) {
  auto made = at::detail::make_tensor<TensorImpl>(std::move(storage), DispatchKeySet(backend),
                                                  other->dtype());
  take_over(made.unsafeGetTensorImpl(), other);
  return made;
}

bool is_plain(const at::Tensor& tensor, c10::DeviceType type) {
  const auto key = c10::computeDispatchKey(c10::nullopt, c10::Layout::Strided,
                                           c10::Device(type, type == c10::kCPU ? -1 : 0));
  return tensor.defined() && tensor.device().type() == type &&
         tensor.key_set().has_all(DispatchKeySet(key)) &&
         tensor.unsafeGetTensorImpl()->has_storage();
}

DispatchKey backend_of(c10::DeviceType type) {
  return c10::computeDispatchKey(c10::nullopt, c10::Layout::Strided, c10::Device(type, 0));
}

}  // namespace

c10::Allocator* allocator() noexcept {
  static MappedAllocator made;
  return &made;
}

c10::Storage inner_storage(const c10::Storage& cuda) {
  StorageImpl* impl = cuda.unsafeGetStorageImpl();
  if (StorageImpl* held = held_by(impl))
    return c10::Storage(c10::intrusive_ptr<StorageImpl>::reclaim_copy(held));
  void* memory = const_cast<void*>(impl->data());
  c10::raw::intrusive_ptr::incref(impl);
  const c10::Device device = inner(impl->device());
  return c10::Storage(c10::make_storage_impl(StorageImpl::use_byte_size_t(), impl->sym_nbytes(),
                                             c10::DataPtr(memory, impl, &release, device),
                                             c10::GetAllocator(target()), false, device));
}

c10::Storage outer_storage(const c10::Storage& accelerator) {
  const c10::DeviceIndex device = index_of(accelerator);
  return c10::Storage(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), accelerator.sym_nbytes(), holding(accelerator, device),
      allocator(), accelerator.resizable()));
}

void resize_storage(StorageImpl& cuda, size_t bytes) {
  TORCH_CHECK(cuda.resizable(), "Trying to resize storage that is not resizable");
  at::AutoDispatchBelowADInplaceOrView plain;
  const auto options = at::TensorOptions().dtype(at::kByte).device(cuda.device());
  at::Tensor made = at::empty({int64_t(bytes)}, options);
  if (const size_t kept = std::min(bytes, cuda.nbytes())) {
    at::Tensor before = at::empty({0}, options);
    before.set_(c10::Storage(c10::intrusive_ptr<StorageImpl>::reclaim_copy(&cuda)), 0,
                {int64_t(kept)}, {1});
    made.narrow(0, 0, int64_t(kept)).copy_(before);
  }
  StorageImpl* fresh = made.storage().unsafeGetStorageImpl();
  cuda.set_data_ptr_noswap(fresh->set_data_ptr(c10::DataPtr(nullptr, cuda.device())));
  cuda.set_nbytes(bytes);
}

c10::Storage Call::in(const c10::Storage& cuda) {
  if (cuda.device_type() != c10::DeviceType::CUDA) return cuda;
  for (const auto& pair : storages_)
    if (pair.outer.is_alias_of(cuda)) return pair.inner;
  storages_.push_back({cuda, inner_storage(cuda)});
  return storages_.back().inner;
}

at::Tensor Call::in(const at::Tensor& cuda) {
  if (!is_plain(cuda, c10::DeviceType::CUDA)) return cuda;
  for (const auto& pair : tensors_)
    if (pair.outer.is_same(cuda)) return pair.inner;
  c10::Storage storage = in(cuda.storage());
  StorageImpl* before = storage.unsafeGetStorageImpl();
  const TensorImpl* impl = cuda.unsafeGetTensorImpl();
  at::Tensor made = tensor_like(impl, std::move(storage), backend_of(target()));
  if (impl->is_wrapped_number()) made.unsafeGetTensorImpl()->set_wrapped_number(true);
  tensors_.push_back({cuda, made, before});
  return made;
}

c10::Storage Call::storage_for(const c10::Storage& accelerator) {
  for (const auto& pair : storages_)
    if (pair.inner.is_alias_of(accelerator)) return pair.outer;
  storages_.push_back({outer_storage(accelerator), accelerator});
  return storages_.back().outer;
}

at::Tensor Call::out(const at::Tensor& accelerator) {
  for (const auto& pair : tensors_)
    if (pair.inner.is_same(accelerator)) return pair.outer;
  if (!accelerator.defined() || accelerator.device().type() != target()) return accelerator;
  TORCH_CHECK_NOT_IMPLEMENTED(is_plain(accelerator, target()), "a result of layout ",
                              accelerator.layout(), " is not mapped from ", target_name(),
                              " to cuda");
  return tensor_like(accelerator.unsafeGetTensorImpl(), storage_for(accelerator.storage()),
                     DispatchKey::CUDA);
}

void Call::write_back() {
  for (auto& pair : storages_) {
    StorageImpl* cuda = pair.outer.unsafeGetStorageImpl();
    if (held_by(cuda) != pair.inner.unsafeGetStorageImpl()) continue;
    if (cuda->data() == pair.inner.data() && cuda->sym_nbytes() == pair.inner.sym_nbytes())
      continue;
    cuda->set_data_ptr_noswap(holding(pair.inner, cuda->device().index()));
    cuda->set_nbytes(pair.inner.sym_nbytes());
  }
  for (auto& pair : tensors_) {
    TensorImpl* impl = pair.outer.unsafeGetTensorImpl();
    if (pair.inner.storage().unsafeGetStorageImpl() != pair.storage)
      impl->set_storage_keep_dtype(storage_for(pair.inner.storage()));
    take_over(impl, pair.inner.unsafeGetTensorImpl());
  }
}

}  // namespace awa
