// Products that only CUDA has: results in a wider type than the factors, scaled 8-bit floats,
// groups of products, 4-bit weights.
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>

#include "counterpart.h"

namespace awt {
namespace {

using at::ScalarType;
using at::Tensor;

// -- results of another type ---------------------------------------------------------------------

void check_out_type(const Tensor& factor, ScalarType type) {
  const auto from = factor.scalar_type();
  TORCH_CHECK(type == from || (type == at::kFloat && (from == at::kHalf || from == at::kBFloat16)),
              "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs");
}

Tensor mm_as(const Tensor& self, const Tensor& mat2, ScalarType type) {
  check_out_type(self, type);
  return at::mm(self.to(type), mat2.to(type));
}

Tensor bmm_as(const Tensor& self, const Tensor& mat2, ScalarType type) {
  check_out_type(self, type);
  return at::bmm(self.to(type), mat2.to(type));
}

Tensor addmm_as(const Tensor& self, const Tensor& mat1, const Tensor& mat2, ScalarType type,
                const at::Scalar& beta, const at::Scalar& alpha) {
  check_out_type(mat1, type);
  return at::addmm(self.to(type), mat1.to(type), mat2.to(type), beta, alpha);
}

Tensor baddbmm_as(const Tensor& self, const Tensor& batch1, const Tensor& batch2, ScalarType type,
                  const at::Scalar& beta, const at::Scalar& alpha) {
  check_out_type(batch1, type);
  return at::baddbmm(self.to(type), batch1.to(type), batch2.to(type), beta, alpha);
}

Tensor& put_as(Tensor& out, const Tensor& result, ScalarType type) {
  TORCH_CHECK(out.scalar_type() == type,
              "out_dtype must be the same as the dtype of the provided out tensor");
  if (out.sizes() != result.sizes()) out.resize_(result.sizes());
  return out.copy_(result);
}

Tensor& mm_as_out(const Tensor& self, const Tensor& mat2, ScalarType type, Tensor& out) {
  return put_as(out, mm_as(self, mat2, type), type);
}
Tensor& bmm_as_out(const Tensor& self, const Tensor& mat2, ScalarType type, Tensor& out) {
  return put_as(out, bmm_as(self, mat2, type), type);
}
Tensor& addmm_as_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, ScalarType type,
                     const at::Scalar& beta, const at::Scalar& alpha, Tensor& out) {
  return put_as(out, addmm_as(self, mat1, mat2, type, beta, alpha), type);
}
Tensor& baddbmm_as_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                       ScalarType type, const at::Scalar& beta, const at::Scalar& alpha,
                       Tensor& out) {
  return put_as(out, baddbmm_as(self, batch1, batch2, type, beta, alpha), type);
}

// -- scaled 8-bit floats -------------------------------------------------------------------------

bool is_float8(const Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat8_e4m3fn || tensor.scalar_type() == at::kFloat8_e5m2;
}

void check_scaled(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 2, "mat1 must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  TORCH_CHECK(self.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (",
              self.size(0), "x", self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  TORCH_CHECK(is_float8(self), "Expected self.dtype() to be Float8_e4m3fn or Float8_e5m2, got ",
              self.scalar_type());
  TORCH_CHECK(is_float8(mat2), "Expected mat2.dtype() to be Float8_e4m3fn or Float8_e5m2, got ",
              mat2.scalar_type());
  TORCH_CHECK(self.scalar_type() != at::kFloat8_e5m2 || mat2.scalar_type() != at::kFloat8_e5m2,
              "Multiplication of two Float8_e5m2 matrices is not supported");
  TORCH_CHECK(self.size(1) % 16 == 0,
              "Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: (",
              self.size(0), "x", self.size(1), ").");
  TORCH_CHECK(mat2.size(0) % 16 == 0 && mat2.size(1) % 16 == 0, "mat2 shape (", mat2.size(0), "x",
              mat2.size(1), ") must be divisible by 16");
}

