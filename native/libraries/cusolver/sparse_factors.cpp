// cuSOLVER, sparse: factors that are kept between calls (csrqr, csrchol, csrlu), and many systems
// of one pattern (csrqrsvBatched).
#include <any>
#include <optional>

#include "libraries/cusolver/sparse_calls.h"

using namespace aw::cusolver;

namespace {

// Rows, columns and numbers that the analysis was told: later calls must agree.
struct Analysed {
  int rows = -1, columns = -1, entries = -1;

  void analyse(int m, int n, int nnz) {
    require(m > 0 && n > 0 && m >= n && nnz >= 0);
    rows = m, columns = n, entries = nnz;
  }
  void is(int m, int n, int nnz) const {
    require(m == rows && n == columns && nnz == entries && rows > 0);
  }
};

template <class T>
struct QrFactors {
  std::shared_ptr<Kept<T>> matrix;
  T shift;
  std::shared_ptr<std::optional<SparseQr<T>>> factors =
      std::make_shared<std::optional<SparseQr<T>>>();
};
template <class T>
using CholeskyFactors = std::shared_ptr<SparseCholesky<T>>;
template <class T>
using LuFactors = std::shared_ptr<SparseLu<T>>;

// What was kept by an earlier call for the same type of numbers.
template <class K>
K& kept(std::any& state) {
  auto* found = std::any_cast<K>(&state);
  require(found != nullptr);
  return *found;
}

void memory_sizes(size_t* inside, size_t* work) {
  require(inside && work);
  *inside = 0;  // memory for what is computed here is the library's own
  *work = 16;   // programs do not like to allocate nothing
}

// Checks the pattern when it is analysed.
struct Nothing {};
void check_pattern(cusolverSpContext& it, const char* name, int m, int n, int nnz,
                   cusparseMatDescr_t descriptor, const int* row, const int* column) {
  require(row && (column || !nnz));
  Csr<Nothing> A{m, nnz, base_of(descriptor), row, column, nullptr, n};
  perform_sparse(it.stream, name, A, [] {});
}

template <class T>
std::optional<SparseQr<T>> qr_of(const Csr<T>& A, T shift) {
  if (A.n == A.columns) return SparseQr<T>(A, order_of(A, true), shift);
  std::vector<int> rows(A.n), columns(A.columns);
  for (int i = 0; i < A.n; ++i) rows[i] = i;
  for (int j = 0; j < A.columns; ++j) columns[j] = j;
  return SparseQr<T>(A, rows, columns, shift);
}

template <class T>
Csr<T> tall(int m, int n, int nnz, cusparseMatDescr_t descriptor, const T* value, const int* row,
            const int* column) {
  require(value && row && (column || !nnz));
  auto A = matrix(m, nnz, descriptor, value, row, column);
  A.columns = n;
  return A;
}

// Does `body` in the stream and waits.
template <class Body>
void perform_and_wait(CUstream stream, const char* name, Body body) {
  auto memory = std::make_shared<bool>(true);
  and_wait(stream, [&] {
    aw::lib::submit(stream, name, [=] {
      try {
        body();
      } catch (const std::bad_alloc&) {
        *memory = false;
      }
    });
  });
  require(*memory, CUSOLVER_STATUS_ALLOC_FAILED);
}

}  // namespace

struct csrqrInfo : Analysed {
  std::any state;  // QrFactors of a type
};
struct csrqrInfoHost : csrqrInfo {};
struct csrcholInfo : Analysed {
  std::any state;  // CholeskyFactors of a type
};
struct csrcholInfoHost : csrcholInfo {};
struct csrluInfoHost : Analysed {
  std::any state;  // LuFactors of a type
  int nnz_l = -1, nnz_u = -1;
};

#define AW_INFO(Name, name)                                           \
  AW_EXPORT cusolverStatus_t cusolverSpCreate##Name(name##_t* info) { \
    return api<"cusolverSpCreate" #Name>([&] {                        \
      require(info);                                                  \
      *info = new name;                                               \
    });                                                               \
  }                                                                   \
  AW_EXPORT cusolverStatus_t cusolverSpDestroy##Name(name##_t info) { \
    return api<"cusolverSpDestroy" #Name>([&] { delete info; });      \
  }
