// Systems of equations with a sparse triangular matrix.
#pragma once

#include <atomic>

#include "libraries/cusparse/entries.h"

namespace aw::cusparse {

// The rows of a triangular op(A) without its diagonal, which lies apart.
template <class K>
struct Triangle {
  Lines<K> lines;
  std::vector<K> diagonal;  // empty: of ones
  std::vector<int64_t> diagonal_place;
  bool lower, conjugated;
  int64_t zero = -1;  // the first row without a diagonal

  Triangle(const SpMat& m, cusparseOperation_t op)
      : lower((m.fill == CUSPARSE_FILL_MODE_LOWER) == (op == CUSPARSE_OPERATION_NON_TRANSPOSE)),
        conjugated(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
    bool below = m.fill == CUSPARSE_FILL_MODE_LOWER;
    lines = lines_of<K>(m, 0, op, [&](int64_t r, int64_t c) { return below ? c < r : c > r; });
    if (m.diagonal == CUSPARSE_DIAG_TYPE_UNIT) return;
    auto size = static_cast<size_t>(m.rows);
    diagonal.resize(size), diagonal_place.assign(size, -1);
    auto* values = static_cast<const K*>(m.values);
    for_entries(m, 0, [&](int64_t r, int64_t c, int64_t k) {
      if (r != c) return;
      diagonal[static_cast<size_t>(r)] = conjugated ? conjugate(values[k]) : values[k];
      diagonal_place[static_cast<size_t>(r)] = k;
    });
    for (size_t r = 0; r < size && zero < 0; ++r)
      if (diagonal_place[r] < 0 || diagonal[r] == K{}) zero = static_cast<int64_t>(r);
  }

  // Other values in the same places.
  void update(const K* values) {
    for (size_t k = 0; k < lines.value.size(); ++k) lines.value[k] = turned(values[lines.place[k]]);
    for (size_t r = 0; r < diagonal.size(); ++r)
      if (diagonal_place[r] >= 0) diagonal[r] = turned(values[diagonal_place[r]]);
  }
  void update_diagonal(const K* values) {
    for (size_t r = 0; r < diagonal.size(); ++r) diagonal[r] = turned(values[r]);
  }

  // op(A) y = alpha x. get(i) is x[i]; put(i, value) sets y[i], at(i) reads it.
  template <class Get, class Put, class At>
  void solve(K alpha, Get get, Put put, At at) const {
    int64_t n = lines.count();
    for (int64_t step = 0; step < n; ++step) {
      int64_t r = lower ? step : n - 1 - step;
      K sum = alpha * get(r);
      for (auto k = static_cast<size_t>(lines.start[static_cast<size_t>(r)]),
                end = static_cast<size_t>(lines.start[static_cast<size_t>(r) + 1]);
           k < end; ++k)
        sum -= lines.value[k] * at(lines.index[k]);
      put(r, diagonal.empty() ? sum : sum / diagonal[static_cast<size_t>(r)]);
    }
  }
  // For the columns of op(B), each on its own.
  void solve(K alpha, const Dense<const K>& b, bool conjugated_b, const Dense<K>& c) const {
    in_pieces(c.cols, 1, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j)
        solve(
            alpha, [&](int64_t i) { return conjugated_b ? conjugate(b(i, j)) : b(i, j); },
            [&](int64_t i, K value) { c(i, j) = value; }, [&](int64_t i) { return c(i, j); });
    });
  }

 private:
  K turned(K value) const { return conjugated ? conjugate(value) : value; }
};

}  // namespace aw::cusparse
