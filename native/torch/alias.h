// A device tensor seen as a CPU tensor on the same memory, and results on their way back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>

namespace awt {

// A strided tensor on a CUDA device: not sparse, nested or quantised (those have other keys in the
// place of Dense).
inline bool is_plain_cuda(const at::Tensor& tensor) {
  return tensor.key_set().has_all(c10::DispatchKeySet(c10::DispatchKey::CUDA));
}

// While one lives, CPU allocations of this thread come from the memory of `device`.
class OnDevice {
 public:
  explicit OnDevice(c10::DeviceIndex device) noexcept;
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  c10::DeviceIndex before_;
};

// The device whose operator runs on this thread; -1 outside.
c10::DeviceIndex current_op_device() noexcept;

// A CPU tensor over the memory of `device_tensor`, which it keeps alive; anything that is no
// strided CUDA tensor comes back as it is. Shapes, strides and dtype are those of the moment.
at::Tensor cpu_alias(const at::Tensor& device_tensor);

// Turns a CPU tensor that nothing else refers to into one of `device`, in place: memory of the
// device is kept, other memory is copied into it.
void adopt(const at::Tensor& cpu, c10::DeviceIndex device);

// The parts of an alias, for a caller that keeps its own account of a call (compiled.cpp).
// `alias_storage` keeps `original` alive; `alias_tensor` has the shape of `original` at the moment.
c10::intrusive_ptr<c10::StorageImpl> alias_storage(c10::StorageImpl* original, bool written);
at::Tensor alias_tensor(const c10::TensorImpl* original,
                        c10::intrusive_ptr<c10::StorageImpl> storage);

// Turns a CPU view of an alias storage into a view of the `original` storage, in place; `like` are
// the keys of a device tensor on it.
void become_view(c10::TensorImpl* view, c10::StorageImpl* original, c10::DispatchKeySet like);

// The aliases of one call, so that arguments and results find each other.
class Aliases {
 public:
  explicit Aliases(c10::DeviceIndex device) : device_(device) {}

  // The alias of an argument (made once per TensorImpl and once per storage); CPU arguments are
  // only remembered. `written` when the kernel may write to it.
  at::Tensor in(const at::Tensor& argument, bool written = false);

  // A result: the original of an alias, a view of an original storage, or a fresh tensor adopted.
  at::Tensor out(at::Tensor result);

  // Fresh results stay the CPU's: the program asked for them there.
  void leave_on_cpu() { adopts_ = false; }

  // After the call: sizes, strides and storages that the kernel changed go to the originals.
  void write_back();

 private:
  struct StoragePair {
    c10::StorageImpl* original;
    c10::intrusive_ptr<c10::StorageImpl> alias;
    const c10::TensorImpl* first;  // whose keys views of it take over
  };
  struct TensorPair {
    at::Tensor original;
    at::Tensor alias;
    bool written;
  };
  const StoragePair& storage_of(const at::Tensor& argument, bool written);
  at::Tensor of_layout(const at::Tensor& argument, bool written);

  c10::DeviceIndex device_;
  bool adopts_ = true;
  c10::SmallVector<StoragePair, 4> storages_;
  c10::SmallVector<TensorPair, 4> tensors_;
  c10::SmallVector<const c10::StorageImpl*, 2> of_cpu_;
};

}  // namespace awt
