// The queue of a stream and the thread that works it off.
#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "cpu/capture.h"
#include "cpu/stream.h"
#include "cuda/context.h"

namespace aw {
namespace {

constexpr size_t kStackBytes = 16 << 20;  // kernels run on it

uint64_t next_stream_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

}  // namespace

std::atomic<uint64_t>& pending_work() {
  static std::atomic<uint64_t> count{0};
  return count;
}

bool is_short(uint64_t row_bytes, uint64_t rows, uint64_t layers) {
  constexpr uint64_t kMost = 128 << 10, kRow = 64;  // a row costs as much as some bytes
  uint64_t bytes;
  return !__builtin_mul_overflow(rows, layers, &bytes) &&
         !__builtin_mul_overflow(bytes, std::max(row_bytes, kRow), &bytes) && bytes <= kMost;
}

Stream::Stream(std::shared_ptr<Context> owner, unsigned stream_flags, int stream_priority)
    : context(std::move(owner)),
      flags(stream_flags),
      priority(stream_priority),
      id(next_stream_id()) {}

Stream::~Stream() = default;

Point Stream::last() const {
  std::lock_guard lock(mutex_);
  return {timeline_, submitted_, nullptr};
}

std::shared_ptr<Capture> Stream::capture() const {
  std::lock_guard lock(mutex_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  std::lock_guard lock(mutex_);
  capture_ = std::move(capture);
}

CUlaunchAttributeValue Stream::attribute(int id) const {
  std::lock_guard lock(mutex_);
  auto it = attributes_.find(id);
  return it == attributes_.end() ? CUlaunchAttributeValue{} : it->second;
}

void Stream::set_attribute(int id, const CUlaunchAttributeValue& value) {
  std::lock_guard lock(mutex_);
  attributes_[id] = value;
}

std::vector<Point> Stream::implied_waits() const {
  std::vector<Point> out;
  auto add = [&](const Stream& other) {
    Point point = other.last();
    if (!point.reached()) out.push_back(std::move(point));
  };
  if (is_legacy) {
    for (auto& stream : live_streams(*context)) {
      if (stream->blocking()) add(*stream);
    }
  } else if (blocking() && context->legacy) {
    add(*context->legacy);
  }
  return out;
}

void Stream::submit(Work work) {
  if (auto active = capture()) return active->add(*this, std::move(work));
  std::lock_guard order(context->submission);
  Item item = {std::move(work), implied_waits(), 0, Origin::here()};
  std::lock_guard lock(mutex_);
  if (!started_) start_thread();
  item.number = ++submitted_;
  ++pending_work();
  queue_.push_back(std::move(item));
  if (!running_) wanted_.notify_one();
}

void Stream::record(const std::shared_ptr<Recording>& recording,
                    std::shared_ptr<SharedRecording> shared, uintptr_t event) {
  std::lock_guard order(context->submission);
  Item item = {RecordWork{recording, event, std::move(shared)}, implied_waits(), 0, Origin::here()};
  std::lock_guard lock(mutex_);
  if (!running_ && queue_.empty() && item.after.empty()) {
    recording->time_ns = event_clock();  // and a point that everybody has reached
    tell_recorded(*this, event);
    return;
  }
  if (!started_) start_thread();
  item.number = ++submitted_;
  ++pending_work();
  recording->point = {timeline_, submitted_, nullptr};
  queue_.push_back(std::move(item));
  if (!running_) wanted_.notify_one();
}

void Stream::run(Work work) {
  if (capture()) throw Failure(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  Item item;
  uint64_t number;
  bool here;
  {
    std::lock_guard order(context->submission);
    item = {std::move(work), implied_waits(), 0, Origin::here()};
    std::lock_guard lock(mutex_);
    item.number = number = ++submitted_;
    ++pending_work();
    here = !running_ && queue_.empty();
    if (here) {
      running_ = true;
    } else {
      if (!started_) start_thread();
      queue_.push_back(std::move(item));
      if (!running_) wanted_.notify_one();
    }
  }
  if (here) return execute(item);
  timeline_->wait(number);
}

bool Stream::try_run(Work& work) {
  Item item;
  {
    std::lock_guard order(context->submission);
    if (!implied_waits().empty()) return false;
    std::lock_guard lock(mutex_);
    if (running_ || !queue_.empty() || capture_) return false;
    item.work = std::move(work);
    item.origin = Origin::here();
    item.number = ++submitted_;
    ++pending_work();
    running_ = true;
  }
  execute(item);
  return true;
}

void Stream::retire() {
  std::lock_guard lock(mutex_);
  retired_ = true;
  wanted_.notify_one();
}

void Stream::execute(const Item& item) {
  for (auto& point : item.after) point.wait();
  {
    WorkingFor self(*this, item.origin);
    perform(item.work, *context);
  }
  {
    // Before anybody learns that the work is done, so that who waited for it finds the stream idle.
    std::lock_guard lock(mutex_);
    running_ = false;
    if (!queue_.empty() || retired_) wanted_.notify_one();
  }
  --pending_work();
  timeline_->advance(item.number);
}

void Stream::work_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [&] { return !running_ && (!queue_.empty() || retired_); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    lock.unlock();
    execute(item);
    item = {};  // what it holds may be the last of its kind, and must not be freed under the lock
    lock.lock();
  }
}

void Stream::start_thread() {
  auto* self = new std::shared_ptr<Stream>(shared_from_this());
  sigset_t all, old;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signals are for the program's threads
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  auto begin = [](void* argument) -> void* {
    std::unique_ptr<std::shared_ptr<Stream>> mine(static_cast<std::shared_ptr<Stream>*>(argument));
    pthread_setname_np(pthread_self(), "anywarp-stream");
    (*mine)->work_loop();
    return nullptr;
  };
  int failed = pthread_create(&thread, &attributes, begin, self);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (failed) {
    delete self;
    throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "no thread can be started for a stream");
  }
  started_ = true;
}

}  // namespace aw