// A scale for every element of a matrix: one number, one per row or column, or one per block.
Tensor unscaled(const Tensor& matrix, const Tensor& scale, const char* which) {
  TORCH_CHECK_NOT_IMPLEMENTED(scale.scalar_type() == at::kFloat, "aten::_scaled_mm: ", which,
                              " of type ", scale.scalar_type(),
                              " (MX and NVFP4 formats) is not served by anywarp");
  const Tensor wide = matrix.to(at::kFloat);
  if (scale.numel() == 1) return wide * scale.reshape({});
  TORCH_CHECK(scale.dim() == 2, "Invalid scaling configuration: ", which, " has shape ",
              scale.sizes());
  Tensor full = scale;
  for (int64_t dim = 0; dim < 2; ++dim) {
    if (full.size(dim) == matrix.size(dim) || full.size(dim) == 1) continue;
    constexpr int64_t kBlock = 128;
    TORCH_CHECK(full.size(dim) == (matrix.size(dim) + kBlock - 1) / kBlock,
                "Invalid scaling configuration: ", which, " has shape ", scale.sizes(),
                " for a matrix of ", matrix.sizes());
    full = full.repeat_interleave(kBlock, dim).narrow(dim, 0, matrix.size(dim));
  }
  return wide * full;
}

Tensor scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                 const Tensor& scale_b, const OptionalTensor& bias,
                 const OptionalTensor& scale_result, std::optional<ScalarType> out_type, bool) {
  check_scaled(self, mat2);
  const auto type = out_type.value_or(self.scalar_type());
  Tensor found = at::mm(unscaled(self, scale_a, "scale_a"), unscaled(mat2, scale_b, "scale_b"));
  if (given(bias)) {
    TORCH_CHECK(bias->numel() == mat2.size(1), "Bias must be size ", mat2.size(1), " but got ",
                bias->numel());
    found = found + bias->to(at::kFloat);
  }
  if (given(scale_result) && at::isFloat8Type(type)) found = found * *scale_result;
  return found.to(type);
}

Tensor& scaled_mm_out(const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                      const Tensor& scale_b, const OptionalTensor& bias,
                      const OptionalTensor& scale_result, std::optional<ScalarType> out_type,
                      bool fast, Tensor& out) {
  const auto type = out_type.value_or(out.scalar_type());
  return put_as(out, scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, type, fast), type);
}

// -- groups --------------------------------------------------------------------------------------

std::vector<int64_t> ends_of(const Tensor& offsets) {
  TORCH_CHECK(offsets.dim() == 1 && offsets.scalar_type() == at::kInt,
              "Offsets have to be 1D and int32");
  const int* data = offsets.const_data_ptr<int>();
  return {data, data + offsets.numel()};
}

// The four kinds of groups: rows of the left, columns of the right, the inner dimension, or a
// batch.
Tensor grouped(const Tensor& left, const Tensor& right, const OptionalTensor& offsets) {
  TORCH_CHECK(left.dim() == 2 || left.dim() == 3, "mat_a has to be 2 or 3d");
  TORCH_CHECK(right.dim() == 2 || right.dim() == 3, "mat_b has to be 2 or 3d");
  if (left.dim() == 3 && right.dim() == 3) return at::bmm(left, right);
  TORCH_CHECK(given(offsets), "Have to provide offsets if there is a 2d matrix");
  const auto ends = ends_of(*offsets);
  const auto groups = int64_t(ends.size());
  const bool rows = right.dim() == 3, columns = left.dim() == 3;
  Tensor out = rows      ? at::empty({left.size(0), right.size(2)}, left.options())
               : columns ? at::empty({left.size(1), right.size(1)}, left.options())
                         : at::empty({groups, left.size(0), right.size(1)}, left.options());
  int64_t start = 0;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t length = ends[size_t(i)] - start;
    TORCH_CHECK(length >= 0, "Offsets have to be in ascending order");
    if (rows)
      out.narrow(0, start, length).copy_(at::mm(left.narrow(0, start, length), right[i]));
    else if (columns)
      out.narrow(1, start, length).copy_(at::mm(left[i], right.narrow(1, start, length)));
    else
      out[i].copy_(at::mm(left.narrow(1, start, length), right.narrow(0, start, length)));
    start = ends[size_t(i)];
  }
  return out;
}

