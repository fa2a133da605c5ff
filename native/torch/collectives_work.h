// Work of a group: what runs on its own thread, in order, and what a program holds of it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "collectives_steps.h"

namespace awt {

// Says of what a work is, for messages and for hooks.
struct WorkLabel {
  c10d::OpType type;
  const char* title;  // of the profiler: "nccl:all_reduce"
  uint64_t sequence;
  int rank;
  int64_t numbers_in, numbers_out;
  Milliseconds timeout;
};

// One collective, or several that were started together.
class CudaWork : public c10d::Work {
 public:
  CudaWork(const WorkLabel& label, const std::vector<at::Tensor>& inputs,
           std::vector<at::Tensor> results, c10::Device device);

  bool wait(Milliseconds timeout = kNoTimeout) override;
  void synchronize() override { wait(); }
  std::vector<at::Tensor> result() override { return results_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return label_.sequence; }

  // Runs `steps` and completes with what became of them; errors become DistBackendError.
  void run(const std::function<void()>& steps);

 protected:
  std::exception_ptr as_backend_error(const std::exception& error, double seconds) const;

  const WorkLabel label_;
  const std::vector<at::Tensor> results_;

 private:
  void complete_future();

  const c10::Device device_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;  // made when it is asked for
};

// Waits for a work of ours, whatever becomes of it; returns at once for others.
//
// NCCL's futures are complete when Python gets them, so that callbacks run at once, in the
// program's order, and may start collectives themselves. On the group's thread they would wait for
// what that thread is to do next, and start collectives in another order on every rank.
void finish_if_ours(c10d::Work& work);

// A send or a receive: Gloo has it already, somebody has to wait for it.
class TransferWork final : public CudaWork {
 public:
  TransferWork(const WorkLabel& label, const std::vector<at::Tensor>& inputs,
               std::vector<at::Tensor> results, c10::Device device,
               c10::intrusive_ptr<c10d::Work> transfer);
  ~TransferWork() override;

  bool wait(Milliseconds timeout = kNoTimeout) override;
  bool isCompleted() override;

 private:
  void wait_elsewhere();

  std::mutex transfer_mutex_;
  c10::intrusive_ptr<c10d::Work> transfer_;  // null once somebody waits for it
};

// The works between start and end of a coalescing, as one.
class JoinedWork final : public c10d::Work {
 public:
  JoinedWork(int rank, c10::Device device, std::vector<c10::intrusive_ptr<c10d::Work>> works);
  bool isCompleted() override;
  bool isSuccess() const override;
  bool wait(Milliseconds timeout = kNoTimeout) override;
  void synchronize() override { wait(); }
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  const c10::Device device_;
  const std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

// A thread that does one thing after the other. It lives as long as it has something to do, even
// when the lane is gone, because a thread that waits for another process cannot be joined.
class Lane {
 public:
  Lane();
  ~Lane();
  void add(std::function<void()> task);
  void wait_until_empty();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool busy = false;
    bool closed = false;
  };
  static void loop(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace awt
