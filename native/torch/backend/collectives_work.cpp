#include "collectives_work.h"

#include <c10/util/Exception.h>

#include <string>
#include <thread>

namespace awt {
namespace {

using c10::ivalue::Future;

c10::intrusive_ptr<Future> new_future(c10::Device device) {
  return c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()),
                                     std::vector<c10::Device>{device});
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

CudaWork::CudaWork(const WorkLabel& label, const std::vector<at::Tensor>& inputs,
                   std::vector<at::Tensor> results, c10::Device device)
    : c10d::Work(label.rank, label.type, label.title, inputs),
      label_(label),
      results_(std::move(results)),
      device_(device) {}

c10::intrusive_ptr<Future> CudaWork::getFuture() {
  bool late;
  {
    std::lock_guard lock(mutex_);
    late = completed_ && !future_;
    if (!future_) future_ = new_future(device_);
  }
  if (late) complete_future();
  return future_;
}

// Called once: when the work is done, or when somebody asks after that.
void CudaWork::complete_future() {
  if (exception_)
    future_->setError(exception_);
  else
    future_->markCompleted(c10::IValue(results_));
}

std::exception_ptr CudaWork::as_backend_error(const std::exception& error, double seconds) const {
  std::string words = error.what();
  const bool expired = words.find("imed out") != std::string::npos;
  const auto limit = label_.timeout.count();
  if (expired)
    words = c10::str(
        "[Rank ", label_.rank,
        "] Watchdog caught collective operation timeout: ", "WorkNCCL(SeqNum=", label_.sequence,
        ", OpType=", c10d::opTypeToString(label_.type), ", NumelIn=", label_.numbers_in,
        ", NumelOut=", label_.numbers_out, ", Timeout(ms)=", limit, ") ran for ",
        int64_t(seconds * 1000), " milliseconds before timing out.");
  else
    words = c10::str("[Rank ", label_.rank, "] ", label_.title, ": ", words);
  return std::make_exception_ptr(
      c10::DistBackendError({__func__, __FILE__, uint32_t(__LINE__)}, words));
}

void CudaWork::run(const std::function<void()>& steps) {
  const auto start = std::chrono::steady_clock::now();
  std::exception_ptr error;
  try {
    steps();
  } catch (const std::exception& raised) {
    error = as_backend_error(raised, seconds_since(start));
  }
  // What finish() does, and who asked for the future until then, in one piece.
  bool asked;
  {
    std::lock_guard lock(mutex_);
    completed_ = true;
    exception_ = error;
    if (recordFunctionEndCallback_) {
      recordFunctionEndCallback_();
      recordFunctionEndCallback_ = nullptr;
    }
    asked = future_ != nullptr;
  }
  cv_.notify_all();
  if (asked) complete_future();
}

bool CudaWork::wait(Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, done);
  } else if (!cv_.wait_for(lock, timeout, done)) {
    std::rethrow_exception(
        as_backend_error(std::runtime_error("timed out"), double(timeout.count()) / 1000));
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

TransferWork::TransferWork(const WorkLabel& label, const std::vector<at::Tensor>& inputs,
                           std::vector<at::Tensor> results, c10::Device device,
                           c10::intrusive_ptr<c10d::Work> transfer)
    : CudaWork(label, inputs, std::move(results), device), transfer_(std::move(transfer)) {}

TransferWork::~TransferWork() {
  // Programs may forget a send; what Gloo reads from must stay until it has been read.
  if (!transfer_) return;
  std::thread([transfer = std::move(transfer_)] {
    try {
      transfer->wait();
    } catch (const std::exception&) {  // nobody asks any more
    }
  }).detach();
}

bool TransferWork::wait(Milliseconds timeout) {
  c10::intrusive_ptr<c10d::Work> mine;
  {
    std::lock_guard lock(transfer_mutex_);
    mine = std::move(transfer_);
    transfer_.reset();
  }
  if (mine) run([&] { mine->wait(timeout == kNoTimeout ? label_.timeout : timeout); });
  return CudaWork::wait(timeout);
}

// Gloo tells of the end of a transfer only those who wait for it.
void TransferWork::wait_elsewhere() {
  {
    std::lock_guard lock(transfer_mutex_);
    if (!transfer_) return;
  }
  c10::raw::intrusive_ptr::incref(this);
  auto self = c10::intrusive_ptr<TransferWork>::reclaim(this);
  std::thread([self] {
    try {
      self->wait();
    } catch (const std::exception&) {  // the work keeps it
    }
  }).detach();
}

bool TransferWork::isCompleted() {
  wait_elsewhere();
  return CudaWork::isCompleted();
}

JoinedWork::JoinedWork(int rank, c10::Device device,
                       std::vector<c10::intrusive_ptr<c10d::Work>> works)
    : c10d::Work(rank, c10d::OpType::COALESCED), device_(device), works_(std::move(works)) {}

bool JoinedWork::isCompleted() {
  bool all = true;
  for (const auto& work : works_) all = work->isCompleted() && all;
  return all;
}

bool JoinedWork::isSuccess() const {
  bool all = true;
  for (const auto& work : works_) all = work->isSuccess() && all;
  return all;
}

bool JoinedWork::wait(Milliseconds timeout) {
  for (const auto& work : works_) work->wait(timeout);
  return true;
}

std::vector<at::Tensor> JoinedWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& work : works_)
    for (const auto& tensor : work->result()) all.push_back(tensor);
  return all;
}

c10::intrusive_ptr<Future> JoinedWork::getFuture() {
  auto future = new_future(device_);
  try {
    wait();
    future->markCompleted(c10::IValue(result()));
  } catch (const std::exception&) {
    future->setError(std::current_exception());
  }
  return future;
}

void finish_if_ours(c10d::Work& work) {
  if (!dynamic_cast<CudaWork*>(&work)) return;
  try {
    work.wait();
  } catch (const std::exception&) {  // the future tells
  }
}

Lane::Lane() : state_(std::make_shared<State>()) { std::thread(&Lane::loop, state_).detach(); }

Lane::~Lane() {
  std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_all();
}

void Lane::add(std::function<void()> task) {
  std::lock_guard lock(state_->mutex);
  state_->tasks.push_back(std::move(task));
  state_->changed.notify_all();
}

void Lane::wait_until_empty() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->tasks.empty() && !state_->busy; });
}

void Lane::loop(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->closed || !state->tasks.empty(); });
    if (state->tasks.empty()) return;
    {
      auto task = std::move(state->tasks.front());
      state->tasks.pop_front();
      state->busy = true;
      lock.unlock();
      task();
    }  // what the task holds goes before anybody hears that it is done
    lock.lock();
    state->busy = false;
    state->changed.notify_all();
  }
}

}  // namespace awt
