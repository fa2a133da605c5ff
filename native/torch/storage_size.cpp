// storage.resize_(), which torch's Python module leaves out of a CPU build for device memory.
#include <c10/core/StorageImpl.h>

#include <algorithm>
#include <cstring>

#include "devices.h"
#include "exported.h"
#include "streams.h"

namespace {

// Makes the current device that of the storage, as the allocator takes memory from the current one.
struct OnDeviceOf {
  explicit OnDeviceOf(c10::DeviceIndex device) : before(awt::current_device()) {
    if (device != before) awt::set_device(device);
    awt::enter_thread();
  }
  ~OnDeviceOf() {
    if (awt::current_device() != before) awt::set_device(before);
  }
  const c10::DeviceIndex before;
};

void resize(c10::StorageImpl& storage, size_t bytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  const auto device = storage.device();
  TORCH_CHECK(device.is_cuda(), "the storage is on ", device);
  OnDeviceOf here(device.index());
  awt::wait_for_driver(device.index());  // operators under way still use the memory
  c10::DataPtr fresh(nullptr, device);
  if (bytes > 0) {
    TORCH_CHECK(storage.allocator(), "the storage has no allocator");
    fresh = storage.allocator()->allocate(bytes);
    const size_t kept = std::min(bytes, storage.nbytes());
    if (kept > 0) std::memcpy(fresh.get(), storage.data(), kept);
  }
  storage.set_data_ptr_noswap(std::move(fresh));
  storage.set_nbytes(bytes);
}

}  // namespace

AWT_EXPORT int awt_storage_resize(uint64_t storage, uint64_t bytes) {
  return awt::exported([&] {
    TORCH_CHECK(storage, "no storage");
    resize(*reinterpret_cast<c10::StorageImpl*>(storage), size_t(bytes));
  });
}
