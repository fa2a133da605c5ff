#include "libraries/cublaslt/plan.h"

#include <algorithm>

#include "libraries/data_types.h"

namespace aw::cublaslt {
namespace {

bool one_of(int32_t value, std::initializer_list<int32_t> all) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

bool is_f32(int32_t compute) {
  return one_of(compute, {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                          CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF,
                          CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_EMULATED_16BFX9});
}
bool is_f64(int32_t compute) {
#ifndef AW_CUDA_12
  if (compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT) return true;
#endif
  return one_of(compute, {CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC});
}

// The rows of the table of cublasLtMatmul with computation in f32 and real numbers.
bool is_f32_row(int32_t a, int32_t b, int32_t c, int32_t d) {
  if (is_fp8(a) && is_fp8(b)) {
    if (a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2) return false;
    if (is_fp8(d)) return one_of(c, {CUDA_R_16BF, CUDA_R_16F}) && (d == CUDA_R_8F_E4M3 || a != b);
    return c == d && one_of(c, {CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F});
  }
  if (a != b || c != d) return false;
  if (a == CUDA_R_32F || a == CUDA_R_8I) return c == CUDA_R_32F;
  return one_of(a, {CUDA_R_16F, CUDA_R_16BF}) && one_of(c, {a, CUDA_R_32F});
}

void check_layout(const Layout& it, bool dense) {
  const bool row = it.order == CUBLASLT_ORDER_ROW;
  const auto rows = static_cast<int64_t>(it.rows), cols = static_cast<int64_t>(it.cols);
  require(rows >= 0 && cols >= 0 && it.batch >= 1);
  check_size(it.rows, it.cols, it.batch);
  switch (it.order) {
    case CUBLASLT_ORDER_COL:
    case CUBLASLT_ORDER_ROW:
      require(it.ld >= std::max<int64_t>(1, row ? cols : rows));
      break;
    case CUBLASLT_ORDER_COL32:
      require(it.ld >= 32 * rows);
      break;
    case CUBLASLT_ORDER_COL4_4R2_8C:
      require(it.ld >= 32 * ((rows + 7) / 8 * 8));
      break;
    case CUBLASLT_ORDER_COL32_2R_4R4:
      require(it.ld >= 32 * ((rows + 31) / 32 * 32));
      break;
    default:
      require(false);
  }
  if (dense && !is_plain(it.order)) unsupported("f64 or complex numbers in the order COL32");
  if (it.plane != 0) unsupported("complex matrices of two planes");
  require(it.batch_mode >= CUBLASLT_BATCH_MODE_STRIDED);
  if (it.batch_mode > CUBLASLT_BATCH_MODE_POINTER_ARRAY) unsupported("grouped matrices");
  if (it.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY && !is_plain(it.order))
    unsupported("arrays of pointers to matrices in the order COL32");
}

void check_scale(int32_t mode, const char* which, bool vector_allowed) {
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return;
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F && vector_allowed) return;
  unsupported(std::string("scaling mode ") + std::to_string(mode) + " of " + which);
}

constexpr int32_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
    CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
    CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
    CUBLASLT_EPILOGUE_BGRADB};

void check_epilogue(const Plan& p) {
  const auto& desc = p.desc;
  const auto epilogue = static_cast<int32_t>(desc.epilogue);
  require(std::find(std::begin(kEpilogues), std::end(kEpilogues), epilogue) !=
          std::end(kEpilogues));
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return;
  if (p.integer) unsupported("epilogues of whole numbers (CUBLAS_COMPUTE_32I with CUDA_R_32I)");
  if (p.dense && (p.d.type != CUDA_R_64F || (epilogue & ~static_cast<int32_t>(kRelu | kBias)) != 0))
    unsupported("epilogue " + std::to_string(epilogue) + " of f64 or complex numbers");
  if (p.swapped && p.has(kAux | kBgradA | kBgradB))
    unsupported("epilogue " + std::to_string(epilogue) + " with D in row order");
  if (!is_plain(p.d.order) && p.has(kAux))
    unsupported("epilogue " + std::to_string(epilogue) + " with D in the order COL32");
  if (p.has(kBgradA | kBgradB) && p.a.type == CUDA_R_8I) unsupported("bias gradients of s8");
  if (p.has(kBgradA | kBgradB) && !(is_plain(p.a.order) && is_plain(p.b.order)))
    unsupported("bias gradients of matrices in the order COL32");
}

}  // namespace

