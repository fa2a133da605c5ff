// Direct solvers for sparse matrices: QR by Givens' rotations, row by row, and Cholesky's
// factorization, both in the envelope that the order of rows leaves (George and Liu, Computer
// Solution of Large Sparse Positive Definite Systems; George and Heath, Solution of sparse linear
// least squares problems using Givens rotations).
#pragma once

#include <complex>
#include <vector>

#include "libraries/cusolver/lapack.h"

namespace aw::cusolver {

// A square matrix by rows, as the program holds it: numbers begin at `base`.
template <class T>
struct Csr {
  int n, entries, base;
  const int *row, *column;
  const T* value;

  int begin(int i) const { return row[i] - base; }
  int end(int i) const { return row[i + 1] - base; }

  // No place outside of the arrays is named.
  bool sound() const {
    if (row[0] != base || row[n] - base != entries) return false;
    for (int i = 0; i < n; ++i)
      if (row[i] > row[i + 1]) return false;
    for (int at = 0; at < entries; ++at)
      if (column[at] < base || column[at] - base >= n) return false;
    return true;
  }
};

// An order of rows and columns with few numbers between the first one of a row and its diagonal:
// that of Cuthill and McKee, reversed. order[new] = old.
std::vector<int> narrow_order(int n, const std::vector<std::vector<int>>& neighbours);

template <class T>
std::vector<int> order_of(const Csr<T>& A, bool reorder) {
  std::vector<int> order(A.n);
  for (int i = 0; i < A.n; ++i) order[i] = i;
  if (!reorder) return order;
  std::vector<std::vector<int>> neighbours(A.n);
  for (int i = 0; i < A.n; ++i)
    for (int at = A.begin(i); at < A.end(i); ++at)
      if (int j = A.column[at] - A.base; j != i)
        neighbours[i].push_back(j), neighbours[j].push_back(i);
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return narrow_order(A.n, neighbours);
}

inline std::vector<int> inverse_of(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[order[i]] = static_cast<int>(i);
  return out;
}

// A - shift I = Q R, with rows and columns in `order`.
template <class T>
class SparseQr {
 public:
  SparseQr(const Csr<T>& A, std::vector<int> order, T shift)
      : order_(std::move(order)), rows_(A.n), turns_(A.n) {
    std::vector<int> place = inverse_of(order_);
    std::vector<T> row(A.n);
    for (int i = 0; i < A.n; ++i) {
      int first = A.n, last = -1;
      auto add = [&](int j, T value) {
        row[j] += value;
        first = std::min(first, j), last = std::max(last, j);
      };
      for (int at = A.begin(order_[i]); at < A.end(order_[i]); ++at)
        add(place[A.column[at] - A.base], A.value[at]);
      if (shift != T(0)) add(i, -shift);
      eliminate(row, first, last, turns_[i]);
    }
  }

  // The first number on the diagonal of R that is no larger than `tolerance`; -1: there is none.
  int singular(Real<T> tolerance) const {
    for (size_t k = 0; k < rows_.size(); ++k)
      if (rows_[k].empty() || !(std::abs(rows_[k][0]) > tolerance)) return static_cast<int>(k);
    return -1;
  }

  void solve(const T* b, T* x) const {
    std::vector<T> y(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      T rest = b[order_[i]];
      for (const Turn& turn : turns_[i]) apply(turn, y[turn.row], rest);
    }
    for (size_t k = rows_.size(); k-- > 0;) {
      const auto& row = rows_[k];
      for (size_t j = 1; j < row.size(); ++j) y[k] -= row[j] * y[k + j];
      y[k] /= row.empty() ? T(0) : row[0];
    }
    for (size_t k = 0; k < rows_.size(); ++k) x[order_[k]] = y[k];
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

  std::vector<int> order_;
  std::vector<std::vector<T>> rows_;      // of R, each from its diagonal on
  std::vector<std::vector<Turn>> turns_;  // what each row of the matrix went through
};

// P A P^T = L L^H, of the lower half of A. Returns the number of the first row where that ends (the
// matrix is not positive definite, or a number on the diagonal no larger than `tolerance`), or -1,
// with x.
template <class T>
int solve_by_cholesky(const Csr<T>& A, const std::vector<int>& order, Real<T> tolerance, const T* b,
                      T* x) {
  std::vector<int> place = inverse_of(order), first(A.n);
  std::vector<std::vector<T>> L(A.n);
  for (int i = 0; i < A.n; ++i) first[i] = i;
  auto each = [&](auto body) {
    for (int i = 0; i < A.n; ++i)
      for (int at = A.begin(i); at < A.end(i); ++at) {
        int j = A.column[at] - A.base;
        if (j > i) continue;
        int high = std::max(place[i], place[j]), low = std::min(place[i], place[j]);
        body(high, low, high == place[i] ? A.value[at] : conjugate(A.value[at]));
      }
  };
  each([&](int i, int j, T) { first[i] = std::min(first[i], j); });
  for (int i = 0; i < A.n; ++i) L[i].assign(i - first[i] + 1, T(0));
  each([&](int i, int j, T value) { L[i][j - first[i]] += value; });
  std::vector<T> y(A.n);
  for (int i = 0; i < A.n; ++i) {
    T* row = L[i].data() - first[i];
    for (int j = first[i]; j <= i; ++j) {
      const T* other = L[j].data() - first[j];
      T sum = row[j];
      for (int k = std::max(first[i], first[j]); k < j; ++k) sum -= row[k] * conjugate(other[k]);
      if (j < i) {
        row[j] = sum / other[j];
        continue;
      }
      if (!(std::real(sum) > 0) || !(std::sqrt(std::real(sum)) > tolerance)) return i;
      row[i] = std::sqrt(std::real(sum));
    }
    y[i] = b[order[i]];
    for (int k = first[i]; k < i; ++k) y[i] -= row[k] * y[k];
    y[i] /= row[i];
  }
  for (int i = A.n; i-- > 0;) {
    const T* row = L[i].data() - first[i];
    y[i] /= row[i];
    for (int k = first[i]; k < i; ++k) y[k] -= conjugate(row[k]) * y[i];
    x[order[i]] = y[i];
  }
  return -1;
}

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
