#include "cudart/state.h"

#include <algorithm>
#include <mutex>

#include "cudart/registration.h"

namespace aw {
namespace {

// What was retained, by device. All of it is constant before the first call.
struct Primaries {
  std::mutex mutex;
  CUcontext context[kMostDevices] = {};
};

constinit Primaries primaries;
constinit std::atomic<bool> driver_ready{false};

}  // namespace

void ensure_driver() {
  if (driver_ready.load(std::memory_order_relaxed)) [[likely]]
    return;
  check(cuInit(0));
  driver_ready.store(true, std::memory_order_relaxed);
}

int interface_version() {
  int driver = 0;
  check(cuDriverGetVersion(&driver));
  return std::min(driver, CUDART_VERSION);
}

int device_count() {
  ensure_driver();
  int count = 0;
  check(cuDeviceGetCount(&count));
  return count;
}

void check_device(int device) {
  require(device >= 0 && device < device_count() && device < kMostDevices, cudaErrorInvalidDevice);
}

int current_device() {
  int device;
  return anywarp_current_context(&device) ? device : thread_state().device;
}

CUcontext primary_context(int device) {
  check_device(device);
  std::lock_guard lock(primaries.mutex);
  CUcontext& context = primaries.context[device];
  unsigned flags = 0;
  int active = 0;
  if (context) check(cuDevicePrimaryCtxGetState(device, &flags, &active));
  if (context && active) return context;
  // After a reset by whomever the count of the old one is given back.
  if (context) check(cuDevicePrimaryCtxRelease_v2(device));
  context = nullptr;
  check(cuDevicePrimaryCtxRetain(&context, device));
  return context;
}

void use_device(int device) {
  check(cuCtxSetCurrent(primary_context(device)));
  thread_state().device = device;
}

void make_context_current() {
  ensure_driver();
  require(device_count() > 0, cudaErrorNoDevice);
  use_device(thread_state().device);
  load_eagerly();
}

void report_absent(const char* function, const char* reason) {
  anywarp_report_absent(function, reason);
}

cudaError_t report_failure(const char*, const Failure& failure) {
  if (!failure.text.empty()) anywarp_diagnose(failure.text.c_str());
  return static_cast<cudaError_t>(failure.code);
}

}  // namespace aw
