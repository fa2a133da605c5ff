// Turns a fault inside a kernel into an error of its launch, so that the process lives.
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdint>

namespace aw {

// What a kernel running on this thread left behind when it faulted.
struct FaultFrame {
  sigjmp_buf resume;
  int signal = 0;
  int code = 0;
  uint64_t address = 0;
};

// Gives this thread a signal stack of its own and puts our handlers in place. Idempotent; call
// before running kernels.
void prepare_for_faults();

// While a frame is set, a fault on this thread jumps to it; null outside kernels.
void set_fault_frame(FaultFrame* frame);

}  // namespace aw
