// Streams and events. Work waits in queues and runs as late as the order allows: when somebody
// waits for it, so that a dependency that nobody stated shows. FAKE_HIP_ORDER: late (default),
// eager, random (FAKE_HIP_SEED).
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "world.h"

namespace fake {
namespace {

enum class Order { late, eager, random };

Order order() {
  static const Order it = [] {
    const char* asked = getenv("FAKE_HIP_ORDER");
    if (asked && !strcmp(asked, "eager")) return Order::eager;
    return asked && !strcmp(asked, "random") ? Order::random : Order::late;
  }();
  return it;
}

struct Queue {
  std::vector<WorkRef> waiting;
  std::vector<Stream*> streams;
  std::map<std::pair<pid_t, int>, Stream*> per_thread;
  std::mt19937 random{getenv("FAKE_HIP_SEED") ? static_cast<unsigned>(atoi(getenv("FAKE_HIP_SEED")))
                                              : 1u};
  bool helper = false;
};
Queue& queue() {
  static auto& it = *new Queue;
  return it;
}
std::recursive_mutex& executing() {
  // There from the start: a sanitizer does not see that others wait while a thread makes it.
  static constinit std::recursive_mutex it;
  return it;
}
thread_local int t_host_function = 0;
thread_local hipStreamCaptureMode t_capture_mode = hipStreamCaptureModeGlobal;

void doze(long nanoseconds) {
  timespec time{0, nanoseconds};
  nanosleep(&time, nullptr);
}

// Runs one work whose dependencies are done.
void run(const WorkRef& work) {
  std::lock_guard one(executing());
  {
    Lock lock = lock_world();
    if (work->done) return;
    if (work->module && !work->module->alive)
      fault("module %llu was unloaded while its kernel waited to run",
            static_cast<unsigned long long>(work->module->number));
  }
  if (work->run) work->run();
  Lock lock = lock_world();
  note("\"ran\":%llu,\"what\":\"%s\"", static_cast<unsigned long long>(work->number),
       work->what.c_str());
  work->finished = now();
  work->done = true;
  work->after.clear();
  work->run = nullptr;
  auto& waiting = queue().waiting;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] != work) continue;
    waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(i));
    break;
  }
}

WorkRef undone_before(const WorkRef& work) {
  std::vector<WorkRef> open;
  for (const WorkRef& each : work->after)
    if (!each->done) open.push_back(each);
  if (open.empty()) return nullptr;
  return open[order() == Order::random ? queue().random() % open.size() : open.size() - 1];
}

// Runs any other work that may run now; false where there is none.
bool run_another(const WorkRef& but) {
  WorkRef found;
  {
    Lock lock = lock_world();
    for (const WorkRef& each : queue().waiting) {
      if (each == but || undone_before(each) || (each->ready && !each->ready())) continue;
      found = each;
      break;
    }
  }
  if (found) run(found);
  return found != nullptr;
}

// Runs what has waited long: a program may wait for an effect without asking us.
void help() {
  const char* asked = getenv("FAKE_HIP_LATE_MS");
  double late = asked ? atof(asked) / 1000 : 0.02;
  for (;;) {
    doze(4000000);
    WorkRef old;
    {
      Lock lock = lock_world();
      for (const WorkRef& each : queue().waiting) {
        if (now() - each->submitted < late || undone_before(each) ||
            (each->ready && !each->ready()))
          continue;
        old = each;
        break;
      }
    }
    if (old) run(old);
  }
}

}  // namespace

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool in_host_function() { return t_host_function > 0; }

void run_host_function(const std::function<void()>& call) {
  t_host_function++;
  call();
  t_host_function--;
}

std::vector<WorkRef> pending() {
  Lock lock = lock_world();
  return queue().waiting;
}