AW_INFO(CsrqrInfo, csrqrInfo)
AW_INFO(CsrqrInfoHost, csrqrInfoHost)
AW_INFO(CsrcholInfo, csrcholInfo)
AW_INFO(CsrcholInfoHost, csrcholInfoHost)
AW_INFO(CsrluInfoHost, csrluInfoHost)
#undef AW_INFO

// ---- QR ----

#define AW_ANALYSIS(Name, Info)                                                                    \
  AW_EXPORT cusolverStatus_t cusolverSp##Name(cusolverSpHandle_t handle, int m, int n, int nnz,    \
                                              const cusparseMatDescr_t descriptor, const int* row, \
                                              const int* column, Info info) {                      \
    return api<"cusolverSp" #Name>([&] {                                                           \
      auto& it = use_sparse(handle);                                                               \
      require(info);                                                                               \
      info->analyse(m, n, nnz);                                                                    \
      check_pattern(it, #Name, m, n, nnz, descriptor, row, column);                                \
      info->state.reset();                                                                         \
    });                                                                                            \
  }
AW_ANALYSIS(XcsrqrAnalysis, csrqrInfo_t)
AW_ANALYSIS(XcsrqrAnalysisHost, csrqrInfoHost_t)
AW_ANALYSIS(XcsrqrAnalysisBatched, csrqrInfo_t)
#undef AW_ANALYSIS

#define AW_QR(L, T, R, Suffix, Info)                                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrBufferInfo##Suffix(                             \
      cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descriptor,     \
      const T*, const int*, const int*, Info info, size_t* inside, size_t* work) {               \
    return api<"cusolverSp" #L "csrqrBufferInfo" #Suffix>([&] {                                  \
      use_sparse(handle), base_of(descriptor);                                                   \
      require(info);                                                                             \
      info->is(m, n, nnz), memory_sizes(inside, work);                                           \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrSetup##Suffix(                                  \
      cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descriptor,     \
      const T* value, const int* row, const int* column, T mu, Info info) {                      \
    return api<"cusolverSp" #L "csrqrSetup" #Suffix>([&] {                                       \
      auto& it = use_sparse(handle);                                                             \
      require(info);                                                                             \
      info->is(m, n, nnz);                                                                       \
      using N = std::remove_pointer_t<decltype(own(value))>;                                     \
      auto A = tall(m, n, nnz, descriptor, own(value), row, column);                             \
      auto made = std::make_shared<std::shared_ptr<Kept<N>>>();                                  \
      perform_sparse(it.stream, "csrqrSetup", A, [=] { *made = std::make_shared<Kept<N>>(A); }); \
      info->state = QrFactors<N>{.matrix = *made, .shift = by_value(mu)};                        \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrFactor##Suffix(                                 \
      cusolverSpHandle_t handle, int m, int n, int nnz, T* b, T* x, Info info, void*) {          \
    return api<"cusolverSp" #L "csrqrFactor" #Suffix>([&] {                                      \
      auto& it = use_sparse(handle);                                                             \
      require(info && !b == !x);                                                                 \
      info->is(m, n, nnz);                                                                       \
      using N = std::remove_pointer_t<decltype(own(b))>;                                         \
      auto state = kept<QrFactors<N>>(info->state);                                              \
      perform_and_wait(it.stream, "csrqrFactor", [=] {                                           \
        *state.factors = qr_of(state.matrix->matrix, state.shift);                               \
        if (b) (*state.factors)->solve(own(b), own(x));                                          \
      });                                                                                        \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrZeroPivot##Suffix(                              \
      cusolverSpHandle_t handle, Info info, R tolerance, int* position) {                        \
    return api<"cusolverSp" #L "csrqrZeroPivot" #Suffix>([&] {                                   \
      use_sparse(handle);                                                                        \
      require(info && position);                                                                 \
      auto& factors =                                                                            \
          *kept<QrFactors<std::remove_pointer_t<decltype(own((T*)nullptr))>>>(info->state)       \
               .factors;                                                                         \
      require(factors.has_value());                                                              \
      int found = factors->singular(tolerance);                                                  \
      *position = found < 0 ? -1 : factors->column(found);                                       \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrSolve##Suffix(                                  \
      cusolverSpHandle_t handle, int m, int n, T* b, T* x, Info info, void*) {                   \
    return api<"cusolverSp" #L "csrqrSolve" #Suffix>([&] {                                       \
      auto& it = use_sparse(handle);                                                             \
      require(info && b && x);                                                                   \
      info->is(m, n, info->entries);                                                             \
      auto factors =                                                                             \
          kept<QrFactors<std::remove_pointer_t<decltype(own(b))>>>(info->state).factors;         \
      require(factors->has_value());                                                             \
      perform_and_wait(it.stream, "csrqrSolve", [=] { (*factors)->solve(own(b), own(x)); });     \
    });                                                                                          \
  }
