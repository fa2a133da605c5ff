// What the product needs of a processor: packing of blocks, the innermost loops, and what becomes
// of finished sums. Compiled for several instruction sets from the same text (body.inc),
// chosen when it runs.
#pragma once

#include "libraries/product/product.h"

namespace aw::product {

// A block of a factor as packing sees it: `outer` runs over rows of A or columns of B.
struct Block {
  const uint8_t* data;
  Type type;
  Rounding rounding;
  bool along_k;      // k is the contiguous direction, else outer
  bool of_a;         // in the place of rows of A, else of columns of B
  int64_t ld;        // in bytes
  int64_t outer, k;  // extents
  int64_t behind;    // elements that may be read behind `outer`, where outer is contiguous
  // Where the unit of each k goes, of one panel with k along memory and a k a unit; not at all
  // where less than 0. Null: one after the other.
  const int64_t* places;
  int64_t pitch;  // from unit to unit of one panel, whole vectors; 0: the panel's width
};

// Lines of the cache that are asked for while panels are multiplied, so that memory is read beside
// the arithmetic.
struct Ahead {
  const uint8_t* at;  // of the first of some runs, `ld` bytes apart; null: none
  int64_t ld, lines;  // of a run
  int64_t count;      // of all runs
  int64_t each;       // lines with each unit
};

// Packed blocks of both factors, and where their product goes.
struct Panels {
  const uint32_t *a, *b;
  int64_t m, n, units;
  void* sums;  // column after column, `ld` apart, in whole panels
  int64_t ld;
  bool more;  // added to what sums are
  Ahead ahead = {};
};

// How much of a product is done at once.
struct Extents {
  int64_t rows, columns;  // of D, in a block
  int64_t group;          // sums of the columns of a block that are packed and finished at once
  int64_t units;          // of a panel: what the first cache holds
  int64_t deep;           // units of rows that are packed at once, a multiple of those of a panel
};

// Each block packs both factors for itself, so larger ones pack less; on Zen 4 this beat 384 x 480,
// whose sums fit into the second cache as well. A panel of columns stays in the first cache.
constexpr Extents kVectorExtents = {576, 576, 576 * 576, 384, 384};

// Sums of a few columns, which are packed as a panel, with the rows of a block as it lies in
// memory; up to a vector behind the last row and some columns more are written.
using Few = void (*)(const Block& of, const uint32_t* panel, void* sums, int64_t ld, bool more);

// How two factors are multiplied: packed into panels of units of 32 bits, of one or more k each.
struct Way {
  int rows, columns;  // of a panel of A, of B
  int depth, step;    // k of a unit; panels are a multiple of `step` units deep
  bool whole;         // sums are s32, else f32
  Extents most;
  // Panels one after the other, zeros behind k. Writes up to a vector behind the last.
  void (*pack)(const Block& from, uint32_t* to);
  void (*multiply)(const Panels& panels);
  // Where sums are right only if finite: whether these are. Sums of finite factors are.
  bool (*finite)(const float* sums, int64_t count);
  // For a factor of a type, with k along memory or not; null where there is none such.
  Few (*few)(Type type, Rounding rounding, bool along_k, int64_t columns);
  // Adds what is to be subtracted from sums of whole numbers, for a panel of columns; or null.
  void (*correct)(const uint32_t* panel, int64_t units, int32_t* corrections);
};

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

// Numbers that lie side by side, all of which a pixel's sums take in.
struct Run {
  int64_t offset, units;  // from where the pixel's first one lies
};

// sums[pixel][row] (+)= weights[unit][row] * the pixel's units, run after run. Rows are those of a
// panel of the way of f32, of which the first `rows` are wanted.
struct PixelSums {
  const float* weights;
  int64_t rows;
  const Run* runs;
  int64_t run_count;
  const float* const* pixels;  // their number is a multiple of kPixels
  int64_t count;
  float* sums;
  bool more;
};
constexpr int kPixels = 6;

// sums[column][row] += at[lines[l] + i * step + row] * factors[l * width + i][column] for lines l
// and i < width. Columns and rows are those of panels of the way of f32.
struct LineSums {
  const float* at;
  int64_t rows, step;
  const int64_t* lines;
  int64_t line_count, width;
  const float* factors;
  float* sums;
};

struct Kernels {
  Way f32, f16, bf16, s8;  // for any factors, for those of f16, of bf16 and fp8, of s8
  void (*sum_pixels)(const PixelSums& of);
  void (*sum_lines)(const LineSums& of);
  const Kernels* shallow;  // where k is less than a step, and packing would take longest; or null
  void (*finish)(const Segment& segment);
  void (*to_f32)(Type type, const void* from, float* to, int64_t count);
  void (*from_f32)(Type type, const float* from, void* to, int64_t count);
};

// For this processor; ANYWARP_PRODUCT asks for less, for tests.
const Kernels& kernels();
const Kernels& portable_kernels();
#ifdef __x86_64__
const Kernels& avx2();
const Kernels& avx512(bool bf16, bool vnni);
// With AMX, else as `vectors`; null where processor, kernel or compiler have no AMX.
const Kernels* amx(const Kernels& vectors);
#endif

}  // namespace aw::product
