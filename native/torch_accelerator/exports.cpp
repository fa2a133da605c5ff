// What Python calls (frameworks/torch/accelerators/).
#include <torch/library.h>

#include "mapped.h"
#include "torch/exported.h"
#include "torch/versions.h"

namespace awa {
void register_operators();
}  // namespace awa

// Maps `cuda` to the device type of this name as C++ has it: "xpu", "mps", "privateuseone". Returns
// null, or the words of what went wrong.
AWT_EXPORT const char* awt_load_mapped(const char* type) {
  static std::string words;
  try {
    awa::set_target(c10::Device(type).type());
    c10::SetAllocator(c10::DeviceType::CUDA, awa::allocator(), 1);
    awa::register_operators();
    return nullptr;
  } catch (const std::exception& error) {
    words = error.what();
    return words.c_str();
  }
}

AWT_EXPORT int awt_device_count(int* out) {
  return awt::exported([&] { *out = awa::device_count(); });
}

AWT_EXPORT int awt_device_current(int* out) {
  return awt::exported([&] { *out = awa::outer(awa::required_guard().getDevice()).index(); });
}

// Changes the device unless it is negative; *out is the one before.
AWT_EXPORT int awt_device_exchange(int device, int* out) {
  return awt::exported([&] {
    TORCH_CHECK(device < awa::device_count(), "CUDA error: invalid device ordinal");
    const auto& guard = awa::required_guard();
    *out = awa::outer(device < 0 ? guard.getDevice()
                                 : guard.exchangeDevice({awa::target(), c10::DeviceIndex(device)}))
               .index();
  });
}

AWT_EXPORT int awt_device_synchronize() {
  return awt::exported([] {
    const auto& guard = awa::required_guard();
    guard.synchronizeDevice(guard.getDevice().index());
  });
}

AWT_EXPORT int awt_current_stream(int device, int64_t* out) {
  return awt::exported([&] {
    *out = awa::required_guard().getStream({awa::target(), c10::DeviceIndex(device)}).id();
  });
}

AWT_EXPORT int awt_default_stream(int device, int64_t* out) {
  return awt::exported([&] {
    *out = awa::required_guard().getDefaultStream({awa::target(), c10::DeviceIndex(device)}).id();
  });
}

AWT_EXPORT int awt_new_stream(int device, int priority, int64_t* out) {
  return awt::exported([&] {
    const c10::Device where(awa::target(), c10::DeviceIndex(device));
    *out = awa::required_guard().getNewStream(where, priority).id();
  });
}

AWT_EXPORT int awt_set_stream(int64_t stream, int device) {
  return awt::exported([&] {
    const c10::Device where(awa::target(), c10::DeviceIndex(device));
    awa::required_guard().setDevice(where);
    awa::required_guard().exchangeStream(c10::Stream(c10::Stream::UNSAFE, where, stream));
  });
}

// Between two recorded events (torch.Event.event_id), in milliseconds.
AWT_EXPORT int awt_event_elapsed(void* first, void* second, int device, double* out) {
  return awt::exported(
      [&] { *out = awa::required_guard().elapsedTime(first, second, c10::DeviceIndex(device)); });
}

AWT_EXPORT int awt_capturing(int* out) {
  return awt::exported([&] {
    const auto& guard = awa::required_guard();
    *out = false;
#if AWT_TORCH >= 212
    *out = guard.isStreamCapturing(guard.getStream(guard.getDevice()));
#endif
  });
}

AWT_EXPORT int awt_storage_resize(uint64_t storage, uint64_t bytes) {
  return awt::exported([&] {
    TORCH_CHECK(storage, "no storage");
    awa::resize_storage(*reinterpret_cast<c10::StorageImpl*>(storage), size_t(bytes));
  });
}

TORCH_LIBRARY_FRAGMENT(anywarp, library) {
  library.def("default_generator(int device) -> Generator?",
              [](int64_t device) { return awa::default_generator(c10::DeviceIndex(device)); });
}
