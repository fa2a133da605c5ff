// cuSPARSE: conversions between formats, and sorting. These functions have 32-bit indices.
#include <numeric>

#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

// Sorts entries by key(k), equal ones as they were; `permute` puts an array into the new order.
template <class Key>
std::vector<int> order_of(int first, int last, Key key) {
  std::vector<int> order(static_cast<size_t>(last - first));
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}
void permute(int* array, int first, const std::vector<int>& order) {
  if (!array) return;
  std::vector<int> sorted;
  for (int k : order) sorted.push_back(array[k]);
  std::copy(sorted.begin(), sorted.end(), array + first);
}

void sort_lines(const cusparseContext& context, const char* name, int lines, int base,
                const int* offsets, int* indices, int* permutation) {
  submit(context, name, [=] {
    in_pieces(lines, 64, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        int begin = offsets[i] - base, end = offsets[i + 1] - base;
        if (std::is_sorted(indices + begin, indices + end)) continue;
        auto order = order_of(begin, end, [&](int k) { return indices[k]; });
        permute(permutation, begin, order);
        permute(indices, begin, order);
      }
    });
  });
}

void sort_entries(const cusparseContext& context, const char* name, int nnz, int* first,
                  int* second, int* permutation) {
  submit(context, name, [=] {
    auto order = order_of(0, nnz, [&](int k) { return std::pair(first[k], second[k]); });
    permute(permutation, 0, order);
    permute(second, 0, order);
    permute(first, 0, order);
  });
}

template <class T>
void transpose(int n, int m, int nnz, const SpMat& from, T* values, int* offsets, int* indices,
               bool numeric) {
  std::vector<int> next(static_cast<size_t>(n) + 1);
  for_entries(from, 0, [&](int64_t, int64_t c, int64_t) { ++next[static_cast<size_t>(c) + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (int c = 0; c <= n; ++c) offsets[c] = next[static_cast<size_t>(c)] + from.base;
  for_entries(from, 0, [&](int64_t r, int64_t c, int64_t k) {
    int at = next[static_cast<size_t>(c)]++;
    indices[at] = static_cast<int>(r) + from.base;
    if (numeric) values[at] = static_cast<const T*>(from.values)[k];
  });
  (void)m, (void)nnz;
}

// The blocks of a row of blocks, in order.
std::vector<int> blocks_of(const SpMat& a, int block, int64_t row) {
  std::vector<int> out;
  Index offsets = offsets_of(a), columns = indices_of(a);
  for (int64_t r = row * block; r < std::min<int64_t>(a.rows, (row + 1) * block); ++r)
    for (int64_t k = offsets(r), end = offsets(r + 1); k < end; ++k)
      out.push_back(static_cast<int>(columns(k) / block));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <class T>
void to_blocks(const SpMat& a, cusparseDirection_t direction, int block, int base, T* values,
               const int* offsets, int* indices) {
  int64_t rows = (a.rows + block - 1) / block;
  in_pieces(rows, 16, [&](int64_t first, int64_t last) {
    Index a_offsets = offsets_of(a), columns = indices_of(a);
    for (int64_t row = first; row < last; ++row) {
      auto known = blocks_of(a, block, row);
      int64_t begin = offsets[row] - base, size = int64_t{block} * block;
      std::fill_n(values + begin * size, static_cast<int64_t>(known.size()) * size, T{});
      for (size_t i = 0; i < known.size(); ++i)
        indices[begin + static_cast<int64_t>(i)] = known[i] + base;
      for (int64_t r = row * block; r < std::min<int64_t>(a.rows, (row + 1) * block); ++r)
        for (int64_t k = a_offsets(r), end = a_offsets(r + 1); k < end; ++k) {
          int64_t c = columns(k);
          int64_t at =
              begin + (std::lower_bound(known.begin(), known.end(), static_cast<int>(c / block)) -
                       known.begin());
          int64_t i = r % block, j = c % block;
          values[at * size +
                 (direction == CUSPARSE_DIRECTION_ROW ? i * block + j : j * block + i)] =
              static_cast<const T*>(a.values)[k];
        }
    }
  });
}

template <class T>
bool kept(T value, T tolerance) {
  return magnitude(value) > real(tolerance);
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* rows, int nnz,
                                            int m, int* offsets, cusparseIndexBase_t base) {
  return api<"cusparseXcoo2csr">([&] {
    auto& context = use(handle);
    require(nnz >= 0 && m >= 0 && offsets && (rows || !nnz));
    submit(context, "cusparseXcoo2csr", [=] {
      int k = 0;
      for (int r = 0; r <= m; ++r) {
        while (k < nnz && rows[k] - base < r) ++k;
        offsets[r] = k + base;
      }
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int nnz,
                                            int m, int* rows, cusparseIndexBase_t base) {
  return api<"cusparseXcsr2coo">([&] {
    auto& context = use(handle);
    require(nnz >= 0 && m >= 0 && offsets && (rows || !nnz));
    submit(context, "cusparseXcsr2coo", [=] {
      for (int r = 0; r < m; ++r)
        std::fill(rows + (offsets[r] - base), rows + (offsets[r + 1] - base), r + base);
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n,
                                                         int nnz, const void*, const int*,
                                                         const int*, void*, int*, int*,
                                                         cudaDataType type, cusparseAction_t,
                                                         cusparseIndexBase_t, cusparseCsr2CscAlg_t,
                                                         size_t* bytes) {
  return api<"cusparseCsr2cscEx2_bufferSize">([&] {
    use(handle), size_of(type);
    require(m >= 0 && n >= 0 && nnz >= 0);
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz,
                                              const void* values, const int* offsets,
                                              const int* indices, void* csc_values,
                                              int* csc_offsets, int* csc_indices, cudaDataType type,
                                              cusparseAction_t action, cusparseIndexBase_t base,
                                              cusparseCsr2CscAlg_t, void*) {
  return api<"cusparseCsr2cscEx2">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz >= 0 && csc_offsets &&
            (action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC));
    cusparseMatDescr descr;
    descr.base = base;
    auto from = older<void>(CUSPARSE_FORMAT_CSR, m, n, nnz, descr, values, offsets, indices);
    with_stored(type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseCsr2cscEx2", [=] {
        transpose(n, m, nnz, from, static_cast<S*>(csc_values), csc_offsets, csc_indices,
                  action == CUSPARSE_ACTION_NUMERIC);
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n,
                                                             int* p) {
  return api<"cusparseCreateIdentityPermutation">([&] {
    auto& context = use(handle);
    require(n >= 0 && (p || !n));
    submit(context, "cusparseCreateIdentityPermutation", [=] { std::iota(p, p + n, 0); });
  });
}

#define AW_SORT_BUFFER(Name, Parameters)                                 \
  AW_EXPORT cusparseStatus_t cusparse##Name##_bufferSizeExt Parameters { \
    return api<"cusparse" #Name "_bufferSizeExt">([&] {                  \
      use(handle);                                                       \
      require(m >= 0 && n >= 0 && nnz >= 0);                             \
      no_buffer(bytes);                                                  \
    });                                                                  \
  }
AW_SORT_BUFFER(Xcoosort, (cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                          size_t* bytes))
AW_SORT_BUFFER(Xcsrsort, (cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                          size_t* bytes))
AW_SORT_BUFFER(Xcscsort, (cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                          size_t* bytes))

AW_EXPORT cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz,
                                                 int* rows, int* columns, int* p, void*) {
  return api<"cusparseXcoosortByRow">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz >= 0);
    sort_entries(context, "cusparseXcoosortByRow", nnz, rows, columns, p);
  });
}

AW_EXPORT cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz,
                                                    int* rows, int* columns, int* p, void*) {
  return api<"cusparseXcoosortByColumn">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz >= 0);
    sort_entries(context, "cusparseXcoosortByColumn", nnz, columns, rows, p);
  });
}

AW_EXPORT cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz,
                                            const cusparseMatDescr_t descr, const int* offsets,
                                            int* columns, int* p, void*) {
  return api<"cusparseXcsrsort">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz >= 0);
    sort_lines(context, "cusparseXcsrsort", m, use_general(descr).base, offsets, columns, p);
  });
}