WorkRef submit(Stream* stream, std::string what, std::function<void()> run,
               const std::vector<WorkRef>& after) {
  auto work = std::make_shared<Work>();
  work->number = next_number();
  work->stream = stream;
  work->what = std::move(what);
  work->run = std::move(run);
  work->after = after;
  work->submitted = now();
  auto add = [&](const WorkRef& before) {
    if (before && !before->done) work->after.push_back(before);
  };
  add(stream->last);
  // The null stream and blocking streams wait for each other.
  if (stream == stream->device->null_stream) {
    for (Stream* each : queue().streams)
      if (each->device == stream->device && !(each->flags & hipStreamNonBlocking)) add(each->last);
  } else if (!(stream->flags & hipStreamNonBlocking)) {
    add(stream->device->null_stream->last);
  }
  stream->last = work;
  queue().waiting.push_back(work);
  if (!queue().helper && order() != Order::eager) {
    queue().helper = true;
    std::thread(help).detach();
  }
  return work;
}

void follow(const WorkRef& work) {
  if (order() == Order::eager) finish(work);
  if (order() != Order::random) return;
  unsigned times;
  {
    Lock lock = lock_world();
    times = queue().random() % 3;
  }
  while (times-- && run_another(nullptr)) {
  }
}

void finish(const WorkRef& goal) {
  std::vector<WorkRef> stack{goal};
  while (!stack.empty()) {
    WorkRef work = stack.back();
    WorkRef before;
    {
      Lock lock = lock_world();
      if (work->done) {
        stack.pop_back();
        continue;
      }
      before = undone_before(work);
    }
    if (before) {
      stack.push_back(before);
    } else if (work->ready && !work->ready()) {
      if (!run_another(work)) doze(200000);
    } else {
      run(work);
    }
  }
}

void finish_stream(Stream* stream) {
  WorkRef last;
  {
    Lock lock = lock_world();
    last = stream->last;
    // Waiting for the null stream is waiting for all blocking ones, as work in it would.
    if (stream == stream->device->null_stream) last = submit(stream, "wait", nullptr);
  }
  if (last) finish(last);
}

void finish_device(Device* device) {
  for (const WorkRef& each : pending())
    if (each->stream->device == device) finish(each);
}

bool progress(const WorkRef& work) {
  if (!work) return true;
  {
    Lock lock = lock_world();
    if (work->done) return true;
  }
  // A query sees it unfinished once, and again while there is more before it.
  WorkRef next = work;
  {
    Lock lock = lock_world();
    for (WorkRef before = undone_before(next); before; before = undone_before(next)) next = before;
  }
  if (!next->ready || next->ready()) run(next);
  return false;
}

bool capturing(Stream* stream) { return stream->capture == hipStreamCaptureStatusActive; }
bool broken(Stream* stream) { return stream->capture == hipStreamCaptureStatusInvalidated; }

// CLR, Stream::StreamCaptureOngoing: who asks after a stream that is being captured breaks that.
static bool broken_by_asking(Stream* stream) {
  if (capturing(stream)) stream->capture = hipStreamCaptureStatusInvalidated;
  return broken(stream);
}

// HIP 6.4.3: who asks after an event breaks the capture of the stream where it was recorded last,
// before the capture or in it.
static bool broken_by_asking(Event* event) {
  bool asked = event->stream && event->stream->alive && broken_by_asking(event->stream);
  return asked || event->graph;
}

bool forbidden_by_capture() {
  if (t_capture_mode == hipStreamCaptureModeRelaxed) return false;
  bool found = false;
  for (Stream* each : queue().streams) {
    if (!each->alive || !each->origin || each->mode != hipStreamCaptureModeGlobal) continue;
    if (!capturing(each) && !broken(each)) continue;
    each->capture = hipStreamCaptureStatusInvalidated;  // CLR, CHECK_STREAM_CAPTURE_SUPPORTED
    found = true;
  }
  return found;
}

bool breaks_captures() {
  bool found = false;
  for (Stream* each : queue().streams) {
    if (!each->alive || (!capturing(each) && !broken(each))) continue;
    each->capture = hipStreamCaptureStatusInvalidated;
    found = true;
  }
  return found;
}

Stream* stream_of(hipStream_t handle, hipError_t* status) {
  *status = ready_world();
  if (*status != hipSuccess) return nullptr;
  Device* current = current_device();
  if (!handle || handle == hipStreamLegacy) return current->null_stream;
  if (handle == hipStreamPerThread) {
    Stream*& own = queue().per_thread[{static_cast<pid_t>(gettid()), current->ordinal}];
    if (!own) {
      own = create<Stream>("stream");
      own->device = current;
      queue().streams.push_back(own);
    }
    return own;
  }
  auto* found = find<Stream>(handle, "stream");
  if (!found) *status = hipErrorInvalidHandle;
  return found;
}

}  // namespace fake

