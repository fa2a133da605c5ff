#include "collectives.h"

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include "collectives_tensors.h"
#include "devices.h"
#include "streams.h"
#include "versions.h"

namespace awt {
namespace {

using c10d::OpType;
using Clock = decltype(c10d::WorkInfo::timeStarted)::clock;  // another one in older versions

// Operators run on the host, so the host's clock tells when they did.
class CudaTimer final : public c10d::Timer {
 public:
  explicit CudaTimer(c10::Device) {}
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto from = getTimestamp(start), to = getTimestamp(end);
    if (!from || !to || *to < *from) return std::nullopt;
    return *to - *from;
  }
};

}  // namespace

namespace {
std::atomic<int64_t> next_number{0};
}  // namespace

NcclBackend::NcclBackend(c10::intrusive_ptr<c10d::Backend> gloo, int rank, int size,
                         Milliseconds timeout)
    : c10d::Backend(rank, size),
      peers_{std::move(gloo), rank, size},
      number_(next_number++),
      timeout_(timeout.count()) {}

void NcclBackend::check_usable() const {
  const char* words = ended_;
  if (words)
    C10_THROW_ERROR(DistBackendError,
                    c10::str("NCCL communicator was ", words, " on rank ", getRank()));
}

WorkLabel NcclBackend::label(OpType type, const char* title, const Tensors& ins,
                             const Tensors& outs, Milliseconds timeout) {
  if (timeout == c10d::kUnsetTimeout) timeout = Milliseconds(timeout_.load());
  timeout += Milliseconds(extra_.exchange(0));
  return {type, title, ++sequence_, getRank(), count_of(ins), count_of(outs), timeout};
}

NcclBackend::WorkPtr NcclBackend::issued(WorkPtr work) {
  if (coalesced_) coalesced_->push_back(work);
  return work;
}

NcclBackend::WorkPtr NcclBackend::start(OpType type, const char* title, Tensors ins, Tensors outs,
                                        Milliseconds timeout, Steps steps) {
  check_usable();
  const auto device =
      outs.empty() ? c10::Device(c10::DeviceType::CUDA, current_device()) : outs[0].device();
  TORCH_CHECK(!stream_capturing(current_stream(device.index())), title,
              " cannot be captured in a CUDA graph by this backend");
  wait_for_driver(device.index());
  const WorkLabel about = label(type, title, ins, outs, timeout);
  auto work = c10::make_intrusive<CudaWork>(about, ins, outs, device);
  const auto began = Clock::now();
  lane_.add([this_peers = peers_, work, about, began, steps = std::move(steps),
             hook = onCompletionHook_] {
    work->run([&] { steps(this_peers, about.timeout); });
    if (!hook) return;
    const auto now = Clock::now();
    hook(std::make_shared<c10d::WorkInfo>(about.type, about.sequence, began, now, now - began));
  });
  return issued(work);
}

NcclBackend::WorkPtr NcclBackend::transfer(OpType type, const char* title, Tensors& tensors,
                                           const std::function<WorkPtr(Tensors&)>& begin) {
  check_usable();
  const at::Tensor& tensor = only(tensors);
  TORCH_CHECK_VALUE(
      tensor.is_cuda() && tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense(),
      "Tensors must be CUDA and dense");
  wait_for_driver(tensor.device().index());
  const bool sends = type == OpType::SEND;
  Tensors ins, outs;
  (sends ? ins : outs).push_back(tensor);
  Tensors as_bytes{bytes(tensor)};
  return issued(
      c10::make_intrusive<TransferWork>(label(type, title, ins, outs, c10d::kUnsetTimeout), ins,
                                        tensors, tensor.device(), begin(as_bytes)));
}

#if AWT_TORCH >= 213
c10::intrusive_ptr<c10d::Backend> NcclBackend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                     const std::vector<int>& ranks,
                                                     const c10::intrusive_ptr<Options>& options) {
  check_usable();
  ++splits_;
  // Gloo takes options of its own class only, and writes to them; there is no way to copy them
  // here.
  auto of_gloo = peers_.gloo->getBackendOptions();
  const auto name = of_gloo->group_name;
  const auto members = of_gloo->global_ranks_in_group;
  of_gloo->group_name = options->group_name;
  auto gloo = peers_.gloo->split(store, ranks, of_gloo);
  of_gloo->group_name = name;
  of_gloo->global_ranks_in_group = members;
  if (!gloo) return nullptr;
  return c10::make_intrusive<NcclBackend>(gloo, gloo->getRank(), gloo->getSize(), options->timeout);
}
#endif

