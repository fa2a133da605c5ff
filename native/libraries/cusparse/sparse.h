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
  int64_t block_rows = 1, block_cols = 1;              // BSR; of blocked ELL both are the size of blocks
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;          // of a block
  int64_t slice = 0, stored = 0;                       // sliced ELL: rows of a slice, values with padding
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

// Buffers are asked for, given and left alone: memory for what is computed here is the library's own.
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
      anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY, "cuSPARSE: there is no memory for intermediate results");
    }
  });
}

// Until what was submitted is done. Refused under a capture, as by the driver.
inline void wait(const cusparseContext& handle) {
  CUresult result = cuStreamSynchronize(handle.stream);
  require(result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          CUSPARSE_STATUS_NOT_SUPPORTED);
  require(result == CUDA_SUCCESS, CUSPARSE_STATUS_EXECUTION_FAILED);
}

// A number that a program passes by address; see cublas.h.
template <class T>
class Scalar {
 public:
  Scalar(const cusparseContext& handle, const void* place)
      : at_(handle.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE ? static_cast<const T*>(place) : nullptr) {
    require(place != nullptr);
    if (!at_) value_ = *static_cast<const T*>(place);
  }
  T operator()() const { return at_ ? *at_ : value_; }

 private:
  const T* at_;
  T value_{};
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
    case CUDA_R_32F: return f(float{});
    case CUDA_R_64F: return f(double{});
    case CUDA_C_32F: return f(Complex<float>{});
    case CUDA_C_64F: return f(Complex<double>{});
    default: unsupported("computing in data type " + std::to_string(type));
  }
}
// ... of values in memory.
template <class F>
auto with_stored(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_8I: return f(int8_t{});
    case CUDA_R_32I: return f(int32_t{});
    case CUDA_R_16F: return f(formats::Half{});
    case CUDA_R_16BF: return f(formats::Brain{});
    default: return with_number(type, f);
  }
}
size_t size_of(cudaDataType type);

// The combinations of the manual: f(Types<A, X, Y, K>{}) with what A, X and Y hold and what is computed with.
template <class F>
void with_types(cudaDataType a, cudaDataType x, cudaDataType y, cudaDataType compute, F f) {
  using formats::Brain, formats::Half;
  auto is = [&](cudaDataType wa, cudaDataType wx, cudaDataType wy, cudaDataType wk) {
    return a == wa && x == wx && y == wy && compute == wk;
  };
  if (is(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F)) return f(Types<float, float, float, float>{});
  if (is(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F)) return f(Types<double, double, double, double>{});
  if (is(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F)) return f(Types<Complex<float>, Complex<float>, Complex<float>, Complex<float>>{});
  if (is(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F)) return f(Types<Complex<double>, Complex<double>, Complex<double>, Complex<double>>{});
  if (is(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F)) return f(Types<Half, Half, Half, float>{});
  if (is(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F)) return f(Types<Half, Half, float, float>{});
  if (is(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F)) return f(Types<Brain, Brain, Brain, float>{});
  if (is(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F)) return f(Types<Brain, Brain, float, float>{});
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I)) return f(Types<int8_t, int8_t, int32_t, int32_t>{});
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F)) return f(Types<int8_t, int8_t, float, float>{});
  if (is(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F)) return f(Types<float, Complex<float>, Complex<float>, Complex<float>>{});
  if (is(CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F)) return f(Types<double, Complex<double>, Complex<double>, Complex<double>>{});
  unsupported("the combination of types " + std::to_string(a) + ", " + std::to_string(x) + ", " + std::to_string(y) + ", computed in " +
              std::to_string(compute));
}

