#include "compiled.h"

#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include <memory>
#include <tuple>
#include <utility>

#include "allocator.h"
#include "devices.h"
#include "streams.h"

namespace awt {
namespace {

using c10::DeviceIndex;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

// Functions compiled by Inductor call each other through operators written in Python.
thread_local std::vector<std::unique_ptr<CompiledCall>> calls;

constexpr DispatchKeySet kLazyViews({DispatchKey::Conjugate, DispatchKey::Negative});

bool on_cuda(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cuda() && tensor.layout() == at::kStrided &&
         tensor.unsafeGetTensorImpl()->has_storage();
}

StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

// With keys for autograd, which compiled code meets when it calls operators.
at::Tensor seen_as(const TensorImpl* tensor, c10::intrusive_ptr<StorageImpl> storage,
                   DispatchKey backend) {
  auto impl = c10::make_intrusive<TensorImpl>(
      c10::Storage(std::move(storage)), DispatchKeySet(backend) | (tensor->key_set() & kLazyViews),
      tensor->dtype());
  impl->set_sizes_and_strides(tensor->sizes(), tensor->strides(), tensor->storage_offset());
  return at::Tensor(std::move(impl));
}

// Memory of its own, outside of what the call allocates on the device.
at::Tensor copied(const at::Tensor& tensor, DeviceIndex device) {
  const OnDevice there(device);
  at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
  copy.copy_(tensor);
  return copy;
}

void release_storage(void* storage) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage));
}

}  // namespace

CompiledCall* current_call() noexcept { return calls.empty() ? nullptr : calls.back().get(); }

CompiledCall::CompiledCall(DeviceIndex device, size_t arguments, bool keep)
    : device_(device), keep_(keep), here_(device) {
  storages_.reserve(arguments);
  tensors_.reserve(arguments);
  for (auto* places : {&by_original_, &by_alias_, &by_tensor_}) places->reserve(arguments);
}

c10::intrusive_ptr<StorageImpl> CompiledCall::storage_for(TensorImpl* argument) {
  StorageImpl* original = argument->unsafe_storage().unsafeGetStorageImpl();
  const auto [place, fresh] = by_original_.emplace(original, storages_.size());
  if (!fresh) {
    if (auto alias = storages_[place->second].alias.lock()) return alias;
    by_alias_.erase(storages_[place->second].alias._unsafe_get_target());
  }
  auto alias = alias_storage(original, true);
  StoragePair pair{original, c10::weak_intrusive_ptr<StorageImpl>(alias), argument->key_set()};
  by_alias_[alias.get()] = place->second;
  if (fresh)
    storages_.push_back(std::move(pair));
  else
    storages_[place->second] = std::move(pair);
  return alias;
}

at::Tensor CompiledCall::in(const at::Tensor& argument) {
  if (!on_cuda(argument)) return argument;
  TensorImpl* impl = argument.unsafeGetTensorImpl();
  at::Tensor alias = seen_as(impl, storage_for(impl), DispatchKey::CPU);
  by_tensor_[alias.unsafeGetTensorImpl()] = tensors_.size();
  tensors_.push_back({c10::weak_intrusive_ptr<TensorImpl>(argument.getIntrusivePtr()),
                      c10::weak_intrusive_ptr<TensorImpl>(alias.getIntrusivePtr())});
  if (keep_) kept_.push_back(alias);
  return alias;
}

const CompiledCall::StoragePair* CompiledCall::pair_of(const StorageImpl* alias) const {
  const auto found = by_alias_.find(alias);
  return found == by_alias_.end() ? nullptr : &storages_[found->second];
}

at::Tensor CompiledCall::original_of(const at::Tensor& alias) const {
  const auto found = by_tensor_.find(alias.unsafeGetTensorImpl());
  if (found == by_tensor_.end()) return {};
  return at::Tensor(tensors_[found->second].original.lock());
}

at::Tensor CompiledCall::out(at::Tensor result, DeviceIndex device) {
  if (!result.defined() || !result.device().is_cpu()) return result;
  TensorImpl* impl = result.unsafeGetTensorImpl();
  if (!impl->has_storage()) return result;
  const StoragePair* pair = pair_of(storage_of(result));
  if (device < 0) return pair ? copied(result, -1) : result;
  if (!pair) {
    adopt(result, device);
    return result;
  }
  if (pair->original->device().index() != device) {
    at::Tensor copy = copied(result, device);
    adopt(copy, device);
    return copy;
  }
  if (at::Tensor original = original_of(result); original.defined()) return original;
  become_view(impl, pair->original, pair->like);
  return result;
}

