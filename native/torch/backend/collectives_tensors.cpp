#include "collectives_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "alias.h"
#include "versions.h"

namespace awt {
namespace {

// The types that NCCL moves and reduces.
void check_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kChar:
    case at::kByte:
    case at::kBool:
    case at::kInt:
    case at::kLong:
    case at::kHalf:
    case at::kFloat:
    case at::kDouble:
    case at::kBFloat16:
    case at::kComplexFloat:  // as pairs
    case at::kComplexDouble:
      return;
    default:
      if (at::isFloat8Type(tensor.scalar_type())) return;
      TORCH_CHECK_TYPE(false, "Input tensor data type is not supported for NCCL process group: ",
                       tensor.scalar_type());
  }
}

// The memory of a device tensor as numbers of `type` in a row, which keep it alive.
at::Tensor flat(const at::Tensor& tensor, at::ScalarType type) {
  at::Tensor alias = cpu_alias(tensor);
  const auto count = int64_t(tensor.nbytes() / c10::elementSize(type));
  void* data = alias.data_ptr();
  return at::from_blob(data, {count}, [alias](void*) {}, at::TensorOptions(type));
}

// Whether a reduction may treat complex numbers as pairs: c10d's own word where it has one.
bool takes_complex(const ReduceOp& op) {
#if AWT_TORCH >= 209
  return c10d::isComplexViewAsRealAllowed(op);
#else
  return op.op_ == ReduceOp::SUM || op.op_ == ReduceOp::AVG || op.op_ == ReduceOp::PREMUL_SUM ||
         op.op_ == ReduceOp::UNUSED;
#endif
}

// PREMUL_SUM by that factor; the function of c10d has another name in older versions.
ReduceOp premul_sum(const at::Tensor& factor) {
#if AWT_TORCH >= 213
  return c10d::makePreMulSum(factor);
#else
  ReduceOp op;  // the constructor from a kind refuses this one
  op.op_ = ReduceOp::PREMUL_SUM;
  op.supplement_ = c10::make_intrusive<c10d::NCCLPreMulSumSupplement>(factor);
  return op;
#endif
}

}  // namespace

const at::Tensor& only(const Tensors& tensors) {
  TORCH_CHECK(tensors.size() == 1, "Expecting one tensor only but got multiple");
  return tensors[0];
}

void check(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.is_cuda() && tensor.layout() == at::kStrided,
                    "Tensors must be CUDA and dense");
  TORCH_CHECK_VALUE(tensor.is_contiguous(tensor.suggest_memory_format()),
                    "Tensors must be contiguous");
  check_type(tensor);
}

void check(const Tensors& tensors) {
  TORCH_CHECK(!tensors.empty(), "Tensor list must be nonempty");
  for (const auto& tensor : tensors) check(tensor);
}

void check_all_like(const Tensors& tensors, const at::Tensor& one, const char* words) {
  for (const auto& tensor : tensors)
    TORCH_CHECK_TYPE(tensor.scalar_type() == one.scalar_type(), words);
}

ReduceOp checked(const ReduceOp& op, const at::Tensor& tensor) {
  const auto type = tensor.scalar_type();
  switch (op.op_) {
    case ReduceOp::BAND:
      TORCH_CHECK_VALUE(false, "Cannot use ReduceOp.BAND with NCCL");
    case ReduceOp::BOR:
      TORCH_CHECK_VALUE(false, "Cannot use ReduceOp.BOR with NCCL");
    case ReduceOp::BXOR:
      TORCH_CHECK_VALUE(false, "Cannot use ReduceOp.BXOR with NCCL");
    case ReduceOp::AVG:
      TORCH_CHECK_TYPE(type != at::kBool, "Cannot use ReduceOp.AVG with boolean inputs");
      break;
    case ReduceOp::PREMUL_SUM:
      TORCH_CHECK_VALUE(at::isFloatingType(type) && !at::isFloat8Type(type),
                        "PREMUL_SUM requires half, bfloat16, float or double inputs");
      TORCH_CHECK(op.supplement_, "PREMUL_SUM needs a factor");
      break;
    default:
      break;
  }
  if (tensor.is_complex()) TORCH_CHECK(takes_complex(op), "this ReduceOp does not support complex");
  // A sum of truths is their "or".
  if (type == at::kBool && op.op_ == ReduceOp::SUM) return ReduceOp(ReduceOp::MAX);
  if (op.op_ != ReduceOp::PREMUL_SUM) return op;
  const auto* given = static_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  if (!given->tensor_factor.defined() || !given->tensor_factor.is_cuda()) return op;
  return premul_sum(given->tensor_factor.cpu());
}

at::Tensor bytes(const at::Tensor& tensor) { return flat(tensor, at::kByte); }

at::Tensor numbers(const at::Tensor& tensor) {
  const auto type = tensor.scalar_type();
  if (type == at::kBool) return flat(tensor, at::kByte);
  return flat(tensor, tensor.is_complex() ? c10::toRealValueType(type) : type);
}

Tensors bytes(const Tensors& tensors) {
  Tensors out;
  for (const auto& tensor : tensors) out.push_back(bytes(tensor));
  return out;
}

std::vector<int64_t> lengths(const Tensors& flats) {
  std::vector<int64_t> out;
  for (const auto& tensor : flats) out.push_back(tensor.numel());
  return out;
}

bool all_equal(const std::vector<int64_t>& counts) {
  for (auto count : counts)
    if (count != counts[0]) return false;
  return true;
}

at::Tensor joined(const Tensors& flats) {
  int64_t count = 0;
  for (const auto& tensor : flats) count += tensor.numel();
  at::Tensor out = at::empty({count}, flats[0].options());
  int64_t begin = 0;
  for (const auto& tensor : flats) {
    out.narrow(0, begin, tensor.numel()).copy_(tensor);
    begin += tensor.numel();
  }
  return out;
}

void spread(const at::Tensor& whole, Tensors& flats) {
  int64_t begin = 0;
  for (auto& tensor : flats) {
    tensor.copy_(whole.narrow(0, begin, tensor.numel()));
    begin += tensor.numel();
  }
}

int64_t count_of(const Tensors& tensors) {
  int64_t count = 0;
  for (const auto& tensor : tensors) count += tensor.numel();
  return count;
}

std::vector<int64_t> byte_splits(const at::Tensor& tensor, std::vector<int64_t> splits, int size) {
  const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
  if (splits.empty()) {
    TORCH_CHECK(rows % size == 0, "Tensor's dim 0 does not divide equally across group size");
    splits.assign(size_t(size), rows / size);
  }
  TORCH_CHECK(int(splits.size()) == size, "Number of tensor splits not equal to group size");
  int64_t sum = 0;
  for (auto split : splits) {
    TORCH_CHECK(split >= 0, "Split sizes must not be negative");
    sum += split;
  }
  TORCH_CHECK(sum == rows, "Split sizes doesn't match total dim 0 size");
  const int64_t row = rows == 0 ? 0 : int64_t(tensor.nbytes()) / rows;
  for (auto& split : splits) split *= row;
  return splits;
}

}  // namespace awt
