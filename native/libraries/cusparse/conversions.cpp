// cuSPARSE: conversions between formats without blocks, and sorting. These functions have 32-bit
// indices.
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
template <class T>
void permute(T* array, int first, const std::vector<int>& order) {
  if (!array) return;
  std::vector<T> sorted;
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

template <class T>
bool kept(T value, T tolerance) {
  return magnitude(value) > real(tolerance);
}

void sizes(int m, int n, int nnz) { require(m >= 0 && n >= 0 && nnz >= 0); }

}  // namespace

// Where the entries of sorted rows were before: found when the work runs.
struct csru2csrInfo {
  std::shared_ptr<std::vector<int>> order;
  int nnz = 0;
};

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

AW_EXPORT cusparseStatus_t cusparseCreateCsru2csrInfo(csru2csrInfo_t* info) {
  return api<"cusparseCreateCsru2csrInfo">([&] {
    require(info);
    *info = new csru2csrInfo;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyCsru2csrInfo(csru2csrInfo_t info) {
  return api<"cusparseDestroyCsru2csrInfo">([&] { delete info; });
}

#define AW_UNSORTED(L, T)                                                                         \
  AW_EXPORT cusparseStatus_t cusparse##L##csru2csr_bufferSizeExt(                                 \
      cusparseHandle_t handle, int m, int n, int nnz, T*, const int*, int*, csru2csrInfo_t info,  \
      size_t* bytes) {                                                                            \
    return api<"cusparse" #L "csru2csr_bufferSizeExt">([&] {                                      \
      use(handle), sizes(m, n, nnz);                                                              \
      require(info);                                                                              \
      no_buffer(bytes);                                                                           \
    });                                                                                           \
  }                                                                                               \
  AW_EXPORT cusparseStatus_t cusparse##L##csru2csr(                                               \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descr, T* values,  \
      const int* offsets, int* columns, csru2csrInfo_t info, void*) {                             \
    return api<"cusparse" #L "csru2csr">([&] {                                                    \
      auto& context = use(handle);                                                                \
      sizes(m, n, nnz);                                                                           \
      int base = use_general(descr).base;                                                         \
      require(info && offsets && (columns || !nnz));                                              \
      auto all = std::make_shared<std::vector<int>>();                                            \
      info->order = all, info->nnz = nnz;                                                         \
      submit(context, "cusparse" #L "csru2csr", [=] {                                             \
        all->clear();                                                                             \
        for (int i = 0; i < m; ++i) {                                                             \
          int first = offsets[i] - base;                                                          \
          auto order = order_of(first, offsets[i + 1] - base, [&](int k) { return columns[k]; }); \
          permute(values, first, order), permute(columns, first, order);                          \
          all->insert(all->end(), order.begin(), order.end());                                    \
        }                                                                                         \
      });                                                                                         \
    });                                                                                           \
  }                                                                                               \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2csru(                                               \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descr, T* values,  \
      const int* offsets, int* columns, csru2csrInfo_t info, void*) {                             \
    return api<"cusparse" #L "csr2csru">([&] {                                                    \
      auto& context = use(handle);                                                                \
      sizes(m, n, nnz);                                                                           \
      use_general(descr);                                                                         \
      require(info && info->order && info->nnz == nnz && offsets && (columns || !nnz));           \
      submit(context, "cusparse" #L "csr2csru", [=, all = info->order] {                          \
        std::vector<int> back(all->size());                                                       \
        for (size_t k = 0; k < all->size(); ++k)                                                  \
          back[static_cast<size_t>((*all)[k])] = static_cast<int>(k);                             \
        permute(values, 0, back), permute(columns, 0, back);                                      \
      });                                                                                         \
    });                                                                                           \
  }
AW_FOUR(AW_UNSORTED)

#define AW_CONVERSIONS(L, T)                                                                  \
  AW_EXPORT cusparseStatus_t cusparse##L##nnz(                                                \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                   \
      const cusparseMatDescr_t descr, const T* a, int lda, int* per_line, int* total) {       \
    return api<"cusparse" #L "nnz">([&] {                                                     \
      auto& context = use(handle);                                                            \
      use_general(descr);                                                                     \
      require(m >= 0 && n >= 0 && lda >= std::max(1, m) && per_line && total);                \
      auto sum = std::make_shared<int>();                                                     \
      bool by_rows = direction == CUSPARSE_DIRECTION_ROW;                                     \
      submit(context, "cusparse" #L "nnz", [=] {                                              \
        auto* from = reinterpret_cast<const Number<T>*>(a);                                   \
        std::fill_n(per_line, by_rows ? m : n, 0);                                            \
        *sum = 0;                                                                             \
        for (int64_t j = 0; j < n; ++j)                                                       \
          for (int64_t i = 0; i < m; ++i)                                                     \
            if (!(from[i + j * lda] == Number<T>{})) ++per_line[by_rows ? i : j], ++*sum;     \
      });                                                                                     \
      give(context, total, sum, "cusparse" #L "nnz");                                         \
    });                                                                                       \
  }                                                                                           \
  AW_EXPORT cusparseStatus_t cusparse##L##nnz_compress(                                       \
      cusparseHandle_t handle, int m, const cusparseMatDescr_t descr, const T* values,        \
      const int* offsets, int* per_row, int* total, T tolerance) {                            \
    return api<"cusparse" #L "nnz_compress">([&] {                                            \
      auto& context = use(handle);                                                            \
      auto limit = *reinterpret_cast<const Number<T>*>(&tolerance);                           \
      int base = use_general(descr).base;                                                     \
      require(m >= 0 && offsets && per_row && total && real(limit) >= 0);                     \
      auto sum = std::make_shared<int>();                                                     \
      submit(context, "cusparse" #L "nnz_compress", [=] {                                     \
        *sum = 0;                                                                             \
        for (int r = 0; r < m; ++r) {                                                         \
          per_row[r] = 0;                                                                     \
          for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k)                     \
            per_row[r] += kept(reinterpret_cast<const Number<T>*>(values)[k], limit);         \
          *sum += per_row[r];                                                                 \
        }                                                                                     \
      });                                                                                     \
      give(context, total, sum, "cusparse" #L "nnz_compress");                                \
    });                                                                                       \
  }                                                                                           \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2csr_compress(                                   \
      cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descr, const T* values, \
      const int* columns, const int* offsets, int nnz, const int* per_row, T* kept_values,    \
      int* kept_columns, int* kept_offsets, T tolerance) {                                    \
    return api<"cusparse" #L "csr2csr_compress">([&] {                                        \
      auto& context = use(handle);                                                            \
      auto limit = *reinterpret_cast<const Number<T>*>(&tolerance);                           \
      int base = use_general(descr).base;                                                     \
      require(m >= 0 && n >= 0 && nnz >= 0 && offsets && per_row && kept_offsets &&           \
              real(limit) >= 0);                                                              \
      submit(context, "cusparse" #L "csr2csr_compress", [=] {                                 \
        int at = 0;                                                                           \
        for (int r = 0; r < m; ++r) {                                                         \
          kept_offsets[r] = at + base;                                                        \
          for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k)                     \
            if (kept(reinterpret_cast<const Number<T>*>(values)[k], limit))                   \
              kept_columns[at] = columns[k], kept_values[at++] = values[k];                   \
        }                                                                                     \
        kept_offsets[m] = at + base;                                                          \
      });                                                                                     \
    });                                                                                       \
  }
AW_FOUR(AW_CONVERSIONS)