void NcclBackend::startCoalescing() { coalesced_.emplace(); }

NcclBackend::WorkPtr NcclBackend::endCoalescing() {
  TORCH_CHECK(coalesced_, "endCoalescing without startCoalescing");
  auto works = std::move(*coalesced_);
  coalesced_.reset();
  if (works.empty()) return nullptr;
  return c10::make_intrusive<JoinedWork>(
      getRank(), c10::Device(c10::DeviceType::CUDA, current_device()), std::move(works));
}

NcclBackend::WorkPtr NcclBackend::broadcast(Tensors& tensors,
                                            const c10d::BroadcastOptions& options) {
  const at::Tensor& tensor = only(tensors);
  check(tensor);
  return start(OpType::BROADCAST, "nccl:broadcast", tensors, tensors, options.timeout,
               [data = bytes(tensor), root = options.rootRank](auto& peers, auto timeout) {
                 if (data.numel() > 0) awt::broadcast(peers, data, root, timeout);
               });
}

NcclBackend::WorkPtr NcclBackend::allreduce(Tensors& tensors,
                                            const c10d::AllreduceOptions& options) {
  const at::Tensor& tensor = only(tensors);
  check(tensor);
  return start(OpType::ALLREDUCE, "nccl:all_reduce", tensors, tensors, options.timeout,
               [data = numbers(tensor), op = checked(options.reduceOp, tensor)](
                   auto& peers, auto timeout) { all_reduce(peers, data, op, timeout); });
}

NcclBackend::WorkPtr NcclBackend::allreduce_sparse(Tensors&, const c10d::AllreduceOptions&) {
  C10_THROW_ERROR(
      Error, "NCCL does not support all_reduce with sparse tensors. Use dense tensors instead.");
}

NcclBackend::WorkPtr NcclBackend::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  check(tensors);
  Tensors flats;
  std::vector<ReduceOp> ops;
  for (const auto& tensor : tensors) {
    flats.push_back(numbers(tensor));
    ops.push_back(checked(options.reduceOp, tensor));
  }
  return start(OpType::ALLREDUCE_COALESCED, "nccl:allreduce_coalesced", tensors, tensors,
               options.timeout, [flats, ops](auto& peers, auto timeout) {
                 for (size_t i = 0; i < flats.size(); ++i)
                   all_reduce(peers, flats[i], ops[i], timeout);
               });
}

NcclBackend::WorkPtr NcclBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  const at::Tensor& tensor = only(tensors);
  check(tensor);
  return start(
      OpType::REDUCE, "nccl:reduce", tensors, tensors, options.timeout,
      [data = numbers(tensor), op = checked(options.reduceOp, tensor), root = options.rootRank](
          auto& peers, auto timeout) { awt::reduce(peers, data, op, root, timeout); });
}

NcclBackend::WorkPtr NcclBackend::allgather(std::vector<Tensors>& outs, Tensors& ins,
                                            const c10d::AllgatherOptions& options) {
  const at::Tensor& in = only(ins);
  check(in);
  TORCH_CHECK(outs.size() == 1 && int(outs[0].size()) == getSize(),
              "Tensor list input to scatter/gather must match number of collective participants");
  check(outs[0]);
  check_all_like(outs[0], in, "Tensor list operands to all_gather must have identical dtype");
  return start(OpType::ALLGATHER, "nccl:all_gather", ins, outs[0], options.timeout,
               [flats = bytes(outs[0]), own = bytes(in)](auto& peers, auto timeout) mutable {
                 TORCH_CHECK_VALUE(flats[size_t(peers.rank)].numel() == own.numel(),
                                   "Tensor list operands to all_gather must have this rank's size");
                 if (all_equal(lengths(flats))) {
                   at::Tensor all = at::empty({own.numel() * peers.size}, own.options());
                   awt::all_gather(peers, all, own, timeout);
                   return spread(all, flats);
                 }
                 flats[size_t(peers.rank)].copy_(own);
                 for (int root = 0; root < peers.size; ++root)
                   if (flats[size_t(root)].numel() > 0)
                     awt::broadcast(peers, flats[size_t(root)], root, timeout);
               });
}