void check_size(uint64_t rows, uint64_t cols, int32_t batch) {
  uint64_t elements;
  const bool fits = !__builtin_mul_overflow(std::max<uint64_t>(rows, 1),
                                            std::max<uint64_t>(cols, 1), &elements) &&
                    !__builtin_mul_overflow(elements, static_cast<uint64_t>(batch), &elements) &&
                    elements < uint64_t{1} << 48;
  if (!fits) unsupported("matrices of more than 2^48 elements");
}

size_t bytes_of(int32_t type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_32I:
      return 4;
    default:
      if (const int64_t bytes = lib::float_bytes(type)) return static_cast<size_t>(bytes);
      unsupported("cudaDataType " + std::to_string(type));
  }
}

product::Type type_of(int32_t type) {
  switch (type) {
    case CUDA_R_8I:
      return product::Type::s8;
    case CUDA_R_32I:
      return product::Type::s32;
    case CUDA_R_8F_E4M3:
      return product::Type::e4m3;
    case CUDA_R_8F_E5M2:
      return product::Type::e5m2;
    case CUDA_R_16F:
      return product::Type::f16;
    case CUDA_R_16BF:
      return product::Type::bf16;
    case CUDA_R_32F:
      return product::Type::f32;
    default:
      unsupported("cudaDataType " + std::to_string(type));
  }
}

// COL32 and its kinds as NVIDIA's header describes them: groups of 32 columns, `ld` apart. How
// COL4_4R2_8C interleaves its inner tiles of 4 x 4 nobody can see but through
// cublasLtMatrixTransform, which uses this.
int64_t place_of(int32_t order, int64_t ld, int64_t row, int64_t column) {
  const int64_t group = column / 32 * ld, inner = column % 32;
  switch (order) {
    case CUBLASLT_ORDER_COL:
      return row + column * ld;
    case CUBLASLT_ORDER_ROW:
      return row * ld + column;
    case CUBLASLT_ORDER_COL32:
      return group + row * 32 + inner;
    case CUBLASLT_ORDER_COL4_4R2_8C: {
      const int64_t in_tile = (row % 2 * 8 + inner / 4) * 16 + row % 8 / 2 * 4 + inner % 4;
      return group + row / 8 * 256 + in_tile;
    }
    default: {  // COL32_2R_4R4
      const int64_t r = row % 32;
      return group + row / 32 * 1024 + ((r % 8 / 2 * 4 + r / 8) * 2 + r % 2) * 32 + inner;
    }
  }
}

void check_types(int32_t compute, int32_t scale, int32_t a, int32_t b, int32_t c, int32_t d) {
  bool fine = false;
  auto all = [&](int32_t type) { return a == type && b == type && c == type && d == type; };
  if (is_f32(compute))
    fine = scale == CUDA_R_32F ? is_f32_row(a, b, c, d) : scale == CUDA_C_32F && all(CUDA_C_32F);
  if (is_f64(compute))
    fine = scale == CUDA_R_64F ? all(CUDA_R_64F) : scale == CUDA_C_64F && all(CUDA_C_64F);
  if (one_of(compute, {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC}))
    fine = scale == CUDA_R_16F && all(CUDA_R_16F);
  if (one_of(compute, {CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC})) {
    const bool whole = a == CUDA_R_8I && b == CUDA_R_8I && c == d;
    fine = whole &&
           ((scale == CUDA_R_32I && c == CUDA_R_32I) || (scale == CUDA_R_32F && c == CUDA_R_8I));
  }
  if (!fine)
    unsupported("a product of the types " + std::to_string(a) + ", " + std::to_string(b) + ", " +
                std::to_string(c) + ", " + std::to_string(d) + " with compute type " +
                std::to_string(compute) + " and scale type " + std::to_string(scale));
}

