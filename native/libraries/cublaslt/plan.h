// What cublasLtMatmul is asked for, checked: the same for the product itself, for algorithms and
// for heuristics.
#pragma once

#include "libraries/cublaslt/cublaslt.h"
#include "libraries/product/product.h"

namespace aw::cublaslt {

// Epilogues are made of these bits.
constexpr uint32_t kRelu = 2, kBias = 4, kDrelu = 8, kBgrad = 16, kGelu = 32, kDgelu = 64,
                   kAux = 128, kBgradA = 256, kBgradB = 512;

struct Plan {
  MatmulDesc desc;
  Layout a, b, c, d;
  int64_t m, n, k, batch;
  bool dense;    // f64 or complex: by OpenBLAS
  bool integer;  // s32 all through
  bool swapped;  // D's rows are contiguous: its transpose is computed
  int32_t bias_type, aux_type;

  bool has(uint32_t bits) const { return (desc.epilogue & bits) != 0; }
};

// Throws INVALID_VALUE for what contradicts itself, NOT_SUPPORTED for what is not in the manual's
// table or not here.
Plan planned(const MatmulDesc& desc, const Layout& a, const Layout& b, const Layout& c,
             const Layout& d);

// NOT_SUPPORTED for a pairing of types that the manual's table does not have.
void check_types(int32_t compute, int32_t scale, int32_t a, int32_t b, int32_t c, int32_t d);

// NOT_SUPPORTED for so many elements that a number of bytes might overflow.
void check_size(uint64_t rows, uint64_t cols, int32_t batch);

product::Type type_of(int32_t type);  // of those that product() knows
inline bool is_fp8(int32_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
inline bool is_plain(int32_t order) {
  return order == CUBLASLT_ORDER_COL || order == CUBLASLT_ORDER_ROW;
}

// Where element (row, column) of a matrix lies, in elements.
int64_t place_of(int32_t order, int64_t ld, int64_t row, int64_t column);

// By OpenBLAS, in the work of a stream. `alpha` and `beta` point to numbers of the scale type.
struct DenseCall {
  Plan plan;
  const void *a, *b, *c;
  void* d;
  void* gemm;  // dgemm_, cgemm_ or zgemm_
};
void* dense_engine(const Plan& plan);
void run_dense(const DenseCall& call, const void* alpha, const void* beta);

}  // namespace aw::cublaslt
