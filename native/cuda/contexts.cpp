#include "cuda/contexts.h"

#include <pthread.h>

#include "core/activity_resources.h"
#include "cuda/mipmaps.h"
#include "cuda/module.h"
#include "cuda/textures.h"
#include "cuda/thread.h"
#include "cuda/visible.h"

namespace aw {

thread_local constinit ThreadState thread_state;

namespace {

using Stack = std::vector<std::shared_ptr<Context>>;

Handles<Context>& contexts() {
  static auto& instance = *new Handles<Context>;
  return instance;
}

void end_stack(void* ending) {
  thread_state.context = nullptr, thread_state.stack = nullptr;
  delete static_cast<Stack*>(ending);
}

// POSIX ends the values of keys behind all thread-local objects of C++, and only where a thread
// ends, not with the process: destructors of either kind and of static objects, which may free
// what they hold of a device, still have the context.
Stack& make_stack() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, end_stack)) throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
    return made;
  }();
  auto made = std::make_unique<Stack>();
  if (pthread_setspecific(key, made.get())) throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  return *(thread_state.stack = made.release());
}

void follow(const Stack& stack) {
  Context* now = stack.empty() ? nullptr : stack.back().get();
  thread_state.context = now;
  if (now && !now->destroyed) work_on_device(now->device);
}

}  // namespace

std::shared_ptr<Context> make_context(int device, unsigned flags, unsigned version) {
  static std::atomic<uint64_t> next_id{1};
  auto context = std::make_shared<Context>();
  context->id = next_id++;
  context->device = device;
  context->flags = flags;
  context->version = version;
  begin_streams(context);
  context->handle = contexts().add(context);
  tell_of(AW_RESOURCE_CONTEXT, context->handle, false);
  return context;
}

void destroy_context(const std::shared_ptr<Context>& context) {
  refuse_inside_callback();
  if (context->destroyed.exchange(true)) throw Failure(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  try {
    context->wait_for_streams();
  } catch (const Failure&) {  // it goes anyway
  }
  tell_of(AW_RESOURCE_CONTEXT, context->handle, true);
  contexts().remove(context->handle);
  auto owned = [&](auto& object) { return object.context.lock() == context; };
  modules().remove_if(owned);
  functions().remove_if(owned);
  textures().remove_if(owned);
  surfaces().remove_if(owned);
  mipmapped_arrays().remove_if(owned);
  arrays().remove_if(owned);
  end_streams_and_memory(context);
}

void push_context(std::shared_ptr<Context> context) {
  Stack& stack = thread_state.stack ? *thread_state.stack : make_stack();
  stack.push_back(std::move(context));
  follow(stack);
}

std::shared_ptr<Context> pop_context() {
  if (!thread_state.context) return nullptr;
  Stack& stack = *thread_state.stack;
  auto context = std::move(stack.back());
  stack.pop_back();
  follow(stack);
  return context;
}

void drop_if_current(const Context& context) {
  if (thread_state.context == &context) pop_context();
}

const std::shared_ptr<Context>& current_context() {
  if (thread_state.inside_callback) throw Failure(CUDA_ERROR_NOT_PERMITTED);
  if (!thread_state.context) throw Failure(CUDA_ERROR_INVALID_CONTEXT);
  thread_state.context->check();
  return thread_state.stack->back();
}

std::shared_ptr<Context> peek_context() {
  return thread_state.context ? thread_state.stack->back() : nullptr;
}

int current_device() { return thread_state.context ? thread_state.context->device : 0; }

std::shared_ptr<Context> context_of(CUcontext handle) {
  auto context = contexts().find(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return context;
}

void refuse_inside_callback() {
  if (thread_state.inside_callback) throw Failure(CUDA_ERROR_NOT_PERMITTED);
}

}  // namespace aw

using namespace aw;

// For libcudart, which has no contexts of its own (docs/contracts.md, section 8).
AW_EXPORT uint64_t anywarp_current_context(int* device) {
  Context* context = thread_state.context;
  if (!context || context->destroyed.load(std::memory_order_relaxed)) return 0;
  *device = context->device;
  return context->handle;
}
