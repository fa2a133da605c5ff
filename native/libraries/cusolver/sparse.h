// Direct solvers for sparse matrices: LU by columns (Gilbert and Peierls, Sparse partial pivoting
// in time proportional to arithmetic operations); QR by Givens' rotations, row by row, and
// Cholesky's factorization, both in the envelope that the order of rows leaves (George and Liu,
// Computer Solution of Large Sparse Positive Definite Systems; George and Heath, Solution of sparse
// linear least squares problems using Givens rotations).
#pragma once

#include <complex>
#include <vector>

#include "libraries/cusolver/lapack.h"
#include "libraries/cusolver/orders.h"

namespace aw::cusolver {

// A matrix by rows, as the program holds it: numbers begin at `base`. It is square unless it is
// said otherwise.
template <class T>
struct Csr {
  int n, entries, base;
  const int *row, *column;
  const T* value;
  int columns = n;

  int begin(int i) const { return row[i] - base; }
  int end(int i) const { return row[i + 1] - base; }

  // No place outside of the arrays is named.
  bool sound() const {
    if (row[0] != base || row[n] - base != entries) return false;
    for (int i = 0; i < n; ++i)
      if (row[i] > row[i + 1]) return false;
    for (int at = 0; at < entries; ++at)
      if (column[at] < base || column[at] - base >= columns) return false;
    return true;
  }
};

// A matrix that is kept: the program's may change.
template <class T>
struct Kept {
  std::vector<int> row, column;
  std::vector<T> value;
  Csr<T> matrix;

  explicit Kept(const Csr<T>& A)
      : row(A.row, A.row + A.n + 1),
        column(A.column, A.column + A.entries),
        value(A.value, A.value + A.entries),
        matrix(A) {
    matrix.row = row.data(), matrix.column = column.data(), matrix.value = value.data();
  }
  Kept(const Kept&) = delete;
};

template <class T>
std::vector<int> order_of(const Csr<T>& A, bool reorder) {
  if (reorder) return narrow_order(graph_of(A.n, A.base, A.row, A.row + 1, A.column));
  std::vector<int> order(A.n);
  for (int i = 0; i < A.n; ++i) order[i] = i;
  return order;
}

inline std::vector<int> inverse_of(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[order[i]] = static_cast<int>(i);
  return out;
}

// A - shift I = Q R, with rows and columns in an order each, and at least as many rows as columns.
template <class T>
class SparseQr {
 public:
  SparseQr(const Csr<T>& A, const std::vector<int>& order, T shift)
      : SparseQr(A, order, order, shift) {}
  SparseQr(const Csr<T>& A, std::vector<int> row_order, std::vector<int> column_order, T shift)
      : row_order_(std::move(row_order)),
        column_order_(std::move(column_order)),
        rows_(A.columns),
        turns_(A.n) {
    std::vector<int> place = inverse_of(column_order_);
    std::vector<T> row(A.columns);
    for (int i = 0; i < A.n; ++i) {
      int first = A.columns, last = -1;
      auto add = [&](int j, T value) {
        row[j] += value;
        first = std::min(first, j), last = std::max(last, j);
      };
      for (int at = A.begin(row_order_[i]); at < A.end(row_order_[i]); ++at)
        add(place[A.column[at] - A.base], A.value[at]);
      if (shift != T(0) && row_order_[i] < A.columns) add(place[row_order_[i]], -shift);
      eliminate(row, first, last, turns_[i]);
    }
  }

  // The first number on the diagonal of R that is no larger than `tolerance`; -1: there is none.
  int singular(Real<T> tolerance) const {
    for (size_t k = 0; k < rows_.size(); ++k)
      if (rows_[k].empty() || !(std::abs(rows_[k][0]) > tolerance)) return static_cast<int>(k);
    return -1;
  }
  int column(int number) const { return column_order_[number]; }

  // A row of R, from its diagonal on; it may be empty.
  const std::vector<T>& row(size_t k) const { return rows_[k]; }

  // The first numbers of Q^H b, as many as there are columns; `rest`: the length of the others.
  std::vector<T> turned(const T* b, Real<T>* rest = nullptr) const {
    std::vector<T> y(rows_.size());
    Real<T> beyond = 0;
    for (size_t i = 0; i < turns_.size(); ++i) {
      T now = b[row_order_[i]];
      for (const Turn& turn : turns_[i]) apply(turn, y[turn.row], now);
      beyond = std::hypot(beyond, std::abs(now));
    }
    if (rest) *rest = beyond;
    return y;
  }

