// CUDA's device run time for one grid: what its kernel launches and copies is done when the grid
// has ended.
//
// The CUDA C++ Programming Guide (dynamic parallelism) lets a child begin at any time between its
// launch and the end of its parent, keeps the order of launches within a stream of a block only,
// and has a grid be complete when its children are. So they run one after the other in the order of
// their launches, each with its own children behind it; streams and events order nothing more.
// A kernel of the interface before CUDA 12 may wait for them (cudaDeviceSynchronize): they run
// then.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "cpu/work.h"
#include "devices/device_calls.h"

namespace aw {

// What a grid asked for.
struct Children {
  std::deque<Work> waiting;
  std::deque<Work> tail;  // cudaStreamTailLaunch: when all the others have ended

  bool empty() const { return waiting.empty() && tail.empty(); }
  std::optional<Work> take() {
    std::deque<Work>& from = waiting.empty() ? tail : waiting;
    if (from.empty()) return std::nullopt;
    Work first = std::move(from.front());
    from.pop_front();
    return first;
  }
};

// Does what is left, and what that leaves in its turn.
void perform_children(std::unique_ptr<Children> children, Context& context);

class GridRuntime final : public DeviceCalls {
 public:
  GridRuntime(const Function& parent, Context& context) : parent_(parent), context_(context) {}
  uint64_t answer(AwDeviceCall call, uint64_t thread, const uint8_t* arguments) override;
  std::unique_ptr<Children> take() { return std::move(children_); }

 private:
  class Arguments;
  uint64_t carry_out(AwDeviceCall call, Arguments& arguments, uint64_t thread);
  std::shared_ptr<Function> kernel(uint64_t pointer);
  void launch(uint64_t buffer, uint64_t stream);
  void enter(Work work, uint64_t stream);
  int last_error(uint64_t thread, bool forget);
  int synchronize();

  const Function& parent_;
  Context& context_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::unique_ptr<Children> children_;
  unsigned running_ = 0;            // threads that run children for a kernel that waits
  std::map<uint64_t, int> errors_;  // by thread
};

}  // namespace aw