NcclBackend::WorkPtr NcclBackend::_allgather_base(at::Tensor& out, at::Tensor& in,
                                                  const c10d::AllgatherOptions& options) {
  check(in);
  check(out);
  TORCH_CHECK_TYPE(in.scalar_type() == out.scalar_type(),
                   "output tensor must have the same type as input tensor");
  TORCH_CHECK_VALUE(in.numel() * getSize() == out.numel(),
                    "output tensor size must be equal to world_size times input tensor size");
  return start(OpType::_ALLGATHER_BASE, "nccl:_all_gather_base", {in}, {out}, options.timeout,
               [to = bytes(out), from = bytes(in)](auto& peers, auto timeout) {
                 awt::all_gather(peers, to, from, timeout);
               });
}

NcclBackend::WorkPtr NcclBackend::allgather_into_tensor_coalesced(
    Tensors& outs, Tensors& ins, const c10d::AllgatherOptions& options) {
  check(outs);
  check(ins);
  TORCH_CHECK_VALUE(outs.size() == ins.size(), "as many outputs as inputs are needed");
  for (size_t i = 0; i < ins.size(); ++i)
    TORCH_CHECK_VALUE(ins[i].nbytes() * size_t(getSize()) == outs[i].nbytes(),
                      "output tensor size must be equal to world_size times input tensor size");
  return start(OpType::COALESCED, "nccl:all_gather_into_tensor_coalesced", ins, outs,
               options.timeout, [to = bytes(outs), from = bytes(ins)](auto& peers, auto timeout) {
                 for (size_t i = 0; i < from.size(); ++i)
                   awt::all_gather(peers, to[i], from[i], timeout);
               });
}

NcclBackend::WorkPtr NcclBackend::gather(std::vector<Tensors>& outs, Tensors& ins,
                                         const c10d::GatherOptions& options) {
  const at::Tensor& in = only(ins);
  check(in);
  Tensors results;
  if (getRank() == options.rootRank) {
    TORCH_CHECK_VALUE(outs.size() == 1 && int(outs[0].size()) == getSize(),
                      "Incorrect output list size, it should be the size of the group");
    results = outs[0];
    check(results);
    for (const auto& out : results)
      TORCH_CHECK_VALUE(out.nbytes() == in.nbytes(), "gather needs tensors of equal size");
  } else {
    TORCH_CHECK_VALUE(outs.empty(), "requires empty output on non-root");
  }
  return start(OpType::GATHER, "nccl:gather", ins, results, options.timeout,
               [to = bytes(results), from = bytes(in), root = options.rootRank](
                   auto& peers, auto timeout) { awt::gather(peers, to, from, root, timeout); });
}

NcclBackend::WorkPtr NcclBackend::scatter(Tensors& outs, std::vector<Tensors>& ins,
                                          const c10d::ScatterOptions& options) {
  const at::Tensor& out = only(outs);
  check(out);
  Tensors given;
  if (getRank() == options.rootRank) {
    TORCH_CHECK_VALUE(ins.size() == 1 && int(ins[0].size()) == getSize(),
                      "Incorrect input list size, it should be the size of the group");
    given = ins[0];
    check(given);
    for (const auto& in : given)
      TORCH_CHECK_VALUE(in.nbytes() == out.nbytes(), "scatter needs tensors of equal size");
  } else {
    TORCH_CHECK_VALUE(ins.empty(), "requires empty input on non-root");
  }
  return start(OpType::SCATTER, "nccl:scatter", given, outs, options.timeout,
               [to = bytes(out), from = bytes(given), root = options.rootRank](
                   auto& peers, auto timeout) { awt::scatter(peers, to, from, root, timeout); });
}

