// cuSPARSE: incomplete factorisations that fill nothing in, of matrices of numbers and of blocks.
// The pattern of blocks is one of numbers too, so both are the same computation.
#include <functional>

#include "libraries/cusparse/pivots.h"

struct csrilu02Info : aw::cusparse::PivotInfo {};
struct bsrilu02Info : aw::cusparse::PivotInfo {};
struct csric02Info : aw::cusparse::PivotInfo {};
struct bsric02Info : aw::cusparse::PivotInfo {};

using namespace aw::cusparse;

namespace {

// The entries by rows, with their places among the values.
struct Pattern {
  std::vector<int64_t> start, column, place, diagonal;

  explicit Pattern(const SpMat& a)
      : start(static_cast<size_t>(a.rows) + 1), diagonal(static_cast<size_t>(a.rows), -1) {
    for_entries(a, 0, [&](int64_t r, int64_t c, int64_t k) {  // goes by rows
      if (r == c) diagonal[static_cast<size_t>(r)] = static_cast<int64_t>(column.size());
      column.push_back(c), place.push_back(k);
      start[static_cast<size_t>(r) + 1] = static_cast<int64_t>(column.size());
    });
    for (size_t r = 1; r < start.size(); ++r) start[r] = std::max(start[r], start[r - 1]);
  }
  int64_t rows() const { return static_cast<int64_t>(diagonal.size()); }
  template <class F>
  void row(int64_t r, F f) const {
    for (int64_t k = start[static_cast<size_t>(r)]; k < start[static_cast<size_t>(r) + 1]; ++k)
      f(column[static_cast<size_t>(k)], place[static_cast<size_t>(k)]);
  }
  int64_t diagonal_place(int64_t r) const {
    int64_t k = diagonal[static_cast<size_t>(r)];
    return k < 0 ? -1 : place[static_cast<size_t>(k)];
  }
};

// Row by row; returns the first row whose pivot is zero or not there.
template <class T, class Boost>
int64_t factor_lu(const Pattern& a, T* values, Boost boost) {
  int64_t zero = -1;
  std::vector<int64_t> here(static_cast<size_t>(a.rows()), -1);  // places of the row in hand
  for (int64_t r = 0; r < a.rows(); ++r) {
    a.row(r, [&](int64_t c, int64_t k) { here[static_cast<size_t>(c)] = k; });
    a.row(r, [&](int64_t c, int64_t k) {
      if (c >= r || a.diagonal_place(c) < 0) return;
      values[k] = values[k] / values[a.diagonal_place(c)];
      a.row(c, [&](int64_t j, int64_t l) {
        if (int64_t to = here[static_cast<size_t>(j)]; j > c && to >= 0)
          values[to] -= values[k] * values[l];
      });
    });
    if (int64_t d = a.diagonal_place(r); d >= 0) boost(values[d]);
    if (zero < 0 && (a.diagonal_place(r) < 0 || values[a.diagonal_place(r)] == T{})) zero = r;
    a.row(r, [&](int64_t c, int64_t) { here[static_cast<size_t>(c)] = -1; });
  }
  return zero;
}

// A = L L^H of the lower triangle; what is above stays as it is.
template <class T>
int64_t factor_cholesky(const Pattern& a, T* values) {
  int64_t zero = -1;
  std::vector<int64_t> here(static_cast<size_t>(a.rows()), -1);
  for (int64_t r = 0; r < a.rows(); ++r) {
    a.row(r, [&](int64_t c, int64_t k) {
      if (c <= r) here[static_cast<size_t>(c)] = k;
    });
    a.row(r, [&](int64_t c, int64_t k) {
      if (c > r) return;
      T sum = values[k];
      a.row(c, [&](int64_t j, int64_t l) {
        if (int64_t mine = j < c ? here[static_cast<size_t>(j)] : -1; mine >= 0)
          sum -= values[mine] * conjugate(values[l]);
      });
      if (c < r) {
        values[k] = a.diagonal_place(c) < 0 ? sum : sum / values[a.diagonal_place(c)];
        return;
      }
      if (!(real(sum) > 0) && zero < 0) zero = r;
      values[k] = T(std::sqrt(real(sum)));
    });
    if (zero < 0 && a.diagonal_place(r) < 0) zero = r;
    a.row(r, [&](int64_t c, int64_t) { here[static_cast<size_t>(c)] = -1; });
  }
  return zero;
}

void analyse(const cusparseContext& context, const char* name, const SpMat& a, PivotInfo* info) {
  require(info != nullptr);
  submit(context, name,
         [=, found = info->begin(a.block_rows, a.base)] { *found = first_missing(a); });
}

template <class T>
void lu(const cusparseContext& context, const char* name, const SpMat& a, PivotInfo* info) {
  require(info && info->position);
  submit(context, name, [a, found = info->position, how = *info] {
    double limit = how.on_device && how.boosted ? *how.tolerance : how.tolerance_now;
    T instead = *static_cast<const T*>(how.on_device && how.boosted ? how.boost : how.boost_now);
    *found = factor_lu(Pattern(a), static_cast<T*>(a.values), [&](T& pivot) {
      if (how.boosted && static_cast<double>(magnitude(pivot)) <= limit) pivot = instead;
    });
  });
}

template <class T>
void cholesky(const cusparseContext& context, const char* name, const SpMat& a, PivotInfo* info) {
  require(info && info->position);
  submit(context, name, [a, found = info->position] {
    *found = factor_cholesky(Pattern(a), static_cast<T*>(a.values));
  });
}

template <class T>
void set_boost(const cusparseContext& context, PivotInfo* info, int enable, const double* tolerance,
               const T* boost) {
  require(info && (!enable || (tolerance && boost)));
  info->boosted = enable != 0;
  if (!enable) return;
  info->on_device = context.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
  info->tolerance = tolerance, info->boost = boost;
  if (info->on_device) return;
  info->tolerance_now = *tolerance;
  memcpy(info->boost_now, boost, sizeof(T));
}

void check_sizes(int m, int nnz) { require(m >= 0 && nnz >= 0); }

}  // namespace

