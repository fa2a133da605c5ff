// Our ear at libcuda's hub of activities.
#include <mutex>

#include "cupti/session.h"

namespace aw::cupti {
namespace {

void enter(AwCall* call) { call_back(*call, false); }

void leave(AwCall* call) {
  call_back(*call, true);
  record_call(*call);
}

void record(const AwRecord* record) { record_activity(*record); }

void resource(const AwResource* resource) { call_back(*resource); }

// Of a graph or node: handles are multiples of 64 above one base (core/handles.h).
constexpr uint64_t kFirstHandle = 0x4157'0000'0000;

}  // namespace

uint32_t graph_number(uint64_t handle) {
  return handle ? static_cast<uint32_t>((handle - kFirstHandle) / 64) : 0;
}

void listen_again() {
  static std::mutex& mutex = *new std::mutex;
  static AwListener& listener = *new AwListener{0, 0, enter, leave, record, resource};
  std::lock_guard lock(mutex);
  uint32_t wants = wanted_by_records() | wanted_by_callbacks();
  __atomic_store_n(&listener.wants, wants, __ATOMIC_RELAXED);
  anywarp_activity_listen(&listener);
}

}  // namespace aw::cupti
