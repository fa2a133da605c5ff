// What collectives are given: checked as NCCL's backend checks it, and seen as flat CPU tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace awt {

using c10d::ReduceOp;
using Tensors = std::vector<at::Tensor>;

// The one tensor of a list; raises when there are more.
const at::Tensor& only(const Tensors& tensors);

// Raise what a CUDA build raises for tensors on other devices, with gaps, or of types that NCCL
// does not know.
void check(const at::Tensor& tensor);
void check(const Tensors& tensors);
void check_all_like(const Tensors& tensors, const at::Tensor& one, const char* words);

// The operator as it is to be used on this tensor; raises for those that NCCL does not have.
ReduceOp checked(const ReduceOp& op, const at::Tensor& tensor);

// The memory of a device tensor, which stays alive with the result: its bytes, or the numbers that
// are added (truths as bytes, complex numbers as pairs).
at::Tensor bytes(const at::Tensor& tensor);
Tensors bytes(const Tensors& tensors);
at::Tensor numbers(const at::Tensor& tensor);

std::vector<int64_t> lengths(const Tensors& flats);
bool all_equal(const std::vector<int64_t>& counts);
int64_t count_of(const Tensors& tensors);

// Flat tensors one behind the other, and back.
at::Tensor joined(const Tensors& flats);
void spread(const at::Tensor& whole, Tensors& flats);

// Splits along the first dimension as numbers of bytes; raises when they do not fit the tensor. No
// splits are equal ones.
std::vector<int64_t> byte_splits(const at::Tensor& tensor, std::vector<int64_t> splits, int size);

}  // namespace awt
