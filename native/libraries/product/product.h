// The product of matrices that OpenBLAS does not have: of 16-bit and 8-bit types, and of f32 whose
// factors are rounded as tensor cores do it.
//
//   D = convert(d_scale * activation(alpha * scales * op(A) op(B) + beta * C + bias))
//
// Column-major: element (i, j) of a matrix that is not transposed is data[i + j * ld]. A is m x k,
// B is k x n, C and D are m x n. Sums are in f32, k ascending, one fused addition per k; of s8 in
// s32, modulo 2^32. Where VDPBF16PS is quick, factors of bf16 and fp8 are multiplied two k
// at a time, in that order; where it has AMX, 32 at a time, even and odd ones added up apart, and
// so are those of f16, as the exact sums of two bf16 that they are. There subnormal bf16 and
// subnormal sums count as 0. So bits depend on the processor, never on the number of threads or on
// m and n.
#pragma once

#include <cstdint>

namespace aw::product {

enum class Type : uint8_t { f32, f16, bf16, e4m3, e5m2, s8, s32 };
enum class Rounding : uint8_t {
  none,
  tf32,
  bf16,
  f16
};  // of factors in f32 before they are multiplied
enum class Activation : uint8_t { none, relu, gelu, gelu_erf };  // gelu: by tanh

constexpr int bytes_of(Type type) {
  return type == Type::f32 || type == Type::s32    ? 4
         : type == Type::f16 || type == Type::bf16 ? 2
                                                   : 1;
}

// Matrices of a batch lie `stride` elements apart; `array`: `data` is an array of pointers to them.
struct Matrix {
  const void* data = nullptr;
  Type type = Type::f32;
  int64_t ld = 0;
  int64_t stride = 0;
  bool array = false;
};

struct Factor : Matrix {
  bool transposed = false;
  Rounding rounding = Rounding::none;
};

// Numbers along one side of D, the same for all of a batch where `stride` is 0.
struct Vector {
  const void* data = nullptr;
  Type type = Type::f32;
  bool along_columns = false;  // one for each column of D, not for each row
  int64_t stride = 0;
};

struct Product {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  Factor a, b;  // f32, f16, bf16, e4m3, e5m2 in any pairing, or both s8
  Matrix c, d;  // any type; c is read only where beta is not 0 and may be d
  // In f64 so that every s32 is one of them. Where `integer`, both factors are s8, d (and c) s32,
  // and alpha and beta are whole numbers: everything is exact modulo 2^32, and nothing of what
  // follows beta_rows applies.
  double alpha = 1, beta = 0;
  bool integer = false;
  const float* alpha_rows = nullptr;  // in the place of alpha and beta: one for each row of D
  const float* beta_rows = nullptr;
  const float* a_scale = nullptr;  // one for each row of D
  const float* b_scale = nullptr;  // one for each column of D
  Vector bias;
  // Called after the bias with `count` values of a column from `row` on; may change them. For
  // whoever wants more.
  void (*hook)(void* context, int64_t item, int64_t row, int64_t column, int64_t count,
               float* values) = nullptr;
  void* context = nullptr;
  Activation activation = Activation::none;
  Matrix aux;             // with data: what the activation is given, times aux_scale
  bool aux_mask = false;  // instead, for relu: bits of (value > 0), row 0 the lowest; aux.ld and
                          // aux.stride count bits
  float aux_scale = 1, d_scale = 1;
  float* aux_amax = nullptr;  // the largest magnitude before aux_scale, d_scale
  float* d_amax = nullptr;
};

// Rows or columns of D that are few: the factor along the other side is then multiplied as it lies,
// where packing it would take several times as long.
constexpr int kFew = 8;
// Columns with which the rows of a panel, once packed, are multiplied soon after.
constexpr int kNarrow = 64;

// Inside of work of a stream (work.h): computes it, with the help of other threads.
void product(const Product& wanted);

// `count` numbers to f32 and back, as the product does it: to the nearest, fp8 without infinities,
// s8 and s32 within their bounds.
void to_f32(Type type, const void* from, float* to, int64_t count);
void from_f32(Type type, const float* from, void* to, int64_t count);

}  // namespace aw::product