  void solve(const T* b, T* x) const {
    std::vector<T> y = turned(b);
    for (size_t k = rows_.size(); k-- > 0;) {
      const auto& row = rows_[k];
      for (size_t j = 1; j < row.size(); ++j) y[k] -= row[j] * y[k + j];
      y[k] /= row.empty() ? T(0) : row[0];
    }
    for (size_t k = 0; k < rows_.size(); ++k) x[column_order_[k]] = y[k];
  }

 private:
  // Turns a pair so that its second number becomes 0; c = 0, s = 1 exchanges them.
  struct Turn {
    int row;
    T c, s;
  };
  static void apply(const Turn& turn, T& above, T& below) {
    T old = above;
    above = conjugate(turn.c) * old + conjugate(turn.s) * below;
    below = turn.c * below - turn.s * old;
  }

  // Has `row` (first ... last) become zeros, against the rows of R that begin where it does.
  void eliminate(std::vector<T>& row, int first, int last, std::vector<Turn>& turns) {
    for (int k = first; k <= last; ++k) {
      if (row[k] == T(0)) continue;
      auto& above = rows_[k];
      if (above.empty()) {
        above.assign(row.begin() + k, row.begin() + last + 1);
        std::fill(row.begin() + k, row.begin() + last + 1, T(0));
        turns.push_back({k, T(0), T(1)});
        return;
      }
      last = std::max(last, k + static_cast<int>(above.size()) - 1);
      above.resize(last - k + 1);
      Real<T> length = std::hypot(std::abs(above[0]), std::abs(row[k]));
      Turn turn{k, above[0] / length, row[k] / length};
      for (int j = k; j <= last; ++j) apply(turn, above[j - k], row[j]);
      row[k] = 0;
      turns.push_back(turn);
    }
  }

  std::vector<int> row_order_, column_order_;
  std::vector<std::vector<T>> rows_;      // of R, each from its diagonal on
  std::vector<std::vector<Turn>> turns_;  // what each row of the matrix went through
};

// P A P^T = L L^H, of the lower half of A.
template <class T>
class SparseCholesky {
 public:
  SparseCholesky(const Csr<T>& A, std::vector<int> order, Real<T> tolerance)
      : order_(std::move(order)), first_(A.n), L_(A.n) {
    std::vector<int> place = inverse_of(order_);
    for (int i = 0; i < A.n; ++i) first_[i] = i;
    auto each = [&](auto body) {
      for (int i = 0; i < A.n; ++i)
        for (int at = A.begin(i); at < A.end(i); ++at) {
          int j = A.column[at] - A.base;
          if (j > i) continue;
          int high = std::max(place[i], place[j]), low = std::min(place[i], place[j]);
          body(high, low, high == place[i] ? A.value[at] : conjugate(A.value[at]));
        }
    };
    each([&](int i, int j, T) { first_[i] = std::min(first_[i], j); });
    for (int i = 0; i < A.n; ++i) L_[i].assign(i - first_[i] + 1, T(0));
    each([&](int i, int j, T value) { L_[i][j - first_[i]] += value; });
    for (int i = 0; i < A.n; ++i) {
      T* row = L_[i].data() - first_[i];
      for (int j = first_[i]; j <= i; ++j) {
        const T* other = L_[j].data() - first_[j];
        T sum = row[j];
        for (int k = std::max(first_[i], first_[j]); k < j; ++k)
          sum -= row[k] * conjugate(other[k]);
        if (j < i) {
          row[j] = sum / other[j];
          continue;
        }
        if (!(std::real(sum) > 0) || !(std::sqrt(std::real(sum)) > tolerance)) {
          end_ = i;
          return;
        }
        row[i] = std::sqrt(std::real(sum));
      }
    }
  }

  // The first row where that ended (the matrix is not positive definite, or a number on the
  // diagonal no larger than the tolerance), or -1.
  int end() const { return end_; }
  int row(int number) const { return order_[number]; }
  Real<T> diagonal(size_t k) const { return std::real(L_[k].back()); }

  void solve(const T* b, T* x) const {
    int n = static_cast<int>(L_.size());
    std::vector<T> y(n);
    for (int i = 0; i < n; ++i) {
      const T* row = L_[i].data() - first_[i];
      y[i] = b[order_[i]];
      for (int k = first_[i]; k < i; ++k) y[i] -= row[k] * y[k];
      y[i] /= row[i];
    }
    for (int i = n; i-- > 0;) {
      const T* row = L_[i].data() - first_[i];
      y[i] /= row[i];
      for (int k = first_[i]; k < i; ++k) y[k] -= conjugate(row[k]) * y[i];
      x[order_[i]] = y[i];
    }
  }

