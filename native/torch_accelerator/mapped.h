// `cuda` as another device of the same torch: which device that is, and the two sides of a tensor.
//
// A tensor of `cuda` has a storage of its own, which holds a storage of the accelerator: the memory
// and whatever the accelerator keeps beside it. An operator sees tensors of the accelerator on
// those.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/SmallVector.h>

namespace awa {

// The accelerator's type; settled by awt_load.
c10::DeviceType target() noexcept;
void set_target(c10::DeviceType type) noexcept;

// Its name, as torch writes it: a renamed PrivateUse1 has its own.
std::string target_name();

// The accelerator's guard; null before its library is loaded.
const c10::impl::DeviceGuardImplInterface* guard() noexcept;
const c10::impl::DeviceGuardImplInterface& required_guard();

c10::DeviceIndex device_count() noexcept;

// Another device than the accelerator or `cuda` stays what it is.
c10::Device inner(c10::Device cuda);
c10::Device outer(c10::Device accelerator);
c10::Stream inner(const c10::Stream& cuda);
c10::Stream outer(const c10::Stream& accelerator);
at::Generator inner(const at::Generator& cuda);

// The generator of `cuda` around the accelerator's own.
at::Generator default_generator(c10::DeviceIndex device);
at::Generator new_generator(c10::DeviceIndex device);

// The allocator of `cuda`: each block is a storage that the accelerator's allocator made.
c10::Allocator* allocator() noexcept;

// The storage of the accelerator that one of `cuda` holds; one over the same memory for memory that
// came from elsewhere (from_blob), which keeps `cuda` alive.
c10::Storage inner_storage(const c10::Storage& cuda);
c10::Storage outer_storage(const c10::Storage& accelerator);

// Gives a storage of `cuda` other memory, which begins with as much of its content as fits.
void resize_storage(c10::StorageImpl& cuda, size_t bytes);

// The tensors of one call, so that arguments and results find each other.
class Call {
 public:
  at::Tensor in(const at::Tensor& cuda);
  c10::Storage in(const c10::Storage& cuda);

  // A result: an argument, a view of an argument's storage, or a new tensor of `cuda`.
  at::Tensor out(const at::Tensor& accelerator);

  // After the call: shapes and storages that the kernel changed go to the arguments.
  void write_back();

 private:
  struct Pair {
    at::Tensor outer, inner;
    c10::StorageImpl* storage;  // of the inner tensor, before the call
  };
  struct Storages {
    c10::Storage outer, inner;
  };
  c10::Storage storage_for(const c10::Storage& accelerator);

  c10::SmallVector<Pair, 4> tensors_;
  c10::SmallVector<Storages, 4> storages_;
};

// A value of the accelerator's with its tensors as those of `cuda`, also in lists.
c10::IValue on_cuda(Call& call, const c10::IValue& value);

// The work of a collective, and the same as the program holds it: its results are tensors of
// `cuda`, those of the call where it was given them.
bool is_work(const c10::IValue& value);
c10::IValue mapped_work(const c10::IValue& work, const Call& call);

}  // namespace awa
