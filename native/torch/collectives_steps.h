// Collectives over flat CPU tensors, made of the few that Gloo has in every version of torch.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace awt {

using Milliseconds = std::chrono::milliseconds;

// Gloo between the members of one group. The functions below block until this rank's part is done.
struct Peers {
  c10::intrusive_ptr<c10d::Backend> gloo;
  int rank;
  int size;
};

// Tensors of bytes: what only moves is the same for every dtype.
void broadcast(const Peers& peers, at::Tensor bytes, int64_t root, Milliseconds timeout);
void all_gather(const Peers& peers, at::Tensor out, at::Tensor in, Milliseconds timeout);
void gather(const Peers& peers, std::vector<at::Tensor> outs, at::Tensor in, int64_t root,
            Milliseconds timeout);
void scatter(const Peers& peers, at::Tensor out, std::vector<at::Tensor> ins, int64_t root,
             Milliseconds timeout);
void all_to_all(const Peers& peers, at::Tensor out, at::Tensor in, std::vector<int64_t> out_counts,
                std::vector<int64_t> in_counts, Milliseconds timeout);
void barrier(const Peers& peers, Milliseconds timeout);

// Tensors of numbers, in place.
void all_reduce(const Peers& peers, at::Tensor flat, const c10d::ReduceOp& op,
                Milliseconds timeout);
void reduce(const Peers& peers, at::Tensor flat, const c10d::ReduceOp& op, int64_t root,
            Milliseconds timeout);
// `in` holds `counts[i]` numbers for rank i, one after the other.
void reduce_scatter(const Peers& peers, at::Tensor out, at::Tensor in,
                    const std::vector<int64_t>& counts, const c10d::ReduceOp& op,
                    Milliseconds timeout);

}  // namespace awt