Tensor with_group_bias(const Tensor& found, const OptionalTensor& bias) {
  TORCH_CHECK(!given(bias), "Bias not supported yet");
  return found;
}

Tensor grouped_mm(const Tensor& self, const Tensor& mat2, const OptionalTensor& offsets,
                  const OptionalTensor& bias, std::optional<ScalarType> out_type) {
  const auto type = out_type.value_or(self.scalar_type());
  TORCH_CHECK(type == self.scalar_type(), "Grouped gemm output dtype must match `mat_a` dtype");
  const Tensor found = grouped(self.to(at::kFloat), mat2.to(at::kFloat), offsets);
  return with_group_bias(found, bias).to(type);
}

// One scale per row of every group of the left factor.
Tensor scaled_left(const Tensor& matrix, const Tensor& scale, const std::vector<int64_t>& ends,
                   bool right_is_flat) {
  const Tensor wide = matrix.to(at::kFloat);
  if (matrix.dim() == 3) return wide * scale.unsqueeze(-1);
  if (!right_is_flat) return wide * scale.reshape({-1, 1});
  const Tensor per_group = scale.reshape({int64_t(ends.size()), matrix.size(0)});
  int64_t start = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    wide.narrow(1, start, ends[i] - start).mul_(per_group[int64_t(i)].unsqueeze(1));
    start = ends[i];
  }
  return wide;
}

Tensor scaled_right(const Tensor& matrix, const Tensor& scale, const std::vector<int64_t>& ends,
                    bool left_is_flat) {
  if (matrix.dim() == 3) return matrix.to(at::kFloat) * scale.unsqueeze(-2);
  return scaled_left(matrix.t(), scale, ends, left_is_flat).t();
}

Tensor scaled_grouped_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                         const Tensor& scale_b, const OptionalTensor& offsets,
                         const OptionalTensor& bias, const OptionalTensor&,
                         std::optional<ScalarType> out_type, bool) {
  TORCH_CHECK(is_float8(self) && is_float8(mat2),
              "Expected mat_a and mat_b to be Float8 matrices got ", self.scalar_type(), " and ",
              mat2.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(scale_a.scalar_type() == at::kFloat,
                              "aten::_scaled_grouped_mm: scales of type ", scale_a.scalar_type(),
                              " (MX formats) are not served by anywarp");
  const auto ends = given(offsets) ? ends_of(*offsets) : std::vector<int64_t>();
  const Tensor left = scaled_left(self, scale_a, ends, mat2.dim() == 2 && self.dim() == 2);
  const Tensor right = scaled_right(mat2, scale_b, ends, mat2.dim() == 2 && self.dim() == 2);
  return with_group_bias(grouped(left, right, offsets), bias).to(out_type.value_or(at::kBFloat16));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "mm.dtype", TORCH_FN(mm_as));
  counterpart(library, "mm.dtype_out", TORCH_FN(mm_as_out));
  counterpart(library, "bmm.dtype", TORCH_FN(bmm_as));
  counterpart(library, "bmm.dtype_out", TORCH_FN(bmm_as_out));
  counterpart(library, "addmm.dtype", TORCH_FN(addmm_as));
  counterpart(library, "addmm.dtype_out", TORCH_FN(addmm_as_out));
  counterpart(library, "baddbmm.dtype", TORCH_FN(baddbmm_as));
  counterpart(library, "baddbmm.dtype_out", TORCH_FN(baddbmm_as_out));
  counterpart(library, "_scaled_mm", TORCH_FN(scaled_mm));
  counterpart(library, "_scaled_mm.out", TORCH_FN(scaled_mm_out));
  counterpart(library, "_grouped_mm", TORCH_FN(grouped_mm));
  counterpart(library, "_scaled_grouped_mm", TORCH_FN(scaled_grouped_mm));
}

}  // namespace awt
