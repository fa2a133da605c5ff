// torch.cuda.set_sync_debug_mode: a warning or an error where an operator makes the host wait for
// the device.
#pragma once

#include "fallback.h"

namespace awt {

// 0 off, 1 warn, 2 error.
int sync_debug_mode() noexcept;

// Does what the mode says, which is not 0, where the host waits.
void warn_or_refuse_to_wait();

// Called for every operator while the mode is not 0 or a sanitiser listens; notes those that wait
// for the current stream of `device` on CUDA: whose result depends on data, and copies between host
// and device that do not say non_blocking.
void note_waiting(const c10::OperatorHandle& op, const OpInfo& info, const torch::jit::Stack& stack,
                  c10::DeviceIndex device);

}  // namespace awt