// Indices of either width, counted from 0.
struct Index {
  const void* place;
  bool wide;
  int64_t base;
  int64_t operator()(int64_t i) const {
    return (wide ? static_cast<const int64_t*>(place)[i] : static_cast<const int32_t*>(place)[i]) - base;
  }
};
inline Index offsets_of(const SpMat& m, int64_t batch = 0) {
  bool wide = m.offset_type == CUSPARSE_INDEX_64I;
  return {static_cast<const char*>(m.offsets) + batch * m.offset_stride * (wide ? 8 : 4), wide, m.base};
}
inline Index indices_of(const SpMat& m, int64_t batch = 0) {
  bool wide = m.index_type == CUSPARSE_INDEX_64I;
  return {static_cast<const char*>(m.indices) + batch * m.index_stride * (wide ? 8 : 4), wide, m.base};
}
inline void set_index(void* place, cusparseIndexType_t type, int64_t i, int64_t value) {
  if (type == CUSPARSE_INDEX_64I)
    static_cast<int64_t*>(place)[i] = value;
  else
    static_cast<int32_t*>(place)[i] = static_cast<int32_t>(value);
}

// f(row, column, place of the value) for every entry that is stored.
template <class F>
void for_entries(const SpMat& m, int64_t batch, F f) {
  Index offsets = offsets_of(m, batch), indices = indices_of(m, batch);
  switch (m.format) {
    case CUSPARSE_FORMAT_CSR:
      for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t k = offsets(r), end = offsets(r + 1); k < end; ++k) f(r, indices(k), k);
      return;
    case CUSPARSE_FORMAT_CSC:
      for (int64_t c = 0; c < m.cols; ++c)
        for (int64_t k = offsets(c), end = offsets(c + 1); k < end; ++k) f(indices(k), c, k);
      return;
    case CUSPARSE_FORMAT_COO:
      for (int64_t k = 0; k < m.nnz; ++k) f(offsets(k), indices(k), k);
      return;
    case CUSPARSE_FORMAT_BSR:
      for (int64_t r = 0; r < m.rows / m.block_rows; ++r)
        for (int64_t i = 0; i < m.block_rows; ++i)
          for (int64_t k = offsets(r), end = offsets(r + 1); k < end; ++k)
            for (int64_t j = 0; j < m.block_cols; ++j)
              f(r * m.block_rows + i, indices(k) * m.block_cols + j,
                k * m.block_rows * m.block_cols + (m.order == CUSPARSE_ORDER_ROW ? i * m.block_cols + j : j * m.block_rows + i));
      return;
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      for (int64_t r = 0; r < m.rows; ++r) {
        int64_t s = r / m.slice;
        for (int64_t k = offsets(s) + r % m.slice, end = offsets(s + 1); k < end; k += m.slice)
          if (indices(k) >= 0) f(r, indices(k), k);  // a column of -1 is padding
      }
      return;
    default:
      return;
  }
}
void computable(const SpMat& m);  // throws NOT_SUPPORTED for formats that for_entries does not know

// Rows (or columns) of a matrix with their entries.
template <class K>
struct Lines {
  std::vector<int64_t> start, index, place;
  std::vector<K> value;
  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
};

// The entries that keep(row, column) holds for, by rows of op(A), in the order in which they are stored.
template <class K, class Keep>
Lines<K> lines_of(const SpMat& m, int64_t batch, cusparseOperation_t op, Keep keep) {
  Lines<K> out;
  bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
  out.start.assign(static_cast<size_t>((turned ? m.cols : m.rows) + 1), 0);
  auto* count = out.start.data() + 1;
  int64_t all = 0;
  for_entries(m, batch, [&](int64_t r, int64_t c, int64_t) {
    if (keep(r, c)) ++count[turned ? c : r], ++all;
  });
  // count[i] becomes the beginning of line i, and its end when it is filled.
  int64_t sum = 0;
  for (int64_t i = 0; i < out.count(); ++i) {
    int64_t here = count[i];
    count[i] = sum;
    sum += here;
  }
  out.index.resize(static_cast<size_t>(all)), out.place.resize(static_cast<size_t>(all)), out.value.resize(static_cast<size_t>(all));
  with_stored(m.type, [&](auto kind) {
    using S = decltype(kind);
    if constexpr (std::is_convertible_v<S, K> || std::is_same_v<S, formats::Half> || std::is_same_v<S, formats::Brain>) {
      auto* values = static_cast<const S*>(m.values) + batch * m.value_stride;
      for_entries(m, batch, [&](int64_t r, int64_t c, int64_t k) {
        if (!keep(r, c)) return;
        auto at = static_cast<size_t>(count[turned ? c : r]++);
        K value = load<K>(values[k]);
        out.index[at] = turned ? r : c;
        out.place[at] = k;
        out.value[at] = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(value) : value;
      });
    }
  });
  return out;
}
template <class K>
Lines<K> lines_of(const SpMat& m, int64_t batch, cusparseOperation_t op) {
  return lines_of<K>(m, batch, op, [](int64_t, int64_t) { return true; });
}

