#include "devices/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

namespace aw {
namespace {

constexpr size_t kWorkerStackBytes = 16 << 20;  // kernels keep whole warps of values on the stack

struct Start {
  WorkerPool* pool;
  void (WorkerPool::*work)(unsigned);
  unsigned worker;
};

void* begin(void* argument) {
  Start start = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  (start.pool->*start.work)(start.worker);
  return nullptr;
}

}  // namespace

void WorkerPool::offer(Job& job, unsigned helpers) {
  if (helpers == 0 || threads_ < 2) return;
  helpers = std::min(helpers, threads_ - 1);
  {
    std::lock_guard lock(mutex_);
    if (!started_) start();
    offered_.push_back({&job, helpers});
  }
  for (unsigned i = 0; i < helpers; ++i) wanted_.notify_one();
}

void WorkerPool::finish(Job& job) {
  std::unique_lock lock(mutex_);
  offered_.remove_if([&](auto& offer) { return offer.first == &job; });
  left_.wait(lock, [&] { return job.helpers_ == 0; });
}

void WorkerPool::start() {
  started_ = true;
  sigset_t all, old;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signals are for the program's threads
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (unsigned worker = 1; worker < threads_; ++worker) {
    auto* start = new Start{this, &WorkerPool::work, worker};
    pthread_t thread;
    if (pthread_create(&thread, &attributes, begin, start) != 0)
      delete start;  // fewer helpers, still right
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void WorkerPool::work(unsigned worker) {
  pthread_setname_np(pthread_self(), "anywarp-worker");
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [&] { return !offered_.empty(); });
    auto& [job, room] = offered_.front();
    Job* mine = job;
    if (--room == 0) offered_.pop_front();
    ++mine->helpers_;
    lock.unlock();
    mine->run(worker);
    lock.lock();
    if (--mine->helpers_ == 0) left_.notify_all();
  }
}

}  // namespace aw
