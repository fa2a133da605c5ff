// One call of a function that Inductor compiled for the CPU, with the arguments of a device.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/flat_hash_map.h>

#include <vector>

#include "alias.h"

namespace awt {

// Compiled code frees arguments as soon as it can, so the account of its call holds none of them:
// only weak references, whose addresses cannot be given out again meanwhile.
class CompiledCall {
 public:
  CompiledCall(c10::DeviceIndex device, size_t arguments, bool keep);
  CompiledCall(const CompiledCall&) = delete;
  CompiledCall& operator=(const CompiledCall&) = delete;

  at::Tensor in(const at::Tensor& argument);

  // A result as a tensor of `device`; -1 for one of the CPU.
  at::Tensor out(at::Tensor result, c10::DeviceIndex device);

  // After the code has run: storages that it resized.
  void write_back();

  // An alias, or a tensor of the compiled code's own, as a device tensor on the same memory.
  at::Tensor as_device(const at::Tensor& cpu, c10::DeviceIndex device);
  // The way back, for results of an operator that ran on device tensors.
  at::Tensor as_cpu(const at::Tensor& device_tensor);

  c10::DeviceIndex device() const noexcept { return device_; }

 private:
  struct StoragePair {
    c10::StorageImpl* original;  // alive as long as the alias is
    c10::weak_intrusive_ptr<c10::StorageImpl> alias;
    c10::DispatchKeySet like;
  };
  struct TensorPair {
    c10::weak_intrusive_ptr<c10::TensorImpl> original, alias;
  };
  c10::intrusive_ptr<c10::StorageImpl> storage_for(c10::TensorImpl* argument);
  const StoragePair* pair_of(const c10::StorageImpl* alias) const;
  at::Tensor original_of(const at::Tensor& alias) const;

  c10::DeviceIndex device_;
  bool keep_;
  OnDevice here_;
  std::vector<StoragePair> storages_;
  std::vector<TensorPair> tensors_;
  ska::flat_hash_map<const void*, size_t> by_original_, by_alias_, by_tensor_;
  std::vector<at::Tensor> kept_;
};

// The innermost call on this thread; null outside.
CompiledCall* current_call() noexcept;

}  // namespace awt
