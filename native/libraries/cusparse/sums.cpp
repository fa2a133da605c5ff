// cuSPARSE: csrgeam2, the sum of two sparse matrices, and gemvi, a dense matrix times a sparse
// vector.
#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

// f(column, place in A or -1, place in B or -1) for the columns of a row of either, in order; both
// are sorted, as documented.
template <class F>
void merge(const SpMat& a, const SpMat& b, int64_t row, F f) {
  Index ao = offsets_of(a), ai = indices_of(a), bo = offsets_of(b), bi = indices_of(b);
  int64_t k = ao(row), l = bo(row), k_end = ao(row + 1), l_end = bo(row + 1);
  while (k < k_end || l < l_end) {
    int64_t left = k < k_end ? ai(k) : INT64_MAX, right = l < l_end ? bi(l) : INT64_MAX;
    f(std::min(left, right), left <= right ? k : -1, right <= left ? l : -1);
    if (left <= right) ++k;
    if (right <= left) ++l;
  }
}

template <class T>
void add(const SpMat& a, const SpMat& b, T alpha, T beta, int base, T* values, int* offsets,
         int* columns) {
  int64_t at = 0;
  for (int64_t r = 0; r < a.rows; ++r) {
    offsets[r] = static_cast<int>(at) + base;
    merge(a, b, r, [&](int64_t column, int64_t k, int64_t l) {
      T sum{};
      if (k >= 0) sum += alpha * static_cast<const T*>(a.values)[k];
      if (l >= 0) sum += beta * static_cast<const T*>(b.values)[l];
      columns[at] = static_cast<int>(column) + base;
      values[at++] = sum;
    });
  }
  offsets[a.rows] = static_cast<int>(at) + base;
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n,
                                                const cusparseMatDescr_t descr_a, int nnz_a,
                                                const int* offsets_a, const int* columns_a,
                                                const cusparseMatDescr_t descr_b, int nnz_b,
                                                const int* offsets_b, const int* columns_b,
                                                const cusparseMatDescr_t descr_c, int* offsets_c,
                                                int* total, void*) {
  return api<"cusparseXcsrgeam2Nnz">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz_a >= 0 && nnz_b >= 0 && offsets_a && offsets_b && offsets_c &&
            total);
    auto a = older<void>(CUSPARSE_FORMAT_CSR, m, n, nnz_a, use_general(descr_a), nullptr, offsets_a,
                         columns_a);
    auto b = older<void>(CUSPARSE_FORMAT_CSR, m, n, nnz_b, use_general(descr_b), nullptr, offsets_b,
                         columns_b);
    int base = use_general(descr_c).base;
    auto sum = std::make_shared<int>();
    submit(context, "cusparseXcsrgeam2Nnz", [=] {
      offsets_c[0] = base;
      for (int64_t r = 0; r < m; ++r) {
        int count = 0;
        merge(a, b, r, [&](int64_t, int64_t, int64_t) { ++count; });
        offsets_c[r + 1] = offsets_c[r] + count;
      }
      *sum = offsets_c[m] - base;
    });
    give(context, total, sum, "cusparseXcsrgeam2Nnz");
  });
}

#define AW_SUMS(L, T)                                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##csrgeam2_bufferSizeExt(                                  \
      cusparseHandle_t handle, int m, int n, const T*, const cusparseMatDescr_t descr_a, int,      \
      const T*, const int*, const int*, const T*, const cusparseMatDescr_t descr_b, int, const T*, \
      const int*, const int*, const cusparseMatDescr_t descr_c, const T*, const int*, const int*,  \
      size_t* bytes) {                                                                             \
    return api<"cusparse" #L "csrgeam2_bufferSizeExt">([&] {                                       \
      use(handle), use_general(descr_a), use_general(descr_b), use_general(descr_c);               \
      require(m >= 0 && n >= 0);                                                                   \
      no_buffer(bytes);                                                                            \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##csrgeam2(                                                \
      cusparseHandle_t handle, int m, int n, const T* alpha, const cusparseMatDescr_t descr_a,     \
      int nnz_a, const T* values_a, const int* offsets_a, const int* columns_a, const T* beta,     \
      const cusparseMatDescr_t descr_b, int nnz_b, const T* values_b, const int* offsets_b,        \
      const int* columns_b, const cusparseMatDescr_t descr_c, T* values_c, int* offsets_c,         \
      int* columns_c, void*) {                                                                     \
    return api<"cusparse" #L "csrgeam2">([&] {                                                     \
      auto& context = use(handle);                                                                 \
      require(m >= 0 && n >= 0 && nnz_a >= 0 && nnz_b >= 0 && offsets_a && offsets_b &&            \
              offsets_c);                                                                          \
      auto a = older(CUSPARSE_FORMAT_CSR, m, n, nnz_a, use_general(descr_a), values_a, offsets_a,  \
                     columns_a);                                                                   \
      auto b = older(CUSPARSE_FORMAT_CSR, m, n, nnz_b, use_general(descr_b), values_b, offsets_b,  \
                     columns_b);                                                                   \
      int base = use_general(descr_c).base;                                                        \
      using K = Number<T>;                                                                         \
      Scalar<K> times(context, alpha), by(context, beta);                                          \
      submit(context, "cusparse" #L "csrgeam2", [=] {                                              \
        add(a, b, times(), by(), base, reinterpret_cast<K*>(values_c), offsets_c, columns_c);      \
      });                                                                                          \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##gemvi_bufferSize(                                        \
      cusparseHandle_t handle, cusparseOperation_t op, int m, int n, int nnz, int* bytes) {        \
    return api<"cusparse" #L "gemvi_bufferSize">([&] {                                             \
      use(handle), is_operation(op);                                                               \
      require(m >= 0 && n >= 0 && nnz >= 0 && bytes);                                              \
      *bytes = 16;                                                                                 \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##gemvi(                                                   \
      cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const T* alpha, const T* a,   \
      int lda, int nnz, const T* x_values, const int* x_indices, const T* beta, T* y,              \
      cusparseIndexBase_t base, void*) {                                                           \
    return api<"cusparse" #L "gemvi">([&] {                                                        \
      auto& context = use(handle);                                                                 \
      is_operation(op);                                                                            \
      require(m >= 0 && n >= 0 && nnz >= 0 && lda >= std::max(1, m));                              \
      using K = Number<T>;                                                                         \
      Scalar<K> times(context, alpha), by(context, beta);                                          \
      DnMat dense = {m, n, lda, const_cast<T*>(a), data_type<K>, CUSPARSE_ORDER_COL};              \
      submit(context, "cusparse" #L "gemvi", [=] {                                                 \
        auto from = dense_of<const K>(dense, op);                                                  \
        auto* to = reinterpret_cast<K*>(y);                                                        \
        K factor = times(), old = by();                                                            \
        bool conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;                            \
        for (int64_t i = 0; i < from.rows; ++i) {                                                  \
          K sum{};                                                                                 \
          for (int k = 0; k < nnz; ++k) {                                                          \
            K value = from(i, x_indices[k] - base);                                                \
            sum +=                                                                                 \
                (conjugated ? conjugate(value) : value) * reinterpret_cast<const K*>(x_values)[k]; \
          }                                                                                        \
          to[i] = old == K{} ? factor * sum : factor * sum + old * to[i];                          \
        }                                                                                          \
      });                                                                                          \
    });                                                                                            \
  }
AW_FOUR(AW_SUMS)
