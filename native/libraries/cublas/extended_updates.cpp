// cuBLAS: updates of rank k with named types.
#include "libraries/cublas/extended.h"
#include "libraries/cublas/level3.h"

namespace aw::cublas {
namespace {

// Calls `update` with the matrix as complex numbers of f32, which are made in the stream where it
// is of 8-bit integers.
template <class Update>
void complex_update(cublasHandle_t handle, const char* name, cublasOperation_t trans, int64_t n,
                    int64_t k, const void* A, cudaDataType type, int64_t lda, cudaDataType made,
                    Update update) {
  auto& it = use(handle);
  if (made != CUDA_C_32F || (type != CUDA_C_32F && type != CUDA_C_8I))
    unsupported(std::string(name) + " of types " + std::to_string(type) + " and " +
                std::to_string(made) + " (numbers of cudaDataType)");
  if (type == CUDA_C_32F) return update(static_cast<const cuComplex*>(A), lda);
  const int64_t rows = size(letter(trans) == 'N' ? n : k), columns = size(n + k - rows);
  leading(lda, rows);
  const int64_t ld = std::max<int64_t>(1, rows);
  auto wide = std::make_shared<std::vector<cuComplex>>(static_cast<size_t>(ld * columns));
  lib::submit(it.stream, name, [=] {
    auto* from = static_cast<const int8_t*>(A);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        const auto* each = from + 2 * (i + j * lda);
        (*wide)[static_cast<size_t>(i + j * ld)] = {float(each[0]), float(each[1])};
      }
  });
  update(static_cast<const cuComplex*>(wide->data()), ld);
  lib::submit(it.stream, name, [wide] {});  // it is needed so long
}

}  // namespace

void CsyrkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const cuComplex* alpha, const void* A, cudaDataType Atype, int64_t lda,
             const cuComplex* beta, void* C, cudaDataType Ctype, int64_t ldc) {
  complex_update(
      handle, "syrkEx", trans, n, k, A, Atype, lda, Ctype, [&](const cuComplex* a, int64_t ld) {
        syrk(handle, uplo, trans, n, k, alpha, a, ld, beta, static_cast<cuComplex*>(C), ldc);
      });
}
void CherkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n,
             int64_t k, const float* alpha, const void* A, cudaDataType Atype, int64_t lda,
             const float* beta, void* C, cudaDataType Ctype, int64_t ldc) {
  complex_update(
      handle, "herkEx", trans, n, k, A, Atype, lda, Ctype, [&](const cuComplex* a, int64_t ld) {
        herk(handle, uplo, trans, n, k, alpha, a, ld, beta, static_cast<cuComplex*>(C), ldc);
      });
}

}  // namespace aw::cublas
