"""A libMIOpen that writes calls down, and the two functions of libamdhip64 that cuDNN's side needs."""

from __future__ import annotations

from pathlib import Path

from anywarp.catalogue.rocm import DATA
from fakes.rocm.table_fake import PRELUDE, build, read, source

TYPES = """
typedef void* miopenAllocatorFunction;
typedef void* miopenDeallocatorFunction;
typedef struct { unsigned algo; float time; size_t memory; } miopenConvAlgoPerf_t;
typedef struct { float time; size_t workspace_size; uint64_t solution_id; unsigned algorithm; } miopenConvSolution_t;
typedef struct { unsigned id; void** descriptor; void* buffer; } miopenTensorArgument_t;
"""

MORE = """
static int deterministic;
// Winograd is fastest and not deterministic; then implicit GEMM; then GEMM.
static const miopenConvSolution_t known[] = {{0.2f, 0, 22, 3}, {0.3f, 1024, 33, 5}, {0.5f, 8192, 11, 0}};
static void offer(size_t most, size_t* count, miopenConvSolution_t* to) {
  size_t n = 0;
  if (!getenv("FAKE_NO_SOLUTION"))
    for (size_t i = deterministic ? 1 : 0; i < 3 && n < most; i++) to[n++] = known[i];
  *count = n;
}
static void find(int most, int* count, miopenConvAlgoPerf_t* to) {
  static const miopenConvAlgoPerf_t found[] = {{5, 0.125f, 512}, {3, 0.25f, 0}};
  int n = 0;
  for (; n < 2 && n < most; n++) to[n] = found[n];
  *count = n;
}
"""

_OFFER = "  offer(maxSolutionCount, solutionCount, solutions);"
_FIND = "  find(requestAlgoCount, returnedAlgoCount, perfResults);"
OWN = {
    "miopenSetConvolutionAttribute": "  if (attr == 1) deterministic = value;",
    **{f"miopenConvolution{way}GetSolution": _OFFER for way in ("Forward", "BackwardData", "BackwardWeights")},
    **{f"miopenFindConvolution{way}Algorithm": _FIND for way in ("Forward", "BackwardData", "BackwardWeights")},
    "miopenGetRNNLayerParamOffset": "  *layerParamOffset = 1000 * layer + 10 * paramID;",
    "miopenGetRNNLayerBiasOffset": "  *layerBiasOffset = 1000 * layer + 10 * biasID + 5;",
    "miopenGetTensorDescriptorSize": "  *size = 2;",
    "miopenGetTensorDescriptor": "  *dataType = 1, dimsA[0] = 7, dimsA[1] = 5, stridesA[0] = 5, stridesA[1] = 1;",
}

HIP = """
int hipMallocAsync(void** to, size_t bytes, void* stream) {
  begin("hipMallocAsync"), large("bytes", bytes), large("stream", (uintptr_t)stream), end();
  *to = malloc(bytes);
  return *to ? 0 : 2;
}
int hipFreeAsync(void* from, void* stream) {
  begin("hipFreeAsync"), large("stream", (uintptr_t)stream), end();
  free(from);
  return 0;
}
"""

ROCBLAS = """
int rocblas_create_handle(void** to) { *to = make("Rocblas"); return 0; }
int rocblas_destroy_handle(void* h) { return 0; }
int rocblas_set_stream(void* h, void* s) { begin("rocblas_set_stream"), large("stream", (uintptr_t)s), end(); return 0; }
int rocblas_gemm_strided_batched_ex(void* handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* a, int a_type, int lda, int64_t stride_a,
    const void* b, int b_type, int ldb, int64_t stride_b, const void* beta, const void* c, int c_type, int ldc, int64_t stride_c, void* d, int d_type, int ldd, int64_t stride_d,
    int batch_count, int compute_type, int algo, int solution_index, unsigned flags) {
  begin("gemm"), whole("transA", transA), whole("transB", transB), whole("m", m), whole("n", n), whole("k", k), factor("alpha", alpha), large("a", (uintptr_t)a), whole("a_type", a_type), whole("lda", lda);
  whole("stride_a", stride_a), large("b", (uintptr_t)b), whole("b_type", b_type), whole("ldb", ldb), whole("stride_b", stride_b), factor("beta", beta), large("c", (uintptr_t)c);
  whole("ldc", ldc), whole("stride_c", stride_c), large("d", (uintptr_t)d), whole("ldd", ldd), whole("batch_count", batch_count), whole("compute_type", compute_type), end();
  return 0;
}
"""


def build_all(folder: Path) -> Path:
    """Compile the fakes into `folder`, which a program then finds by LD_LIBRARY_PATH."""
    build(source(read(DATA / "miopen.tsv"), "miopen", OWN, MORE, TYPES), folder / "libMIOpen.so.1")
    build(PRELUDE + HIP, folder / "libamdhip64.so.7")
    build(PRELUDE + ROCBLAS, folder / "librocblas.so.5")
    return folder
