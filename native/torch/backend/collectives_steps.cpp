#include "collectives_steps.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <numeric>

#include "versions.h"

namespace awt {
namespace {

using c10d::ReduceOp;
using Tensors = std::vector<at::Tensor>;

at::Tensor bytes_of(const at::Tensor& flat) { return flat.view(at::kByte); }

std::vector<int64_t> times(std::vector<int64_t> counts, int64_t factor) {
  for (auto& count : counts) count *= factor;
  return counts;
}

int64_t total(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

// Sums of these would lose too much, or cannot be made, in their own dtype.
bool is_narrow(at::ScalarType type) {
  return at::isReducedFloatingType(type) || at::isFloat8Type(type);
}

bool gloo_reduces(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
    case at::kDouble:
    case at::kInt:
    case at::kLong:
    case at::kByte:
    case at::kChar:
#if AWT_TORCH >= 208
    case at::kHalf:
    case at::kBFloat16:
#endif
      return true;
    default:
      return false;
  }
}

const c10d::NCCLPreMulSumSupplement* factor_of(const ReduceOp& op) {
  if (op.op_ != ReduceOp::PREMUL_SUM) return nullptr;
  return static_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
}

void multiply_by(at::Tensor flat, const c10d::NCCLPreMulSumSupplement& factor) {
  if (factor.tensor_factor.defined())
    flat.mul_(factor.tensor_factor.to(flat.scalar_type()).reshape({}));
  else
    flat.mul_(factor.double_factor);
}

// What every rank does with its own numbers before they are combined.
void before(at::Tensor flat, const ReduceOp& op, int size) {
  if (const auto* factor = factor_of(op)) multiply_by(flat, *factor);
  if (op.op_ == ReduceOp::AVG && flat.is_floating_point()) flat.mul_(1.0 / size);
}

// What remains to be done afterwards: whole numbers are averaged towards zero.
void after(at::Tensor flat, const ReduceOp& op, int size) {
  if (op.op_ == ReduceOp::AVG && !flat.is_floating_point()) flat.div_(size, "trunc");
}

ReduceOp::RedOpType plain_operation(const ReduceOp& op) {
  return op.op_ == ReduceOp::AVG || op.op_ == ReduceOp::PREMUL_SUM ? ReduceOp::SUM : op.op_;
}

// The rows of `parts` combined; `parts` is changed.
at::Tensor combine(at::Tensor parts, const ReduceOp& op, int size) {
  at::Tensor rows = is_narrow(parts.scalar_type()) ? parts.to(at::kFloat) : parts;
  before(rows, op, size);
  at::Tensor out;
  switch (plain_operation(op)) {
    case ReduceOp::SUM:
      out = at::sum(rows, {0}, false, rows.scalar_type());
      break;
    case ReduceOp::PRODUCT:
      out = at::prod(rows, 0, false, rows.scalar_type());
      break;
    case ReduceOp::MIN:
      out = at::amin(rows, {0});
      break;
    case ReduceOp::MAX:
      out = at::amax(rows, {0});
      break;
    default:
      TORCH_CHECK(false, "Cannot use this ReduceOp with NCCL");
  }
  after(out, op, size);
  return out;
}

// Numbers of `flat` per rank, as even as can be.
std::vector<int64_t> shares(int64_t count, int size) {
  std::vector<int64_t> out(size_t(size), count / size);
  for (int64_t i = 0; i < count % size; ++i) ++out[size_t(i)];
  return out;
}

// Every rank combines its share of the numbers and gives it to the others: each byte travels twice.
void all_reduce_by_shares(const Peers& peers, at::Tensor flat, const ReduceOp& op,
                          Milliseconds timeout) {
  const auto counts = shares(flat.numel(), peers.size);
  const int64_t mine = counts[size_t(peers.rank)];
  at::Tensor padded = at::zeros({counts[0]}, flat.options());
  reduce_scatter(peers, padded.narrow(0, 0, mine), flat, counts, op, timeout);
  at::Tensor everything = at::empty({peers.size, counts[0]}, flat.options());
  all_gather(peers, bytes_of(everything.view({-1})), bytes_of(padded), timeout);
  int64_t begin = 0;
  for (int rank = 0; rank < peers.size; ++rank) {
    const int64_t count = counts[size_t(rank)];
    flat.narrow(0, begin, count).copy_(everything[rank].narrow(0, 0, count));
    begin += count;
  }
}

}  // namespace

void broadcast(const Peers& peers, at::Tensor bytes, int64_t root, Milliseconds timeout) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  options.timeout = timeout;
  Tensors tensors{bytes};
  peers.gloo->broadcast(tensors, options)->wait();
}

