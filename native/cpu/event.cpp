// Driver API reference: event management.
#include "cpu/event.h"

#include "cpu/capture.h"
#include "cpu/stream.h"
#include "cuda/contexts.h"

namespace aw {

Handles<Event>& events() {
  static auto& instance = *new Handles<Event>;
  return instance;
}

std::shared_ptr<Event> event_of(CUevent handle) {
  auto event = events().find(handle);
  require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return event;
}

std::shared_ptr<SharedRecording> begin_shared(const Event& event) {
  return event.shared ? std::make_shared<SharedRecording>(event.shared) : nullptr;
}

void record_event(Event& event, Stream& stream, bool external) {
  require(stream.context->shares_with(event.context.lock().get()), CUDA_ERROR_INVALID_HANDLE);
  if (auto active = stream.capture()) {
    if (external) return active->add(stream, RecordWork{nullptr, event.handle, nullptr});
    return capture_record(event, stream, active);
  }
  auto recording = std::make_shared<Recording>();
  stream.record(recording, begin_shared(event), event.handle);
  std::lock_guard lock(event.mutex);
  event.recording = std::move(recording);
  event.capture = nullptr;
  event.captured_nodes.clear();
}

void wait_for_event(Event& event, Stream& stream, bool external) {
  if (external) {
    if (auto active = stream.capture())
      return active->add(stream, WaitWork{{}, event.handle, true});
  }
  {
    std::lock_guard lock(event.mutex);
    if (event.capture) return capture_wait(event, stream);
  }
  Point point = event.point();
  // Waiting for an event that was never recorded, or has come about, is no work.
  if (!stream.capture() && point.reached()) return;
  stream.submit(WaitWork{point, event.handle});
}

}  // namespace aw

using namespace aw;

namespace {

void check_not_captured(const Event& event) {
  std::lock_guard lock(event.mutex);
  require(!event.capture, CUDA_ERROR_CAPTURED_EVENT);
}

std::shared_ptr<Recording> recording_of(const Event& event) {
  std::lock_guard lock(event.mutex);
  require(!event.capture, CUDA_ERROR_CAPTURED_EVENT);
  return event.recording;
}

void check_context(const Event& event) {
  refuse_inside_callback();
  if (auto context = event.context.lock()) context->check();
}

CUresult elapsed(float* milliseconds, CUevent begin, CUevent end) {
  require(milliseconds);
  auto first = event_of(begin), second = event_of(end);
  check_context(*first);
  require(!((first->flags | second->flags) & CU_EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE);
  require(first->context.lock() == second->context.lock(), CUDA_ERROR_INVALID_HANDLE);
  auto a = recording_of(*first), b = recording_of(*second);
  require(a && b, CUDA_ERROR_INVALID_HANDLE);
  require(a->point.reached() && b->point.reached(), CUDA_ERROR_NOT_READY);
  *milliseconds =
      static_cast<float>(static_cast<double>(static_cast<int64_t>(b->time_ns - a->time_ns)) * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuEventCreate(CUevent* out, unsigned flags) {
  return api<"cuEventCreate">(
      [&] {
        require(out);
        require((flags &
                 ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)) == 0);
        require(!(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING));
        auto event = std::make_shared<Event>();
        event->flags = flags;
        event->context = current_context();
        if (flags & CU_EVENT_INTERPROCESS) make_shareable(*event);
        event->handle = events().add(event);
        *out = as_handle<CUevent>(event->handle);
      },
      out, flags);
}

AW_EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
  return api<"cuEventDestroy_v2">(
      [&] { require(events().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE); }, handle);
}

AW_EXPORT CUresult cuEventDestroy(CUevent handle) {
  return api<"cuEventDestroy">([&] { return cuEventDestroy_v2(handle); });
}

AW_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return api<"cuEventRecord">(
      [&] {
        auto target = stream_of(stream);
        record_event(*event_of(handle), *target);
      },
      handle, stream);
}

AW_EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags) {
  return api<"cuEventRecordWithFlags">(
      [&] {
        require((flags & ~CU_EVENT_RECORD_EXTERNAL) == 0);
        auto target = stream_of(stream);
        record_event(*event_of(handle), *target, flags == CU_EVENT_RECORD_EXTERNAL);
      },
      handle, stream, flags);
}

AW_EXPORT CUresult cuEventQuery(CUevent handle) {
  return api<"cuEventQuery">([&] {
    auto event = event_of(handle);
    check_context(*event);
    check_not_captured(*event);
    return event->point().reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

AW_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  return api<"cuEventSynchronize">(
      [&] {
        auto event = event_of(handle);
        check_context(*event);
        check_not_captured(*event);
        event->point().wait();
        note_synchronized();
        check_context(*event);
      },
      handle);
}

AW_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return api<"cuEventElapsedTime">([&] { return elapsed(milliseconds, begin, end); });
}

AW_EXPORT CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return api<"cuEventElapsedTime_v2">([&] { return elapsed(milliseconds, begin, end); });
}
