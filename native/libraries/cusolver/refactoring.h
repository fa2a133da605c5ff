// LU factors of sparse matrices that share one pattern, computed anew for other values without a
// search for pivots.
#pragma once

#include <vector>

#include "libraries/cusolver/sparse.h"

namespace aw::cusolver {

// P A Q^T = L U, both factors in one pattern by rows, which holds the diagonal once: that of the
// factor whose diagonal is not all ones. What is given by columns is its transpose by rows.
class Refactoring {
 public:
  struct Given {
    int n, count;
    const int *row, *column;
    const double* value;
  };

  // `lower` and `upper` as their formats say: with the ones of a diagonal or without. Throws
  // INVALID_VALUE where a pattern is none, or is not within that of the factors.
  Refactoring(const Given& A, const Given& lower, const Given& upper, const int* P, const int* Q,
              bool unit_lower, bool stored, int batch);

  int size() const { return n_; }
  int batch() const { return static_cast<int>(factors_.size()); }
  int count() const { return static_cast<int>(column_.size()); }
  int* row() { return row_.data(); }
  int* column() { return column_.data(); }
  double* values(int number) { return factors_[number].data(); }

  // The values of another matrix of the same pattern, in the order of its arrays.
  void map(const Given& A, const int* P, const int* Q);
  void set(int number, const double* values);

  // Returns the first row whose pivot is 0; -1: none. Pivots of magnitude less than `zero` become
  // `boost`, which sets `boosted`.
  int factor(int number, double zero, double boost, bool* boosted);

  // b = A^-1 b, or, transposed, A^-T b; `room` holds n numbers.
  void solve(int number, const int* P, const int* Q, bool transposed, double* room,
             double* b) const;

  // The arrays of one factor, with the ones of a diagonal where they are stored.
  struct Factor {
    std::vector<int> row, column;
    std::vector<double> value;
  };
  Factor lower(bool stored) const { return part(true, unit_lower_, stored); }
  Factor upper(bool stored) const { return part(false, !unit_lower_, stored); }

 private:
  Factor part(bool below, bool unit, bool stored) const;
  int find(int row, int column) const;

  int n_;
  bool unit_lower_;
  std::vector<int> row_, column_, diagonal_;  // sorted in each row; where each row's diagonal is
  std::vector<int> target_;                   // where each value of A goes
  std::vector<std::vector<double>> given_, factors_;  // values of matrices and of their factors
};

}  // namespace aw::cusolver