Plan planned(const MatmulDesc& desc, const Layout& a, const Layout& b, const Layout& c,
             const Layout& d) {
  Plan p = {};
  p.desc = desc, p.a = a, p.b = b, p.c = c, p.d = d;
  check_types(desc.compute_type, desc.scale_type, a.type, b.type, c.type, d.type);
  p.dense = one_of(d.type, {CUDA_R_64F, CUDA_C_32F, CUDA_C_64F});
  p.integer = d.type == CUDA_R_32I;
  for (const Layout* it : {&a, &b, &c, &d}) check_layout(*it, p.dense);
  for (int32_t operation : {desc.trans_a, desc.trans_b, desc.trans_c})
    require(operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C);
  if (desc.trans_c != CUBLAS_OP_N)
    unsupported("CUBLASLT_MATMUL_DESC_TRANSC other than CUBLAS_OP_N");
  if (desc.fill != CUBLAS_FILL_MODE_FULL)
    unsupported("CUBLASLT_MATMUL_DESC_FILL_MODE other than CUBLAS_FILL_MODE_FULL");
  const bool a_turned = desc.trans_a != CUBLAS_OP_N, b_turned = desc.trans_b != CUBLAS_OP_N;
  p.m = static_cast<int64_t>(a_turned ? a.cols : a.rows),
  p.k = static_cast<int64_t>(a_turned ? a.rows : a.cols);
  p.n = static_cast<int64_t>(b_turned ? b.rows : b.cols);
  require(static_cast<int64_t>(b_turned ? b.cols : b.rows) == p.k);
  for (const Layout* it : {&c, &d})
    require(static_cast<int64_t>(it->rows) == p.m && static_cast<int64_t>(it->cols) == p.n);
  p.batch = d.batch;
  for (const Layout* it : {&a, &b, &c}) require(it->batch == p.batch);
  p.swapped = d.order == CUBLASLT_ORDER_ROW;
  if (p.dense && c.order != d.order)
    unsupported("C and D of f64 or complex numbers in different orders");
  if (c.order != d.order && c.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY)
    unsupported("arrays of pointers to matrices C in another order than D");

  require(desc.pointer_mode >= CUBLASLT_POINTER_MODE_HOST &&
          desc.pointer_mode <= CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
  if (desc.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR) {
    if (desc.scale_type != CUDA_R_32F || p.dense)
      unsupported("vectors of alpha that are not of f32");
    if (desc.alpha_vector_stride != 0)
      unsupported("CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE other than 0");
    if (p.swapped) unsupported("vectors of alpha with D in row order");
  }
  if (desc.alpha_stride != 0 || desc.beta_stride != 0)
    unsupported("an alpha or beta for each matrix of a batch");
  check_scale(desc.a_scale_mode, "A", is_fp8(a.type));
  check_scale(desc.b_scale_mode, "B", is_fp8(b.type));
  check_scale(desc.c_scale_mode, "C", false);
  check_scale(desc.d_scale_mode, "D", false);
  check_scale(desc.aux_scale_mode, "the auxiliary matrix", false);
  if (desc.d_out_scale) unsupported("CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER");
  check_epilogue(p);

  // "The same as D's", but fp8 has no bias of its own, and s8 has that of alpha.
  p.bias_type = desc.bias_type;
  if (p.bias_type < 0) {
    p.bias_type = d.type;
    if (is_fp8(a.type)) p.bias_type = c.type == CUDA_R_32F ? CUDA_R_16BF : c.type;
    if (d.type == CUDA_R_8I) p.bias_type = CUDA_R_32F;
  }
  p.aux_type = desc.aux_type < 0 ? d.type : desc.aux_type;
  if (!p.dense) type_of(p.bias_type), type_of(p.aux_type);
  return p;
}

}  // namespace aw::cublaslt
