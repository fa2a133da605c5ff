// Threads that help to run the blocks of grids; they sleep when there is nothing to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "devices/claims.h"

namespace aw {

// Work that is claimed in pieces of consecutive numbers. `run` is called by several threads at once
// and returns when nothing is left to claim.
class Job : public Claims {
 public:
  using Claims::Claims;
  virtual ~Job() = default;
  virtual void run(unsigned worker) = 0;

 private:
  friend class WorkerPool;
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
