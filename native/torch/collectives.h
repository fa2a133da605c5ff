// The backend "nccl" of torch.distributed: collectives on device tensors, by Gloo underneath.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "collectives_steps.h"
#include "collectives_work.h"
#include "versions.h"

namespace awt {

// Device tensors are seen as CPU tensors on the same memory, without a copy; each collective runs
// on the group's thread, in the order of the calls, as NCCL's run on the group's stream.
//
// Functions without `override` do so only in some versions of torch.
class NcclBackend final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  NcclBackend(c10::intrusive_ptr<c10d::Backend> gloo, int rank, int size, Milliseconds timeout);

  const std::string getBackendName() const override { return "nccl"; }
  bool supportsCoalescing() const { return true; }
#if AWT_TORCH >= 213
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                          const std::vector<int>& ranks,
                                          const c10::intrusive_ptr<Options>& options) override;
#endif
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outs, Tensors& ins,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& out, at::Tensor& in,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outs, Tensors& ins,
                                          const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outs, Tensors& ins,
                 const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outs, std::vector<Tensors>& ins,
                  const c10d::ScatterOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outs, std::vector<Tensors>& ins,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outs, Tensors& ins,
                                          const c10d::ReduceScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_splits,
                        std::vector<int64_t>& in_splits,
                        const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outs, Tensors& ins, const c10d::AllToAllOptions& options) override;
  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

  void setSequenceNumberForGroup() override {}  // counted from 0 by every rank
  uint64_t getSequenceNumberForGroup() override { return sequence_; }
  void setTimeout(Milliseconds timeout) { timeout_ = timeout.count(); }
  int64_t timeout() const { return timeout_; }
  int64_t splits() const { return splits_; }
  int64_t number() const { return number_; }
  void add_to_next_timeout(Milliseconds more) { extra_ = more.count(); }
  void registerOnCompletionHook(
      std::function<void(std::shared_ptr<c10d::WorkInfo>)>&& hook) override;
  void waitForPendingWorks() override { lane_.wait_until_empty(); }
  void enableCollectivesTiming() override {}  // the hook is told the times in any case
  void abort();
  void shutdown();

 private:
  using Steps = std::function<void(const Peers&, Milliseconds)>;

  // Gives `steps` to the group's thread.
  WorkPtr start(c10d::OpType type, const char* title, Tensors ins, Tensors outs,
                Milliseconds timeout, Steps steps);
  WorkPtr transfer(c10d::OpType type, const char* title, Tensors& tensors,
                   const std::function<WorkPtr(Tensors&)>& begin);
  WorkLabel label(c10d::OpType type, const char* title, const Tensors& ins, const Tensors& outs,
                  Milliseconds timeout);
  WorkPtr issued(WorkPtr work);
  void check_usable() const;

  const Peers peers_;
  const int64_t number_;  // of this process's backends, never used again
  std::atomic<int64_t> timeout_;
  std::atomic<int64_t> extra_{0};  // for the next operation alone
  std::atomic<uint64_t> sequence_{0};
  std::atomic<int64_t> splits_{0};
  std::atomic<const char*> ended_{nullptr};
  std::optional<std::vector<WorkPtr>> coalesced_;
  Lane lane_;
};

}  // namespace awt
