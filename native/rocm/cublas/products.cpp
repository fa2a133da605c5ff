// Products and copies that hipBLAS has under another name or not at all.
#include AW_TABLES

using namespace aw::rocm;

extern "C" {
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int);
int cublasGemmEx_64(void*, int, int, long, long, long, const void*, const void*, int, long,
                    const void*, int, long, const void*, void*, int, long, int, int);
int cublasScopy_v2(void*, int, const void*, int, void*, int);
int cublasDcopy_v2(void*, int, const void*, int, void*, int);
int cublasCcopy_v2(void*, int, const void*, int, void*, int);
int cublasZcopy_v2(void*, int, const void*, int, void*, int);
}

// Single precision inside, whatever the data: the factors alpha and beta are float (SgemmEx) or
// complex float (CgemmEx), which is what CUBLAS_COMPUTE_32F takes for such data.
#define AW_GEMM_EX(name, target, Number)                                                           \
  int name(void* handle, int ta, int tb, Number m, Number n, Number k, const void* alpha,          \
           const void* a, int a_type, Number lda, const void* b, int b_type, Number ldb,           \
           const void* beta, void* c, int c_type, Number ldc) {                                    \
    count(at_##name);                                                                              \
    return target(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, \
                  ldc, cuda::CUBLAS_COMPUTE_32F, cuda::CUBLAS_GEMM_DEFAULT);                       \
  }
#define AW_BY_HAND(name, target, Number) AW_EXPORT AW_GEMM_EX(name, target, Number)
AW_BY_HAND(cublasSgemmEx, cublasGemmEx, int)
AW_BY_HAND(cublasSgemmEx_64, cublasGemmEx_64, long)
AW_BY_HAND(cublasCgemmEx, cublasGemmEx, int)
AW_BY_HAND(cublasCgemmEx_64, cublasGemmEx_64, long)

namespace {

using Copy = int (*)(void*, int, const void*, int, void*, int);

// Packed and full triangles, column by column. In packed form the columns of the triangle follow
// each other without gaps.
int triangle(Copy copy, void* handle, int uplo, int n, char* packed, char* full, int ld,
             size_t size, bool pack) {
  if (!handle) return cuda::CUBLAS_STATUS_NOT_INITIALIZED;
  const bool upper = uplo == cuda::CUBLAS_FILL_MODE_UPPER;
  if ((!upper && uplo != cuda::CUBLAS_FILL_MODE_LOWER) || n < 0 || ld < (n > 1 ? n : 1))
    return cuda::CUBLAS_STATUS_INVALID_VALUE;
  for (int column = 0; column < n; column++) {
    const int length = upper ? column + 1 : n - column;
    char* const of_full = full + (static_cast<size_t>(column) * ld + (upper ? 0 : column)) * size;
    char* const from = pack ? of_full : packed;
    char* const to = pack ? packed : of_full;
    if (const int result = copy(handle, length, from, 1, to, 1)) return result;
    packed += length * size;
  }
  return cuda::CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#undef AW_BY_HAND
#define AW_BY_HAND_PACK(name, copy, size)                                                        \
  AW_EXPORT int name(void* handle, int uplo, int n, void* full, int ld, void* packed) {          \
    count(at_##name);                                                                            \
    return triangle(copy, handle, uplo, n, static_cast<char*>(packed), static_cast<char*>(full), \
                    ld, size, true);                                                             \
  }
#define AW_BY_HAND_UNPACK(name, copy, size)                                                      \
  AW_EXPORT int name(void* handle, int uplo, int n, void* packed, void* full, int ld) {          \
    count(at_##name);                                                                            \
    return triangle(copy, handle, uplo, n, static_cast<char*>(packed), static_cast<char*>(full), \
                    ld, size, false);                                                            \
  }
AW_BY_HAND_PACK(cublasStrttp, cublasScopy_v2, 4)
AW_BY_HAND_PACK(cublasDtrttp, cublasDcopy_v2, 8)
AW_BY_HAND_PACK(cublasCtrttp, cublasCcopy_v2, 8)
AW_BY_HAND_PACK(cublasZtrttp, cublasZcopy_v2, 16)
AW_BY_HAND_UNPACK(cublasStpttr, cublasScopy_v2, 4)
AW_BY_HAND_UNPACK(cublasDtpttr, cublasDcopy_v2, 8)
AW_BY_HAND_UNPACK(cublasCtpttr, cublasCcopy_v2, 8)
AW_BY_HAND_UNPACK(cublasZtpttr, cublasZcopy_v2, 16)