// body(first, last) for pieces of [0, count), on several threads; `grain` of them at least are worth a piece.
template <class Body>
void in_pieces(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  int64_t piece = std::max(grain, (count + 63) / 64);
  lib::parallel(static_cast<uint64_t>((count + piece - 1) / piece), [&](uint64_t number) {
    int64_t first = static_cast<int64_t>(number) * piece;
    body(first, std::min(first + piece, count));
  });
}

// A matrix in memory that is read or written by rows and columns of op(B).
template <class S>
struct Dense {
  S* values;
  int64_t rows, cols, row_step, col_step;
  S& operator()(int64_t i, int64_t j) const { return values[i * row_step + j * col_step]; }
};
template <class S>
Dense<S> dense_of(const DnMat& m, cusparseOperation_t op, int64_t batch = 0) {
  Dense<S> out = {static_cast<S*>(m.values) + batch * m.batch_stride, m.rows, m.cols, 1, m.ld};
  if (m.order == CUSPARSE_ORDER_ROW) std::swap(out.row_step, out.col_step);
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) std::swap(out.rows, out.cols), std::swap(out.row_step, out.col_step);
  return out;
}

inline int64_t rows_of(const SpMat& m, cusparseOperation_t op) { return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m.rows : m.cols; }
inline int64_t cols_of(const SpMat& m, cusparseOperation_t op) { return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m.cols : m.rows; }
inline void is_operation(cusparseOperation_t op) { require(op >= 0 && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE); }

// A matrix of the older functions, which have 32-bit indices.
template <class T>
SpMat older(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz, const cusparseMatDescr& descr, const T* values, const int* offsets,
            const int* indices);

template <>
inline SpMat older<void>(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz, const cusparseMatDescr& descr, const void* values,
                         const int* offsets, const int* indices) {
  SpMat out = {};
  out.format = format, out.rows = rows, out.cols = cols, out.nnz = nnz;
  out.offsets = const_cast<int*>(offsets), out.indices = const_cast<int*>(indices), out.values = const_cast<void*>(values);
  out.offset_type = out.index_type = CUSPARSE_INDEX_32I;
  out.base = descr.base, out.fill = descr.fill, out.diagonal = descr.diagonal;
  return out;
}
template <class T>
constexpr cudaDataType data_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType data_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType data_type<Complex<float>> = CUDA_C_32F;
template <>
inline constexpr cudaDataType data_type<Complex<double>> = CUDA_C_64F;

template <class T>
SpMat older(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz, const cusparseMatDescr& descr, const T* values, const int* offsets,
            const int* indices) {
  SpMat out = older<void>(format, rows, cols, nnz, descr, values, offsets, indices);
  out.type = data_type<Number<T>>;
  return out;
}

// One of the older matrices of blocks.
template <class T>
SpMat blocks(cusparseDirection_t direction, int64_t mb, int64_t nb, int64_t nnzb, const cusparseMatDescr& descr, const T* values, const int* offsets,
             const int* indices, int block) {
  require(block > 0 && (direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN));
  SpMat out = older(CUSPARSE_FORMAT_BSR, mb * block, nb * block, nnzb * block * block, descr, values, offsets, indices);
  out.block_rows = out.block_cols = block;
  out.order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  return out;
}

// As documented for all older functions: they know no matrices but general ones.
inline cusparseMatDescr use_general(cusparseMatDescr_t descr) {
  require(descr != nullptr);
  require(descr->type == CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  return *descr;
}

}  // namespace aw::cusparse

// F(letter, type) for the four types of the older functions.
#define AW_FOUR(F) F(S, float) F(D, double) F(C, cuComplex) F(Z, cuDoubleComplex)
