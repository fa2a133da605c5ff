// Streams: work done in order, by a thread of the stream's own that exists from its first
// asynchronous work on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu/activity_work.h"
#include "cpu/timeline.h"
#include "cpu/work.h"
#include "cuda/context.h"

namespace aw {

struct Capture;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(std::shared_ptr<Context> context, unsigned flags, int priority);
  ~Stream();

  // Puts work behind everything given before; returns at once. Inside a capture it becomes a node
  // of the graph instead.
  void submit(Work work);

  // Records a moment behind everything given before: now, if the stream is idle.
  void record(const std::shared_ptr<Recording>& recording,
              std::shared_ptr<SharedRecording> shared = nullptr, uintptr_t event = 0);

  // Does work in order and returns when it is done: on this thread if the stream is idle.
  void run(Work work);

  // Does work on this thread if the stream is idle and nothing has to be waited for; else says
  // false and leaves the work alone.
  bool try_run(Work& work);

  // For work that takes no longer than handing it to another thread: done now if the stream is
  // idle, else behind everything given before.
  void submit_short(Work work) {
    if (!try_run(work)) submit(std::move(work));
  }

  // The point behind everything given so far.
  Point last() const;
  void wait() const { last().wait(); }
  bool idle() const { return last().reached(); }

  // Lets the thread end when everything is done.
  void retire();

  const std::shared_ptr<Context> context;
  const unsigned flags;
  const int priority;
  const uint64_t id;
  bool is_legacy = false;
  uintptr_t handle = 0;

  bool blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
  CUlaunchAttributeValue attribute(int id) const;
  void set_attribute(int id, const CUlaunchAttributeValue& value);
  std::shared_ptr<Capture> capture() const;
  void set_capture(std::shared_ptr<Capture> capture);

 private:
  friend struct Context;
  struct Item {
    Work work;
    std::vector<Point> after;
    uint64_t number = 0;
    Origin origin;
  };

  // Waits that the rules of default streams ask for. Called with the context's submission mutex
  // held.
  std::vector<Point> implied_waits() const;
  void start_thread();
  void work_loop();
  void execute(const Item& item);  // and lets go of the stream

  mutable std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Item> queue_;
  uint64_t submitted_ = 0;
  bool running_ = false, started_ = false, retired_ = false;
  std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  std::shared_ptr<Capture> capture_;
  std::map<int, CUlaunchAttributeValue> attributes_;
};

// Whether writing or copying rows of bytes takes no longer than handing the work to another thread.
bool is_short(uint64_t row_bytes, uint64_t rows, uint64_t layers = 1);

// Items of all streams of the process that are not done yet, and contexts that an error sticks to.
std::atomic<uint64_t>& pending_work();

// Finds the stream of a handle in the current context: null, 1 and 2 name default streams. Throws
// INVALID_HANDLE.
std::shared_ptr<Stream> stream_of(CUstream handle);

std::shared_ptr<Stream> per_thread_stream(const std::shared_ptr<Context>& context);
Handles<Stream>& streams();

// All but the legacy one.
std::vector<std::shared_ptr<Stream>> live_streams(Context& context);

// The context whose host function this thread runs; null outside of one.
Context*& context_of_callback();

}  // namespace aw
