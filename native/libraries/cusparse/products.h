// Products of a sparse matrix and a dense one; sums are in the order of the entries, whatever the
// number of threads.
#pragma once

#include "libraries/cusparse/entries.h"
#include "libraries/wide.h"

namespace aw::cusparse {

// Entries of rows as they lie in memory: CSR by rows, or CSC by columns.
template <class A, class I>
struct Stored {
  Index offsets;
  const I* indices;
  const A* values;
  int64_t base;
  bool conjugated;
  int64_t first(int64_t row) const { return offsets(row); }
  int64_t index(int64_t k) const { return static_cast<int64_t>(indices[k]) - base; }
  template <class K>
  K value(int64_t k) const {
    K out = load<K>(values[k]);
    return conjugated ? conjugate(out) : out;
  }
};
// Entries that were brought into that order.
template <class K>
struct Sorted {
  const Lines<K>& lines;
  int64_t first(int64_t row) const { return lines.start[static_cast<size_t>(row)]; }
  int64_t index(int64_t k) const { return lines.index[static_cast<size_t>(k)]; }
  template <class>
  K value(int64_t k) const {
    return lines.value[static_cast<size_t>(k)];
  }
};

// Rows that are worth the way to another thread.
inline int64_t grain_of(int64_t rows, int64_t products) {
  return std::max<int64_t>(16, (1 << 15) / (products / std::max<int64_t>(rows, 1) + 1));
}

template <class K, class Y>
void finish(Y& to, K sum, K alpha, K beta) {
  // What is multiplied by zero is not read.
  store(to, beta == K{} ? alpha * sum : alpha * sum + beta * load<K>(to));
}

template <class K, class Rows, class X, class Y>
void times_vector(const Rows& rows, int64_t count, int64_t entries, const X* x, Y* y, K alpha,
                  K beta) {
  in_pieces(count, grain_of(count, entries), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      int64_t k = rows.first(r), end = rows.first(r + 1);
      K sums[4] = {};  // additions wait for each other less
      for (; k + 4 <= end; k += 4)
        for (int i = 0; i < 4; ++i)
          sums[i] += rows.template value<K>(k + i) * load<K>(x[rows.index(k + i)]);
      for (; k < end; ++k) sums[0] += rows.template value<K>(k) * load<K>(x[rows.index(k)]);
      finish(y[r], (sums[0] + sums[1]) + (sums[2] + sums[3]), alpha, beta);
    }
  });
}

// Columns [column, column + n) of a row: sums that stay in registers where n is known.
template <int Columns, class K, class Rows, class X, class Y>
inline void row_times_columns(const Rows& rows, int64_t r, const Dense<const X>& b, bool conjugated,
                              const Dense<Y>& c, int64_t column, int64_t n, K alpha, K beta) {
  constexpr int kMost = Columns ? Columns : 32;
  if (Columns) n = Columns;
  K sums[kMost] = {};
  for (int64_t k = rows.first(r), end = rows.first(r + 1); k < end; ++k) {
    K a = rows.template value<K>(k);
    const X* line = &b(rows.index(k), column);
    if constexpr (Columns != 0) {
      for (int j = 0; j < Columns; ++j) sums[j] += a * load<K>(line[j]);
    } else {
      for (int64_t j = 0; j < n; ++j) {
        K value = load<K>(line[j * b.col_step]);
        sums[j] += a * (conjugated ? conjugate(value) : value);
      }
    }
  }
  for (int64_t j = 0; j < n; ++j) finish(c(r, column + j), sums[j], alpha, beta);
}

template <class K, class Rows, class X, class Y>
AW_WIDE void rows_times_matrix(const Rows& rows, int64_t first, int64_t last,
                               const Dense<const X>& b, bool conjugated, const Dense<Y>& c, K alpha,
                               K beta) {
  bool plain = b.col_step == 1 && !conjugated;
  for (int64_t r = first; r < last; ++r)
    for (int64_t column = 0, n = 0; column < c.cols; column += n) {
      int64_t left = c.cols - column;
      n = plain && left < 32 && left >= 8 ? 8 : std::min<int64_t>(left, 32);
      if (plain && n == 32)
        row_times_columns<32>(rows, r, b, false, c, column, n, alpha, beta);
      else if (plain && n == 8)
        row_times_columns<8>(rows, r, b, false, c, column, n, alpha, beta);
      else
        row_times_columns<0>(rows, r, b, conjugated, c, column, n, alpha, beta);
    }
}

