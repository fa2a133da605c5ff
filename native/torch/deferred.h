// Operators that run later: on a stream (ANYWARP_ASYNC=1), or in a graph that is being captured.
#pragma once

#include "fallback.h"

namespace awt {

// How many reasons there are to look closer (captures under way, asynchronous mode); 0 in ordinary
// runs.
extern int reasons_to_defer;

// Asked for every operator.
inline bool deferring() { return __atomic_load_n(&reasons_to_defer, __ATOMIC_RELAXED) != 0; }

// Gives the operator to the current stream and leaves its results on the stack; false when it shall
// run now.
bool run_later(const c10::OperatorHandle& op, const OpInfo& info, c10::DispatchKeySet keys,
               torch::jit::Stack* stack);

}  // namespace awt
