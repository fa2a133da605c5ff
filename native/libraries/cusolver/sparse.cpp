// cuSOLVER, sparse: linear systems and an eigenvalue near a guess (csrlsvqr, csrlsvchol,
// csreigvsi).
#include "libraries/cusolver/sparse.h"

#include <cusolverSp.h>
#include <dlfcn.h>

#include "libraries/cusolver/cusolver.h"

struct cusolverSpContext {
  uint64_t magic;
  CUstream stream = nullptr;
};

using namespace aw::cusolver;

std::vector<int> aw::cusolver::narrow_order(int n,
                                            const std::vector<std::vector<int>>& neighbours) {
  auto fewer = [&](int a, int b) {
    return std::pair(neighbours[a].size(), a) < std::pair(neighbours[b].size(), b);
  };
  std::vector<int> starts(n), order;
  for (int i = 0; i < n; ++i) starts[i] = i;
  std::sort(starts.begin(), starts.end(), fewer);
  std::vector<int> level(n, -1);
  // By distance from `start`, of what has no place yet; those of one distance that have few
  // neighbours first.
  auto walk = [&](int start) {
    std::vector<int> found{start};
    level[start] = 0;
    for (size_t at = 0; at < found.size(); ++at) {
      size_t before = found.size();
      for (int j : neighbours[found[at]])
        if (level[j] < 0) level[j] = level[found[at]] + 1, found.push_back(j);
      std::sort(found.begin() + before, found.end(), fewer);
    }
    return found;
  };
  for (int start : starts) {
    if (level[start] >= 0) continue;
    std::vector<int> found = walk(start);
    // Once more from the far end, which is near to the outside of the graph.
    int far = found.back();
    for (int i : found) level[i] = -1;
    found = walk(far);
    order.insert(order.end(), found.begin(), found.end());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

namespace {

constexpr uint64_t kSparseMagic = 0x65737261707376ull;

cusolverSpContext& use_sparse(cusolverSpHandle_t handle) {
  require(handle && handle->magic == kSparseMagic, CUSOLVER_STATUS_NOT_INITIALIZED);
  return *handle;
}

// A descriptor is cuSPARSE's, which is there, since it made it.
int base_of(cusparseMatDescr_t descriptor) {
  require(descriptor);
  static void* const library = dlopen("libcusparse.so.12", RTLD_LAZY | RTLD_NOLOAD);
  auto* type = library ? reinterpret_cast<cusparseMatrixType_t (*)(cusparseMatDescr_t)>(
                             dlsym(library, "cusparseGetMatType"))
                       : nullptr;
  auto* base = library ? reinterpret_cast<cusparseIndexBase_t (*)(cusparseMatDescr_t)>(
                             dlsym(library, "cusparseGetMatIndexBase"))
                       : nullptr;
  if (!type || !base) unsupported("descriptors of another cuSPARSE than anywarp's");
  require(type(descriptor) == CUSPARSE_MATRIX_TYPE_GENERAL,
          CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  return base(descriptor) == CUSPARSE_INDEX_BASE_ONE;
}

template <class T>
Csr<T> matrix(int n, int entries, cusparseMatDescr_t descriptor, const T* value, const int* row,
              const int* column) {
  require(n >= 0 && entries >= 0);
  return {n, entries, base_of(descriptor), row, column, value};
}

// Computes `body()` in the stream and waits, for a number that the host reads; false where the
// matrix names places outside of its arrays.
template <class T, class Body>
void perform_sparse(CUstream stream, const char* name, const Csr<T>& A, Body body) {
  struct Outcome {
    bool sound = true, memory = true;
  };
  auto outcome = std::make_shared<Outcome>();
  and_wait(stream, [&] {
    aw::lib::submit(stream, name, [=] {
      try {
        outcome->sound = A.sound();
        if (outcome->sound) body();
      } catch (const std::bad_alloc&) {
        outcome->memory = false;
      }
    });
  });
  require(outcome->sound);
  require(outcome->memory, CUSOLVER_STATUS_ALLOC_FAILED);
}

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
    *singularity = solve_by_cholesky(A, order_of(A, reorder != 0), tolerance, b, x);
  });
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

template <class T>
auto by_value(T number) {
  return *own(&number);
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
#define AW_FUNCTIONS(name, T, R)                    \
  AW_SOLVER(name##csrlsvqr, T, R, solve_qr)         \
  AW_SOLVER(name##csrlsvqrHost, T, R, solve_qr)     \
  AW_SOLVER(name##csrlsvchol, T, R, solve_cholesky) \
  AW_SOLVER(name##csrlsvcholHost, T, R, solve_cholesky)
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
