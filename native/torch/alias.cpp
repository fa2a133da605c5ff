#include "alias.h"

#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include <cstring>

#include "allocator.h"
#include "devices.h"
#include "layouts.h"

namespace awt {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

thread_local c10::DeviceIndex op_device = -1;

// What a tensor says of itself beside its backend; aliases keep it, so that views of a conjugate
// stay one.
constexpr DispatchKeySet kLazyKeys({DispatchKey::Conjugate, DispatchKey::Negative,
                                    DispatchKey::ZeroTensor});
constexpr DispatchKeySet kDenseCpu(DispatchKey::CPU);

void release_original(void* original) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(original));
}

// Makes the keys of a CPU result those of a device tensor; what autograd needs of it comes from
// `like`, or stays.
void become_device_tensor(TensorImpl* impl, c10::Storage storage) {
  impl->_change_backend_component_keys(storage.device());
  impl->set_storage_keep_dtype(std::move(storage));
}

constexpr DispatchKeySet kAutogradKeys =
    c10::autograd_dispatch_keyset | DispatchKeySet(DispatchKey::ADInplaceOrView);

// The protected keys of a tensor, for views that were made from an alias without autograd keys.
struct OpenTensorImpl : TensorImpl {
  static void add_keys(TensorImpl* impl, DispatchKeySet keys) {
    static_cast<OpenTensorImpl*>(impl)->key_set_ = impl->key_set() | keys;
  }
};

}  // namespace

// The alias keeps the original storage alive, because packed parameters and the like may keep the
// alias.
c10::intrusive_ptr<StorageImpl> alias_storage(StorageImpl* original, bool written) {
  // Reading a lazily copied storage does not end its sharing; writing must.
  void* data = written ? original->mutable_data() : const_cast<void*>(original->data());
  c10::raw::intrusive_ptr::incref(original);
  return c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), original->sym_nbytes(),
      c10::DataPtr(data, original, &release_original, c10::Device(c10::DeviceType::CPU)),
      cpu_allocator(), original->resizable());
}

at::Tensor alias_tensor(const TensorImpl* original, c10::intrusive_ptr<StorageImpl> storage) {
  // No autograd keys: nothing above the backend looks at it, and it saves a version counter.
  auto alias = c10::make_intrusive<TensorImpl>(TensorImpl::VIEW, c10::Storage(std::move(storage)),
                                               kDenseCpu | (original->key_set() & kLazyKeys),
                                               original->dtype());
  alias->set_sizes_and_strides(original->sizes(), original->strides(), original->storage_offset());
  return at::Tensor(std::move(alias));
}

void become_view(TensorImpl* view, StorageImpl* original, DispatchKeySet like) {
  become_device_tensor(view, c10::Storage(c10::intrusive_ptr<StorageImpl>::reclaim_copy(original)));
  OpenTensorImpl::add_keys(view, like & kAutogradKeys);
  if (!view->is_inference()) view->set_version_counter(c10::VariableVersion(0));
}

OnDevice::OnDevice(c10::DeviceIndex device) noexcept : before_(op_device) { op_device = device; }
OnDevice::~OnDevice() { op_device = before_; }
c10::DeviceIndex current_op_device() noexcept { return op_device; }

at::Tensor cpu_alias(const at::Tensor& device_tensor) {
  if (!device_tensor.defined() || !is_plain_cuda(device_tensor)) return device_tensor;
  auto* impl = device_tensor.unsafeGetTensorImpl();
  return alias_tensor(impl, alias_storage(impl->unsafe_storage().unsafeGetStorageImpl(), true));
}

// Memory that a kernel had from elsewhere (a constant, a thread of a pool) is copied into that of
// the device.
static void put_on_device(c10::DataPtr& data, size_t bytes, c10::Device device) {
  if (data.get() && device_of(data.get()) < 0) {
    OnDevice here(device.index());
    c10::DataPtr copy = cpu_allocator()->allocate(bytes);
    std::memcpy(copy.get(), data.get(), bytes);
    data = std::move(copy);
  }
  data.unsafe_set_device(device);
}

void adopt(const at::Tensor& cpu, c10::DeviceIndex device) {
  TensorImpl* impl = cpu.unsafeGetTensorImpl();
  c10::Storage storage = impl->storage();
  StorageImpl* inner = storage.unsafeGetStorageImpl();
  c10::DataPtr& data = inner->_mutable_data_ptr_no_checks();
  const c10::Device target(c10::DeviceType::CUDA, device);
  if (data.device() != target) {
    put_on_device(data, inner->nbytes(), target);
    inner->set_allocator(device_allocator());
  }
  become_device_tensor(impl, std::move(storage));
}