#define AW_EACH(L, T, R)        \
  AW_QR(L, T, R, , csrqrInfo_t) \
  AW_QR(L, T, R, Host, csrqrInfoHost_t)
AW_FOUR(AW_EACH, , )
#undef AW_EACH
#undef AW_QR

#define AW_BATCHED(L, T, R)                                                                  \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrBufferInfoBatched(                          \
      cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descriptor, \
      const T*, const int*, const int*, int batches, csrqrInfo_t info, size_t* inside,       \
      size_t* work) {                                                                        \
    return api<"cusolverSp" #L "csrqrBufferInfoBatched">([&] {                               \
      use_sparse(handle), base_of(descriptor);                                               \
      require(info && batches > 0);                                                          \
      info->is(m, n, nnz), memory_sizes(inside, work);                                       \
    });                                                                                      \
  }                                                                                          \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrqrsvBatched(                                  \
      cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descriptor, \
      const T* value, const int* row, const int* column, const T* b, T* x, int batches,      \
      csrqrInfo_t info, void*) {                                                             \
    return api<"cusolverSp" #L "csrqrsvBatched">([&] {                                       \
      auto& it = use_sparse(handle);                                                         \
      require(info && batches > 0 && b && x);                                                \
      info->is(m, n, nnz);                                                                   \
      auto A = tall(m, n, nnz, descriptor, own(value), row, column);                         \
      perform_sparse(it.stream, "csrqrsvBatched", A, [=] {                                   \
        for (int64_t i = 0; i < batches; ++i) {                                              \
          auto one = A;                                                                      \
          one.value += i * nnz;                                                              \
          qr_of(one, {})->solve(own(b) + i * m, own(x) + i * n);                             \
        }                                                                                    \
      });                                                                                    \
    });                                                                                      \
  }
AW_FOUR(AW_BATCHED, , )
#undef AW_BATCHED

// ---- Cholesky ----

#define AW_ANALYSIS(Name, Info)                                                                    \
  AW_EXPORT cusolverStatus_t cusolverSp##Name(cusolverSpHandle_t handle, int n, int nnz,           \
                                              const cusparseMatDescr_t descriptor, const int* row, \
                                              const int* column, Info info) {                      \
    return api<"cusolverSp" #Name>([&] {                                                           \
      auto& it = use_sparse(handle);                                                               \
      require(info);                                                                               \
      info->analyse(n, n, nnz);                                                                    \
      check_pattern(it, #Name, n, n, nnz, descriptor, row, column);                                \
      info->state.reset();                                                                         \
    });                                                                                            \
  }
AW_ANALYSIS(XcsrcholAnalysis, csrcholInfo_t)
AW_ANALYSIS(XcsrcholAnalysisHost, csrcholInfoHost_t)
AW_ANALYSIS(XcsrluAnalysisHost, csrluInfoHost_t)
#undef AW_ANALYSIS

#define AW_BUFFER_INFO(Name, T, Info)                                                           \
  AW_EXPORT cusolverStatus_t cusolverSp##Name(                                                  \
      cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor, const T*, \
      const int*, const int*, Info info, size_t* inside, size_t* work) {                        \
    return api<"cusolverSp" #Name>([&] {                                                        \
      use_sparse(handle), base_of(descriptor);                                                  \
      require(info);                                                                            \
      info->is(n, n, nnz), memory_sizes(inside, work);                                          \
    });                                                                                         \
  }