void CompiledCall::write_back() {
  for (auto& pair : storages_) {
    auto alias = pair.alias.lock();
    if (!alias || (alias->data() == pair.original->data() &&
                   alias->sym_nbytes() == pair.original->sym_nbytes()))
      continue;
    c10::DataPtr moved = std::move(alias->_mutable_data_ptr_no_checks());
    if (moved.get_context() != pair.original) {
      moved.unsafe_set_device(pair.original->device());
      pair.original->set_data_ptr_noswap(std::move(moved));
    }
    pair.original->set_nbytes(alias->sym_nbytes());
  }
}

at::Tensor CompiledCall::as_device(const at::Tensor& cpu, DeviceIndex device) {
  if (!cpu.defined() || !cpu.device().is_cpu()) return cpu;
  if (at::Tensor original = original_of(cpu); original.defined()) return original;
  const c10::Device target(c10::DeviceType::CUDA, device);
  StorageImpl* inner = storage_of(cpu);
  const StoragePair* pair = pair_of(inner);
  c10::intrusive_ptr<StorageImpl> storage;
  if (pair) {
    storage = c10::intrusive_ptr<StorageImpl>::reclaim_copy(pair->original);
  } else {
    c10::raw::intrusive_ptr::incref(inner);
    storage = c10::make_intrusive<StorageImpl>(
        StorageImpl::use_byte_size_t(), inner->sym_nbytes(),
        c10::DataPtr(inner->mutable_data(), inner, &release_storage, target), device_allocator(),
        inner->resizable());
  }
  return seen_as(cpu.unsafeGetTensorImpl(), std::move(storage), DispatchKey::CUDA);
}

at::Tensor CompiledCall::as_cpu(const at::Tensor& device_tensor) {
  if (!on_cuda(device_tensor)) return device_tensor;
  TensorImpl* impl = device_tensor.unsafeGetTensorImpl();
  const auto known = by_original_.find(storage_of(device_tensor));
  if (known != by_original_.end())
    if (auto alias = storages_[known->second].alias.lock())
      return seen_as(impl, std::move(alias), DispatchKey::CPU);
  return seen_as(impl, alias_storage(storage_of(device_tensor), true), DispatchKey::CPU);
}

namespace {

// Arguments of a device become aliases until `leave` or `abandon` ends the call.
std::vector<at::Tensor> enter(at::TensorList arguments, int64_t device, bool keep) {
  const auto index = static_cast<DeviceIndex>(device);
  if (!on_driver_thread()) {
    enter_thread_for(index);
    wait_for_driver(index);
    TORCH_CHECK(!stream_capturing(current_stream(index)),
                "a function compiled by torch.compile runs in a CUDA graph by its node only");
  }
  auto call = std::make_unique<CompiledCall>(index, arguments.size(), keep);
  std::vector<at::Tensor> aliases;
  aliases.reserve(arguments.size());
  for (const at::Tensor& argument : arguments) aliases.push_back(call->in(argument));
  calls.push_back(std::move(call));
  return aliases;
}

std::vector<at::Tensor> leave(at::TensorList results, at::IntArrayRef devices) {
  TORCH_CHECK(!calls.empty(), "anywarp::leave: no call to leave");
  const std::unique_ptr<CompiledCall> call = std::move(calls.back());
  calls.pop_back();
  TORCH_CHECK(results.size() == devices.size(), "anywarp::leave: ", results.size(), " results for ",
              devices.size(), " devices");
  call->write_back();
  std::vector<at::Tensor> given;
  given.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    given.push_back(call->out(results[i], static_cast<DeviceIndex>(devices[i])));
  return given;
}

void abandon() {
  if (!calls.empty()) calls.pop_back();
}

// What follows on this thread is work that the driver does in the order of a stream, until `passed`
// gets what this returns: the current device before, and whether it was such work already.
std::tuple<int64_t, bool> in_stream(int64_t device) {
  const int64_t before = current_device();
  set_device_unchecked(static_cast<DeviceIndex>(device));
  return {before, std::exchange(on_driver_thread(), true)};
}

void passed(int64_t device, bool driver) {
  on_driver_thread() = driver;
  set_device_unchecked(static_cast<DeviceIndex>(device));
}

// What checks results of kernels for views would complain of results that are arguments.
TORCH_LIBRARY_IMPL(anywarp, ADInplaceOrView, library) {
  for (const char* name : {"enter", "leave", "cpu_alias"})
    library.impl(name, torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_FRAGMENT(anywarp, library) {
  library.def("enter(Tensor(a)[] arguments, int device, bool keep) -> Tensor(a)[]",
              TORCH_FN(enter));
  library.def("leave(Tensor(a)[] results, int[] devices) -> Tensor(a)[]", TORCH_FN(leave));
  library.def("abandon() -> ()", TORCH_FN(abandon));
  library.def("in_stream(int device) -> (int, bool)", TORCH_FN(in_stream));
  library.def("passed(int device, bool driver) -> ()", TORCH_FN(passed));
  library.def("cpu_alias(Tensor(a) tensor) -> Tensor(a)", TORCH_FN(cpu_alias));
}

}  // namespace
}  // namespace awt
