// What generated forwarding functions use.
#pragma once

#include "cuda/api.h"
#include "cuda/context.h"
#include "hip/runtime.h"
#include "hip/stream.h"

namespace aw {

// Throws INVALID_CONTEXT without a current context, and the error that sticks to it.
inline Context& require_context() {
  Context* context = thread_state.context;
  if (__builtin_expect(!context || thread_state.inside_callback, 0)) current_context();
  if (__builtin_expect(context->destroyed.load(std::memory_order_relaxed) ||
                           context->error.load(std::memory_order_relaxed),
                       0))
    context->check();
  return *context;
}

}  // namespace aw