#define AW_CHOLESKY(L, T, R, Suffix, Info)                                                        \
  AW_BUFFER_INFO(L##csrcholBufferInfo##Suffix, T, Info)                                           \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrcholFactor##Suffix(                                \
      cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor,             \
      const T* value, const int* row, const int* column, Info info, void*) {                      \
    return api<"cusolverSp" #L "csrcholFactor" #Suffix>([&] {                                     \
      auto& it = use_sparse(handle);                                                              \
      require(info);                                                                              \
      info->is(n, n, nnz);                                                                        \
      using N = std::remove_pointer_t<decltype(own(value))>;                                      \
      auto A = tall(n, n, nnz, descriptor, own(value), row, column);                              \
      auto made = std::make_shared<CholeskyFactors<N>>();                                         \
      perform_sparse(it.stream, "csrcholFactor", A, [=] {                                         \
        *made = std::make_shared<SparseCholesky<N>>(A, order_of(A, true), Real<N>(0));            \
      });                                                                                         \
      info->state = *made;                                                                        \
    });                                                                                           \
  }                                                                                               \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrcholZeroPivot##Suffix(                             \
      cusolverSpHandle_t handle, Info info, R tolerance, int* position) {                         \
    return api<"cusolverSp" #L "csrcholZeroPivot" #Suffix>([&] {                                  \
      use_sparse(handle);                                                                         \
      require(info && position);                                                                  \
      using N = std::remove_pointer_t<decltype(own((T*)nullptr))>;                                \
      const auto& factors = *kept<CholeskyFactors<N>>(info->state);                               \
      int end = factors.end() < 0 ? info->rows : factors.end(), found = factors.end();            \
      for (int k = end; k-- > 0;)                                                                 \
        if (!(factors.diagonal(static_cast<size_t>(k)) > tolerance)) found = k;                   \
      *position = found < 0 ? -1 : factors.row(found);                                            \
    });                                                                                           \
  }                                                                                               \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrcholSolve##Suffix(                                 \
      cusolverSpHandle_t handle, int n, const T* b, T* x, Info info, void*) {                     \
    return api<"cusolverSp" #L "csrcholSolve" #Suffix>([&] {                                      \
      auto& it = use_sparse(handle);                                                              \
      require(info && b && x);                                                                    \
      info->is(n, n, info->entries);                                                              \
      auto factors = kept<CholeskyFactors<std::remove_pointer_t<decltype(own(x))>>>(info->state); \
      require(factors->end() < 0, CUSOLVER_STATUS_ZERO_PIVOT);                                    \
      perform_and_wait(it.stream, "csrcholSolve", [=] { factors->solve(own(b), own(x)); });       \
    });                                                                                           \
  }
#define AW_EACH(L, T, R)                                                                    \
  AW_CHOLESKY(L, T, R, , csrcholInfo_t)                                                     \
  AW_CHOLESKY(L, T, R, Host, csrcholInfoHost_t)                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrcholDiag(cusolverSpHandle_t handle,          \
                                                        csrcholInfo_t info, R* diagonal) {  \
    return api<"cusolverSp" #L "csrcholDiag">([&] {                                         \
      auto& it = use_sparse(handle);                                                        \
      require(info && diagonal);                                                            \
      using N = std::remove_pointer_t<decltype(own((T*)nullptr))>;                          \
      auto factors = kept<CholeskyFactors<N>>(info->state);                                 \
      require(factors->end() < 0, CUSOLVER_STATUS_ZERO_PIVOT);                              \
      perform_and_wait(it.stream, "csrcholDiag", [=, n = static_cast<size_t>(info->rows)] { \
        for (size_t k = 0; k < n; ++k) diagonal[k] = factors->diagonal(k);                  \
      });                                                                                   \
    });                                                                                     \
  }
AW_FOUR(AW_EACH, , )
#undef AW_EACH
#undef AW_CHOLESKY

// ---- LU, on the host ----

AW_EXPORT cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int* nnz_l,
                                                   int* nnz_u, csrluInfoHost_t info) {
  return api<"cusolverSpXcsrluNnzHost">([&] {
    use_sparse(handle);
    require(info && info->nnz_u >= 0 && nnz_l && nnz_u);
    *nnz_l = info->nnz_l, *nnz_u = info->nnz_u;
  });
}

namespace {

// Columns of numbers in order of rows, as rows.
template <class T>
void extract(const typename SparseLu<T>::Columns& columns, int base, T* value, int* row,
             int* column) {
  size_t n = columns.size();
  std::vector<int> next(n + 1);
  for (const auto& list : columns)
    for (auto [i, number] : list) ++next[static_cast<size_t>(i) + 1];
  for (size_t i = 0; i < n; ++i) next[i + 1] += next[i];
  for (size_t i = 0; i <= n; ++i) row[i] = next[i] + base;
  for (size_t j = 0; j < n; ++j)
    for (auto [i, number] : columns[j]) {
      int at = next[static_cast<size_t>(i)]++;
      value[at] = number, column[at] = static_cast<int>(j) + base;
    }
}

template <class Columns>
int count_of(const Columns& columns) {
  size_t sum = 0;
  for (const auto& list : columns) sum += list.size();
  require(sum <= INT_MAX, CUSOLVER_STATUS_ALLOC_FAILED);
  return static_cast<int>(sum);
}

}  // namespace

