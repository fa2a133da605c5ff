// Threads that help to run the blocks of grids; they sleep when there is nothing to do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace aw {

// Work that is claimed in chunks of consecutive numbers. `run` is called by several threads at once
// and returns when nothing is left to claim.
class Job {
 public:
  Job(uint64_t total, uint64_t chunk) : total_(total), chunk_(chunk) {}
  virtual ~Job() = default;
  virtual void run(unsigned worker) = 0;

  // Claims the next chunk: first number, and how many; 0 when all are taken.
  uint64_t claim(uint64_t* first);
  void cancel() {
    cancelled_.store(true);
    next_.store(total_);
  }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  uint64_t left() const;

 private:
  friend class WorkerPool;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> cancelled_{false};
  const uint64_t total_, chunk_;
  unsigned helpers_ = 0;  // threads of the pool inside `run`; guarded by the pool's mutex
};

class WorkerPool {
 public:
  explicit WorkerPool(unsigned threads) : threads_(threads) {}

  unsigned threads() const { return threads_; }

  // Offers the job to at most `helpers` idle threads of the pool. The caller then runs it too, and
  // calls finish.
  void offer(Job& job, unsigned helpers);

  // Withdraws the job and sleeps until no helper is inside it.
  void finish(Job& job);

 private:
  void start();
  void work(unsigned worker);

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable wanted_, left_;
  std::list<std::pair<Job*, unsigned>> offered_;  // and how many more helpers each may have
  bool started_ = false;
};

}  // namespace aw
