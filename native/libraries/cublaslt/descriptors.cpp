// cuBLASLt: descriptors, and their attributes by number.
#include <cstddef>
#include <span>

#include "libraries/cublaslt/cublaslt.h"

namespace aw::cublaslt {
namespace {

struct Attribute {
  int number;
  size_t offset, bytes;
};

#define AW_AT(number, kind, field) {number, offsetof(kind, field), sizeof(kind::field)}
constexpr Attribute kMatmul[] = {
    AW_AT(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, MatmulDesc, compute_type),
    AW_AT(CUBLASLT_MATMUL_DESC_SCALE_TYPE, MatmulDesc, scale_type),
    AW_AT(CUBLASLT_MATMUL_DESC_POINTER_MODE, MatmulDesc, pointer_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_TRANSA, MatmulDesc, trans_a),
    AW_AT(CUBLASLT_MATMUL_DESC_TRANSB, MatmulDesc, trans_b),
    AW_AT(CUBLASLT_MATMUL_DESC_TRANSC, MatmulDesc, trans_c),
    AW_AT(CUBLASLT_MATMUL_DESC_FILL_MODE, MatmulDesc, fill),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE, MatmulDesc, epilogue),
    AW_AT(CUBLASLT_MATMUL_DESC_BIAS_POINTER, MatmulDesc, bias),
    AW_AT(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, MatmulDesc, bias_stride),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, MatmulDesc, aux),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, MatmulDesc, aux_ld),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, MatmulDesc, aux_stride),
    AW_AT(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, MatmulDesc, alpha_vector_stride),
    AW_AT(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, MatmulDesc, sm_count),
    AW_AT(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MatmulDesc, a_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MatmulDesc, b_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, MatmulDesc, c_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, MatmulDesc, d_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, MatmulDesc, amax_d),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, MatmulDesc, aux_type),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, MatmulDesc, aux_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, MatmulDesc, aux_amax),
    AW_AT(CUBLASLT_MATMUL_DESC_FAST_ACCUM, MatmulDesc, fast_accum),
    AW_AT(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, MatmulDesc, bias_type),
    AW_AT(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, MatmulDesc, a_scale_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, MatmulDesc, b_scale_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, MatmulDesc, c_scale_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, MatmulDesc, d_scale_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, MatmulDesc, aux_scale_mode),
    AW_AT(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, MatmulDesc, d_out_scale),
    AW_AT(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, MatmulDesc, d_out_scale_mode),
#ifndef AW_CUDA_12
    AW_AT(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, MatmulDesc, emulation),
    AW_AT(CUBLASLT_MATMUL_DESC_ALPHA_BATCH_STRIDE, MatmulDesc, alpha_stride),
    AW_AT(CUBLASLT_MATMUL_DESC_BETA_BATCH_STRIDE, MatmulDesc, beta_stride),
    AW_AT(CUBLASLT_MATMUL_DESC_BATCH_INVARIANCE_FLAGS, MatmulDesc, batch_invariance),
#endif
};
constexpr Attribute kLayout[] = {
    AW_AT(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, cols),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane),
    AW_AT(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, Layout, batch_mode),
};
constexpr Attribute kTransform[] = {
    AW_AT(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, TransformDesc, scale_type),
    AW_AT(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, TransformDesc, pointer_mode),
    AW_AT(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, TransformDesc, trans_a),
    AW_AT(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, TransformDesc, trans_b),
};
constexpr Attribute kPreference[] = {
    AW_AT(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search),
    AW_AT(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, workspace),
    AW_AT(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reductions),
    AW_AT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference, align_a),
    AW_AT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference, align_b),
    AW_AT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference, align_c),
    AW_AT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference, align_d),
    AW_AT(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, waves),
    AW_AT(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, implementations),
};
#undef AW_AT

const Attribute& find(std::span<const Attribute> all, int number) {
  for (auto& one : all)
    if (one.number == number) return one;
  // What headers name and is not here lies among what is here, or close behind it.
  require(number >= 0 && number < all.back().number + 8);
  unsupported("the descriptor's attribute " + std::to_string(number));
}

template <class Ours>
void set(Ours& it, std::span<const Attribute> all, int number, const void* buf, size_t bytes) {
  auto& one = find(all, number);
  require(buf != nullptr && bytes == one.bytes);
  memcpy(reinterpret_cast<char*>(&it) + one.offset, buf, bytes);
}