// As NVIDIA's, L has ones on its diagonal that are not stored.
#define AW_LU(Kind, T, R)                                                                       \
  AW_BUFFER_INFO(Kind##csrluBufferInfoHost, T, csrluInfoHost_t)                                 \
  AW_EXPORT cusolverStatus_t cusolverSp##Kind##csrluFactorHost(                                 \
      cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor,           \
      const T* value, const int* row, const int* column, csrluInfoHost_t info, R threshold,     \
      void*) {                                                                                  \
    return api<"cusolverSp" #Kind "csrluFactorHost">([&] {                                      \
      auto& it = use_sparse(handle);                                                            \
      require(info && threshold >= 0 && threshold <= 1);                                        \
      info->is(n, n, nnz);                                                                      \
      using N = std::remove_pointer_t<decltype(own(value))>;                                    \
      auto A = tall(n, n, nnz, descriptor, own(value), row, column);                            \
      auto made = std::make_shared<LuFactors<N>>();                                             \
      perform_sparse(it.stream, "csrluFactor", A, [=] {                                         \
        *made = std::make_shared<SparseLu<N>>(A, order_of(A, true), threshold);                 \
      });                                                                                       \
      info->nnz_l = count_of((*made)->L()), info->nnz_u = count_of((*made)->U());               \
      info->state = *made;                                                                      \
    });                                                                                         \
  }                                                                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##Kind##csrluZeroPivotHost(                              \
      cusolverSpHandle_t handle, csrluInfoHost_t info, R tolerance, int* position) {            \
    return api<"cusolverSp" #Kind "csrluZeroPivotHost">([&] {                                   \
      use_sparse(handle);                                                                       \
      require(info && position);                                                                \
      using N = std::remove_pointer_t<decltype(own((T*)nullptr))>;                              \
      const auto& factors = *kept<LuFactors<N>>(info->state);                                   \
      int found = factors.singular(tolerance);                                                  \
      *position = found < 0 ? -1 : factors.columns()[static_cast<size_t>(found)];               \
    });                                                                                         \
  }                                                                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##Kind##csrluSolveHost(                                  \
      cusolverSpHandle_t handle, int n, const T* b, T* x, csrluInfoHost_t info, void*) {        \
    return api<"cusolverSp" #Kind "csrluSolveHost">([&] {                                       \
      auto& it = use_sparse(handle);                                                            \
      require(info && b && x);                                                                  \
      info->is(n, n, info->entries);                                                            \
      auto factors = kept<LuFactors<std::remove_pointer_t<decltype(own(x))>>>(info->state);     \
      perform_and_wait(it.stream, "csrluSolve", [=] { factors->solve(own(b), own(x)); });       \
    });                                                                                         \
  }                                                                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##Kind##csrluExtractHost(                                \
      cusolverSpHandle_t handle, int* P, int* Q, const cusparseMatDescr_t descriptor_l,         \
      T* value_l, int* row_l, int* column_l, const cusparseMatDescr_t descriptor_u, T* value_u, \
      int* row_u, int* column_u, csrluInfoHost_t info, void*) {                                 \
    return api<"cusolverSp" #Kind "csrluExtractHost">([&] {                                     \
      use_sparse(handle);                                                                       \
      require(info && P && Q && row_l && row_u);                                                \
      int base_l = base_of(descriptor_l), base_u = base_of(descriptor_u);                       \
      using N = std::remove_pointer_t<decltype(own(value_l))>;                                  \
      const auto& factors = *kept<LuFactors<N>>(info->state);                                   \
      require((value_l && column_l) || info->nnz_l == 0);                                       \
      require(value_u && column_u);                                                             \
      std::copy(factors.rows().begin(), factors.rows().end(), P);                               \
      std::copy(factors.columns().begin(), factors.columns().end(), Q);                         \
      extract<N>(factors.L(), base_l, own(value_l), row_l, column_l);                           \
      extract<N>(factors.U(), base_u, own(value_u), row_u, column_u);                           \
    });                                                                                         \
  }
AW_FOUR(AW_LU, , )
#undef AW_LU
#undef AW_BUFFER_INFO
