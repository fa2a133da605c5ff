// Sparse matrices as their entries, whatever their format, and work in pieces.
#pragma once

#include "libraries/cusparse/sparse.h"

namespace aw::cusparse {

// Indices of either width, counted from 0.
struct Index {
  const void* place;
  bool wide;
  int64_t base;
  int64_t operator()(int64_t i) const {
    return (wide ? static_cast<const int64_t*>(place)[i] : static_cast<const int32_t*>(place)[i]) -
           base;
  }
};
inline Index offsets_of(const SpMat& m, int64_t batch = 0) {
  bool wide = m.offset_type == CUSPARSE_INDEX_64I;
  return {static_cast<const char*>(m.offsets) + batch * m.offset_stride * (wide ? 8 : 4), wide,
          m.base};
}
inline Index indices_of(const SpMat& m, int64_t batch = 0) {
  bool wide = m.index_type == CUSPARSE_INDEX_64I;
  return {static_cast<const char*>(m.indices) + batch * m.index_stride * (wide ? 8 : 4), wide,
          m.base};
}
inline void set_index(void* place, cusparseIndexType_t type, int64_t i, int64_t value) {
  if (type == CUSPARSE_INDEX_64I)
    static_cast<int64_t*>(place)[i] = value;
  else
    static_cast<int32_t*>(place)[i] = static_cast<int32_t>(value);
}

// f(column, place of the value) for the entries of a row, of matrices in the formats CSR and BSR.
template <class F>
void for_row(const SpMat& m, int64_t batch, int64_t row, F f) {
  Index offsets = offsets_of(m, batch), indices = indices_of(m, batch);
  int64_t line = row / m.block_rows, i = row % m.block_rows, size = m.block_rows * m.block_cols;
  int64_t steps = m.order == CUSPARSE_ORDER_ROW ? 1 : m.block_rows;
  int64_t begin = m.order == CUSPARSE_ORDER_ROW ? i * m.block_cols : i;
  for (int64_t k = offsets(line), end = offsets(line + 1); k < end; ++k)
    for (int64_t j = 0; j < m.block_cols; ++j)
      f(indices(k) * m.block_cols + j, k * size + begin + j * steps);
}

template <class F>
void for_row(const SpMat& m, int64_t row, F f) {
  for_row(m, 0, row, f);
}

// ... and of dense matrices by columns.
template <class F>
void for_row(const DnMat& m, int64_t row, F f) {
  for (int64_t c = 0; c < m.cols; ++c) f(c, row + c * m.ld);
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
                k * m.block_rows * m.block_cols +
                    (m.order == CUSPARSE_ORDER_ROW ? i * m.block_cols + j : j * m.block_rows + i));
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

// Rows (or columns) of a matrix with their entries.
template <class K>
struct Lines {
  std::vector<int64_t> start, index, place;
  std::vector<K> value;
  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
};

// The entries that keep(row, column) holds for, by rows of op(A), in the order in which they are
// stored.
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
  out.index.resize(static_cast<size_t>(all)), out.place.resize(static_cast<size_t>(all)),
      out.value.resize(static_cast<size_t>(all));
  with_stored(m.type, [&](auto kind) {
    using S = decltype(kind);
    if constexpr (std::is_convertible_v<S, K> || std::is_same_v<S, formats::Half> ||
                  std::is_same_v<S, formats::Brain>) {
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

// body(first, last) for pieces of [0, count), on several threads; `grain` of them at least are
// worth a piece.
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
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE)
    std::swap(out.rows, out.cols), std::swap(out.row_step, out.col_step);
  return out;
}

inline int64_t rows_of(const SpMat& m, cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m.rows : m.cols;
}
inline int64_t cols_of(const SpMat& m, cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m.cols : m.rows;
}
inline void is_operation(cusparseOperation_t op) {
  require(op >= 0 && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
}

// A matrix of the older functions, which have 32-bit indices.
template <class T>
SpMat older(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz,
            const cusparseMatDescr& descr, const T* values, const int* offsets, const int* indices);

template <>
inline SpMat older<void>(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz,
                         const cusparseMatDescr& descr, const void* values, const int* offsets,
                         const int* indices) {
  SpMat out = {};
  out.format = format, out.rows = rows, out.cols = cols, out.nnz = nnz;
  out.offsets = const_cast<int*>(offsets), out.indices = const_cast<int*>(indices),
  out.values = const_cast<void*>(values);
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
SpMat older(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz,
            const cusparseMatDescr& descr, const T* values, const int* offsets,
            const int* indices) {
  SpMat out = older<void>(format, rows, cols, nnz, descr, values, offsets, indices);
  out.type = data_type<Number<T>>;
  return out;
}

// One of the older matrices of blocks.
template <class T>
SpMat blocks(cusparseDirection_t direction, int64_t mb, int64_t nb, int64_t nnzb,
             const cusparseMatDescr& descr, const T* values, const int* offsets, const int* indices,
             int block_rows, int block_cols) {
  require(block_rows > 0 && block_cols > 0 &&
          (direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN));
  SpMat out = older(CUSPARSE_FORMAT_BSR, mb * block_rows, nb * block_cols,
                    nnzb * block_rows * block_cols, descr, values, offsets, indices);
  out.block_rows = block_rows, out.block_cols = block_cols;
  out.order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  return out;
}
template <class T>
SpMat blocks(cusparseDirection_t direction, int64_t mb, int64_t nb, int64_t nnzb,
             const cusparseMatDescr& descr, const T* values, const int* offsets, const int* indices,
             int block) {
  return blocks(direction, mb, nb, nnzb, descr, values, offsets, indices, block, block);
}

}  // namespace aw::cusparse