const Aliases::StoragePair& Aliases::storage_of(const at::Tensor& argument, bool written) {
  TensorImpl* impl = argument.unsafeGetTensorImpl();
  StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  for (const auto& pair : storages_)
    if (pair.original == storage) return pair;
  storages_.push_back({storage, alias_storage(storage, written), impl});
  return storages_.back();
}

at::Tensor Aliases::in(const at::Tensor& argument, bool written) {
  if (!argument.defined()) return argument;
  if (!is_plain_cuda(argument)) {
    if (argument.device().is_cpu() && argument.unsafeGetTensorImpl()->has_storage())
      of_cpu_.push_back(argument.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
    return argument.device().is_cuda() ? of_layout(argument, written) : argument;
  }
  for (const auto& pair : tensors_)
    if (pair.original.is_same(argument)) return pair.alias;
  at::Tensor alias =
      alias_tensor(argument.unsafeGetTensorImpl(), storage_of(argument, written).alias);
  tensors_.push_back({argument, alias, written});
  return alias;
}

at::Tensor Aliases::of_layout(const at::Tensor& argument, bool written) {
  for (const auto& pair : tensors_)
    if (pair.original.is_same(argument)) return pair.alias;
  at::Tensor alias;
  if (is_sparse(argument))
    alias = sparse_on_cpu(argument, [&](const at::Tensor& part) { return in(part, written); });
  else if (is_nested_or_quantized(argument))
    alias = alias_of_layout(argument, c10::Storage(storage_of(argument, written).alias));
  else
    return argument;
  tensors_.push_back({argument, alias, written});
  return alias;
}

// Views between dense and nested tensors change the kind of autograd that looks at them.
static DispatchKeySet keys_for_view(DispatchKeySet like, const at::Tensor& view) {
  constexpr DispatchKeySet dense(DispatchKey::AutogradFunctionality),
      nested(DispatchKey::AutogradNestedTensor);
  if (!like.has_any(dense | nested)) return like;
  like = like - (dense | nested);
  return like | (view.is_nested() ? nested : dense);
}

at::Tensor Aliases::out(at::Tensor result) {
  if (!result.defined() || !result.device().is_cpu()) return result;
  for (const auto& pair : tensors_)
    if (pair.alias.is_same(result)) return pair.original;
  TensorImpl* impl = result.unsafeGetTensorImpl();
  if (is_sparse(result))
    return sparse_on_device(result, device_, [this](const at::Tensor& part) { return out(part); });
  if (!impl->has_storage()) return result;
  StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  for (const auto& pair : storages_) {
    if (pair.alias.get() != storage) continue;
    become_view(impl, pair.original, keys_for_view(pair.first->key_set(), result));
    return result;
  }
  for (const auto* storage_of_cpu : of_cpu_)
    if (storage_of_cpu == storage) return result;
  if (!adopts_) return result;
  adopt(result, device_);
  return result;
}

void Aliases::write_back() {
  for (auto& pair : storages_) {
    StorageImpl* alias = pair.alias.get();
    if (alias->data() == pair.original->data() &&
        alias->sym_nbytes() == pair.original->sym_nbytes())
      continue;
    c10::DataPtr moved = std::move(alias->_mutable_data_ptr_no_checks());
    if (moved.get_context() != pair.original) {  // new memory
      put_on_device(moved, alias->nbytes(), pair.original->device());
      pair.original->set_data_ptr_noswap(std::move(moved));
    }
    pair.original->set_nbytes(alias->sym_nbytes());
  }
  for (auto& pair : tensors_) {
    if (!pair.written) continue;
    if (is_sparse(pair.alias)) {
      take_over_sparse(pair.original, pair.alias,
                       [this](const at::Tensor& part) { return out(part); });
      continue;
    }
    TensorImpl* alias = pair.alias.unsafeGetTensorImpl();
    TensorImpl* original = pair.original.unsafeGetTensorImpl();
    if (alias->is_conj() != original->is_conj()) original->_set_conj(alias->is_conj());
    if (alias->is_neg() != original->is_neg()) original->_set_neg(alias->is_neg());
    if (alias->sizes() == original->sizes() && alias->strides() == original->strides() &&
        alias->storage_offset() == original->storage_offset())
      continue;
    original->set_sizes_and_strides(alias->sizes(), alias->strides(), alias->storage_offset());
  }
}

}  // namespace awt