template <class K, class Rows, class X, class Y>
void times_matrix(const Rows& rows, int64_t count, int64_t entries, const Dense<const X>& b,
                  bool conjugated, const Dense<Y>& c, K alpha, K beta) {
  in_pieces(count, grain_of(count, entries * c.cols), [&](int64_t first, int64_t last) {
    rows_times_matrix<K>(rows, first, last, b, conjugated, c, alpha, beta);
  });
}

inline bool lies_by_rows(const SpMat& m, cusparseOperation_t op) {
  return m.format ==
         (op != CUSPARSE_OPERATION_NON_TRANSPOSE ? CUSPARSE_FORMAT_CSC : CUSPARSE_FORMAT_CSR);
}

// f(rows) with the rows of op(A) as they are, or sorted.
template <class A, class K, class F>
void with_rows(const SpMat& m, int64_t batch, cusparseOperation_t op, const F& f) {
  if (!lies_by_rows(m, op)) {
    auto lines = lines_of<K>(m, batch, op);
    return f(Sorted<K>{lines});
  }
  bool conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  auto* values = static_cast<const A*>(m.values) + batch * m.value_stride;
  const void* indices = indices_of(m, batch).place;
  if (m.index_type == CUSPARSE_INDEX_64I)
    f(Stored<A, int64_t>{offsets_of(m, batch), static_cast<const int64_t*>(indices), values, m.base,
                         conjugated});
  else
    f(Stored<A, int32_t>{offsets_of(m, batch), static_cast<const int32_t*>(indices), values, m.base,
                         conjugated});
}

// Entries in another order than that of the result, on one thread: sorting them costs more than it
// brings.
template <class A, class K, class X, class Y>
void scattered_times_vector(const SpMat& m, cusparseOperation_t op, const X* x, Y* y, K alpha,
                            K beta) {
  std::vector<K> sums(static_cast<size_t>(rows_of(m, op)));
  auto* values = static_cast<const A*>(m.values);
  for_entries(m, 0, [&](int64_t r, int64_t c, int64_t k) {
    K a = load<K>(values[k]);
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE)
      sums[static_cast<size_t>(r)] += a * load<K>(x[c]);
    else
      sums[static_cast<size_t>(c)] +=
          (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(a) : a) * load<K>(x[r]);
  });
  for (size_t i = 0; i < sums.size(); ++i) finish(y[i], sums[i], alpha, beta);
}

// y = alpha op(A) x + beta y, in a stream.
template <class A, class X, class Y, class K>
void multiply(const cusparseContext& handle, const char* name, const SpMat& m,
              cusparseOperation_t op, Scalar<K> alpha, const X* x, Scalar<K> beta, Y* y) {
  submit(handle, name, [=] {
    if (!lies_by_rows(m, op)) return scattered_times_vector<A>(m, op, x, y, alpha(), beta());
    with_rows<A, K>(m, 0, op, [&](const auto& rows) {
      times_vector<K>(rows, rows_of(m, op), m.nnz, x, y, alpha(), beta());
    });
  });
}

// C = alpha op(A) op(B) + beta C for every matrix of a batch.
template <class A, class X, class Y, class K>
void multiply(const cusparseContext& handle, const char* name, const SpMat& m,
              cusparseOperation_t op, Scalar<K> alpha, const DnMat& b, cusparseOperation_t op_b,
              Scalar<K> beta, const DnMat& c) {
  submit(handle, name, [=] {
    for (int64_t batch = 0; batch < c.batches; ++batch) {
      auto from = dense_of<const X>(b, op_b, b.batches > 1 ? batch : 0);
      auto to = dense_of<Y>(c, CUSPARSE_OPERATION_NON_TRANSPOSE, batch);
      with_rows<A, K>(m, m.batches > 1 ? batch : 0, op, [&](const auto& rows) {
        times_matrix<K>(rows, to.rows, m.nnz, from, op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
                        to, alpha(), beta());
      });
    }
  });
}

}  // namespace aw::cusparse
