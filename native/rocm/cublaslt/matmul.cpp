// Products and the choice of algorithms: hipBLASLt's algorithms are other structures, which are
// carried inside CUDA's.
#include <cstring>
#include <vector>

#include AW_TABLES

using namespace aw::rocm;

namespace {

// cublasLtMatmulAlgo_t is 64 bytes without a meaning to programs; ours hold a mark and
// hipBLASLt's 24.
struct Theirs {
  uint8_t data[16];
  size_t workspace;
};
struct Ours {
  uint64_t mark;
  Theirs algorithm;
  uint8_t unused[32];
};
static_assert(sizeof(Theirs) == 24 && sizeof(Ours) == 64);
constexpr uint64_t kMark = 0x6f676c415077616eull;

// cublasLtMatmulHeuristicResult_t and hipblasLtMatmulHeuristicResult_t.
template <typename Algorithm>
struct Result {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Result<Ours>) == 96 && sizeof(Result<Theirs>) == 56);

constexpr int kMostAlgorithms =
    1 << 14;  // more than any library has; a count from outside must not fill the memory

}  // namespace

AW_EXPORT int cublasLtMatmulAlgoGetHeuristic(void* handle, void* product, void* a, void* b, void* c,
                                             void* d, void* preference, int requested,
                                             Result<Ours>* results, int* found) {
  if (requested <= 0 || !results || !found) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  std::vector<Result<Theirs>> theirs(requested < kMostAlgorithms ? requested : kMostAlgorithms);
  int count = 0;
  const int result =
      AW_CALL(cublasLtMatmulAlgoGetHeuristic,
              (void*, void*, void*, void*, void*, void*, void*, int, void*, int*), handle, product,
              a, b, c, d, preference, static_cast<int>(theirs.size()), theirs.data(), &count);
  if (result != cuda::CUBLAS_STATUS_SUCCESS) return *found = 0, result;
  if (count < 0 || count > static_cast<int>(theirs.size()))
    return cuda::CUBLAS_STATUS_INTERNAL_ERROR;
  for (int i = 0; i < count; i++) {
    results[i] = {};
    results[i].algorithm = {kMark, theirs[i].algorithm, {}};
    results[i].workspace = theirs[i].workspace;
    results[i].state = status(theirs[i].state);
    results[i].waves = theirs[i].waves;
  }
  *found = count;
  // cuBLASLt says so when nothing serves; hipBLASLt returns an empty list.
  return count ? cuda::CUBLAS_STATUS_SUCCESS : cuda::CUBLAS_STATUS_NOT_SUPPORTED;
}

AW_EXPORT int cublasLtMatmul(void* handle, void* product, const void* alpha, const void* a,
                             void* a_layout, const void* b, void* b_layout, const void* beta,
                             const void* c, void* c_layout, void* d, void* d_layout,
                             const Ours* algorithm, void* workspace, size_t bytes,
                             void* on_stream) {
  if (algorithm && algorithm->mark != kMark) {
    count(at_cublasLtMatmul);
    return cuda::CUBLAS_STATUS_INVALID_VALUE;  // not from cublasLtMatmulAlgoGetHeuristic
  }
  Theirs chosen;
  if (algorithm) memcpy(&chosen, &algorithm->algorithm, sizeof chosen);
  return AW_CALL(cublasLtMatmul,
                 (void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                  const void*, void*, void*, void*, const void*, void*, size_t, void*),
                 handle, product, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                 algorithm ? &chosen : nullptr, workspace, bytes, stream(on_stream));
}

AW_EXPORT size_t cublasLtGetVersion() {
  count(at_cublasLtGetVersion);
  return AW_VERSION == 12
             ? 120903
             : 131000;  // of the newest library with this name that the tables were made from
}

AW_EXPORT size_t cublasLtGetCudartVersion() {
  count(at_cublasLtGetCudartVersion);
  return AW_VERSION == 12 ? 12090 : 13050;
}

AW_EXPORT int cublasLtGetProperty(int property, int* value) {
  count(at_cublasLtGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  const size_t version = AW_VERSION == 12 ? 120903 : 131000;
  const size_t parts[] = {version / 10000, version / 100 % 100, version % 100};
  *value = static_cast<int>(parts[property]);
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT const char* cublasLtGetStatusName(int code) {
  count(at_cublasLtGetStatusName);
  const char* name = status_name(code);
  return name ? name : "unknown status of cuBLAS";
}

AW_EXPORT const char* cublasLtGetStatusString(int code) {
  count(at_cublasLtGetStatusString);
  const char* name = status_name(code);
  return name ? name : "unknown status of cuBLAS";
}

namespace {
std::atomic<size_t> capacity{8192};
std::atomic<unsigned> disabled{0};
}  // namespace

AW_EXPORT int cublasLtHeuristicsCacheGetCapacity(size_t* entries) {
  count(at_cublasLtHeuristicsCacheGetCapacity);
  if (!entries) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  *entries = capacity;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT int cublasLtHeuristicsCacheSetCapacity(size_t entries) {
  count(at_cublasLtHeuristicsCacheSetCapacity);
  capacity = entries;
  return cuda::CUBLAS_STATUS_SUCCESS;
}

AW_EXPORT unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask) {
  count(at_cublasLtDisableCpuInstructionsSetMask);
  return disabled.exchange(mask);
}
