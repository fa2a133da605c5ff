#include "devices/native_run.h"

#include <csetjmp>
#include <cstdio>
#include <mutex>

#include "devices/faults.h"
#include "devices/float_control.h"
#include "devices/tiles.h"
#include "devices/worker_pool.h"

namespace aw::processor {
namespace {

// What the work that runs on this thread, or helps to run here, ends with.
struct Failing {
  const char* name;
  std::mutex mutex;
  RunResult result;

  void fault(const FaultFrame& frame) {
    char text[96];
    int code = frame.signal == SIGILL ? 715 : frame.signal == SIGFPE ? 719 : 700;
    snprintf(text, sizeof text,
             code == 700   ? ": illegal memory access at 0x%llx"
             : code == 715 ? ": illegal instruction"
                           : ": arithmetic fault",
             static_cast<unsigned long long>(frame.address));
    std::lock_guard lock(mutex);
    if (!result.code) result = {code, name + std::string(text)};
  }
};

constinit thread_local Failing* failing = nullptr;

// Calls body(data, number); false where it faulted.
bool guarded(Failing& here, void (*body)(void*, uint64_t), void* data, uint64_t number) {
  FaultFrame frame;
  UsualFloatControl usual;
  prepare_for_short_work();
  Failing* volatile before = failing;
  FaultFrame* volatile around = set_fault_frame(&frame);
  volatile bool fine = false;
  failing = &here;
  if (sigsetjmp(frame.resume, 0) == 0) {
    body(data, number);
    fine = true;
  }
  failing = before;
  set_fault_frame(around);
  if (!fine) {
    release_tiles();
    here.fault(frame);
  }
  return fine;
}

struct Numbers final : Job {
  Numbers(uint64_t count, Failing& here, void (*what)(void*, uint64_t), void* with)
      : Job(count, 1), failing_(here), body_(what), data_(with) {}

  void run(unsigned) override {
    uint64_t number;
    while (claim(&number))
      if (!guarded(failing_, body_, data_, number)) cancel();
  }

 private:
  Failing& failing_;
  void (*const body_)(void*, uint64_t);
  void* const data_;
};

}  // namespace

RunResult run_native(const char* name, void (*perform)(void*), void* data) {
  Failing here{name, {}, {}};
  struct Call {
    void (*perform)(void*);
    void* data;
  } call = {perform, data};
  guarded(
      here,
      [](void* it, uint64_t) {
        auto* c = static_cast<Call*>(it);
        c->perform(c->data);
      },
      &call, 0);
  return std::move(here.result);
}

bool parallel(uint64_t count, void (*body)(void*, uint64_t), void* data) {
  Failing* here = failing;
  if (!here) return false;
  Numbers job(count, *here, body, data);
  bool shared = count > 1 && pool().threads() > 1;
  if (shared)
    pool().offer(job, static_cast<unsigned>(std::min<uint64_t>(count, pool().threads()) - 1));
  job.run(0);
  if (shared) pool().finish(job);
  return !job.cancelled();
}

unsigned threads() { return pool().threads(); }

}  // namespace aw::processor
