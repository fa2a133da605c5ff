// Streams and memory of the processor's contexts.
#include "cuda/contexts.h"

#include <unordered_map>

#include "cpu/event.h"
#include "cpu/memory.h"
#include "cpu/stream.h"

namespace aw {
namespace {

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

void work_on_device(int) {}  // every piece of work says which memory it is about

void begin_streams(const std::shared_ptr<Context>& context) {
  context->legacy = std::make_shared<Stream>(context, CU_STREAM_DEFAULT, 0);
  context->legacy->is_legacy = true;
}

void end_streams_and_memory(const std::shared_ptr<Context>& context) {
  // Streams of a green context outlive it, detached, until they are destroyed (cuGreenCtxDestroy).
  auto ends = [&](Stream& s) { return s.context == context && !context->green; };
  for (auto& stream : streams().remove_if(ends)) stream->retire();
  for (auto& stream : live_streams(*context)) stream->retire();
  events().remove_if([&](Event& e) { return e.context.lock() == context; });
  free_memory_of(context->id);
  note_synchronized();
  if (auto legacy = std::exchange(context->legacy, nullptr)) legacy->retire();
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

Context*& context_of_callback() {
  thread_local Context* context = nullptr;
  return context;
}

}  // namespace aw