NcclBackend::WorkPtr NcclBackend::reduce_scatter(std::vector<at::Tensor>& outs,
                                                 std::vector<Tensors>& ins,
                                                 const c10d::ReduceScatterOptions& options) {
  const at::Tensor& out = only(outs);
  check(out);
  TORCH_CHECK(ins.size() == 1 && int(ins[0].size()) == getSize(),
              "Tensor list input to scatter/gather must match number of collective participants");
  check(ins[0]);
  check_all_like(ins[0], out, "Tensor list operands to reduce_scatter must have identical dtype");
  TORCH_CHECK_VALUE(ins[0][size_t(getRank())].numel() == out.numel(),
                    "reduce_scatter needs an output of the size of this rank's input");
  Tensors flats;
  for (const auto& in : ins[0]) flats.push_back(numbers(in));
  return start(
      OpType::REDUCE_SCATTER, "nccl:reduce_scatter", ins[0], outs, options.timeout,
      [to = numbers(out), flats, op = checked(options.reduceOp, out)](auto& peers, auto timeout) {
        awt::reduce_scatter(peers, to, joined(flats), lengths(flats), op, timeout);
      });
}

NcclBackend::WorkPtr NcclBackend::_reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                                       const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK_TYPE(in.scalar_type() == out.scalar_type(),
                   "input tensor must be the same type as the output tensor.");
  TORCH_CHECK_VALUE(in.numel() == out.numel() * getSize(),
                    "input tensor must be the same size as output size times world size");
  Tensors outs{out}, ins{in};
  return reduce_scatter_tensor_coalesced(outs, ins, options);
}

NcclBackend::WorkPtr NcclBackend::reduce_scatter_tensor_coalesced(
    Tensors& outs, Tensors& ins, const c10d::ReduceScatterOptions& options) {
  check(outs);
  check(ins);
  TORCH_CHECK_VALUE(outs.size() == ins.size(), "as many outputs as inputs are needed");
  Tensors to, from;
  std::vector<ReduceOp> ops;
  for (size_t i = 0; i < ins.size(); ++i) {
    TORCH_CHECK_VALUE(ins[i].nbytes() == outs[i].nbytes() * size_t(getSize()),
                      "input tensor must be the same size as output size times world size");
    to.push_back(numbers(outs[i]));
    from.push_back(numbers(ins[i]));
    ops.push_back(checked(options.reduceOp, ins[i]));
  }
  const bool one = ins.size() == 1;
  return start(one ? OpType::_REDUCE_SCATTER_BASE : OpType::COALESCED,
               one ? "nccl:_reduce_scatter_base" : "nccl:reduce_scatter_tensor_coalesced", ins,
               outs, options.timeout, [to, from, ops](auto& peers, auto timeout) {
                 for (size_t i = 0; i < from.size(); ++i) {
                   const std::vector<int64_t> counts(size_t(peers.size), to[i].numel());
                   awt::reduce_scatter(peers, to[i], from[i], counts, ops[i], timeout);
                 }
               });
}

NcclBackend::WorkPtr NcclBackend::alltoall_base(at::Tensor& out, at::Tensor& in,
                                                std::vector<int64_t>& out_splits,
                                                std::vector<int64_t>& in_splits,
                                                const c10d::AllToAllOptions& options) {
  check(out);
  check(in);
  TORCH_CHECK_TYPE(in.scalar_type() == out.scalar_type(), "Tensors must have identical dtype");
  return start(
      OpType::ALLTOALL_BASE, "nccl:all_to_all", {in}, {out}, options.timeout,
      [to = bytes(out), from = bytes(in), out_counts = byte_splits(out, out_splits, getSize()),
       in_counts = byte_splits(in, in_splits, getSize())](auto& peers, auto timeout) {
        awt::all_to_all(peers, to, from, out_counts, in_counts, timeout);
      });
}

NcclBackend::WorkPtr NcclBackend::alltoall(Tensors& outs, Tensors& ins,
                                           const c10d::AllToAllOptions& options) {
  check(outs);
  check(ins);
  TORCH_CHECK(int(outs.size()) == getSize() && int(ins.size()) == getSize(),
              "Number of tensors not equal to group size");
  return start(OpType::ALLTOALL, "nccl:all_to_all", ins, outs, options.timeout,
               [to = bytes(outs), from = bytes(ins)](auto& peers, auto timeout) mutable {
                 at::Tensor received = at::empty({count_of(to)}, to[0].options());
                 awt::all_to_all(peers, received, joined(from), lengths(to), lengths(from),
                                 timeout);
                 spread(received, to);
               });
}

