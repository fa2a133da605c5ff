// What kernels left for the host: text to print, and the traps and failed assertions that become
// CUDA's errors.
#pragma once

#include <cstdint>

#include "cuda/context.h"
#include "hip/runtime.h"

namespace aw {

// HIP works on a device for as long as this lives, whatever context is current.
class OnDevice {
 public:
  explicit OnDevice(CUdevice dev);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

// Work of ours while this lives is no part of what the thread records, and invalidates no capture.
class OutsideCapture {
 public:
  OutsideCapture();
  ~OutsideCapture();
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;
};

// Writes device memory that no work uses yet, and breaks no capture.
void write_bytes(void* to, const void* from, size_t bytes, int device);

// The same behind what the legacy stream waits for, as a copy at once does.
void write_bytes_in_order(void* to, const void* from, size_t bytes, int device);

// Reads what kernels of the context's device wrote, after they were waited for: prints it, and lets
// the context fail of a trap.
void drain_services(Context& context);

// The address that kernels of this device find in AwHipHidden.services; 0: none.
uint64_t services_address(CUdevice dev);

// Remembers which kernel a launch ran, for the message when it traps; the name must live as long as
// the process.
void note_launch(uint64_t grid_id, const char* name);

}  // namespace aw
