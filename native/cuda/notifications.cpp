// Driver API reference: device management, notifications. There is one kind: that a device takes
// memory away from a program. The share of a program never shrinks here, so nobody is told.
#include <map>
#include <mutex>

#include "cuda/visible.h"

using namespace aw;

namespace {

struct Registered {
  CUdevice device;
  CUasyncCallback function;
  void* data;
};

struct Notifications {
  std::mutex mutex;
  std::map<uintptr_t, Registered> callbacks;
  uintptr_t next = 1;
};

Notifications& notifications() {
  static auto& instance = *new Notifications;
  return instance;
}

}  // namespace

AW_EXPORT CUresult cuDeviceRegisterAsyncNotification(CUdevice dev, CUasyncCallback function,
                                                     void* data, CUasyncCallbackHandle* out) {
  return api<"cuDeviceRegisterAsyncNotification">([&] {
    check_device(dev);
    require(function && out);
    std::lock_guard lock(notifications().mutex);
    uintptr_t number = notifications().next++;
    notifications().callbacks[number] = {dev, function, data};
    *out = reinterpret_cast<CUasyncCallbackHandle>(number);
  });
}

AW_EXPORT CUresult cuDeviceUnregisterAsyncNotification(CUdevice dev, CUasyncCallbackHandle handle) {
  return api<"cuDeviceUnregisterAsyncNotification">([&] {
    check_device(dev);
    std::lock_guard lock(notifications().mutex);
    auto it = notifications().callbacks.find(reinterpret_cast<uintptr_t>(handle));
    require(it != notifications().callbacks.end() && it->second.device == dev);
    notifications().callbacks.erase(it);
  });
}