 private:
  std::vector<int> order_, first_;
  std::vector<std::vector<T>> L_;
  int end_ = -1;
};

// P A Q^T = L U, with columns in `order`. A column's pivot is the number of the row of that number,
// where that is at least `threshold` times the largest, else the largest.
template <class T>
class SparseLu {
 public:
  SparseLu(const Csr<T>& A, std::vector<int> order, Real<T> threshold)
      : columns_(std::move(order)), rows_(A.n), L_(A.n), U_(A.n) {
    int n = A.n;
    std::vector<std::vector<std::pair<int, T>>> by_column(n);
    std::vector<int> place = inverse_of(columns_), step(n, -1), mark(n, -1);
    for (int i = 0; i < n; ++i)
      for (int at = A.begin(i); at < A.end(i); ++at)
        by_column[place[A.column[at] - A.base]].emplace_back(i, A.value[at]);
    std::vector<T> x(n);
    for (int k = 0; k < n; ++k) {
      std::vector<int> steps, open;  // a heap of steps to be done; rows that have none yet
      auto touch = [&](int row) {
        if (mark[row] == k) return;
        mark[row] = k, x[row] = 0;
        if (step[row] < 0) return open.push_back(row);
        steps.push_back(step[row]);
        std::push_heap(steps.begin(), steps.end(), std::greater<int>());
      };
      for (auto [row, value] : by_column[k]) touch(row), x[row] += value;
      while (!steps.empty()) {
        std::pop_heap(steps.begin(), steps.end(), std::greater<int>());
        int j = steps.back();
        steps.pop_back();
        T value = x[rows_[j]];
        U_[k].emplace_back(j, value);
        if (value == T(0)) continue;
        for (auto [row, factor] : L_[j]) touch(row), x[row] -= factor * value;
      }
      int own = columns_[k], pivot = -1;
      for (int row : open)
        if (pivot < 0 || std::abs(x[row]) > std::abs(x[pivot])) pivot = row;
      if (pivot < 0 || x[pivot] == T(0)) {  // singular: any row that is left
        if (pivot < 0 || step[own] < 0) pivot = own;
        while (step[pivot] >= 0) pivot = (pivot + 1) % n;
        if (mark[pivot] != k) x[pivot] = 0;
      } else if (step[own] < 0 && mark[own] == k && x[own] != T(0) &&
                 std::abs(x[own]) >= threshold * std::abs(x[pivot])) {
        pivot = own;
      }
      step[pivot] = k, rows_[k] = pivot;
      U_[k].emplace_back(k, x[pivot]);
      for (int row : open)
        if (row != pivot && x[row] != T(0)) L_[k].emplace_back(row, x[row] / x[pivot]);
    }
    for (auto& column : L_)
      for (auto& [row, factor] : column) row = step[row];
  }

  // The first number on the diagonal of U that is no larger than `tolerance`; -1: there is none.
  int singular(Real<T> tolerance) const {
    for (size_t k = 0; k < U_.size(); ++k)
      if (!(std::abs(U_[k].back().second) > tolerance)) return static_cast<int>(k);
    return -1;
  }

  void solve(const T* b, T* x) const {
    std::vector<T> y(rows_.size());
    for (size_t k = 0; k < y.size(); ++k) y[k] = b[rows_[k]];
    for (size_t k = 0; k < y.size(); ++k)
      for (auto [row, factor] : L_[k]) y[row] -= factor * y[k];
    for (size_t k = y.size(); k-- > 0;) {
      y[k] /= U_[k].back().second;
      for (auto [row, value] : U_[k])
        if (row != static_cast<int>(k)) y[row] -= value * y[k];
      x[columns_[k]] = y[k];
    }
  }

  using Columns = std::vector<std::vector<std::pair<int, T>>>;
  const Columns& L() const { return L_; }  // its diagonal of ones is not kept
  const Columns& U() const { return U_; }
  const std::vector<int>& rows() const { return rows_; }
  const std::vector<int>& columns() const { return columns_; }

 private:
  std::vector<int> columns_, rows_;
  Columns L_, U_;
};

// Multiplies: y = A x.
template <class T>
void multiply(const Csr<T>& A, const T* x, T* y) {
  for (int i = 0; i < A.n; ++i) {
    T sum = 0;
    for (int at = A.begin(i); at < A.end(i); ++at) sum += A.value[at] * x[A.column[at] - A.base];
    y[i] = sum;
  }
}

}  // namespace aw::cusolver
