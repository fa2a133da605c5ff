// What the functions of cuSPARSE share: handles, descriptors, and sparse matrices as their entries.
#pragma once

#include <cusparse.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "core/own_functions.h"
#include "libraries/api.h"
#include "libraries/cusparse/numbers.h"
#include "libraries/scalar.h"
#include "libraries/waiting.h"
#include "libraries/work.h"

struct cusparseContext {
  uint64_t magic;
  CUstream stream = nullptr;
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

struct cusparseSpVecDescr {
  int64_t size, nnz;
  void* indices;
  void* values;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
};

struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  cudaDataType type;
};

struct cusparseDnMatDescr {
  int64_t rows, cols, ld;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  int64_t batch_stride = 0;
};

// `offsets` are those of rows (CSR, BSR), columns (CSC) or slices, or the rows of entries (COO).
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, cols, nnz;
  void* offsets;
  void* indices;
  void* values;
  cusparseIndexType_t offset_type, index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  int64_t block_rows = 1, block_cols = 1;      // BSR; of blocked ELL both are the size of blocks
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;  // of a block
  int64_t slice = 0, stored = 0;               // sliced ELL: rows of a slice, values with padding
  int64_t ell_cols = 0;
  int batches = 1;
  int64_t offset_stride = 0, index_stride = 0, value_stride = 0;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  int storage = 0, symmetry = 0;
};

namespace aw::cusparse {

using lib::require;
using lib::unsupported;

using SpMat = cusparseSpMatDescr;
using DnMat = cusparseDnMatDescr;
using DnVec = cusparseDnVecDescr;
using SpVec = cusparseSpVecDescr;

constexpr uint64_t kMagic = 0x6573'7261'7073'7563;

template <Name Function, class Body, class... Args>
cusparseStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cusparseStatus_t, Function>(body, args...);
}

inline cusparseContext& use(cusparseHandle_t handle) {
  require(handle && handle->magic == kMagic, CUSPARSE_STATUS_NOT_INITIALIZED);
  return *handle;
}

// What a descriptor says, as it is at the call.
template <class T>
T use(const T* descriptor) {
  require(descriptor != nullptr);
  return *descriptor;
}

// Buffers are asked for, given and left alone: memory for what is computed here is the library's
// own.
inline void no_buffer(size_t* bytes) {
  require(bytes != nullptr);
  *bytes = 16;  // programs do not like to allocate nothing
}

// Puts body() into the handle's stream. `name` lives for ever.
template <class Body>
void submit(const cusparseContext& handle, const char* name, Body body) {
  lib::submit(handle.stream, name, [body = std::move(body)]() mutable {
    try {
      body();
    } catch (const std::bad_alloc&) {
      anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "cuSPARSE: there is no memory for intermediate results");
    }
  });
}

// Until what was submitted is done. Refused under a capture, as by the driver.
inline void wait(const cusparseContext& handle) {
  lib::wait(handle.stream, CUSPARSE_STATUS_EXECUTION_FAILED);
}

// A number that lies where the pointer mode says (cusparseSetPointerMode).
template <class T>
struct Scalar : lib::Scalar<T> {
  Scalar(const cusparseContext& handle, const void* place)
      : lib::Scalar<T>(handle.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE, place) {}
};

// A number that a function gives: for host memory it waits.
template <class T>
void give(const cusparseContext& handle, T* place, std::shared_ptr<T> made, const char* name) {
  require(place != nullptr);
  submit(handle, name, [place, made] { *place = *made; });
  if (handle.pointer_mode == CUSPARSE_POINTER_MODE_HOST) wait(handle);
}

template <class... T>
struct Types {};

// f(T{}) for the type of numbers that are computed with.
template <class F>
auto with_number(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_32F:
      return f(float{});
    case CUDA_R_64F:
      return f(double{});
    case CUDA_C_32F:
      return f(Complex<float>{});
    case CUDA_C_64F:
      return f(Complex<double>{});
    default:
      unsupported("computing in data type " + std::to_string(type));
  }
}
// ... of values in memory.
template <class F>
auto with_stored(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_8I:
      return f(int8_t{});
    case CUDA_R_32I:
      return f(int32_t{});
    case CUDA_R_16F:
      return f(formats::Half{});
    case CUDA_R_16BF:
      return f(formats::Brain{});
    default:
      return with_number(type, f);
  }
}
size_t size_of(cudaDataType type);

// The combinations of the manual: f(Types<A, X, Y, K>{}) with what A, X and Y hold and what is
// computed with.
template <class F>
void with_types(cudaDataType a, cudaDataType x, cudaDataType y, cudaDataType compute, F f) {
  using formats::Brain, formats::Half;
  auto is = [&](cudaDataType wa, cudaDataType wx, cudaDataType wy, cudaDataType wk) {
    return a == wa && x == wx && y == wy && compute == wk;
  };
  if (is(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F))
    return f(Types<float, float, float, float>{});
  if (is(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F))
    return f(Types<double, double, double, double>{});
  if (is(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F))
    return f(Types<Complex<float>, Complex<float>, Complex<float>, Complex<float>>{});
  if (is(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F))
    return f(Types<Complex<double>, Complex<double>, Complex<double>, Complex<double>>{});
  if (is(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F))
    return f(Types<Half, Half, Half, float>{});
  if (is(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F))
    return f(Types<Half, Half, float, float>{});
  if (is(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F))
    return f(Types<Brain, Brain, Brain, float>{});
  if (is(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F))
    return f(Types<Brain, Brain, float, float>{});
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I))
    return f(Types<int8_t, int8_t, int32_t, int32_t>{});
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F))
    return f(Types<int8_t, int8_t, float, float>{});
  if (is(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F))
    return f(Types<float, Complex<float>, Complex<float>, Complex<float>>{});
  if (is(CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F))
    return f(Types<double, Complex<double>, Complex<double>, Complex<double>>{});
  unsupported("the combination of types " + std::to_string(a) + ", " + std::to_string(x) + ", " +
              std::to_string(y) + ", computed in " + std::to_string(compute));
}

void computable(const SpMat& m);  // throws NOT_SUPPORTED for formats that for_entries does not know

// As documented for all older functions: they know no matrices but general ones.
inline cusparseMatDescr use_general(cusparseMatDescr_t descr) {
  require(descr != nullptr);
  require(descr->type == CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  return *descr;
}

}  // namespace aw::cusparse

// F(letter, type) for the four types of the older functions.
#define AW_FOUR(F) F(S, float) F(D, double) F(C, cuComplex) F(Z, cuDoubleComplex)