void all_gather(const Peers& peers, at::Tensor out, at::Tensor in, Milliseconds timeout) {
  if (in.numel() == 0) return;
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  // The input may be this rank's part of the output, which Gloo does not promise to see through.
  const auto begin = static_cast<const char*>(out.const_data_ptr());
  const auto given = static_cast<const char*>(in.const_data_ptr());
  if (given >= begin && given < begin + out.numel()) in = in.clone();
  peers.gloo->_allgather_base(out, in, options)->wait();
}

void gather(const Peers& peers, Tensors outs, at::Tensor in, int64_t root, Milliseconds timeout) {
  if (in.numel() == 0) return;
  c10d::GatherOptions options;
  options.rootRank = root;
  options.timeout = timeout;
  std::vector<Tensors> lists;
  if (peers.rank == root) lists.push_back(std::move(outs));
  Tensors tensors{in};
  peers.gloo->gather(lists, tensors, options)->wait();
}

void scatter(const Peers& peers, at::Tensor out, Tensors ins, int64_t root, Milliseconds timeout) {
  if (out.numel() == 0) return;
  c10d::ScatterOptions options;
  options.rootRank = root;
  options.timeout = timeout;
  std::vector<Tensors> lists;
  if (peers.rank == root) lists.push_back(std::move(ins));
  Tensors tensors{out};
  peers.gloo->scatter(tensors, lists, options)->wait();
}

void all_to_all(const Peers& peers, at::Tensor out, at::Tensor in, std::vector<int64_t> out_counts,
                std::vector<int64_t> in_counts, Milliseconds timeout) {
  c10d::AllToAllOptions options;
  options.timeout = timeout;
  peers.gloo->alltoall_base(out, in, out_counts, in_counts, options)->wait();
}

void barrier(const Peers& peers, Milliseconds timeout) {
  c10d::BarrierOptions options;
  options.timeout = timeout;
  peers.gloo->barrier(options)->wait();
}

void all_reduce(const Peers& peers, at::Tensor flat, const ReduceOp& op, Milliseconds timeout) {
  if (flat.numel() == 0) return;
  if (!gloo_reduces(flat.scalar_type())) return all_reduce_by_shares(peers, flat, op, timeout);
  before(flat, op, peers.size);
  c10d::AllreduceOptions options;
  options.reduceOp = plain_operation(op);
  options.timeout = timeout;
  Tensors tensors{flat};
  peers.gloo->allreduce(tensors, options)->wait();
  after(flat, op, peers.size);
}

void reduce(const Peers& peers, at::Tensor flat, const ReduceOp& op, int64_t root,
            Milliseconds timeout) {
  if (flat.numel() == 0) return;
  // The numbers of other ranks stay what they are, which Gloo does not promise.
  at::Tensor own = peers.rank == root ? flat : flat.clone();
  if (!gloo_reduces(flat.scalar_type())) return all_reduce_by_shares(peers, own, op, timeout);
  before(own, op, peers.size);
  c10d::ReduceOptions options;
  options.reduceOp = plain_operation(op);
  options.rootRank = root;
  options.timeout = timeout;
  Tensors tensors{own};
  peers.gloo->reduce(tensors, options)->wait();
  if (peers.rank == root) after(own, op, peers.size);
}

void reduce_scatter(const Peers& peers, at::Tensor out, at::Tensor in,
                    const std::vector<int64_t>& counts, const ReduceOp& op, Milliseconds timeout) {
  if (total(counts) == 0) return;
  const int64_t mine = counts[size_t(peers.rank)];
  const int64_t bytes = int64_t(in.element_size());
  at::Tensor parts = at::empty({peers.size, mine}, in.options());
  const std::vector<int64_t> received(size_t(peers.size), mine * bytes);
  all_to_all(peers, bytes_of(parts.view({-1})), bytes_of(in), received, times(counts, bytes),
             timeout);
  if (mine > 0) out.copy_(combine(parts, op, peers.size));
}

}  // namespace awt
