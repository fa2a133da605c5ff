// What the product needs of a processor: packing of blocks, the innermost loops, and what becomes
// of finished sums. Compiled for several instruction sets from the same text (kernels_body.h),
// chosen when it runs.
#pragma once

#include "libraries/product/product.h"

namespace aw::product {

// How factors lie in packed panels: in units of 32 bits, of one or more k.
enum class Packing : uint8_t { f32, bf16_pairs, s8_quads, s16_pairs };

constexpr int depth_of(Packing packing) {
  return packing == Packing::f32 ? 1 : packing == Packing::s8_quads ? 4 : 2;
}

// A block of a factor as packing sees it: `outer` runs over rows of A or columns of B.
struct Block {
  const uint8_t* data;
  Type type;
  Rounding rounding;
  Packing packing;
  bool along_k;      // k is the contiguous direction, else outer
  bool offset;       // s8_quads: plus 128, as the left operand of VPDPBUSD wants it
  int64_t ld;        // in bytes
  int64_t outer, k;  // extents
};

constexpr int kMaxColumns = 12;

// c[column * ldc + row] (+)= panel of rows times panel of columns, `units` deep.
using Micro = void (*)(const uint32_t* a, const uint32_t* b, int64_t units, void* c, int64_t ldc,
                       bool more);

// A column of a tile on its way to D.
struct Segment {
  const Product* wanted;
  int64_t item, row, column, count;
  void* sums;  // f32, or s32 where `whole`; rounded up to whole vectors
  bool whole;
  int32_t correction;  // to be subtracted from whole sums
  float* d_amax;       // of this thread
  float* aux_amax;
};

struct Kernels {
  int rows, columns, lanes;  // of a panel of A, of B; of a vector
  Packing bf16, s8;  // the best packing for factors of bf16 (and fp8, where it is pairs), of s8
  // Panels of `width` outer places each, units one after the other, zeros behind k. Writes up to a
  // vector behind the last.
  void (*pack)(const Block& from, int width, uint32_t* to);
  // Of s8_quads: adds to sums[column] 128 times the sum of each column of a panel.
  void (*add_columns)(const uint32_t* panel, int64_t units, int32_t* sums);
  // By packing, whether more than one vector of rows is wanted, and columns (1 ...).
  Micro micro[4][2][kMaxColumns + 1];
  void (*finish)(const Segment& segment);
  void (*to_f32)(Type type, const void* from, float* to, int64_t count);
  void (*from_f32)(Type type, const float* from, void* to, int64_t count);
};

const Kernels&
kernels();  // for this processor; ANYWARP_PRODUCT=avx2 or portable asks for less, for tests
const Kernels& portable_kernels();
#ifdef __x86_64__
const Kernels& avx2();
const Kernels& avx512(bool bf16, bool vnni);
#endif

}  // namespace aw::product