AW_EXPORT cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz,
                                            const cusparseMatDescr_t descr, const int* offsets,
                                            int* rows, int* p, void*) {
  return api<"cusparseXcscsort">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && nnz >= 0);
    sort_lines(context, "cusparseXcscsort", n, use_general(descr).base, offsets, rows, p);
  });
}

AW_EXPORT cusparseStatus_t cusparseXcsr2bsrNnz(cusparseHandle_t handle, cusparseDirection_t, int m,
                                               int n, const cusparseMatDescr_t descr_a,
                                               const int* offsets, const int* columns, int block,
                                               const cusparseMatDescr_t descr_c, int* bsr_offsets,
                                               int* total) {
  return api<"cusparseXcsr2bsrNnz">([&] {
    auto& context = use(handle);
    require(m >= 0 && n >= 0 && block > 0 && bsr_offsets && total);
    auto a =
        older<void>(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), nullptr, offsets, columns);
    int base = use_general(descr_c).base;
    auto sum = std::make_shared<int>();
    submit(context, "cusparseXcsr2bsrNnz", [=] {
      bsr_offsets[0] = base;
      int64_t rows = (m + block - 1) / block;
      for (int64_t row = 0; row < rows; ++row)
        bsr_offsets[row + 1] = bsr_offsets[row] + static_cast<int>(blocks_of(a, block, row).size());
      *sum = bsr_offsets[rows] - base;
    });
    give(context, total, sum, "cusparseXcsr2bsrNnz");
  });
}