AW_INFO_FUNCTIONS(Csrilu02, csrilu02)
AW_INFO_FUNCTIONS(Bsrilu02, bsrilu02)
AW_INFO_FUNCTIONS(Csric02, csric02)
AW_INFO_FUNCTIONS(Bsric02, bsric02)

#define AW_BUFFER_SIZE(Name, Suffix, Size, Parameters, ...)      \
  AW_EXPORT cusparseStatus_t cusparse##Name##Suffix Parameters { \
    return api<"cusparse" #Name #Suffix>([&] {                   \
      use(handle), use_general(descr), check_sizes(m, nnz);      \
      require(info && bytes __VA_ARGS__);                        \
      *bytes = 16;                                               \
    });                                                          \
  }

#define AW_OF_NUMBERS(L, T, Name, work, Const)                                                     \
  AW_BUFFER_SIZE(L##Name, _bufferSize, int,                                                        \
                 (cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, T*,     \
                  const int*, const int*, Name##Info_t info, int* bytes))                          \
  AW_BUFFER_SIZE(L##Name, _bufferSizeExt, size_t,                                                  \
                 (cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, T*,     \
                  const int*, const int*, Name##Info_t info, size_t* bytes))                       \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_analysis(                                         \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const T* values,    \
      const int* offsets, const int* columns, Name##Info_t info, cusparseSolvePolicy_t, void*) {   \
    return api<"cusparse" #L#Name "_analysis">([&] {                                               \
      auto& context = use(handle);                                                                 \
      check_sizes(m, nnz);                                                                         \
      analyse(context, "cusparse" #L#Name "_analysis",                                             \
              older(CUSPARSE_FORMAT_CSR, m, m, nnz, use_general(descr), values, offsets, columns), \
              info);                                                                               \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##Name(                                                    \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, T* values,          \
      const int* offsets, const int* columns, Name##Info_t info, cusparseSolvePolicy_t, void*) {   \
    return api<"cusparse" #L#Name>([&] {                                                           \
      auto& context = use(handle);                                                                 \
      check_sizes(m, nnz);                                                                         \
      work<Number<T>>(                                                                             \
          context, "cusparse" #L#Name,                                                             \
          older<T>(CUSPARSE_FORMAT_CSR, m, m, nnz, use_general(descr), values, offsets, columns),  \
          info);                                                                                   \
    });                                                                                            \
  }

#define AW_OF_BLOCKS(L, T, Name, work, AnalysisValues)                                             \
  AW_BUFFER_SIZE(L##Name, _bufferSize, int,                                                        \
                 (cusparseHandle_t handle, cusparseDirection_t, int m, int nnz,                    \
                  const cusparseMatDescr_t descr, T*, const int*, const int*, int block,           \
                  Name##Info_t info, int* bytes),                                                  \
                 &&block > 0)                                                                      \
  AW_BUFFER_SIZE(L##Name, _bufferSizeExt, size_t,                                                  \
                 (cusparseHandle_t handle, cusparseDirection_t, int m, int nnz,                    \
                  const cusparseMatDescr_t descr, T*, const int*, const int*, int block,           \
                  Name##Info_t info, size_t* bytes),                                               \
                 &&block > 0)                                                                      \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_analysis(                                         \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nnzb,                    \
      const cusparseMatDescr_t descr, AnalysisValues T* values, const int* offsets,                \
      const int* columns, int block, Name##Info_t info, cusparseSolvePolicy_t, void*) {            \
    return api<"cusparse" #L#Name "_analysis">([&] {                                               \
      auto& context = use(handle);                                                                 \
      check_sizes(mb, nnzb);                                                                       \
      analyse(                                                                                     \
          context, "cusparse" #L#Name "_analysis",                                                 \
          blocks<T>(direction, mb, mb, nnzb, use_general(descr), values, offsets, columns, block), \
          info);                                                                                   \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##Name(                                                    \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nnzb,                    \
      const cusparseMatDescr_t descr, T* values, const int* offsets, const int* columns,           \
      int block, Name##Info_t info, cusparseSolvePolicy_t, void*) {                                \
    return api<"cusparse" #L#Name>([&] {                                                           \
      auto& context = use(handle);                                                                 \
      check_sizes(mb, nnzb);                                                                       \
      work<Number<T>>(                                                                             \
          context, "cusparse" #L#Name,                                                             \
          blocks<T>(direction, mb, mb, nnzb, use_general(descr), values, offsets, columns, block), \
          info);                                                                                   \
    });                                                                                            \
  }

#define AW_BOOST(L, T, Name)                                                                 \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_numericBoost(                               \
      cusparseHandle_t handle, Name##Info_t info, int enable, double* tolerance, T* boost) { \
    return api<"cusparse" #L#Name "_numericBoost">(                                          \
        [&] { set_boost(use(handle), info, enable, tolerance, boost); });                    \
  }

#define AW_FACTORS(L, T)                       \
  AW_OF_NUMBERS(L, T, csrilu02, lu, )          \
  AW_OF_NUMBERS(L, T, csric02, cholesky, )     \
  AW_OF_BLOCKS(L, T, bsrilu02, lu, )           \
  AW_OF_BLOCKS(L, T, bsric02, cholesky, const) \
  AW_BOOST(L, T, csrilu02)                     \
  AW_BOOST(L, T, bsrilu02)
AW_FOUR(AW_FACTORS)
