#include "cuda/contexts.h"

#include <unordered_map>

#include "core/activity_resources.h"
#include "cpu/event.h"
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/mipmaps.h"
#include "cuda/module.h"
#include "cuda/textures.h"

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

// The per-thread default streams of one thread, by context.
struct OwnStreams {
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> by_context;
  ~OwnStreams() {
    for (auto& [id, stream] : by_context) stream->retire();
  }
};

}  // namespace

Context::~Context() {
  if (error) --pending_work();
}

void Context::fail(int code, const std::string& text) {
  int none = 0;
  if (!error.compare_exchange_strong(none, code)) return;
  ++pending_work();  // who looks for work left looks for errors left
  diagnose(LogLevel::error, text);
}

std::vector<std::shared_ptr<Stream>> live_streams(Context& context) {
  std::vector<std::shared_ptr<Stream>> out;
  std::lock_guard lock(context.mutex);
  std::erase_if(context.streams, [&](auto& weak) {
    auto stream = weak.lock();
    if (!stream) return true;
    out.push_back(std::move(stream));
    return false;
  });
  return out;
}

void Context::wait_for_streams() {
  auto all = live_streams(*this);
  all.push_back(legacy);
  for (auto& stream : all) {
    if (stream) stream->wait();
  }
}

std::shared_ptr<Context> make_context(int device, unsigned flags, unsigned version) {
  static std::atomic<uint64_t> next_id{1};
  auto context = std::make_shared<Context>();
  context->id = next_id++;
  context->device = device;
  context->flags = flags;
  context->version = version;
  context->legacy = std::make_shared<Stream>(context, CU_STREAM_DEFAULT, 0);
  context->legacy->is_legacy = true;
  context->handle = contexts().add(context);
  tell_of(AW_RESOURCE_CONTEXT, context->handle, false);
  return context;
}

void destroy_context(const std::shared_ptr<Context>& context) {
  refuse_inside_callback();
  if (context->destroyed.exchange(true)) throw Failure(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  context->wait_for_streams();
  tell_of(AW_RESOURCE_CONTEXT, context->handle, true);
  contexts().remove(context->handle);
  // Streams of a green context outlive it, detached, until they are destroyed (cuGreenCtxDestroy).
  auto ends = [&](Stream& s) { return s.context == context && !context->green; };
  for (auto& stream : streams().remove_if(ends)) stream->retire();
  for (auto& stream : live_streams(*context)) stream->retire();
  auto owned = [&](auto& object) { return object.context.lock() == context; };
  modules().remove_if(owned);
  functions().remove_if(owned);
  events().remove_if([&](Event& e) { return e.context.lock() == context; });
  textures().remove_if(owned);
  surfaces().remove_if(owned);
  mipmapped_arrays().remove_if(owned);
  arrays().remove_if(owned);
  free_memory_of(context->id);
  if (auto legacy = std::exchange(context->legacy, nullptr)) legacy->retire();
}

void push_context(std::shared_ptr<Context> context) { stack().push_back(std::move(context)); }

std::shared_ptr<Context> pop_context() {
  if (stack().empty()) return nullptr;
  auto context = std::move(stack().back());
  stack().pop_back();
  return context;
}

void drop_if_current(const Context& context) {
  if (!stack().empty() && stack().back().get() == &context) stack().pop_back();
}

const std::shared_ptr<Context>& current_context() {
  if (inside_callback()) throw Failure(CUDA_ERROR_NOT_PERMITTED);
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

std::shared_ptr<Stream> per_thread_stream(const std::shared_ptr<Context>& context) {
  thread_local OwnStreams own;
  auto& stream = own.by_context[context->id];
  if (!stream) {
    stream = std::make_shared<Stream>(context, CU_STREAM_DEFAULT, 0);
    std::lock_guard lock(context->mutex);
    context->streams.push_back(stream);
  }
  return stream;
}

bool& inside_callback() {
  thread_local bool inside = false;
  return inside;
}

Context*& context_of_callback() {
  thread_local Context* context = nullptr;
  return context;
}

void refuse_inside_callback() {
  if (inside_callback()) throw Failure(CUDA_ERROR_NOT_PERMITTED);
}

}  // namespace aw
