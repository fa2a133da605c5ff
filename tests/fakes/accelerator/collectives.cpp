// The toy's backend for torch.distributed: a vendor's c10d::Backend that takes tensors of the toy
// and no others, and has Gloo move their bytes.
#include <ATen/ops/from_blob.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

extern "C" bool toy_is_mine(const void* memory);

namespace toy {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;
template <class T>
using Held = c10::intrusive_ptr<T>;

constexpr auto kType = c10::DeviceType::TOY;

Tensor host(const Tensor& tensor) {
  TORCH_CHECK(tensor.device().type() == kType && toy_is_mine(tensor.storage().data()),
              "a tensor of the toy is wanted");
  return at::from_blob(const_cast<void*>(tensor.const_data_ptr()), tensor.sizes(),
                       tensor.strides(), tensor.options().device(at::kCPU));
}
Tensors hosts(const Tensors& tensors) {
  Tensors made;
  for (const Tensor& each : tensors) made.push_back(host(each));
  return made;
}
std::vector<Tensors> hosts(const std::vector<Tensors>& tensors) {
  std::vector<Tensors> made;
  for (const Tensors& each : tensors) made.push_back(hosts(each));
  return made;
}

// Gloo's work, with results of the toy.
struct Work final : c10d::Work {
  Work(Held<c10d::Work> theirs, Tensors results)
      : c10d::Work(-1, theirs->retrieveOpType()), theirs(theirs), results(std::move(results)) {}
  bool isCompleted() override { return theirs->isCompleted(); }
  bool isSuccess() const override { return theirs->isSuccess(); }
  std::exception_ptr exception() const override { return theirs->exception(); }
  int sourceRank() const override { return theirs->sourceRank(); }
  bool wait(std::chrono::milliseconds timeout) override { return theirs->wait(timeout); }
  void synchronize() override { theirs->synchronize(); }
  Tensors result() override { return results; }
  Held<c10::ivalue::Future> getFuture() override {
    return theirs->getFuture()->then(
        [results = results](c10::ivalue::Future& done) {
          done.value();
          return c10::IValue(results);
        },
        c10::ListType::create(c10::TensorType::get()));
  }
  const Held<c10d::Work> theirs;
  const Tensors results;
};

struct Backend final : c10d::Backend {
  explicit Backend(Held<c10d::Backend> gloo)
      : c10d::Backend(gloo->getRank(), gloo->getSize()), gloo(gloo) {}
  const std::string getBackendName() const override { return "tccl"; }

  static Held<c10d::Work> started(Held<c10d::Work> theirs, Tensors results) {
    return c10::make_intrusive<Work>(std::move(theirs), std::move(results));
  }
  static Tensors flat(const std::vector<Tensors>& lists) {
    Tensors all;
    for (const Tensors& each : lists) all.insert(all.end(), each.begin(), each.end());
    return all;
  }

  Held<c10d::Work> broadcast(Tensors& x, const c10d::BroadcastOptions& options) override {
    Tensors there = hosts(x);
    return started(gloo->broadcast(there, options), x);
  }
  Held<c10d::Work> allreduce(Tensors& x, const c10d::AllreduceOptions& options) override {
    Tensors there = hosts(x);
    return started(gloo->allreduce(there, options), x);
  }
  Held<c10d::Work> reduce(Tensors& x, const c10d::ReduceOptions& options) override {
    Tensors there = hosts(x);
    return started(gloo->reduce(there, options), x);
  }
  Held<c10d::Work> allgather(std::vector<Tensors>& to, Tensors& from,
                             const c10d::AllgatherOptions& options) override {
    auto outputs = hosts(to);
    Tensors inputs = hosts(from);
    return started(gloo->allgather(outputs, inputs, options), flat(to));
  }
  Held<c10d::Work> _allgather_base(Tensor& to, Tensor& from,
                                   const c10d::AllgatherOptions& options) override {
    Tensor output = host(to), input = host(from);
    return started(gloo->_allgather_base(output, input, options), {to});
  }
  Held<c10d::Work> gather(std::vector<Tensors>& to, Tensors& from,
                          const c10d::GatherOptions& options) override {
    auto outputs = hosts(to);
    Tensors inputs = hosts(from);
    return started(gloo->gather(outputs, inputs, options), flat(to));
  }
  Held<c10d::Work> scatter(Tensors& to, std::vector<Tensors>& from,
                           const c10d::ScatterOptions& options) override {
    Tensors outputs = hosts(to);
    auto inputs = hosts(from);
    return started(gloo->scatter(outputs, inputs, options), to);
  }
  Held<c10d::Work> _reduce_scatter_base(Tensor& to, Tensor& from,
                                        const c10d::ReduceScatterOptions& options) override {
    Tensor output = host(to), input = host(from);
    return started(gloo->_reduce_scatter_base(output, input, options), {to});
  }
  Held<c10d::Work> allgather_into_tensor_coalesced(
      Tensors& to, Tensors& from, const c10d::AllgatherOptions& options) override {
    Tensors outputs = hosts(to), inputs = hosts(from);
    return started(gloo->allgather_into_tensor_coalesced(outputs, inputs, options), to);
  }
  Held<c10d::Work> alltoall_base(Tensor& to, Tensor& from, std::vector<int64_t>& sizes_to,
                                 std::vector<int64_t>& sizes_from,
                                 const c10d::AllToAllOptions& options) override {
    Tensor output = host(to), input = host(from);
    return started(gloo->alltoall_base(output, input, sizes_to, sizes_from, options), {to});
  }
  Held<c10d::Work> send(Tensors& x, int to, int tag) override {
    Tensors there = hosts(x);
    return started(gloo->send(there, to, tag), x);
  }
  Held<c10d::Work> recv(Tensors& x, int from, int tag) override {
    Tensors there = hosts(x);
    return started(gloo->recv(there, from, tag), x);
  }
  Held<c10d::Work> barrier(const c10d::BarrierOptions& options) override {
    return gloo->barrier(options);
  }

  const Held<c10d::Backend> gloo;
};

void add_collectives(const Held<c10d::ProcessGroup>& group) {
  auto made = c10::make_intrusive<Backend>(group->getBackend(c10::DeviceType::CPU));
  group->setBackend(kType, c10d::ProcessGroup::CUSTOM,
                    std::optional<Held<c10d::Backend>>(made));
}

TORCH_LIBRARY_FRAGMENT(toy, library) {
  library.def("add_collectives(__torch__.torch.classes.c10d.ProcessGroup group) -> ()",
              add_collectives);
}

}  // namespace
}  // namespace toy
