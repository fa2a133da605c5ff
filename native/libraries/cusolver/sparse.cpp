// cuSOLVER, sparse: linear systems, least squares, and eigenvalues near a guess or within a box
// (csrlsvqr, csrlsvchol, csrlsvlu, csrlsqvqr, csreigvsi, csreigs).
#include "libraries/cusolver/sparse_calls.h"

using namespace aw::cusolver;

namespace {

template <class T>
void solve_qr(CUstream stream, const Csr<T>& A, const T* b, Real<T> tolerance, int reorder, T* x,
              int* singularity) {
  require(singularity && reorder >= 0 && reorder <= 3);
  perform_sparse(stream, "csrlsvqr", A, [=] {
    SparseQr<T> factors(A, order_of(A, reorder != 0), T(0));
    *singularity = factors.singular(tolerance);
    factors.solve(b, x);
  });
}

template <class T>
void solve_cholesky(CUstream stream, const Csr<T>& A, const T* b, Real<T> tolerance, int reorder,
                    T* x, int* singularity) {
  require(singularity && reorder >= 0 && reorder <= 3);
  perform_sparse(stream, "csrlsvchol", A, [=] {
    SparseCholesky<T> factors(A, order_of(A, reorder != 0), tolerance);
    *singularity = factors.end();
    if (factors.end() < 0) factors.solve(b, x);
  });
}

template <class T>
void solve_lu(CUstream stream, const Csr<T>& A, const T* b, Real<T> tolerance, int reorder, T* x,
              int* singularity) {
  require(singularity && reorder >= 0 && reorder <= 3);
  perform_sparse(stream, "csrlsvlu", A, [=] {
    SparseLu<T> factors(A, order_of(A, reorder != 0), Real<T>(1));
    *singularity = factors.singular(tolerance);
    factors.solve(b, x);
  });
}

// The columns of a dense matrix, from the left on, by Householder's reflections, which `right` goes
// through as well. With `pivots` the column that has most left is next, until none has more than
// `tolerance`; pivots[new] = old. Returns how many there were: A becomes R.
template <class T>
int reflect(std::vector<std::vector<T>>& A, std::vector<T>& right, std::vector<int>* pivots,
            Real<T> tolerance) {
  size_t n = A.size(), m = right.size();
  auto length = [&](const std::vector<T>& x, size_t from) {
    return static_cast<Real<T>>(frobenius(static_cast<int>(m - from), 1, x.data() + from, 1));
  };
  for (size_t k = 0; k < n && k < m; ++k) {
    if (pivots) {
      size_t most = k;
      for (size_t j = k + 1; j < n; ++j)
        if (length(A[j], k) > length(A[most], k)) most = j;
      std::swap(A[k], A[most]), std::swap((*pivots)[k], (*pivots)[most]);
    }
    Real<T> size = length(A[k], k);
    if (pivots && !(size > tolerance)) return static_cast<int>(k);
    if (size == 0) continue;
    std::vector<T> v(A[k].begin() + k, A[k].end());
    Real<T> lead = std::abs(v[0]);
    T to = lead == 0 ? T(-size) : -v[0] / lead * size;
    v[0] -= to;
    Real<T> square = 0;
    for (T number : v) square += std::norm(number);
    auto turn = [&](std::vector<T>& x) {
      T sum = 0;
      for (size_t i = 0; i < v.size(); ++i) sum += conjugate(v[i]) * x[k + i];
      sum *= Real<T>(2) / square;
      for (size_t i = 0; i < v.size(); ++i) x[k + i] -= sum * v[i];
    };
    for (size_t j = k; j < n; ++j) turn(A[j]);
    turn(right);
    A[k][k] = to;
    std::fill(A[k].begin() + k + 1, A[k].end(), T(0));
  }
  return static_cast<int>(std::min(n, m));
}

// R y = c of the first `count` columns.
template <class T>
std::vector<T> back(const std::vector<std::vector<T>>& R, std::vector<T> c, int count) {
  c.resize(count);
  for (int k = count; k-- > 0;) {
    c[k] /= R[k][k];
    for (int i = 0; i < k; ++i) c[i] -= R[k][i] * c[k];
  }
  return c;
}

// The least squares of a tall matrix: A(:, p) = Q R. While no number on the diagonal is at most
// `tolerance` its columns stay as they are; else the rank is what pivoting finds, and x the
// shortest solution, as the manual describes.
template <class T>
void least_squares(CUstream stream, const Csr<T>& A, const T* b, Real<T> tolerance, int* rank, T* x,
                   int* p, Real<T>* norm) {
  require(A.n > 0 && A.columns > 0 && A.n >= A.columns && rank && x && p && norm);
  perform_sparse(stream, "csrlsqvqr", A, [=] {
    int n = A.columns;
    std::vector<int> rows(A.n), columns(n);
    for (int i = 0; i < A.n; ++i) rows[i] = i;
    for (int j = 0; j < n; ++j) columns[j] = j;
    SparseQr<T> factors(A, rows, columns, T(0));
    Real<T> rest;
    std::vector<T> c = factors.turned(b, &rest);
    *rank = n;
    if (factors.singular(tolerance) < 0) {
      *norm = rest;
      std::copy(columns.begin(), columns.end(), p);
      return factors.solve(b, x);
    }
    std::vector<std::vector<T>> R(n, std::vector<T>(n));
    for (int k = 0; k < n; ++k)
      for (size_t j = 0; j < factors.row(k).size(); ++j) R[k + j][k] = factors.row(k)[j];
    int found = *rank = reflect(R, c, &columns, tolerance);
    *norm = std::hypot(rest, static_cast<Real<T>>(frobenius(n - found, 1, c.data() + found, 1)));
    std::copy(columns.begin(), columns.end(), p);
    // y1 = R11 \ c1 - (R11 \ R12) y2 and y2, together as short as can be.
    std::vector<T> y1 = back(R, c, found), goal = y1;
    std::vector<std::vector<T>> others;
    goal.resize(n);
    for (int j = found; j < n; ++j) {
      others.push_back(back(R, R[j], found));
      others.back().resize(n);
      others.back()[j] = T(-1);
    }
    std::vector<std::vector<T>> triangle = others;
    reflect<T>(triangle, goal, nullptr, 0);
    std::vector<T> y2 = back(triangle, goal, n - found);
    for (int j = found; j < n; ++j) {
      for (int i = 0; i < found; ++i) y1[i] -= others[j - found][i] * y2[j - found];
      y1.resize(n);
      y1[j] = y2[j - found];
    }
    for (int i = 0; i < n; ++i) x[p[i]] = y1[i];
  });
}

// How many eigenvalues lie in a box of the complex plane, from all of them.
template <class T>
void count_eigenvalues(CUstream stream, const Csr<T>& A, std::complex<Real<T>> low,
                       std::complex<Real<T>> high, int* count) {
  constexpr int kMost = 1 << 14;  // rows: as a dense matrix 2 GB of floats
  require(A.n > 0 && A.entries > 0 && count);
  if (A.n > kMost) unsupported("csreigs of a matrix of more than 16384 rows");
  want_engine();
  perform_sparse(stream, "csreigs", A, [=] {
    size_t n = A.n;
    std::vector<T> dense(n * n), none(1);
    for (int i = 0; i < A.n; ++i)
      for (int at = A.begin(i); at < A.end(i); ++at)
        dense[i + n * (A.column[at] - A.base)] += A.value[at];
    std::vector<std::complex<Real<T>>> values(n);
    int info = 0;
    if (!finite(A.n, A.n, dense.data(), A.n)) {
      info = 1;  // LAPACK's iterations need not end then
    } else if constexpr (kComplex<T>) {
      std::vector<Real<T>> real(2 * n);
      std::vector<T> work(4 * n);
      info = lapack<T, "geev">('N', 'N', A.n, dense.data(), A.n, values.data(), none.data(), 1,
                               none.data(), 1, work.data(), static_cast<int>(work.size()),
                               real.data());
    } else {
      std::vector<T> re(n), im(n), work(8 * n);
      info = lapack<T, "geev">('N', 'N', A.n, dense.data(), A.n, re.data(), im.data(), none.data(),
                               1, none.data(), 1, work.data(), static_cast<int>(work.size()));
      for (size_t i = 0; i < n; ++i) values[i] = {re[i], im[i]};
    }
    if (info) return void(*count = -1);
    *count = static_cast<int>(std::count_if(values.begin(), values.end(), [&](auto z) {
      return z.real() >= low.real() && z.real() <= high.real() && z.imag() >= low.imag() &&
             z.imag() <= high.imag();
    }));
  });
  require(*count >= 0, CUSOLVER_STATUS_INTERNAL_ERROR);
}

template <class T>
Real<T> length_of(const std::vector<T>& x) {
  return static_cast<Real<T>>(frobenius(static_cast<int>(x.size()), 1, x.data(), 1));
}

// Inverse iteration: x becomes (A - guess I)^-1 x, until |A x - mu x| is no larger than the
// tolerance.
template <class T>
void near_guess(CUstream stream, const Csr<T>& A, T guess, const T* x0, int most, Real<T> tolerance,
                T* mu, T* x) {
  require(most >= 0 && mu && x0 && x);
  perform_sparse(stream, "csreigvsi", A, [=] {
    SparseQr<T> factors(A, order_of(A, true), guess);
    std::vector<T> now(x0, x0 + A.n), next(A.n);
    T value = guess;
    for (int step = 0; step < most; ++step) {
      factors.solve(now.data(), next.data());
      Real<T> length = length_of(next);
      for (int i = 0; i < A.n; ++i) now[i] = next[i] / length;
      multiply(A, now.data(), next.data());
      value = 0;
      for (int i = 0; i < A.n; ++i) value += conjugate(now[i]) * next[i];
      for (int i = 0; i < A.n; ++i) next[i] -= value * now[i];
      if (!(length_of(next) > tolerance)) break;
    }
    std::copy(now.begin(), now.end(), x);
    *mu = value;
  });
}

}  // namespace

