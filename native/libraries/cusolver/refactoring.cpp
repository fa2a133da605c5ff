// cusolverRf: a sparse matrix is factored on the host once, and refactored with the same pattern
// and pivots for other values. Work goes to the default stream, and is waited for: states change
// only with it. Rows are eliminated in their order (IKJ: Saad, Iterative Methods for Sparse Linear
// Systems, section 10.1), each within its pattern.
#include "libraries/cusolver/refactoring.h"

#include <cusolverRf.h>
#include <stdlib.h>

#include "libraries/cusolver/cusolver.h"

namespace aw::cusolver {
namespace {

void check(const Refactoring::Given& it) {
  const Csr<double> rows = {it.n, it.count, 0, it.row, it.column, it.value};
  require(rows.sound());
}

void check_order(int n, const int* order) {
  std::vector<bool> seen(n);
  for (int i = 0; i < n; ++i) {
    require(order[i] >= 0 && order[i] < n && !seen[order[i]]);
    seen[order[i]] = true;
  }
}

}  // namespace

Refactoring::Refactoring(const Given& A, const Given& lower, const Given& upper, const int* P,
                         const int* Q, bool unit_lower, bool stored, int batch)
    : n_(A.n),
      unit_lower_(unit_lower),
      row_(A.n + 1),
      diagonal_(A.n),
      given_(batch, std::vector<double>(A.count)) {
  check(A), check(lower), check(upper);
  std::vector<double> value;
  for (int i = 0; i < n_; ++i) {
    std::vector<std::pair<int, double>> found;
    bool diagonal = false;
    auto add = [&](const Given& from, bool below, bool unit) {
      for (int at = from.row[i]; at < from.row[i + 1]; ++at) {
        const int j = from.column[at];
        require(below ? j <= i : j >= i);
        if (j == i) {
          if (unit) {  // ones that are kept nowhere
            require(stored);
            continue;
          }
          diagonal = true;
        }
        found.emplace_back(j, from.value[at]);
      }
    };
    add(lower, true, unit_lower), add(upper, false, !unit_lower);
    require(diagonal);
    std::sort(found.begin(), found.end());
    for (size_t k = 0; k < found.size(); ++k) {
      require(k == 0 || found[k].first != found[k - 1].first);
      if (found[k].first == i) diagonal_[i] = static_cast<int>(column_.size());
      column_.push_back(found[k].first), value.push_back(found[k].second);
    }
    row_[i + 1] = static_cast<int>(column_.size());
  }
  factors_.assign(batch, value);
  map(A, P, Q);
}

int Refactoring::find(int row, int column) const {
  const auto begin = column_.begin() + row_[row], end = column_.begin() + row_[row + 1];
  const auto found = std::lower_bound(begin, end, column);
  require(found != end && *found == column);
  return static_cast<int>(found - column_.begin());
}

void Refactoring::map(const Given& A, const int* P, const int* Q) {
  require(A.n == n_ && A.count == static_cast<int>(given_[0].size()));
  check(A), check_order(n_, P), check_order(n_, Q);
  std::vector<int> target(A.count), row_of(n_), column_of(n_);
  for (int i = 0; i < n_; ++i) row_of[P[i]] = i, column_of[Q[i]] = i;
  for (int i = 0; i < n_; ++i)
    for (int at = A.row[i]; at < A.row[i + 1]; ++at)
      target[at] = find(row_of[i], column_of[A.column[at]]);
  target_ = std::move(target);
}

void Refactoring::set(int number, const double* values) {
  std::copy_n(values, target_.size(), given_[number].begin());
}

int Refactoring::factor(int number, double zero, double boost, bool* boosted) {
  auto& M = factors_[number];
  std::fill(M.begin(), M.end(), 0.0);
  for (size_t at = 0; at < target_.size(); ++at) M[target_[at]] += given_[number][at];
  std::vector<int> place(n_, -1);
  int first = -1;
  for (int i = 0; i < n_; ++i) {
    for (int at = row_[i]; at < row_[i + 1]; ++at) place[column_[at]] = at;
    for (int at = row_[i]; at < diagonal_[i]; ++at) {
      const int k = column_[at];
      if (unit_lower_) M[at] /= M[diagonal_[k]];
      for (int j = diagonal_[k] + 1; j < row_[k + 1]; ++j)
        if (const int to = place[column_[j]]; to >= 0) M[to] -= M[at] * M[j];
    }
    double& pivot = M[diagonal_[i]];
    if (std::abs(pivot) < zero) pivot = boost, *boosted = true;
    if (pivot == 0 && first < 0) first = i;
    if (!unit_lower_)
      for (int at = diagonal_[i] + 1; at < row_[i + 1]; ++at) M[at] /= pivot;
    for (int at = row_[i]; at < row_[i + 1]; ++at) place[column_[at]] = -1;
  }
  return first;
}

void Refactoring::solve(int number, const int* P, const int* Q, bool transposed, double* room,
                        double* b) const {
  const auto& M = factors_[number];
  if (!transposed) {
    for (int i = 0; i < n_; ++i) room[i] = b[P[i]];
    for (int i = 0; i < n_; ++i) {
      for (int at = row_[i]; at < diagonal_[i]; ++at) room[i] -= M[at] * room[column_[at]];
      if (!unit_lower_) room[i] /= M[diagonal_[i]];
    }
    for (int i = n_; i-- > 0;) {
      for (int at = diagonal_[i] + 1; at < row_[i + 1]; ++at) room[i] -= M[at] * room[column_[at]];
      if (unit_lower_) room[i] /= M[diagonal_[i]];
    }
    for (int i = 0; i < n_; ++i) b[Q[i]] = room[i];
    return;
  }
  for (int i = 0; i < n_; ++i) room[i] = b[Q[i]];
  for (int i = 0; i < n_; ++i) {
    if (unit_lower_) room[i] /= M[diagonal_[i]];
    for (int at = diagonal_[i] + 1; at < row_[i + 1]; ++at) room[column_[at]] -= M[at] * room[i];
  }
  for (int i = n_; i-- > 0;) {
    if (!unit_lower_) room[i] /= M[diagonal_[i]];
    for (int at = row_[i]; at < diagonal_[i]; ++at) room[column_[at]] -= M[at] * room[i];
  }
  for (int i = 0; i < n_; ++i) b[P[i]] = room[i];
}

Refactoring::Factor Refactoring::part(bool below, bool unit, bool stored) const {
  Factor out;
  out.row.push_back(0);
  for (int i = 0; i < n_; ++i) {
    auto add = [&](int from, int to) {
      out.column.insert(out.column.end(), column_.begin() + from, column_.begin() + to);
      out.value.insert(out.value.end(), factors_[0].begin() + from, factors_[0].begin() + to);
    };
    auto one = [&] {
      if (unit && stored) out.column.push_back(i), out.value.push_back(1);
    };
    if (below)
      add(row_[i], diagonal_[i] + !unit), one();
    else
      one(), add(diagonal_[i] + unit, row_[i + 1]);
    out.row.push_back(static_cast<int>(out.column.size()));
  }
  return out;
}

}  // namespace aw::cusolver