template <class Ours>
void get(const Ours& it, std::span<const Attribute> all, int number, void* buf, size_t room,
         size_t* written) {
  auto& one = find(all, number);
  give(reinterpret_cast<const char*>(&it) + one.offset, one.bytes, buf, room, written);
}

template <class Ours, class Opaque>
void initialise(Opaque* opaque, size_t bytes, const Ours& value) {
  require(opaque != nullptr && bytes >= sizeof(Ours));
  memset(static_cast<void*>(opaque), 0, bytes);
  memcpy(static_cast<void*>(opaque), &value, sizeof value);
}

template <class Ours, class Opaque>
void create(Opaque** out, const Ours& value) {
  require(out != nullptr);
  auto* made = new Opaque;
  initialise(made, sizeof *made, value);
  *out = made;
}

template <class Opaque>
void destroy(Opaque* it) {
  of(it).magic = 0;
  delete it;
}

MatmulDesc matmul(cublasComputeType_t compute, cudaDataType_t scale) {
  MatmulDesc out;
  out.compute_type = compute, out.scale_type = scale;
  return out;
}

Layout layout(cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  Layout out;
  out.type = type, out.rows = rows, out.cols = cols, out.ld = ld;
  return out;
}

TransformDesc transform(cudaDataType scale) {
  TransformDesc out;
  out.scale_type = scale;
  return out;
}

}  // namespace
}  // namespace aw::cublaslt

using namespace aw::cublaslt;

AW_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out,
                                                  cublasComputeType_t compute,
                                                  cudaDataType_t scale) {
  return api<"cublasLtMatmulDescCreate">([&] { create(out, matmul(compute, scale)); });
}
AW_EXPORT cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t it, size_t size,
                                                         cublasComputeType_t compute,
                                                         cudaDataType_t scale) {
  return api<"cublasLtMatmulDescInit_internal">(
      [&] { initialise(it, size, matmul(compute, scale)); });
}
AW_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType type,
                                                    uint64_t rows, uint64_t cols, int64_t ld) {
  return api<"cublasLtMatrixLayoutCreate">([&] { create(out, layout(type, rows, cols, ld)); });
}
AW_EXPORT cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t it, size_t size,
                                                           cudaDataType type, uint64_t rows,
                                                           uint64_t cols, int64_t ld) {
  return api<"cublasLtMatrixLayoutInit_internal">(
      [&] { initialise(it, size, layout(type, rows, cols, ld)); });
}
AW_EXPORT cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* out,
                                                           cudaDataType scale) {
  return api<"cublasLtMatrixTransformDescCreate">([&] { create(out, transform(scale)); });
}
AW_EXPORT cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t it,
                                                                  size_t size, cudaDataType scale) {
  return api<"cublasLtMatrixTransformDescInit_internal">(
      [&] { initialise(it, size, transform(scale)); });
}
AW_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  return api<"cublasLtMatmulPreferenceCreate">([&] { create(out, Preference()); });
}
AW_EXPORT cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t it,
                                                               size_t size) {
  return api<"cublasLtMatmulPreferenceInit_internal">([&] { initialise(it, size, Preference()); });
}

#define AW_DESCRIPTOR(Kind, handle, attribute, table)                                             \
  AW_EXPORT cublasStatus_t cublasLt##Kind##Destroy(handle it) {                                   \
    return api<"cublasLt" #Kind "Destroy">([&] { destroy(it); });                                 \
  }                                                                                               \
  AW_EXPORT cublasStatus_t cublasLt##Kind##SetAttribute(handle it, attribute number,              \
                                                        const void* buf, size_t bytes) {          \
    return api<"cublasLt" #Kind "SetAttribute">([&] { set(of(it), table, number, buf, bytes); }); \
  }                                                                                               \
  AW_EXPORT cublasStatus_t cublasLt##Kind##GetAttribute(handle it, attribute number, void* buf,   \
                                                        size_t room, size_t* written) {           \
    return api<"cublasLt" #Kind "GetAttribute">(                                                  \
        [&] { get(of(it), table, number, buf, room, written); });                                 \
  }
AW_DESCRIPTOR(MatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, kMatmul)
AW_DESCRIPTOR(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, kLayout)
AW_DESCRIPTOR(MatrixTransformDesc, cublasLtMatrixTransformDesc_t,
              cublasLtMatrixTransformDescAttributes_t, kTransform)
AW_DESCRIPTOR(MatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
              kPreference)
#undef AW_DESCRIPTOR
