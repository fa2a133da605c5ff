// What a program holds of a collective (c10d/Work.hpp): the accelerator's backend does and knows
// everything, and speaks of tensors of the accelerator.
#include "mapped.h"

#if __has_include(<torch/csrc/distributed/c10d/Work.hpp>)
#include <c10/core/Event.h>
#include <torch/custom_class.h>

#include <array>
#include <mutex>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include "torch/versions.h"

namespace awa {
namespace {

using c10::intrusive_ptr;
using c10::IValue;
using c10::ivalue::Future;

// The tensors of the call; threads of the backend may ask, too.
struct Outward {
  explicit Outward(const Call& from) : call(from) {}
  IValue operator()(const IValue& value) {
    std::lock_guard lock(mutex);
    return on_cuda(call, value);
  }
  std::mutex mutex;
  Call call;
};

class MappedWork final : public c10d::Work {
 public:
  MappedWork(intrusive_ptr<c10d::Work> theirs, const Call& call)
      : Work(-1, theirs->retrieveOpType()),
        theirs_(std::move(theirs)),
        outward_(std::make_shared<Outward>(call)) {}
  bool isCompleted() override { return theirs_->isCompleted(); }
  bool isSuccess() const override { return theirs_->isSuccess(); }
  std::exception_ptr exception() const override { return theirs_->exception(); }
  int sourceRank() const override { return theirs_->sourceRank(); }
  void synchronize() override { theirs_->synchronize(); }
  bool wait(std::chrono::milliseconds timeout) override { return theirs_->wait(timeout); }
#if AWT_TORCH >= 207
  void blockCurrentStream() override { theirs_->blockCurrentStream(); }
#endif
  void abort() override { theirs_->abort(); }
  float getDuration() const override { return theirs_->getDuration(); }
  uint64_t getSequencenumber() const override { return theirs_->getSequencenumber(); }
  intrusive_ptr<Future> getFutureResult() override { return theirs_->getFutureResult(); }
  std::vector<at::Tensor> result() override {
    return (*outward_)(IValue(theirs_->result())).toTensorVector();
  }
  intrusive_ptr<Future> getFuture() override {
    std::lock_guard lock(making_);
    if (!future_) {
      auto theirs = theirs_->getFuture();
      future_ =
          theirs->then([outward = outward_](Future& done) { return (*outward)(done.value()); },
                       theirs->elementType());
    }
    return future_;
  }

 private:
  const intrusive_ptr<c10d::Work> theirs_;
  const std::shared_ptr<Outward> outward_;
  std::mutex making_;
  intrusive_ptr<Future> future_;  // made when it is asked for
};

// How long the parts of a step of DistributedDataParallel take, by the accelerator's events.
class MappedTimer final : public c10d::Timer {
 public:
  explicit MappedTimer(c10::Device device) : device_(device) {}
  void record(Event event) override {
    Timer::record(event);
    auto& place = events_[size_t(event)];
    if (!place) place.emplace(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
    place->record(outer(required_guard().getStream(inner(device_))));
  }
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    auto &from = events_[size_t(start)], &to = events_[size_t(end)];
    if (!from || !to) return std::nullopt;
    from->synchronize();
    to->synchronize();
    const double milliseconds = from->elapsedTime(*to);
    if (milliseconds < 0) return std::nullopt;
    return int64_t(milliseconds * 1e6);
  }

 private:
  const c10::Device device_;
  std::array<std::optional<c10::Event>, 5> events_;
};

}  // namespace

bool is_work(const IValue& value) {
  return value.isObject() && value.type() == c10::getCustomClassType<intrusive_ptr<c10d::Work>>();
}

IValue mapped_work(const IValue& work, const Call& call) {
  auto theirs = work.toCustomClass<c10d::Work>();
  return IValue(intrusive_ptr<c10d::Work>(c10::make_intrusive<MappedWork>(theirs, call)));
}

}  // namespace awa

namespace c10d {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kCUDA, awa::MappedTimer)
}

#else  // a torch without collectives

namespace awa {
bool is_work(const c10::IValue&) { return false; }
c10::IValue mapped_work(const c10::IValue& work, const Call&) { return work; }
}  // namespace awa

#endif
