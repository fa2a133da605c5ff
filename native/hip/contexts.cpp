// Contexts over HIP's devices: ours are objects of their own, and while one is current on a thread,
// HIP works on its device there.
#include "cuda/contexts.h"

#include "core/activity_resources.h"
#include "cuda/memory.h"
#include "cuda/mipmaps.h"
#include "cuda/module.h"
#include "cuda/textures.h"
#include "hip/devices.h"
#include "hip/ownership.h"
#include "hip/services.h"
#include "hip/thread.h"

namespace aw {
namespace {

Handles<Context>& contexts() {
  static auto& instance = *new Handles<Context>;
  return instance;
}

std::vector<std::shared_ptr<Context>>& stack() {
  thread_local std::vector<std::shared_ptr<Context>> instance;
  return instance;
}

void follow_stack() {
  Context* now = stack().empty() ? nullptr : stack().back().get();
  thread_state.context = now;
  if (now && !now->destroyed) check(hip.hipSetDevice(hip_device(now->device)));
}

}  // namespace

Context::~Context() = default;

void Context::fail(int code, const std::string& text) {
  int none = 0;
  if (!error.compare_exchange_strong(none, code)) return;
  if (!text.empty()) diagnose(LogLevel::error, text);
}

// All work of the device: HIP has no smaller set that a context could own.
void Context::wait_for_streams() {
  OnDevice here(device);
  hipError_t error = hip.hipDeviceSynchronize();
  drain_services(*this);
  if (error != hipSuccess) throw Failure(cuda_code(error));
}

OnDevice::OnDevice(CUdevice dev)
    : before_(thread_state.context ? hip_device(thread_state.context->device) : -1) {
  int wanted = hip_device(dev);
  if (before_ == wanted)
    before_ = -1;
  else
    check(hip.hipSetDevice(wanted));
}

OnDevice::~OnDevice() {
  if (before_ >= 0) (void)hip.hipSetDevice(before_);
}

OutsideCapture::OutsideCapture() {
  if (hip.hipThreadExchangeStreamCaptureMode) (void)hip.hipThreadExchangeStreamCaptureMode(&mode_);
}

OutsideCapture::~OutsideCapture() {
  if (hip.hipThreadExchangeStreamCaptureMode) (void)hip.hipThreadExchangeStreamCaptureMode(&mode_);
}

std::shared_ptr<Context> make_context(int device, unsigned flags, unsigned version) {
  static std::atomic<uint64_t> next_id{1};
  auto context = std::make_shared<Context>();
  context->id = next_id++;
  context->device = device;
  context->flags = flags;
  context->version = version;
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
  OnDevice here(context->device);
  destroy_streams_of(context->handle);
  free_memory_of_context(context->id);
}

void push_context(std::shared_ptr<Context> context) {
  stack().push_back(std::move(context));
  follow_stack();
}

std::shared_ptr<Context> pop_context() {
  if (stack().empty()) return nullptr;
  auto context = std::move(stack().back());
  stack().pop_back();
  follow_stack();
  return context;
}

void drop_if_current(const Context& context) {
  if (stack().empty() || stack().back().get() != &context) return;
  stack().pop_back();
  follow_stack();
}

const std::shared_ptr<Context>& current_context() {
  if (thread_state.inside_callback) throw Failure(CUDA_ERROR_NOT_PERMITTED);
  if (stack().empty()) throw Failure(CUDA_ERROR_INVALID_CONTEXT);
  stack().back()->check();
  return stack().back();
}

std::shared_ptr<Context> peek_context() { return stack().empty() ? nullptr : stack().back(); }

const std::shared_ptr<Context>& peek_context_quickly() {
  static const auto& none = *new std::shared_ptr<Context>;
  return stack().empty() ? none : stack().back();
}

std::shared_ptr<Context> context_of(CUcontext handle) {
  auto context = contexts().find(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return context;
}

// HIP itself refuses to wait for a stream that is being captured, and says so with the code that
// CUDA has.
void refuse_captures(Context&) {}

PerThreadDefault::PerThreadDefault() : before_(thread_state.per_thread) {
  thread_state.per_thread = true;
}
PerThreadDefault::~PerThreadDefault() { thread_state.per_thread = before_; }

void refuse_inside_callback() {
  if (thread_state.inside_callback) throw Failure(CUDA_ERROR_NOT_PERMITTED);
}

}  // namespace aw