AW_EXPORT cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  return api<"cusolverSpCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cusolverSpContext{.magic = kSparseMagic};
  });
}

AW_EXPORT cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  return api<"cusolverSpDestroy">([&] {
    use_sparse(handle).magic = 0;
    delete handle;
  });
}

AW_EXPORT cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  return api<"cusolverSpSetStream">([&] { use_sparse(handle).stream = stream; });
}

AW_EXPORT cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream) {
  return api<"cusolverSpGetStream">([&] {
    auto& it = use_sparse(handle);
    require(stream);
    *stream = it.stream;
  });
}

// What lies on the host is solved in the same way, and in the same order.
#define AW_SOLVER(name, T, R, solve)                                                               \
  AW_EXPORT cusolverStatus_t cusolverSp##name(cusolverSpHandle_t handle, int n, int entries,       \
                                              const cusparseMatDescr_t descriptor, const T* value, \
                                              const int* row, const int* column, const T* b,       \
                                              R tolerance, int reorder, T* x, int* singularity) {  \
    return api<"cusolverSp" #name>(                                                                \
        [&] {                                                                                      \
          auto& it = use_sparse(handle);                                                           \
          solve(it.stream, matrix(n, entries, descriptor, own(value), row, column), own(b),        \
                tolerance, reorder, own(x), singularity);                                          \
        },                                                                                         \
        n, entries);                                                                               \
  }
