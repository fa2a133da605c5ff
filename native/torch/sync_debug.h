// torch.cuda.set_sync_debug_mode: a warning or an error where an operator makes the host wait for
// the device.
#pragma once

#include "fallback.h"

namespace awt {

// 0 off, 1 warn, 2 error.
int sync_debug_mode() noexcept;

// Called for every operator while the mode is not 0; warns or raises for those that wait: whose
// result depends on data, and copies between host and device that do not say non_blocking.
void note_waiting(const c10::OperatorHandle& op, const OpInfo& info,
                  const torch::jit::Stack& stack);

}  // namespace awt