#define AW_CONVERSIONS(L, T)                                                                     \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2bsr(                                               \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                      \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns, \
      int block, const cusparseMatDescr_t descr_c, T* bsr_values, int* bsr_offsets,              \
      int* bsr_columns) {                                                                        \
    return api<"cusparse" #L "csr2bsr">([&] {                                                    \
      auto& context = use(handle);                                                               \
      require(m >= 0 && n >= 0 && block > 0);                                                    \
      auto a =                                                                                   \
          older(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), values, offsets, columns);   \
      int base = use_general(descr_c).base;                                                      \
      submit(context, "cusparse" #L "csr2bsr", [=] {                                             \
        to_blocks(a, direction, block, base, reinterpret_cast<Number<T>*>(bsr_values),           \
                  bsr_offsets, bsr_columns);                                                     \
      });                                                                                        \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##bsr2csr(                                               \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb,                    \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns, \
      int block, const cusparseMatDescr_t descr_c, T* csr_values, int* csr_offsets,              \
      int* csr_columns) {                                                                        \
    return api<"cusparse" #L "bsr2csr">([&] {                                                    \
      auto& context = use(handle);                                                               \
      require(mb >= 0 && nb >= 0);                                                               \
      auto a =                                                                                   \
          blocks(direction, mb, nb, 0, use_general(descr_a), values, offsets, columns, block);   \
      int base = use_general(descr_c).base;                                                      \
      submit(context, "cusparse" #L "bsr2csr", [=] {                                             \
        int at = 0, row = -1;                                                                    \
        for_entries(a, 0, [&](int64_t r, int64_t c, int64_t k) {                                 \
          while (row < r) csr_offsets[++row] = at + base;                                        \
          csr_columns[at] = static_cast<int>(c) + base;                                          \
          csr_values[at++] = static_cast<const T*>(a.values)[k];                                 \
        });                                                                                      \
        while (row < a.rows) csr_offsets[++row] = at + base;                                     \
      });                                                                                        \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##nnz(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                      \
      const cusparseMatDescr_t descr, const T* a, int lda, int* per_line, int* total) {          \
    return api<"cusparse" #L "nnz">([&] {                                                        \
      auto& context = use(handle);                                                               \
      use_general(descr);                                                                        \
      require(m >= 0 && n >= 0 && lda >= std::max(1, m) && per_line && total);                   \
      auto sum = std::make_shared<int>();                                                        \
      bool by_rows = direction == CUSPARSE_DIRECTION_ROW;                                        \
      submit(context, "cusparse" #L "nnz", [=] {                                                 \
        auto* from = reinterpret_cast<const Number<T>*>(a);                                      \
        std::fill_n(per_line, by_rows ? m : n, 0);                                               \
        *sum = 0;                                                                                \
        for (int64_t j = 0; j < n; ++j)                                                          \
          for (int64_t i = 0; i < m; ++i)                                                        \
            if (!(from[i + j * lda] == Number<T>{})) ++per_line[by_rows ? i : j], ++*sum;        \
      });                                                                                        \
      give(context, total, sum, "cusparse" #L "nnz");                                            \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##nnz_compress(                                          \
      cusparseHandle_t handle, int m, const cusparseMatDescr_t descr, const T* values,           \
      const int* offsets, int* per_row, int* total, T tolerance) {                               \
    return api<"cusparse" #L "nnz_compress">([&] {                                               \
      auto& context = use(handle);                                                               \
      auto limit = *reinterpret_cast<const Number<T>*>(&tolerance);                              \
      int base = use_general(descr).base;                                                        \
      require(m >= 0 && offsets && per_row && total && real(limit) >= 0);                        \
      auto sum = std::make_shared<int>();                                                        \
      submit(context, "cusparse" #L "nnz_compress", [=] {                                        \
        *sum = 0;                                                                                \
        for (int r = 0; r < m; ++r) {                                                            \
          per_row[r] = 0;                                                                        \
          for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k)                        \
            per_row[r] += kept(reinterpret_cast<const Number<T>*>(values)[k], limit);            \
          *sum += per_row[r];                                                                    \
        }                                                                                        \
      });                                                                                        \
      give(context, total, sum, "cusparse" #L "nnz_compress");                                   \
    });                                                                                          \
  }                                                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2csr_compress(                                      \
      cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descr, const T* values,    \
      const int* columns, const int* offsets, int nnz, const int* per_row, T* kept_values,       \
      int* kept_columns, int* kept_offsets, T tolerance) {                                       \
    return api<"cusparse" #L "csr2csr_compress">([&] {                                           \
      auto& context = use(handle);                                                               \
      auto limit = *reinterpret_cast<const Number<T>*>(&tolerance);                              \
      int base = use_general(descr).base;                                                        \
      require(m >= 0 && n >= 0 && nnz >= 0 && offsets && per_row && kept_offsets &&              \
              real(limit) >= 0);                                                                 \
      submit(context, "cusparse" #L "csr2csr_compress", [=] {                                    \
        int at = 0;                                                                              \
        for (int r = 0; r < m; ++r) {                                                            \
          kept_offsets[r] = at + base;                                                           \
          for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k)                        \
            if (kept(reinterpret_cast<const Number<T>*>(values)[k], limit))                      \
              kept_columns[at] = columns[k], kept_values[at++] = values[k];                      \
        }                                                                                        \
        kept_offsets[m] = at + base;                                                             \
      });                                                                                        \
    });                                                                                          \
  }
AW_FOUR(AW_CONVERSIONS)
