// cuBLASLt: algorithms. There is one, which can do everything that is done here; what programs
// configure is kept and has no meaning.
#include <algorithm>

#include "libraries/cublaslt/plan.h"

using namespace aw::cublaslt;

namespace {

constexpr int kOnly = 0;

void fresh(cublasLtMatmulAlgo_t& it) {
  memset(&it, 0, sizeof it);
  const Algorithm made;
  memcpy(&it, &made, sizeof made);
}

void answer(cublasLtMatmulHeuristicResult_t& out) {
  memset(&out, 0, sizeof out);
  fresh(out.algo);
  out.state = CUBLAS_STATUS_SUCCESS;
  out.wavesCount = 1;
}

void heuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
               cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
               cublasLtMatmulPreference_t preference, int wanted,
               cublasLtMatmulHeuristicResult_t* results, int* count) {
  use(handle);
  require(count && results && wanted > 0);
  *count = 0;
  if (preference) of(preference);
  planned(of(desc), of(a), of(b), of(c), of(d));
  answer(results[0]);
  *count = 1;
}

void check_algorithm(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                     const cublasLtMatmulAlgo_t* algorithm,
                     cublasLtMatmulHeuristicResult_t* result) {
  use(handle);
  require(result);
  of(algorithm);
  const cublasLtMatmulAlgo_t kept = *algorithm;  // may lie inside of the result
  planned(of(desc), of(a), of(b), of(c), of(d));
  answer(*result);
  result->algo = kept;
}

template <class T>
void capability(T value, void* buf, size_t room, size_t* written) {
  give(&value, sizeof value, buf, room, written);
}

struct Field {
  cublasLtMatmulAlgoConfigAttributes_t number;
  size_t offset, bytes;
};
#define AW_AT(number, field) {number, offsetof(Algorithm, field), sizeof(Algorithm::field)}
constexpr Field kFields[] = {
    AW_AT(CUBLASLT_ALGO_CONFIG_ID, id),
    AW_AT(CUBLASLT_ALGO_CONFIG_TILE_ID, tile),
    AW_AT(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, split_k),
    AW_AT(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, reduction),
    AW_AT(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, swizzling),
    AW_AT(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, custom),
    AW_AT(CUBLASLT_ALGO_CONFIG_STAGES_ID, stages),
    AW_AT(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, inner_shape),
    AW_AT(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, cluster_shape),
};
#undef AW_AT

const Field& field(cublasLtMatmulAlgoConfigAttributes_t number) {
  for (auto& one : kFields)
    if (one.number == number) return one;
  require(false);
  __builtin_unreachable();
}

}  // namespace

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t results[],
    int* count) {
  return api<"cublasLtMatmulAlgoGetHeuristic">(
      [&] { heuristic(handle, desc, a, b, c, d, preference, wanted, results, count); });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                 cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                 cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                 const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulHeuristicResult_t* result) {
  return api<"cublasLtMatmulAlgoCheck">(
      [&] { check_algorithm(handle, desc, a, b, c, d, algorithm, result); });
}

#ifndef AW_CUDA_12
AW_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristicForStream(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t results[],
    int* count, cudaStream_t) {
  return api<"cublasLtMatmulAlgoGetHeuristicForStream">(
      [&] { heuristic(handle, desc, a, b, c, d, preference, wanted, results, count); });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoCheckForStream(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result, cudaStream_t) {
  return api<"cublasLtMatmulAlgoCheckForStream">(
      [&] { check_algorithm(handle, desc, a, b, c, d, algorithm, result); });
}
#endif

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle,
                                                  cublasComputeType_t compute, cudaDataType_t scale,
                                                  cudaDataType_t a, cudaDataType_t b,
                                                  cudaDataType_t c, cudaDataType_t d, int wanted,
                                                  int ids[], int* count) {
  return api<"cublasLtMatmulAlgoGetIds">([&] {
    use(handle);
    require(wanted > 0 && ids && count);
    *count = 0;
    check_types(compute, scale, a, b, c, d);
    ids[0] = kOnly, *count = 1;
  });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle,
                                                cublasComputeType_t compute, cudaDataType_t scale,
                                                cudaDataType_t a, cudaDataType_t b,
                                                cudaDataType_t c, cudaDataType_t d, int id,
                                                cublasLtMatmulAlgo_t* algorithm) {
  return api<"cublasLtMatmulAlgoInit">([&] {
    use(handle);
    require(algorithm && id >= 0);
    check_types(compute, scale, a, b, c, d);
    fresh(*algorithm);
    of(algorithm).id = id;  // programs bring numbers of algorithms that they once measured
  });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                           cublasLtMatmulAlgoCapAttributes_t number,
                                                           void* buf, size_t room,
                                                           size_t* written) {
  return api<"cublasLtMatmulAlgoCapGetAttribute">([&] {
    of(algorithm);
    switch (number) {
      case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
      case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
      case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
      case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
      case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
      case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
      case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
      case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
        return capability(int32_t{1}, buf, room, written);
      case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
      case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
      case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
      case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
      case CUBLASLT_ALGO_CAP_TILE_IDS:  // a list of one: CUBLASLT_MATMUL_TILE_UNDEFINED
      case CUBLASLT_ALGO_CAP_STAGES_IDS:
      case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
      case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
      case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
#ifdef AW_CUDA_12
      case CUBLASLT_ALGO_CAP_ATOMIC_SYNC:
#else
      case CUBLASLT_ALGO_CAP_POINTER_ARRAY_GROUPED_SUPPORT:
#endif
        return capability(int32_t{0}, buf, room, written);
      case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
        return capability(uint32_t{31}, buf, room, written);
      case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
        return capability(uint32_t{1023}, buf, room, written);
      case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
        return capability(uint64_t{CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA}, buf, room, written);
    }
    require(false);
  });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulAlgoConfigAttributes_t number, const void* buf,
    size_t bytes) {
  return api<"cublasLtMatmulAlgoConfigSetAttribute">([&] {
    auto& one = field(number);
    require(buf && bytes == one.bytes);
    memcpy(reinterpret_cast<char*>(&of(algorithm)) + one.offset, buf, bytes);
  });
}

AW_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulAlgoConfigAttributes_t number, void* buf,
    size_t room, size_t* written) {
  return api<"cublasLtMatmulAlgoConfigGetAttribute">([&] {
    auto& one = field(number);
    give(reinterpret_cast<const char*>(&of(algorithm)) + one.offset, one.bytes, buf, room, written);
  });
}
