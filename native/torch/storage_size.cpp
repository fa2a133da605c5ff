// storage.resize_(), which torch's Python module leaves out of a CPU build for device memory.
#include "storage_size.h"

#include <algorithm>
#include <cstring>

#include "deferred.h"
#include "devices.h"
#include "exported.h"
#include "streams.h"

namespace awt {
namespace {

// Makes the current device that of the storage, as the allocator takes memory from the current one.
struct OnDeviceOf {
  explicit OnDeviceOf(c10::DeviceIndex device) : before(current_device()) {
    if (device != before) set_device(device);
    enter_thread();
  }
  ~OnDeviceOf() {
    if (current_device() != before) set_device(before);
  }
  const c10::DeviceIndex before;
};

}  // namespace

void resize_storage(c10::StorageImpl& storage, size_t bytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  const auto device = storage.device();
  TORCH_CHECK(device.is_cuda(), "the storage is on ", device);
  OnDeviceOf here(device.index());
  c10::DataPtr fresh(nullptr, device);
  if (bytes > 0) {
    TORCH_CHECK(storage.allocator(), "the storage has no allocator");
    fresh = storage.allocator()->allocate(bytes);
    const size_t kept = std::min(bytes, storage.nbytes());
    void* to = fresh.get();
    const void* from = storage.data();
    const auto move = [=] { std::memcpy(to, from, kept); };
    if (kept > 0 && !give_to_stream(device.index(), "storage.resize_", {to, from}, move)) {
      wait_for_driver(device.index());
      move();
    }
  }
  storage.set_data_ptr_noswap(std::move(fresh));
  storage.set_nbytes(bytes);
}

}  // namespace awt

AWT_EXPORT int awt_storage_resize(uint64_t storage, uint64_t bytes) {
  return awt::exported([&] {
    TORCH_CHECK(storage, "no storage");
    awt::resize_storage(*reinterpret_cast<c10::StorageImpl*>(storage), size_t(bytes));
  });
}
