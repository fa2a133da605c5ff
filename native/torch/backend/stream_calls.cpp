// What names/streams.py calls: streams as (id, device), events as handles of the driver.
#include <cstring>

#include "devices.h"
#include "driver.h"
#include "exported.h"
#include "streams.h"

using namespace awt;

namespace {

struct IpcHandle {
  char bytes[64];
};

const DriverFn<CUresult(CUevent, CUstream, unsigned)> event_record_with{"cuEventRecordWithFlags"};
const DriverFn<CUresult(IpcHandle*, CUevent)> event_export{"cuIpcGetEventHandle"};
const DriverFn<CUresult(CUevent*, IpcHandle)> event_import{"cuIpcOpenEventHandle"};

c10::DeviceIndex device_or_current(int device) {
  const int found = device < 0 ? current_device() : device;
  if (found >= device_count()) check(CUDA_ERROR_INVALID_DEVICE);
  return c10::DeviceIndex(found);
}

c10::Stream stream_of(int64_t id, int device) {
  return c10::Stream(c10::Stream::UNSAFE,
                     c10::Device(c10::DeviceType::CUDA, device_or_current(device)), id);
}

void* event_of(uint64_t handle) { return reinterpret_cast<void*>(handle); }

}  // namespace

AWT_EXPORT int awt_current_stream(int device, int64_t* id) {
  return exported([&] { *id = current_stream(device_or_current(device)).id(); });
}

// As torch: also makes the stream's device the current one.
AWT_EXPORT int awt_set_stream(int64_t id, int device) {
  return exported([&] {
    const c10::Stream stream = stream_of(id, device);
    native_stream(stream);  // raises for an id that names none
    set_device(stream.device_index());
    exchange_stream(stream);
  });
}

AWT_EXPORT int awt_new_stream(int device, int priority, int64_t* id) {
  return exported([&] { *id = pool_stream(device_or_current(device), priority).id(); });
}

AWT_EXPORT int awt_native_stream(int64_t id, int device, uint64_t* handle) {
  return exported(
      [&] { *handle = reinterpret_cast<uint64_t>(native_stream(stream_of(id, device))); });
}

AWT_EXPORT int awt_current_native_stream(int device, uint64_t* handle) {
  return exported([&] {
    *handle = reinterpret_cast<uint64_t>(native_stream(current_stream(device_or_current(device))));
  });
}

AWT_EXPORT int awt_stream_priority(int64_t id, int device, int* priority) {
  return exported([&] { *priority = stream_priority(stream_of(id, device)); });
}

AWT_EXPORT int awt_capturing(int* yes) {
  return exported([&] { *yes = stream_capturing(current_stream(current_device())); });
}

AWT_EXPORT int awt_synchronize() {
  return exported([&] { wait_for_device(current_device()); });
}

AWT_EXPORT int awt_sleep(int64_t cycles) {
  return exported([&] { sleep_on(current_stream(current_device()), cycles); });
}

AWT_EXPORT void awt_next_event_flags(unsigned flags) { next_event_flags() = flags; }

AWT_EXPORT int awt_event_make(int device, unsigned flags, uint64_t* event) {
  return exported(
      [&] { *event = reinterpret_cast<uint64_t>(make_event(device_or_current(device), flags)); });
}

AWT_EXPORT int awt_event_record(uint64_t event, int64_t id, int device) {
  return exported([&] {
    void* handle = event_of(event);
    record_event(&handle, stream_of(id, device), true);
  });
}

AWT_EXPORT int awt_event_record_external(uint64_t event, int64_t id, int device) {
  return exported([&] {
    const c10::Stream stream = stream_of(id, device);
    const InContext on(stream.device_index());
    check(event_record_with(static_cast<CUevent>(event_of(event)), native_stream(stream), 1));
  });
}

AWT_EXPORT int awt_event_wait(uint64_t event, int64_t id, int device, int external) {
  return exported([&] { stream_waits(stream_of(id, device), event_of(event), external != 0); });
}

AWT_EXPORT int awt_event_query(uint64_t event, int* done) {
  return exported([&] { *done = event_done(event_of(event)); });
}

AWT_EXPORT int awt_event_synchronize(uint64_t event) {
  return exported([&] { wait_for_event(event_of(event)); });
}

AWT_EXPORT void awt_event_destroy(uint64_t event) { destroy_event(event_of(event)); }

AWT_EXPORT int awt_event_elapsed(uint64_t first, uint64_t second, double* milliseconds) {
  return exported([&] { *milliseconds = elapsed_milliseconds(event_of(first), event_of(second)); });
}

AWT_EXPORT int awt_event_export(uint64_t event, char* bytes) {
  return exported([&] {
    IpcHandle handle;
    check(event_export(&handle, static_cast<CUevent>(event_of(event))));
    std::memcpy(bytes, handle.bytes, sizeof handle);
  });
}

AWT_EXPORT int awt_event_import(int device, const char* bytes, uint64_t* event) {
  return exported([&] {
    const InContext on(device_or_current(device));
    IpcHandle handle;
    std::memcpy(handle.bytes, bytes, sizeof handle);
    CUevent made = nullptr;
    check(event_import(&made, handle));
    *event = reinterpret_cast<uint64_t>(made);
  });
}
