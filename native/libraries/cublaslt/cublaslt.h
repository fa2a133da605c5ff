// What the functions of cuBLASLt share: the handle and what lies inside of NVIDIA's opaque
// descriptors.
#pragma once

#include <cublasLt.h>

#include <cstring>

#include "libraries/api.h"
#include "libraries/cublas/cublas.h"
#include "libraries/work.h"

struct cublasLtContext {
  uint64_t magic;
};

namespace aw::cublaslt {

using lib::require;
using lib::unsupported;

constexpr uint64_t kMagic = 0x746c7362756cull;

template <Name Function, class Body, class... Args>
cublasStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cublasStatus_t, Function>(body, args...);
}

// Throws NOT_INITIALIZED for what is no handle. A cublasHandle_t serves as well, as documented.
inline void use(cublasLtHandle_t handle) {
  require(handle && (handle->magic == kMagic || handle->magic == cublas::kMagic),
          CUBLAS_STATUS_NOT_INITIALIZED);
}

// Descriptors are memory of the caller's, or ours; a magic number tells those that were never
// initialised. 32 bits: a layout of CUDA 12 has no room for more.
struct MatmulDesc {
  static constexpr uint32_t kMagic = 0x4c744d44;
  uint32_t magic = kMagic;
  int32_t compute_type = 0, scale_type = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int32_t trans_a = CUBLAS_OP_N, trans_b = CUBLAS_OP_N, trans_c = CUBLAS_OP_N;
  int32_t fill = CUBLAS_FILL_MODE_FULL;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t sm_count = 0, aux_type = -1, bias_type = -1;
  int32_t a_scale_mode = 0, b_scale_mode = 0, c_scale_mode = 0, d_scale_mode = 0,
          aux_scale_mode = 0, d_out_scale_mode = 0;
  int32_t batch_invariance = 0;
  int8_t fast_accum = 0;
  void *bias = nullptr, *aux = nullptr;
  void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr,
       *amax_d = nullptr;
  void *aux_scale = nullptr, *aux_amax = nullptr, *d_out_scale = nullptr, *emulation = nullptr;
  int64_t bias_stride = 0, aux_ld = 0, aux_stride = 0, alpha_vector_stride = 0, alpha_stride = 0,
          beta_stride = 0;
};

struct Layout {
  static constexpr uint32_t kMagic = 0x4c744d4c;
  uint32_t magic = kMagic;
  int32_t type = 0;
  uint64_t rows = 0, cols = 0;
  int64_t ld = 0;
  int32_t order = CUBLASLT_ORDER_COL, batch = 1;
  int64_t stride = 0, plane = 0;
  int32_t batch_mode = CUBLASLT_BATCH_MODE_STRIDED, unused = 0;
};

struct TransformDesc {
  static constexpr uint32_t kMagic = 0x4c745444;
  uint32_t magic = kMagic;
  int32_t scale_type = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int32_t trans_a = CUBLAS_OP_N, trans_b = CUBLAS_OP_N;
};

struct Preference {
  static constexpr uint32_t kMagic = 0x4c745052;
  uint32_t magic = kMagic;
  uint32_t search = CUBLASLT_SEARCH_BEST_FIT, reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t align_a = 256, align_b = 256, align_c = 256, align_d = 256;
  float waves = 0;
  uint64_t workspace = 0, implementations = ~uint64_t{0};
};

struct Algorithm {
  static constexpr uint32_t kMagic = 0x4c74414c;
  uint32_t magic = kMagic;
  int32_t id = 0;
  uint32_t tile = 0;
  int32_t split_k = 1;
  uint32_t reduction = 0, swizzling = 0, custom = 0, stages = 0;
  uint16_t inner_shape = 0, cluster_shape = 0;
};

template <class Ours, class Opaque>
Ours& inside(Opaque* opaque) {
  static_assert(sizeof(Ours) <= sizeof(Opaque) && alignof(Ours) <= alignof(Opaque));
  require(opaque != nullptr);
  auto& it = *reinterpret_cast<Ours*>(opaque);
  require(it.magic == Ours::kMagic);
  return it;
}
inline MatmulDesc& of(cublasLtMatmulDesc_t it) { return inside<MatmulDesc>(it); }
inline Layout& of(cublasLtMatrixLayout_t it) { return inside<Layout>(it); }
inline TransformDesc& of(cublasLtMatrixTransformDesc_t it) { return inside<TransformDesc>(it); }
inline Preference& of(cublasLtMatmulPreference_t it) { return inside<Preference>(it); }
inline Algorithm& of(cublasLtMatmulAlgo_t* it) { return inside<Algorithm>(it); }
inline const Algorithm& of(const cublasLtMatmulAlgo_t* it) {
  return inside<Algorithm>(const_cast<cublasLtMatmulAlgo_t*>(it));
}

// Copies an attribute out as documented: with no room, only its size is told.
inline void give(const void* from, size_t bytes, void* buf, size_t room, size_t* written) {
  require(room != 0 || written != nullptr);
  if (written) *written = bytes;
  if (room == 0) return;
  require(buf != nullptr && room == bytes);
  memcpy(buf, from, bytes);
}

size_t bytes_of(int32_t type);  // of a cudaDataType; throws NOT_SUPPORTED for those that nothing
                                // here computes with

}  // namespace aw::cublaslt
