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
  uint64_t instruction = 0;  // where the processor was
  int error = 0;             // set by raise_fault: the CUresult, ...
  unsigned lane = 0;         // ... the lane, counted from the first of worker.warp, ...
  char text[96] = {};        // ... and what was wrong
};

// Gives this thread a signal stack of its own and puts our handlers in place. Idempotent; call
// before running kernels.
void prepare_for_faults();

// The same for work that may take less time than asking the system for the handlers: a handler that
// the program installed in the last 0.1 ms stays before ours.
void prepare_for_short_work();

// While one exists on this thread, our handlers are put in place once and not before each kernel:
// for the kernels of a graph, between which the program does nothing on this thread.
class HandlersStay {
 public:
  HandlersStay();
  ~HandlersStay();
  HandlersStay(const HandlersStay&) = delete;
  static void look_again();  // a function of the program ran on this thread

 private:
  int before_;
};

// While a frame is set, a fault on this thread jumps to it; null outside kernels. Returns the one
// that was set before.
FaultFrame* set_fault_frame(FaultFrame* frame);

// Ends the kernel that runs on this thread with an error, from a function that it called: nothing
// on the way back may need a destructor. Returns if no kernel runs here.
void raise_fault(int error, unsigned lane, const char* text);

}  // namespace aw
