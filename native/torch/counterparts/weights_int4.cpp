// Products with weights of 4 bits in the order that CUDA's tensor cores read them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <array>

#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;

// The B operand of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane t holds column
// t/4 and rows 2(t%4), +1, +8, +9 of a tile of 16 rows and 8 columns. Two tiles share an int32, the
// even numbers in its low half.
constexpr int64_t kColumns = 8, kRows = 16, kLanes = 32;
constexpr std::array<int, 8> kPlace{0, 16, 4, 20, 8, 24, 12, 28};  // shift of the i-th number

int64_t row_of(int64_t tile, int64_t lane, int number) {
  return (tile + number / 4) * kRows + (lane % 4) * 2 + number % 2 + (number % 4 >= 2 ? 8 : 0);
}

void check_tiles(int64_t tiles) {
  TORCH_CHECK(tiles == 2 || tiles == 4 || tiles == 8, "innerKTiles need to be 2, 4, or 8, got ",
              tiles);
}

// Calls visit(column, row, int32 index, shift) for every number of a packed weight.
template <class Visit>
void each_number(int64_t columns, int64_t rows, int64_t tiles, Visit visit) {
  const int64_t outer = rows / (tiles * kRows), words = tiles / 2;
  for (int64_t n = 0; n < columns / kColumns; ++n)
    for (int64_t k = 0; k < outer; ++k)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int64_t word = 0; word < words; ++word)
          for (int number = 0; number < 8; ++number)
            visit(n * kColumns + lane / 4, row_of(k * tiles + word * 2, lane, number),
                  ((n * outer + k) * kLanes + lane) * words + word, kPlace[size_t(number)]);
}

Tensor pack(const Tensor& self, int64_t tiles) {
  TORCH_CHECK(self.dim() == 2, "in must be 2D");
  TORCH_CHECK(self.scalar_type() == at::kByte, "in must be uint8");
  check_tiles(tiles);
  const int64_t columns = self.size(0), rows = self.size(1) * 2;
  TORCH_CHECK(rows % (tiles * kRows) == 0 && columns % kColumns == 0, "in of ", self.sizes(),
              " does not fit innerKTiles ", tiles);
  const Tensor in = self.contiguous();
  Tensor out = at::zeros({columns / kColumns, rows / (tiles * kRows), kLanes, tiles / 2}, at::kInt);
  const uint8_t* from = in.const_data_ptr<uint8_t>();
  auto* to = reinterpret_cast<uint32_t*>(out.mutable_data_ptr<int>());
  each_number(columns, rows, tiles, [&](int64_t n, int64_t k, int64_t word, int shift) {
    const uint8_t both = from[(n * rows + k) / 2];
    const uint32_t number = k % 2 ? both & 15 : both >> 4;  // the even one is in the high half
    to[word] |= number << shift;
  });
  return out;
}

Tensor multiply(const Tensor& self, const Tensor& mat2, int64_t group, const Tensor& scales) {
  TORCH_CHECK(self.dim() == 2 && mat2.dim() == 4 && mat2.scalar_type() == at::kInt,
              "aten::_weight_int4pack_mm: expected a matrix and a packed weight, got ",
              self.sizes(), " and ", mat2.sizes());
  const int64_t tiles = mat2.size(3) * 2, columns = mat2.size(0) * kColumns,
                rows = mat2.size(1) * tiles * kRows;
  check_tiles(tiles);
  TORCH_CHECK(mat2.size(2) == kLanes && self.size(1) == rows,
              "aten::_weight_int4pack_mm: a matrix of ", self.sizes(),
              " does not meet a weight of ", rows, " by ", columns);
  TORCH_CHECK(group == 32 || group == 64 || group == 128 || group == 256,
              "qGroupSize must be 32, 64, 128 or 256, got ", group);
  TORCH_CHECK(scales.dim() == 3 && scales.size(0) == rows / group && scales.size(1) == columns &&
                  scales.size(2) == 2,
              "qScaleAndZeros must be ", rows / group, " by ", columns, " by 2, got ",
              scales.sizes());
  const Tensor packed = mat2.contiguous();
  const auto* words = reinterpret_cast<const uint32_t*>(packed.const_data_ptr<int>());
  Tensor weight = at::empty({columns, rows}, at::kFloat);
  float* to = weight.mutable_data_ptr<float>();
  each_number(columns, rows, tiles, [&](int64_t n, int64_t k, int64_t word, int shift) {
    to[n * rows + k] = float(int((words[word] >> shift) & 15) - 8);
  });
  const Tensor grouped = scales.to(at::kFloat).transpose(0, 1);  // (columns, groups, 2)
  weight = weight.view({columns, rows / group, group}) * grouped.select(2, 0).unsqueeze(-1) +
           grouped.select(2, 1).unsqueeze(-1);
  // Weights are bfloat16 when they meet the matrix.
  const Tensor rounded = weight.view({columns, rows}).to(self.scalar_type()).to(at::kFloat);
  return at::matmul(self.to(at::kFloat), rounded.t()).to(self.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "_convert_weight_to_int4pack", TORCH_FN(pack));
  counterpart(library, "_weight_int4pack_mm", TORCH_FN(multiply));
}

}  // namespace awt
