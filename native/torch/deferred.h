// Operators that run later: on a stream (ANYWARP_ASYNC=1), or in a graph that is being captured.
//
// Such an operator becomes a host function of the driver on its stream, so the driver's own rules
// give the order: streams, events, default streams, captures across streams, replays. Its results
// exist at once, with the shapes that Meta kernels tell.
#pragma once

#include <c10/core/Stream.h>

#include <functional>
#include <string>
#include <vector>

#include "fallback.h"
#include "seam.h"

namespace awt {

// How many reasons there are to look closer (captures under way, asynchronous mode); 0 in ordinary
// runs.
extern int reasons_to_defer;
void count_reasons(int change) noexcept;

// Asked for every operator.
inline bool deferring() {
  if (__builtin_expect(captured_elsewhere(), 0)) return true;
  return __atomic_load_n(&reasons_to_defer, __ATOMIC_RELAXED) != 0;
}

// True when ANYWARP_ASYNC=1 was set as the library was loaded.
bool asynchronous() noexcept;

// One more reason to defer, or one less: captures.
void count_capture(int change) noexcept;

// Gives the operator to the current stream and leaves its results on the stack; false when it shall
// run now.
bool run_later(const c10::OperatorHandle& op, const OpInfo& info, c10::DispatchKeySet keys,
               torch::jit::Stack* stack);

// The same for code that is no operator: `work` comes behind everything given to the current stream
// of `device`, or goes into the graph that the stream is captured into; false when it shall run
// now. `memory`: addresses of the device's that must still be there. `work` may run more than once,
// on any thread, may not touch reference counts of the program's tensors, and says by an exception
// that it failed.
bool give_to_stream(c10::DeviceIndex device, std::string name, std::vector<const void*> memory,
                    std::function<void()> work);

// Waits until all operators given to streams that draw random numbers have drawn them.
void settle_draws();
void note_draws(c10::Stream stream);  // something that draws was given to it: a graph

}  // namespace awt
