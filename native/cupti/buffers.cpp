#include "cupti/buffers.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "core/activity.h"
#include "cuda/cuda_api.h"

extern "C" {
CUresult cuCtxGetCurrent(CUcontext* out);
CUresult cuCtxGetId(CUcontext context, unsigned long long* id);
CUresult cuStreamGetId(CUstream stream, unsigned long long* id);
}

namespace aw::cupti {
namespace {

struct Buffer {
  uint8_t* bytes = nullptr;
  size_t size = 0, used = 0, records = 0, most_records = 0;
};

struct Buffers {
  std::mutex mutex;
  Request request = nullptr;
  Complete complete = nullptr;
  Buffer current;
  std::atomic<size_t> dropped{0};
};

Buffers& buffers() {
  static Buffers& instance = *new Buffers;
  return instance;
}

// Two moments on both clocks: what is between follows a straight line.
struct Clock {
  std::mutex mutex;
  std::atomic<uint64_t (*)()> function{nullptr};
  uint64_t ours = 0, theirs = 0;
  double rate = 1;
};

Clock& clock() {
  static Clock& instance = *new Clock;
  return instance;
}

std::atomic<bool> by_system{false};

void hand_back(Complete complete, const Buffer& buffer) {
  if (buffer.bytes) complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
}

bool has_room(const Buffer& b, size_t bytes) {
  return b.bytes && b.used + bytes <= b.size && !(b.most_records && b.records >= b.most_records);
}

// With the mutex held; the full buffer goes to `full`.
bool make_room(Buffers& b, size_t bytes, Buffer& full) {
  if (has_room(b.current, bytes)) return true;
  full = b.current;
  b.current = {};
  b.request(&b.current.bytes, &b.current.size, &b.current.most_records);
  if (has_room(b.current, bytes)) return true;
  if (b.current.bytes && !full.bytes) full = b.current;  // too small for anything
  b.current = {};
  return false;
}

}  // namespace

void register_buffers(Request request, Complete complete) {
  flush();
  std::lock_guard lock(buffers().mutex);
  buffers().request = request, buffers().complete = complete;
}

void write(const void* record, size_t bytes) {
  Buffers& b = buffers();
  Buffer full;
  Complete complete;
  {
    std::lock_guard lock(b.mutex);
    complete = b.complete;
    if (!b.request || !make_room(b, bytes, full)) {
      ++b.dropped;
    } else {
      memcpy(b.current.bytes + b.current.used, record, bytes);
      b.current.used += bytes;
      ++b.current.records;
    }
  }
  if (complete) hand_back(complete, full);
}

void flush() {
  Buffers& b = buffers();
  Buffer done;
  Complete complete;
  {
    std::lock_guard lock(b.mutex);
    done = b.current;
    b.current = {};
    complete = b.complete;
  }
  if (complete) hand_back(complete, done);
}

size_t take_dropped() { return buffers().dropped.exchange(0); }

uint64_t profiler_time(uint64_t nanoseconds) {
  Clock& c = clock();
  if (!c.function.load(std::memory_order_acquire) || !nanoseconds) return nanoseconds;
  std::lock_guard lock(c.mutex);
  double since = static_cast<double>(static_cast<int64_t>(nanoseconds - c.ours));
  return c.theirs + static_cast<uint64_t>(static_cast<int64_t>(since * c.rate));
}

uint64_t profiler_now() {
  auto function = clock().function.load(std::memory_order_acquire);
  return function ? function() : anywarp_activity_now();
}

void set_profiler_clock(uint64_t (*function)()) {
  Clock& c = clock();
  std::lock_guard lock(c.mutex);
  c.ours = anywarp_activity_now(), c.theirs = function();
  timespec pause = {0, 5'000'000};
  nanosleep(&pause, nullptr);
  uint64_t ours = anywarp_activity_now(), theirs = function();
  c.rate = static_cast<double>(theirs - c.theirs) / static_cast<double>(ours - c.ours);
  c.function.store(function, std::memory_order_release);
}

uint32_t profiler_thread() {
  return by_system ? static_cast<uint32_t>(syscall(SYS_gettid))
                   : static_cast<uint32_t>(pthread_self());
}
void set_system_threads(bool on) { by_system = on; }
bool system_threads() { return by_system; }

Place current_place(const void* params) {
  Place place;
  CUcontext context = nullptr;
  unsigned long long id = 0;
  if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context &&
      cuCtxGetId(context, &id) == CUDA_SUCCESS)
    place.context = static_cast<uint32_t>(id);
  if (!params) return place;
  CUstream stream;
  memcpy(&stream, params, sizeof stream);
  if (cuStreamGetId(stream, &id) == CUDA_SUCCESS) place.stream = static_cast<uint32_t>(id);
  return place;
}

}  // namespace aw::cupti