using namespace fake;

#define STREAM(name, handle)                           \
  hipError_t status_of_##name;                         \
  Lock lock = lock_world();                            \
  Stream* name = stream_of(handle, &status_of_##name); \
  if (!name) return done(status_of_##name)

HIP(hipStreamCreateWithPriority)(hipStream_t* out, unsigned flags, int priority) {
  Lock lock = lock_world();
  if (ready_world() != hipSuccess) return done(ready_world());
  if (!out || flags & ~1u) return done(hipErrorInvalidValue);
  auto* made = create<Stream>("stream");
  made->device = current_device();
  made->flags = flags;
  made->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
  queue().streams.push_back(made);
  *out = reinterpret_cast<hipStream_t>(made);
  return done(hipSuccess);
}
HIP(hipStreamCreateWithFlags)(hipStream_t* out, unsigned flags) {
  return impl_hipStreamCreateWithPriority(out, flags, 0);
}
HIP(hipStreamCreate)(hipStream_t* out) { return impl_hipStreamCreateWithPriority(out, 0, 0); }
HIP(hipStreamDestroy)(hipStream_t handle) {
  STREAM(stream, handle);
  if (stream == stream->device->null_stream || handle == hipStreamPerThread)
    return done(hipErrorInvalidHandle);
  stream->alive = false;
  return done(hipSuccess);
}
HIP(hipStreamSynchronize)(hipStream_t handle) {
  Stream* which;
  {
    STREAM(stream, handle);
    if (broken_by_asking(stream)) return done(hipErrorStreamCaptureUnsupported);
    which = stream;
  }
  if (in_host_function()) fault("hipStreamSynchronize inside a host function");
  finish_stream(which);
  return done(hipSuccess);
}
HIP(hipStreamSynchronize_spt)(hipStream_t handle) {
  return impl_hipStreamSynchronize(handle ? handle : hipStreamPerThread);
}
HIP(hipStreamQuery)(hipStream_t handle) {
  WorkRef last;
  {
    STREAM(stream, handle);
    if (broken_by_asking(stream) || forbidden_by_capture())
      return done(hipErrorStreamCaptureUnsupported);
    last = stream->last;
  }
  return done(progress(last) ? hipSuccess : hipErrorNotReady);
}
HIP(hipStreamQuery_spt)(hipStream_t handle) {
  return impl_hipStreamQuery(handle ? handle : hipStreamPerThread);
}
HIP(hipStreamGetFlags)(hipStream_t handle, unsigned* flags) {
  STREAM(stream, handle);
  return flags ? (*flags = stream->flags, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipStreamGetPriority)(hipStream_t handle, int* priority) {
  STREAM(stream, handle);
  return priority ? (*priority = stream->priority, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipStreamGetDevice)(hipStream_t handle, hipDevice_t* out) {
  STREAM(stream, handle);
  return out ? (*out = stream->device->ordinal, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipStreamGetId)(hipStream_t handle, unsigned long long* out) {
  STREAM(stream, handle);
  return out ? (*out = stream->number, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipStreamWaitEvent)(hipStream_t handle, hipEvent_t other, unsigned flags) {
  STREAM(stream, handle);
  auto* event = find<Event>(other, "event");
  if (!event) return done(hipErrorInvalidHandle);
  if (flags & ~1u) return done(hipErrorInvalidValue);
  if (event->graph || capturing(stream)) {
    if (!event->graph) return done(hipErrorStreamCaptureIsolation);
    if (!capturing(stream)) {  // the stream joins the capture
      stream->capture = hipStreamCaptureStatusActive;
      stream->graph = event->graph;
      stream->capture_id = event->capture_id;
      stream->ends.clear();
    }
    if (stream->graph != event->graph) return done(hipErrorStreamCaptureMerge);
    for (Node* each : event->ends) stream->ends.push_back(each);
    return done(hipSuccess);
  }
  if (event->shared && !event->work) {  // recorded by another process
    WorkRef work = submit(stream, "wait for an event", nullptr);
    work->ready = [shared = event->shared, goal = uint64_t{event->shared[0]}] {
      return shared[1] >= goal;
    };
    return done(hipSuccess);
  }
  if (event->work && !event->work->done)
    submit(stream, "wait for an event", nullptr, {event->work});
  return done(hipSuccess);
}
HIP(hipStreamWaitEvent_spt)(hipStream_t handle, hipEvent_t event, unsigned flags) {
  return impl_hipStreamWaitEvent(handle ? handle : hipStreamPerThread, event, flags);
}
HIP(hipLaunchHostFunc)(hipStream_t handle, hipHostFn_t function, void* data) {
  WorkRef work;
  {
    STREAM(stream, handle);
    if (!function) return done(hipErrorInvalidValue);
    if (broken(stream)) return done(hipErrorStreamCaptureInvalidated);
    auto call = [function, data] { run_host_function([&] { function(data); }); };
    if (capturing(stream)) {
      Captured what;
      what.type = hipGraphNodeTypeHost;
      what.run = call;
      what.host = {function, data};
      capture(stream, what);
      return done(hipSuccess);
    }
    work = submit(stream, "host function", call);
  }
  follow(work);
  return done(hipSuccess);
}
HIP(hipLaunchHostFunc_spt)(hipStream_t handle, hipHostFn_t function, void* data) {
  return impl_hipLaunchHostFunc(handle ? handle : hipStreamPerThread, function, data);
}
HIP(hipStreamAddCallback)(hipStream_t handle, hipStreamCallback_t callback, void* data,
                          unsigned flags) {
  WorkRef work;
  {
    STREAM(stream, handle);
    if (!callback || flags) return done(hipErrorInvalidValue);
    work = submit(stream, "callback",
                  [=] { run_host_function([&] { callback(handle, hipSuccess, data); }); });
  }
  follow(work);
  return done(hipSuccess);
}

template <typename T>
static bool holds(const void* address, T value, unsigned flags, T mask) {
  T found;
  memcpy(&found, view(address), sizeof found);
  found &= mask;
  switch (flags) {
    case hipStreamWaitValueGte:
      return static_cast<std::make_signed_t<T>>(found - value) >= 0;
    case hipStreamWaitValueEq:
      return found == value;
    case hipStreamWaitValueAnd:
      return (found & value) != 0;
    default:
      return static_cast<T>(~(found | value)) != 0;
  }
}
template <typename T>
static hipError_t wait_value(hipStream_t handle, void* address, T value, unsigned flags, T mask) {
  WorkRef work;
  {
    STREAM(stream, handle);
    if (!address || flags > hipStreamWaitValueNor) return done(hipErrorInvalidValue);
    if (hipError_t status = check_range(address, sizeof(T), true, "a waited value"))
      return done(status);
    work = submit(stream, "wait for a value", nullptr);
    work->ready = [=] { return holds<T>(address, value, flags, mask); };
  }
  follow(work);
  return done(hipSuccess);
}
template <typename T>
static hipError_t write_value(hipStream_t handle, void* address, T value) {
  WorkRef work;
  {
    STREAM(stream, handle);
    if (!address) return done(hipErrorInvalidValue);
    if (hipError_t status = check_range(address, sizeof(T), true, "a written value"))
      return done(status);
    work = submit(stream, "write a value", [=] { memcpy(view(address), &value, sizeof value); });
  }
  follow(work);
  return done(hipSuccess);
}
HIP(hipStreamWaitValue32)(hipStream_t s, void* p, uint32_t value, unsigned flags, uint32_t mask) {
  return wait_value<uint32_t>(s, p, value, flags, mask);
}
HIP(hipStreamWaitValue64)(hipStream_t s, void* p, uint64_t value, unsigned flags, uint64_t mask) {
  return wait_value<uint64_t>(s, p, value, flags, mask);
}
HIP(hipStreamWriteValue32)(hipStream_t s, void* p, uint32_t value, unsigned) {
  return write_value<uint32_t>(s, p, value);
}
HIP(hipStreamWriteValue64)(hipStream_t s, void* p, uint64_t value, unsigned) {
  return write_value<uint64_t>(s, p, value);
}
HIP(hipStreamBatchMemOp)(hipStream_t handle, unsigned count, hipStreamBatchMemOpParams* all,
                         unsigned flags) {
  if (!all || !count || count > 256 || flags) return done(hipErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    hipError_t status = hipErrorInvalidValue;
    const hipStreamBatchMemOpParams& each = all[i];
    switch (each.operation) {
      case hipStreamMemOpWaitValue32:
        status = wait_value<uint32_t>(handle, each.waitValue.address, each.waitValue.value,
                                      each.waitValue.flags, ~0u);
        break;
      case hipStreamMemOpWaitValue64:
        status = wait_value<uint64_t>(handle, each.waitValue.address, each.waitValue.value64,
                                      each.waitValue.flags, ~uint64_t{0});
        break;
      case hipStreamMemOpWriteValue32:
        status = write_value<uint32_t>(handle, each.writeValue.address, each.writeValue.value);
        break;
      case hipStreamMemOpWriteValue64:
        status = write_value<uint64_t>(handle, each.writeValue.address, each.writeValue.value64);
        break;
      default:
        break;
    }
    if (status != hipSuccess) return status;
  }
  return done(hipSuccess);
}

HIP(hipEventCreateWithFlags)(hipEvent_t* out, unsigned flags) {
  Lock lock = lock_world();
  if (ready_world() != hipSuccess) return done(ready_world());
  const unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                         hipEventDisableSystemFence | hipEventReleaseToDevice |
                         hipEventReleaseToSystem;
  if (!out || flags & ~known) return done(hipErrorInvalidValue);
  if (flags & hipEventInterprocess && !(flags & hipEventDisableTiming))
    return done(hipErrorInvalidValue);
  auto* made = create<Event>("event");
  made->device = current_device();
  made->flags = flags;
  *out = reinterpret_cast<hipEvent_t>(made);
  return done(hipSuccess);
}
HIP(hipEventCreate)(hipEvent_t* out) { return impl_hipEventCreateWithFlags(out, 0); }

#define EVENT(name, handle)                  \
  Lock lock = lock_world();                  \
  auto* name = find<Event>(handle, "event"); \
  if (!name) return done(hipErrorInvalidHandle)

HIP(hipEventDestroy)(hipEvent_t handle) {
  EVENT(event, handle);
  event->alive = false;
  return done(hipSuccess);
}
HIP(hipEventRecordWithFlags)(hipEvent_t handle, hipStream_t where, unsigned flags) {
  WorkRef work;
  {
    STREAM(stream, where);
    auto* event = find<Event>(handle, "event");
    if (!event) return done(hipErrorInvalidHandle);
    if (flags > hipEventRecordExternal) return done(hipErrorInvalidValue);
    if (event->device != stream->device) return done(hipErrorInvalidHandle);
    event->stream = stream;
    if (capturing(stream)) {
      event->graph = stream->graph;
      event->capture_id = stream->capture_id;
      event->ends = stream->ends;
      return done(hipSuccess);
    }
    event->graph = nullptr;
    event->ends.clear();
    std::function<void()> tell;
    if (auto* shared = event->shared) {
      uint64_t number = ++shared[0];
      tell = [shared, number] {
        if (shared[1] < number) shared[1] = number;
      };
    }
    work = submit(stream, "event", tell);
    event->work = work;
  }
  follow(work);
  return done(hipSuccess);
}
HIP(hipEventRecord)(hipEvent_t handle, hipStream_t where) {
  return impl_hipEventRecordWithFlags(handle, where, 0);
}
HIP(hipEventRecord_spt)(hipEvent_t handle, hipStream_t where) {
  return impl_hipEventRecordWithFlags(handle, where ? where : hipStreamPerThread, 0);
}
HIP(hipEventSynchronize)(hipEvent_t handle) {
  WorkRef work;
  std::atomic<uint64_t>* shared = nullptr;
  {
    EVENT(event, handle);
    if (broken_by_asking(event)) return done(hipErrorCapturedEvent);
    work = event->work;
    shared = event->work ? nullptr : event->shared;
  }
  if (work) finish(work);
  for (uint64_t goal = shared ? shared[0].load() : 0; shared && shared[1] < goal;) doze(200000);
  return done(hipSuccess);
}
HIP(hipEventQuery)(hipEvent_t handle) {
  WorkRef work;
  {
    EVENT(event, handle);
    if (broken_by_asking(event)) return done(hipErrorCapturedEvent);
    work = event->work;
    if (!work && event->shared && event->shared[1] < event->shared[0])
      return done(hipErrorNotReady);
  }
  return done(progress(work) ? hipSuccess : hipErrorNotReady);
}
struct SharedEvent {
  pid_t pid;
  int file;
  int64_t at;
};
HIP(hipIpcGetEventHandle)(hipIpcEventHandle_t* out, hipEvent_t handle) {
  EVENT(event, handle);
  if (!out || !(event->flags & hipEventInterprocess)) return done(hipErrorInvalidValue);
  if (!event->shared) {
    event->place = {getpid(), memory_file(), 0};
    event->shared = shared_page(&event->place.at);
    if (event->work && !event->work->done) {  // it was recorded before anybody shared it
      event->shared[0] = 1;
      event->work->run = [shared = event->shared] {
        if (!shared[1]) shared[1] = 1;
      };
    }
  }
  SharedEvent words{event->place.pid, event->place.file, event->place.at};
  memset(out, 0, sizeof *out);
  memcpy(out, &words, sizeof words);
  return done(hipSuccess);
}
HIP(hipIpcOpenEventHandle)(hipEvent_t* out, hipIpcEventHandle_t handle) {
  Lock lock = lock_world();
  if (ready_world() != hipSuccess) return done(ready_world());
  if (!out) return done(hipErrorInvalidValue);
  SharedEvent words;
  memcpy(&words, &handle, sizeof words);
  if (words.pid == getpid()) return done(hipErrorInvalidContext);
  auto* page = foreign_page(words.pid, words.file, words.at);
  if (!page) return done(hipErrorInvalidValue);
  auto* made = create<Event>("event");
  made->device = current_device();
  made->flags = hipEventInterprocess | hipEventDisableTiming;
  made->shared = page;
  made->place = {words.pid, words.file, words.at};
  *out = reinterpret_cast<hipEvent_t>(made);
  return done(hipSuccess);
}
HIP(hipEventElapsedTime)(float* out, hipEvent_t first, hipEvent_t second) {
  Lock lock = lock_world();
  if (!out) return done(hipErrorInvalidValue);
  auto *start = find<Event>(first, "event"), *stop = find<Event>(second, "event");
  if (!start || !stop) return done(hipErrorInvalidHandle);
  if ((start->flags | stop->flags) & hipEventDisableTiming || !start->work || !stop->work)
    return done(hipErrorInvalidHandle);
  if (start->device != stop->device) return done(hipErrorInvalidHandle);
  if (!start->work->done || !stop->work->done) return done(hipErrorNotReady);
  *out = static_cast<float>(std::max(1e-3, 1000 * (stop->work->finished - start->work->finished)));
  return done(hipSuccess);
}

// Capture: what begins and ends it; the nodes are made in graphs.cpp.
HIP(hipThreadExchangeStreamCaptureMode)(hipStreamCaptureMode* mode) {
  if (!mode || *mode > hipStreamCaptureModeRelaxed) return done(hipErrorInvalidValue);
  std::swap(*mode, t_capture_mode);
  return done(hipSuccess);
}
HIP(hipStreamIsCapturing)(hipStream_t handle, hipStreamCaptureStatus* out) {
  STREAM(stream, handle);
  if (!out) return done(hipErrorInvalidValue);
  *out = stream->capture;
  return done(hipSuccess);
}
HIP(hipStreamGetCaptureInfo_v2)(hipStream_t handle, hipStreamCaptureStatus* status,
                                unsigned long long* id, hipGraph_t* graph,
                                const hipGraphNode_t** ends, size_t* count) {
  STREAM(stream, handle);
  if (!status) return done(hipErrorInvalidValue);
  *status = stream->capture;
  if (!capturing(stream)) return done(hipSuccess);
  stream->shown_ends.clear();
  for (Node* each : stream->ends)
    stream->shown_ends.push_back(reinterpret_cast<hipGraphNode_t>(each));
  if (id) *id = stream->capture_id;
  if (graph) *graph = reinterpret_cast<hipGraph_t>(stream->graph);
  if (ends) *ends = stream->shown_ends.data();
  if (count) *count = stream->ends.size();
  return done(hipSuccess);
}
HIP(hipStreamGetCaptureInfo)(hipStream_t handle, hipStreamCaptureStatus* status,
                             unsigned long long* id) {
  return impl_hipStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}
HIP(hipStreamUpdateCaptureDependencies)(hipStream_t handle, hipGraphNode_t* nodes, size_t count,
                                        unsigned flags) {
  STREAM(stream, handle);
  if (!capturing(stream)) return done(hipErrorIllegalState);
  if (flags > 1 || (count && !nodes)) return done(hipErrorInvalidValue);
  if (flags == hipStreamSetCaptureDependencies) stream->ends.clear();
  for (size_t i = 0; i < count; ++i) stream->ends.push_back(reinterpret_cast<Node*>(nodes[i]));
  return done(hipSuccess);
}
HIP(hipStreamBeginCaptureToGraph)(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t* nodes,
                                  const hipGraphEdgeData*, size_t count,
                                  hipStreamCaptureMode mode) {
  STREAM(stream, handle);
  if (mode > hipStreamCaptureModeRelaxed || (count && !nodes)) return done(hipErrorInvalidValue);
  if (stream == stream->device->null_stream) return done(hipErrorStreamCaptureUnsupported);
  if (capturing(stream)) return done(hipErrorIllegalState);
  if (!is_object(graph)) return done(hipErrorInvalidValue);
  stream->capture = hipStreamCaptureStatusActive;
  stream->origin = true;
  stream->captured_by = gettid();
  stream->mode = mode;
  stream->capture_id = next_number();
  stream->graph = reinterpret_cast<Graph*>(graph);
  stream->ends.clear();
  for (size_t i = 0; i < count; ++i) stream->ends.push_back(reinterpret_cast<Node*>(nodes[i]));
  return done(hipSuccess);
}
HIP(hipStreamBeginCapture)(hipStream_t handle, hipStreamCaptureMode mode) {
  hipGraph_t graph = nullptr;
  {
    STREAM(stream, handle);
    if (mode > hipStreamCaptureModeRelaxed) return done(hipErrorInvalidValue);
    if (stream == stream->device->null_stream) return done(hipErrorStreamCaptureUnsupported);
    if (capturing(stream)) return done(hipErrorIllegalState);
  }
  impl_hipGraphCreate(&graph, 0);
  return impl_hipStreamBeginCaptureToGraph(handle, graph, nullptr, nullptr, 0, mode);
}
HIP(hipStreamEndCapture)(hipStream_t handle, hipGraph_t* out) {
  STREAM(stream, handle);
  if (!out) return done(hipErrorInvalidValue);
  if (!capturing(stream) && !broken(stream)) return done(hipErrorIllegalState);
  if (!stream->origin) return done(hipErrorStreamCaptureUnmatched);
  if (stream->mode != hipStreamCaptureModeRelaxed && stream->captured_by != gettid())
    return done(hipErrorStreamCaptureWrongThread);
  Graph* graph = stream->graph;
  if (broken(stream)) {  // CLR before its pull 6509 of May 2026: nothing else is put right
    stream->origin = false;
    *out = nullptr;
    impl_hipGraphDestroy(reinterpret_cast<hipGraph_t>(graph));
    return done(hipErrorStreamCaptureInvalidated);
  }
  // Every end of a joined stream must have come back; where one has not, HIP 6.4.3 leaves all of
  // them captured, and hands the graph out.
  *out = reinterpret_cast<hipGraph_t>(graph);
  std::vector<Stream*> joined;
  for (Stream* each : queue().streams) {
    if (each == stream || each->graph != graph || !capturing(each)) continue;
    if (!reaches(stream->ends, each->ends)) return done(hipErrorStreamCaptureUnjoined);
    joined.push_back(each);
  }
  for (Stream* each : joined) {
    each->capture = hipStreamCaptureStatusNone;
    each->graph = nullptr;
  }
  stream->capture = hipStreamCaptureStatusNone;
  stream->graph = nullptr;
  stream->origin = false;
  return done(hipSuccess);
}
