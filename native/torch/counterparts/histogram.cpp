// histc of whole numbers, which CUDA counts and the CPU refuses.
#include <ATen/core/Tensor.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/zeros.h>

#include "counterpart.h"

namespace awt {
namespace {

using at::Scalar;
using at::Tensor;

// Whole numbers all the way, as CUDA counts: a place is a quotient cut off, the last bin holds max.
Tensor count_whole(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  TORCH_CHECK(bins > 0, "bins must be > 0");
  const auto type = self.scalar_type();
  int64_t low = min.to<int64_t>(), high = max.to<int64_t>();
  if (low == high && self.numel() > 0) {
    low = self.min().item<int64_t>();
    high = self.max().item<int64_t>();
  }
  if (low == high) --low, ++high;
  TORCH_CHECK(low < high, "max must be larger than min");
  if (self.numel() == 0) return at::zeros({bins}, self.options());
  const Tensor flat = self.reshape(-1).to(at::kLong);
  const Tensor inside = flat.masked_select((flat >= low).logical_and_(flat <= high));
  Tensor places = (inside - low).mul_(bins).div_(high - low, "trunc").clamp_max_(bins - 1);
  return at::bincount(places, {}, bins).to(type);
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  if (!at::isIntegralType(self.scalar_type(), false)) return at::histc(self, bins, min, max);
  return count_whole(self, bins, min, max);
}

Tensor& histc_out(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max,
                  Tensor& out) {
  if (!at::isIntegralType(self.scalar_type(), false)) {
    return at::histc_out(out, self, bins, min, max);
  }
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "torch.histogram: input tensor and hist tensor should have the same dtype");
  out.resize_({bins}).copy_(count_whole(self, bins, min, max));
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "histc", TORCH_FN(histc));
  counterpart(library, "histc.out", TORCH_FN(histc_out));
}

}  // namespace awt