#define AW_FUNCTIONS(name, T, R)                        \
  AW_SOLVER(name##csrlsvqr, T, R, solve_qr)             \
  AW_SOLVER(name##csrlsvqrHost, T, R, solve_qr)         \
  AW_SOLVER(name##csrlsvchol, T, R, solve_cholesky)     \
  AW_SOLVER(name##csrlsvcholHost, T, R, solve_cholesky) \
  AW_SOLVER(name##csrlsvluHost, T, R, solve_lu)
AW_FOUR(AW_FUNCTIONS, , )
#undef AW_FUNCTIONS
#undef AW_SOLVER

#define AW_EIGEN(name, T, R)                                                                       \
  AW_EXPORT cusolverStatus_t cusolverSp##name(cusolverSpHandle_t handle, int n, int entries,       \
                                              const cusparseMatDescr_t descriptor, const T* value, \
                                              const int* row, const int* column, T guess,          \
                                              const T* x0, int most, R tolerance, T* mu, T* x) {   \
    return api<"cusolverSp" #name>(                                                                \
        [&] {                                                                                      \
          auto& it = use_sparse(handle);                                                           \
          near_guess(it.stream, matrix(n, entries, descriptor, own(value), row, column),           \
                     by_value(guess), own(x0), most, tolerance, own(mu), own(x));                  \
        },                                                                                         \
        n, entries);                                                                               \
  }
AW_FOUR(AW_EIGEN, csreigvsi, csreigvsi)
AW_FOUR(AW_EIGEN, csreigvsiHost, csreigvsiHost)
#undef AW_EIGEN

#define AW_LEAST_SQUARES(name, T, R)                                                               \
  AW_EXPORT cusolverStatus_t cusolverSp##name(                                                     \
      cusolverSpHandle_t handle, int m, int n, int entries, const cusparseMatDescr_t descriptor,   \
      const T* value, const int* row, const int* column, const T* b, R tolerance, int* rank, T* x, \
      int* p, R* norm) {                                                                           \
    return api<"cusolverSp" #name>(                                                                \
        [&] {                                                                                      \
          auto& it = use_sparse(handle);                                                           \
          auto A = matrix(m, entries, descriptor, own(value), row, column);                        \
          A.columns = n;                                                                           \
          least_squares(it.stream, A, own(b), tolerance, rank, own(x), p, norm);                   \
        },                                                                                         \
        m, n, entries);                                                                            \
  }
AW_FOUR(AW_LEAST_SQUARES, csrlsqvqrHost, csrlsqvqrHost)
#undef AW_LEAST_SQUARES

#define AW_BOX(name, T, Corner)                                                                  \
  AW_EXPORT cusolverStatus_t cusolverSp##name##csreigsHost(                                      \
      cusolverSpHandle_t handle, int n, int entries, const cusparseMatDescr_t descriptor,        \
      const T* value, const int* row, const int* column, Corner left_bottom, Corner right_upper, \
      int* count) {                                                                              \
    return api<"cusolverSp" #name "csreigsHost">(                                                \
        [&] {                                                                                    \
          auto& it = use_sparse(handle);                                                         \
          count_eigenvalues(it.stream, matrix(n, entries, descriptor, own(value), row, column),  \
                            by_value(left_bottom), by_value(right_upper), count);                \
        },                                                                                       \
        n, entries);                                                                             \
  }
AW_BOX(S, float, cuComplex)
AW_BOX(D, double, cuDoubleComplex)
AW_BOX(C, cuComplex, cuComplex)
AW_BOX(Z, cuDoubleComplex, cuDoubleComplex)
#undef AW_BOX