using namespace aw::cusolver;

struct cusolverRfCommon {
  uint64_t magic;
  cusolverRfMatrixFormat_t format = CUSOLVERRF_MATRIX_FORMAT_CSR;
  cusolverRfUnitDiagonal_t diagonal = CUSOLVERRF_UNIT_DIAGONAL_STORED_L;
  cusolverRfFactorization_t factorization = CUSOLVERRF_FACTORIZATION_ALG0;
  cusolverRfTriangularSolve_t solve = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
  cusolverRfResetValuesFastMode_t fast = CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF;
  double zero = 0, boost = 0;
  bool boosted = false, analyzed = false, batched = false;
  std::unique_ptr<Refactoring> factors = nullptr;
  std::vector<int> zero_pivots = {};
};

namespace {

constexpr uint64_t kRefactoringMagic = 0x66527265766c6f73ull;

cusolverRfCommon& use_factors(cusolverRfHandle_t handle) {
  require(handle && handle->magic == kRefactoringMagic, CUSOLVER_STATUS_NOT_INITIALIZED);
  return *handle;
}
// With a matrix, of the kind that the function is for.
cusolverRfCommon& use_set_up(cusolverRfHandle_t handle, bool batched) {
  auto& it = use_factors(handle);
  require(it.factors && it.batched == batched, CUSOLVER_STATUS_NOT_INITIALIZED);
  return it;
}
cusolverRfCommon& use_analyzed(cusolverRfHandle_t handle, bool batched) {
  auto& it = use_set_up(handle, batched);
  require(it.analyzed, CUSOLVER_STATUS_NOT_INITIALIZED);
  return it;
}
bool by_columns(const cusolverRfCommon& it) { return it.format == CUSOLVERRF_MATRIX_FORMAT_CSC; }
bool stored(const cusolverRfCommon& it) {
  return it.diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_L ||
         it.diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_U;
}
bool unit_l(const cusolverRfCommon& it) {
  return it.diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_L ||
         it.diagonal == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L;
}

// Runs body() as work of the default stream and waits for it; what it throws is this call's.
template <class Body>
void in_default_stream(const char* name, const Body& body) {
  std::exception_ptr thrown;
  and_wait(nullptr, [&] {
    aw::lib::submit(nullptr, name, [&] {
      try {
        body();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  });
  if (thrown) std::rethrow_exception(thrown);
}

using Given = Refactoring::Given;

void set_up(cusolverRfCommon& it, int batch, Given A, const double* const* values, Given L, Given U,
            const int* P, const int* Q, bool batched) {
  require(batch > 0 && A.n > 0 && A.count > 0 && L.count >= 0 && U.count >= 0);
  require(A.row && A.column && values && L.row && U.row && P && Q);
  const bool turned = by_columns(it);
  // Of the transpose U^T is the lower factor.
  if (turned) std::swap(L, U), std::swap(P, Q);
  auto made = std::make_unique<Refactoring>(A, L, U, P, Q, unit_l(it) != turned, stored(it), batch);
  for (int i = 0; i < batch; ++i) {
    require(values[i]);
    made->set(i, values[i]);
  }
  it.factors = std::move(made);
  it.batched = batched, it.analyzed = it.boosted = false;
  it.zero_pivots.assign(batch, -1);
}

void reset(cusolverRfCommon& it, Given A, const double* const* values, const int* P, const int* Q) {
  require(A.row && A.column && values && P && Q);
  if (by_columns(it)) std::swap(P, Q);
  it.factors->map(A, P, Q);
  for (int i = 0; i < it.factors->batch(); ++i) it.factors->set(i, values[i]);
}

void refactor(cusolverRfCommon& it) {
  std::vector<char> boosted(it.factors->batch());
  aw::lib::parallel(it.factors->batch(), [&](uint64_t number) {
    bool some = false;
    it.zero_pivots[number] = it.factors->factor(static_cast<int>(number), it.zero, it.boost, &some);
    boosted[number] = some;
  });
  it.boosted = std::find(boosted.begin(), boosted.end(), 1) != boosted.end();
}

void solve(const cusolverRfCommon& it, const int* P, const int* Q, int nrhs, double* const* xs,
           int ld) {
  check_order(it.factors->size(), P), check_order(it.factors->size(), Q);
  if (by_columns(it)) std::swap(P, Q);
  aw::lib::parallel(it.factors->batch(), [&](uint64_t number) {
    std::vector<double> room(it.factors->size());
    for (int j = 0; j < nrhs; ++j)
      it.factors->solve(static_cast<int>(number), P, Q, by_columns(it), room.data(),
                        xs[number] + size_t(j) * ld);
  });
}

// A copy that the program frees.
template <class T>
T* handed_out(const T* from, size_t count) {
  T* out = static_cast<T*>(malloc(std::max<size_t>(1, count) * sizeof(T)));
  if (!out) throw std::bad_alloc();
  std::copy_n(from, count, out);
  return out;
}
void hand_out(const Refactoring::Factor& factor, int* count, int** row, int** column,
              double** value) {
  *count = static_cast<int>(factor.column.size());
  *row = handed_out(factor.row.data(), factor.row.size());
  *column = handed_out(factor.column.data(), factor.column.size());
  *value = handed_out(factor.value.data(), factor.value.size());
}

}  // namespace

#define AW_RF(name) AW_EXPORT cusolverStatus_t cusolverRf##name

AW_RF(Create)(cusolverRfHandle_t* handle) {
  return api<"cusolverRfCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cusolverRfCommon{.magic = kRefactoringMagic};
  });
}

AW_RF(Destroy)(cusolverRfHandle_t handle) {
  return api<"cusolverRfDestroy">([&] {
    use_factors(handle).magic = 0;
    delete handle;
  });
}

AW_RF(GetMatrixFormat)(cusolverRfHandle_t handle, cusolverRfMatrixFormat_t* format,
                       cusolverRfUnitDiagonal_t* diagonal) {
  return api<"cusolverRfGetMatrixFormat">([&] {
    auto& it = use_factors(handle);
    require(format && diagonal);
    *format = it.format, *diagonal = it.diagonal;
  });
}

// What a matrix was set up as holds for it: the next one is set up as this says.
AW_RF(SetMatrixFormat)(cusolverRfHandle_t handle, cusolverRfMatrixFormat_t format,
                       cusolverRfUnitDiagonal_t diagonal) {
  return api<"cusolverRfSetMatrixFormat">([&] {
    auto& it = use_factors(handle);
    require(format <= CUSOLVERRF_MATRIX_FORMAT_CSC &&
            diagonal <= CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U);
    if (format != it.format || diagonal != it.diagonal) it.factors.reset();
    it.format = format, it.diagonal = diagonal;
  });
}

AW_RF(GetNumericProperties)(cusolverRfHandle_t handle, double* zero, double* boost) {
  return api<"cusolverRfGetNumericProperties">([&] {
    auto& it = use_factors(handle);
    require(zero && boost);
    *zero = it.zero, *boost = it.boost;
  });
}

AW_RF(SetNumericProperties)(cusolverRfHandle_t handle, double zero, double boost) {
  return api<"cusolverRfSetNumericProperties">([&] {
    auto& it = use_factors(handle);
    it.zero = zero, it.boost = boost;
  });
}

AW_RF(GetNumericBoostReport)(cusolverRfHandle_t handle, cusolverRfNumericBoostReport_t* report) {
  return api<"cusolverRfGetNumericBoostReport">([&] {
    auto& it = use_factors(handle);
    require(report);
    *report = it.boosted ? CUSOLVERRF_NUMERIC_BOOST_USED : CUSOLVERRF_NUMERIC_BOOST_NOT_USED;
  });
}

// There is one algorithm of each.
AW_RF(GetAlgs)(cusolverRfHandle_t handle, cusolverRfFactorization_t* factorization,
               cusolverRfTriangularSolve_t* solve) {
  return api<"cusolverRfGetAlgs">([&] {
    auto& it = use_factors(handle);
    require(factorization && solve);
    *factorization = it.factorization, *solve = it.solve;
  });
}

AW_RF(SetAlgs)(cusolverRfHandle_t handle, cusolverRfFactorization_t factorization,
               cusolverRfTriangularSolve_t solve) {
  return api<"cusolverRfSetAlgs">([&] {
    auto& it = use_factors(handle);
    require(factorization <= CUSOLVERRF_FACTORIZATION_ALG2 &&
            solve >= CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 && solve <= CUSOLVERRF_TRIANGULAR_SOLVE_ALG3);
    it.factorization = factorization, it.solve = solve;
  });
}

AW_RF(GetResetValuesFastMode)(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t* mode) {
  return api<"cusolverRfGetResetValuesFastMode">([&] {
    auto& it = use_factors(handle);
    require(mode);
    *mode = it.fast;
  });
}

AW_RF(SetResetValuesFastMode)(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t mode) {
  return api<"cusolverRfSetResetValuesFastMode">([&] {
    auto& it = use_factors(handle);
    require(mode <= CUSOLVERRF_RESET_VALUES_FAST_MODE_ON);
    it.fast = mode;
  });
}

AW_RF(SetupHost)
(int n, int nnzA, int* rowA, int* columnA, double* valueA, int nnzL, int* rowL, int* columnL,
 double* valueL, int nnzU, int* rowU, int* columnU, double* valueU, int* P, int* Q,
 cusolverRfHandle_t handle) {
  return api<"cusolverRfSetupHost">(
      [&] {
        set_up(use_factors(handle), 1, {n, nnzA, rowA, columnA, valueA}, &valueA,
               {n, nnzL, rowL, columnL, valueL}, {n, nnzU, rowU, columnU, valueU}, P, Q, false);
      },
      n, nnzA);
}

AW_RF(SetupDevice)
(int n, int nnzA, int* rowA, int* columnA, double* valueA, int nnzL, int* rowL, int* columnL,
 double* valueL, int nnzU, int* rowU, int* columnU, double* valueU, int* P, int* Q,
 cusolverRfHandle_t handle) {
  return api<"cusolverRfSetupDevice">(
      [&] {
        auto& it = use_factors(handle);
        in_default_stream("rf_setup", [&] {
          set_up(it, 1, {n, nnzA, rowA, columnA, valueA}, &valueA, {n, nnzL, rowL, columnL, valueL},
                 {n, nnzU, rowU, columnU, valueU}, P, Q, false);
        });
      },
      n, nnzA);
}

AW_RF(BatchSetupHost)
(int batch, int n, int nnzA, int* rowA, int* columnA, double* valueA[], int nnzL, int* rowL,
 int* columnL, double* valueL, int nnzU, int* rowU, int* columnU, double* valueU, int* P, int* Q,
 cusolverRfHandle_t handle) {
  return api<"cusolverRfBatchSetupHost">(
      [&] {
        set_up(use_factors(handle), batch, {n, nnzA, rowA, columnA, nullptr}, valueA,
               {n, nnzL, rowL, columnL, valueL}, {n, nnzU, rowU, columnU, valueU}, P, Q, true);
      },
      batch, n, nnzA);
}

AW_RF(Analyze)(cusolverRfHandle_t handle) {
  return api<"cusolverRfAnalyze">([&] { use_set_up(handle, false).analyzed = true; });
}
AW_RF(BatchAnalyze)(cusolverRfHandle_t handle) {
  return api<"cusolverRfBatchAnalyze">([&] { use_set_up(handle, true).analyzed = true; });
}

AW_RF(ResetValues)
(int n, int nnzA, int* rowA, int* columnA, double* valueA, int* P, int* Q,
 cusolverRfHandle_t handle) {
  return api<"cusolverRfResetValues">(
      [&] {
        auto& it = use_set_up(handle, false);
        require(valueA);
        in_default_stream("rf_reset",
                          [&] { reset(it, {n, nnzA, rowA, columnA, valueA}, &valueA, P, Q); });
      },
      n, nnzA);
}
AW_RF(BatchResetValues)
(int batch, int n, int nnzA, int* rowA, int* columnA, double* valueA[], int* P, int* Q,
 cusolverRfHandle_t handle) {
  return api<"cusolverRfBatchResetValues">(
      [&] {
        auto& it = use_set_up(handle, true);
        require(batch == it.factors->batch());
        in_default_stream("rf_reset",
                          [&] { reset(it, {n, nnzA, rowA, columnA, nullptr}, valueA, P, Q); });
      },
      batch, n, nnzA);
}

AW_RF(Refactor)(cusolverRfHandle_t handle) {
  return api<"cusolverRfRefactor">([&] {
    auto& it = use_analyzed(handle, false);
    in_default_stream("rf_refactor", [&] { refactor(it); });
    require(it.zero_pivots[0] < 0, CUSOLVER_STATUS_ZERO_PIVOT);
  });
}
// Which matrices have no factors, cusolverRfBatchZeroPivot says.
AW_RF(BatchRefactor)(cusolverRfHandle_t handle) {
  return api<"cusolverRfBatchRefactor">([&] {
    auto& it = use_analyzed(handle, true);
    in_default_stream("rf_refactor", [&] { refactor(it); });
  });
}
AW_RF(BatchZeroPivot)(cusolverRfHandle_t handle, int* position) {
  return api<"cusolverRfBatchZeroPivot">([&] {
    auto& it = use_set_up(handle, true);
    require(position);
    std::copy(it.zero_pivots.begin(), it.zero_pivots.end(), position);
    for (int found : it.zero_pivots) require(found < 0, CUSOLVER_STATUS_ZERO_PIVOT);
  });
}

AW_RF(Solve)
(cusolverRfHandle_t handle, int* P, int* Q, int nrhs, double* temporary, int ldt, double* x,
 int ldx) {
  return api<"cusolverRfSolve">(
      [&] {
        auto& it = use_analyzed(handle, false);
        require(P && Q && temporary && x && nrhs >= 0);
        leading(ldt, it.factors->size()), leading(ldx, it.factors->size());
        in_default_stream("rf_solve", [&] { solve(it, P, Q, nrhs, &x, ldx); });
      },
      nrhs, ldt, ldx);
}
AW_RF(BatchSolve)
(cusolverRfHandle_t handle, int* P, int* Q, int nrhs, double* temporary, int ldt, double* x[],
 int ldx) {
  return api<"cusolverRfBatchSolve">(
      [&] {
        auto& it = use_analyzed(handle, true);
        require(P && Q && temporary && x && nrhs >= 0);
        leading(ldt, it.factors->size()), leading(ldx, it.factors->size());
        in_default_stream("rf_solve", [&] { solve(it, P, Q, nrhs, x, ldx); });
      },
      nrhs, ldt, ldx);
}

// Both factors as they are kept; the memory is the handle's.
AW_RF(AccessBundledFactorsDevice)
(cusolverRfHandle_t handle, int* count, int** row, int** column, double** value) {
  return api<"cusolverRfAccessBundledFactorsDevice">([&] {
    auto& it = use_set_up(handle, false);
    require(count && row && column && value);
    *count = it.factors->count();
    *row = it.factors->row(), *column = it.factors->column(), *value = it.factors->values(0);
  });
}

AW_RF(ExtractBundledFactorsHost)
(cusolverRfHandle_t handle, int* count, int** row, int** column, double** value) {
  return api<"cusolverRfExtractBundledFactorsHost">([&] {
    auto& it = use_set_up(handle, false);
    require(count && row && column && value);
    *count = it.factors->count();
    *row = handed_out(it.factors->row(), size_t(it.factors->size()) + 1);
    *column = handed_out(it.factors->column(), *count);
    *value = handed_out(it.factors->values(0), *count);
  });
}

AW_RF(ExtractSplitFactorsHost)
(cusolverRfHandle_t handle, int* countL, int** rowL, int** columnL, double** valueL, int* countU,
 int** rowU, int** columnU, double** valueU) {
  return api<"cusolverRfExtractSplitFactorsHost">([&] {
    auto& it = use_set_up(handle, false);
    require(countL && rowL && columnL && valueL && countU && rowU && columnU && valueU);
    auto lower = it.factors->lower(stored(it)), upper = it.factors->upper(stored(it));
    if (by_columns(it)) std::swap(lower, upper);
    hand_out(lower, countL, rowL, columnL, valueL);
    hand_out(upper, countU, rowU, columnU, valueU);
  });
}