NcclBackend::WorkPtr NcclBackend::send(Tensors& tensors, int to, int tag) {
  return transfer(OpType::SEND, "nccl:send", tensors,
                  [&](Tensors& data) { return peers_.gloo->send(data, to, tag); });
}

NcclBackend::WorkPtr NcclBackend::recv(Tensors& tensors, int from, int tag) {
  return transfer(OpType::RECV, "nccl:recv", tensors,
                  [&](Tensors& data) { return peers_.gloo->recv(data, from, tag); });
}

NcclBackend::WorkPtr NcclBackend::recvAnysource(Tensors&, int) {
  C10_THROW_ERROR(NotImplementedError, "ProcessGroupNCCL does not support recvAnysource");
}

NcclBackend::WorkPtr NcclBackend::barrier(const c10d::BarrierOptions& options) {
  auto work = start(OpType::BARRIER, "nccl:barrier", {}, {}, options.timeout,
                    [](auto& peers, auto timeout) { awt::barrier(peers, timeout); });
  return work;
}

void NcclBackend::registerOnCompletionHook(
    std::function<void(std::shared_ptr<c10d::WorkInfo>)>&& hook) {
  TORCH_CHECK(!onCompletionHook_, "onCompletion hook has already been registered");
  onCompletionHook_ = std::move(hook);
}

void NcclBackend::abort() {
  ended_ = "aborted";
#if AWT_TORCH >= 207
  peers_.gloo->abort();
#endif
}

void NcclBackend::shutdown() {
  if (ended_) return;
  lane_.wait_until_empty();
  ended_ = "shut down";
}

}  // namespace awt

namespace c10d {
namespace {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kCUDA, awt::CudaTimer)
}  // namespace
}  // namespace c10d

namespace {

// Gives a group that has Gloo for the CPU our backend for CUDA.
void add_nccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group, int64_t milliseconds) {
  auto gloo = group->getBackend(c10::DeviceType::CPU);
  auto made = c10::make_intrusive<awt::NcclBackend>(gloo, gloo->getRank(), gloo->getSize(),
                                                    awt::Milliseconds(milliseconds));
  group->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::NCCL,
                    std::optional<c10::intrusive_ptr<c10d::Backend>>(made));
}

void finish_nccl(const c10::intrusive_ptr<c10d::Work>& work) { awt::finish_if_ours(*work); }

c10::intrusive_ptr<awt::NcclBackend> nccl_of(const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  auto found = c10::dynamic_intrusive_pointer_cast<awt::NcclBackend>(
      group->getBackend(c10::DeviceType::CUDA));
  TORCH_CHECK(found, "the group has no backend nccl");
  return found;
}

// Its number, its timeout in milliseconds, and how many groups were split off it.
std::tuple<int64_t, int64_t, int64_t> nccl_state(
    const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  auto found = nccl_of(group);
  return {found->number(), found->timeout(), found->splits()};
}

void set_nccl_timeout(const c10::intrusive_ptr<c10d::ProcessGroup>& group, int64_t milliseconds,
                      int64_t more_for_the_next) {
  auto found = nccl_of(group);
  found->setTimeout(awt::Milliseconds(milliseconds));
  if (more_for_the_next > 0) found->add_to_next_timeout(awt::Milliseconds(more_for_the_next));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(anywarp, m) {
  m.def("add_nccl(__torch__.torch.classes.c10d.ProcessGroup group, int milliseconds) -> ()",
        add_nccl);
  m.def("nccl_state(__torch__.torch.classes.c10d.ProcessGroup group) -> (int, int, int)",
        nccl_state);
  m.def("finish_nccl(__torch__.torch.classes.c10d.Work work) -> ()", finish_nccl);
  m.def(
      "set_nccl_timeout(__torch__.torch.classes.c10d.ProcessGroup group, int milliseconds, "
      "int more_for_the_next) -> ()",
      set_nccl_timeout);
}
