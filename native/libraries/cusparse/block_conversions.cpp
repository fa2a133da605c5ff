// cuSPARSE: conversions from, to and between matrices of blocks, square (BSR) and others (GEBSR).
#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

struct Shape {
  int rows, cols;
  Shape(int row_dim, int col_dim) : rows(row_dim), cols(col_dim) {
    require(row_dim > 0 && col_dim > 0);
  }
};

// The blocks of a row of blocks in which there are entries, in order.
std::vector<int> blocks_of(const SpMat& a, Shape block, int64_t row) {
  std::vector<int> out;
  for (int64_t r = row * block.rows; r < std::min(a.rows, (row + 1) * block.rows); ++r)
    for_row(a, r, [&](int64_t c, int64_t) {
      int column = static_cast<int>(c / block.cols);
      if (out.empty() || out.back() != column) out.push_back(column);
    });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void count_blocks(const cusparseContext& context, const char* name, const SpMat& a, Shape block,
                  int base, int* offsets, int* total) {
  require(offsets && total);
  auto sum = std::make_shared<int>();
  submit(context, name, [=] {
    offsets[0] = base;
    int64_t rows = (a.rows + block.rows - 1) / block.rows;
    for (int64_t row = 0; row < rows; ++row)
      offsets[row + 1] = offsets[row] + static_cast<int>(blocks_of(a, block, row).size());
    *sum = offsets[rows] - base;
  });
  give(context, total, sum, name);
}

template <class T>
void to_blocks(const cusparseContext& context, const char* name, const SpMat& a,
               cusparseDirection_t direction, Shape block, int base, T* stored, const int* offsets,
               int* indices) {
  require(direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);
  submit(context, name, [=] {
    auto* values = reinterpret_cast<Number<T>*>(stored);
    in_pieces((a.rows + block.rows - 1) / block.rows, 16, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        auto known = blocks_of(a, block, row);
        int64_t begin = offsets[row] - base, size = int64_t{block.rows} * block.cols;
        std::fill_n(values + begin * size, static_cast<int64_t>(known.size()) * size, Number<T>{});
        for (size_t i = 0; i < known.size(); ++i)
          indices[begin + static_cast<int64_t>(i)] = known[i] + base;
        for (int64_t r = row * block.rows; r < std::min(a.rows, (row + 1) * block.rows); ++r)
          for_row(a, r, [&](int64_t c, int64_t k) {
            auto at =
                std::lower_bound(known.begin(), known.end(), static_cast<int>(c / block.cols));
            int64_t i = r % block.rows, j = c % block.cols;
            values[(begin + (at - known.begin())) * size + (direction == CUSPARSE_DIRECTION_ROW
                                                                ? i * block.cols + j
                                                                : j * block.rows + i)] =
                static_cast<const Number<T>*>(a.values)[k];
          });
      }
    });
  });
}

// Every element of a block becomes an entry.
template <class T>
void to_rows(const cusparseContext& context, const char* name, const SpMat& a, int base, T* values,
             int* offsets, int* columns) {
  submit(context, name, [=] {
    int at = 0;
    for (int64_t r = 0; r < a.rows; ++r) {
      offsets[r] = at + base;
      for_row(a, r, [&](int64_t c, int64_t k) {
        columns[at] = static_cast<int>(c) + base;
        if constexpr (!std::is_void_v<T>) values[at] = static_cast<const T*>(a.values)[k];
        ++at;
      });
    }
    offsets[a.rows] = at + base;
  });
}

// As csr2csc, with blocks in the place of numbers: what is in a block stays where it is.
template <class T>
void transpose_blocks(int mb, int nb, int base, int64_t size, const T* values, const int* offsets,
                      const int* columns, bool numeric, T* out_values, int* rows,
                      int* out_offsets) {
  std::vector<int> next(static_cast<size_t>(nb) + 1);
  for (int k = 0; k < offsets[mb] - base; ++k) ++next[static_cast<size_t>(columns[k] - base) + 1];
  for (size_t c = 0; c < static_cast<size_t>(nb); ++c) next[c + 1] += next[c];
  for (size_t c = 0; c <= static_cast<size_t>(nb); ++c) out_offsets[c] = next[c] + base;
  for (int r = 0; r < mb; ++r)
    for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k) {
      int at = next[static_cast<size_t>(columns[k] - base)]++;
      rows[at] = r + base;
      if (numeric) std::copy_n(values + k * size, size, out_values + at * size);
    }
}

void sizes(int m, int n, int nnz = 0) { require(m >= 0 && n >= 0 && nnz >= 0); }

void buffer(int* bytes) {
  require(bytes != nullptr);
  *bytes = 16;
}
void buffer(size_t* bytes) { no_buffer(bytes); }

}  // namespace

AW_EXPORT cusparseStatus_t cusparseXcsr2bsrNnz(cusparseHandle_t handle, cusparseDirection_t, int m,
                                               int n, const cusparseMatDescr_t descr_a,
                                               const int* offsets, const int* columns, int block,
                                               const cusparseMatDescr_t descr_c, int* bsr_offsets,
                                               int* total) {
  return api<"cusparseXcsr2bsrNnz">([&] {
    auto& context = use(handle);
    sizes(m, n);
    count_blocks(
        context, "cusparseXcsr2bsrNnz",
        older<void>(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), nullptr, offsets, columns),
        {block, block}, use_general(descr_c).base, bsr_offsets, total);
  });
}

AW_EXPORT cusparseStatus_t cusparseXcsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t,
                                                 int m, int n, const cusparseMatDescr_t descr_a,
                                                 const int* offsets, const int* columns,
                                                 const cusparseMatDescr_t descr_c, int* bsr_offsets,
                                                 int row_dim, int col_dim, int* total, void*) {
  return api<"cusparseXcsr2gebsrNnz">([&] {
    auto& context = use(handle);
    sizes(m, n);
    count_blocks(
        context, "cusparseXcsr2gebsrNnz",
        older<void>(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), nullptr, offsets, columns),
        {row_dim, col_dim}, use_general(descr_c).base, bsr_offsets, total);
  });
}

AW_EXPORT cusparseStatus_t cusparseXgebsr2gebsrNnz(
    cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb, int nnzb,
    const cusparseMatDescr_t descr_a, const int* offsets, const int* columns, int row_dim_a,
    int col_dim_a, const cusparseMatDescr_t descr_c, int* offsets_c, int row_dim_c, int col_dim_c,
    int* total, void*) {
  return api<"cusparseXgebsr2gebsrNnz">([&] {
    auto& context = use(handle);
    sizes(mb, nb, nnzb);
    count_blocks(context, "cusparseXgebsr2gebsrNnz",
                 blocks(direction, mb, nb, nnzb, use_general(descr_a),
                        static_cast<const float*>(nullptr), offsets, columns, row_dim_a, col_dim_a),
                 {row_dim_c, col_dim_c}, use_general(descr_c).base, offsets_c, total);
  });
}

AW_EXPORT cusparseStatus_t cusparseXgebsr2csr(cusparseHandle_t handle,
                                              cusparseDirection_t direction, int mb, int nb,
                                              const cusparseMatDescr_t descr_a, const int* offsets,
                                              const int* columns, int row_dim, int col_dim,
                                              const cusparseMatDescr_t descr_c, int* csr_offsets,
                                              int* csr_columns) {
  return api<"cusparseXgebsr2csr">([&] {
    auto& context = use(handle);
    sizes(mb, nb);
    to_rows<void>(context, "cusparseXgebsr2csr",
                  blocks(direction, mb, nb, 0, use_general(descr_a),
                         static_cast<const float*>(nullptr), offsets, columns, row_dim, col_dim),
                  use_general(descr_c).base, nullptr, csr_offsets, csr_columns);
  });
}

#define AW_BUFFERS(L, T, Suffix, Bytes)                                                           \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2gebsr_##Suffix(                                     \
      cusparseHandle_t handle, cusparseDirection_t, int m, int n, const cusparseMatDescr_t descr, \
      const T*, const int*, const int*, int row_dim, int col_dim, Bytes* bytes) {                 \
    return api<"cusparse" #L "csr2gebsr_" #Suffix>([&] {                                          \
      use(handle), use_general(descr), sizes(m, n), Shape(row_dim, col_dim), buffer(bytes);       \
    });                                                                                           \
  }                                                                                               \
  AW_EXPORT cusparseStatus_t cusparse##L##gebsr2gebsc_##Suffix(                                   \
      cusparseHandle_t handle, int mb, int nb, int nnzb, const T*, const int*, const int*,        \
      int row_dim, int col_dim, Bytes* bytes) {                                                   \
    return api<"cusparse" #L "gebsr2gebsc_" #Suffix>(                                             \
        [&] { use(handle), sizes(mb, nb, nnzb), Shape(row_dim, col_dim), buffer(bytes); });       \
  }                                                                                               \
  AW_EXPORT cusparseStatus_t cusparse##L##gebsr2gebsr_##Suffix(                                   \
      cusparseHandle_t handle, cusparseDirection_t, int mb, int nb, int nnzb,                     \
      const cusparseMatDescr_t descr, const T*, const int*, const int*, int row_dim_a,            \
      int col_dim_a, int row_dim_c, int col_dim_c, Bytes* bytes) {                                \
    return api<"cusparse" #L "gebsr2gebsr_" #Suffix>([&] {                                        \
      use(handle), use_general(descr), sizes(mb, nb, nnzb), Shape(row_dim_a, col_dim_a);          \
      Shape(row_dim_c, col_dim_c), buffer(bytes);                                                 \
    });                                                                                           \
  }

#define AW_BLOCK_CONVERSIONS(L, T)                                                                 \
  AW_BUFFERS(L, T, bufferSize, int)                                                                \
  AW_BUFFERS(L, T, bufferSizeExt, size_t)                                                          \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2bsr(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                        \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns,   \
      int block, const cusparseMatDescr_t descr_c, T* bsr_values, int* bsr_offsets,                \
      int* bsr_columns) {                                                                          \
    return api<"cusparse" #L "csr2bsr">([&] {                                                      \
      auto& context = use(handle);                                                                 \
      sizes(m, n);                                                                                 \
      to_blocks(                                                                                   \
          context, "cusparse" #L "csr2bsr",                                                        \
          older(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), values, offsets, columns),     \
          direction, {block, block}, use_general(descr_c).base, bsr_values, bsr_offsets,           \
          bsr_columns);                                                                            \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##csr2gebsr(                                               \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                        \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns,   \
      const cusparseMatDescr_t descr_c, T* bsr_values, int* bsr_offsets, int* bsr_columns,         \
      int row_dim, int col_dim, void*) {                                                           \
    return api<"cusparse" #L "csr2gebsr">([&] {                                                    \
      auto& context = use(handle);                                                                 \
      sizes(m, n);                                                                                 \
      to_blocks(                                                                                   \
          context, "cusparse" #L "csr2gebsr",                                                      \
          older(CUSPARSE_FORMAT_CSR, m, n, 0, use_general(descr_a), values, offsets, columns),     \
          direction, {row_dim, col_dim}, use_general(descr_c).base, bsr_values, bsr_offsets,       \
          bsr_columns);                                                                            \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##gebsr2gebsr(                                             \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb, int nnzb,            \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns,   \
      int row_dim_a, int col_dim_a, const cusparseMatDescr_t descr_c, T* values_c, int* offsets_c, \
      int* columns_c, int row_dim_c, int col_dim_c, void*) {                                       \
    return api<"cusparse" #L "gebsr2gebsr">([&] {                                                  \
      auto& context = use(handle);                                                                 \
      sizes(mb, nb, nnzb);                                                                         \
      to_blocks(context, "cusparse" #L "gebsr2gebsr",                                              \
                blocks(direction, mb, nb, nnzb, use_general(descr_a), values, offsets, columns,    \
                       row_dim_a, col_dim_a),                                                      \
                direction, {row_dim_c, col_dim_c}, use_general(descr_c).base, values_c, offsets_c, \
                columns_c);                                                                        \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##bsr2csr(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb,                      \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns,   \
      int block, const cusparseMatDescr_t descr_c, T* csr_values, int* csr_offsets,                \
      int* csr_columns) {                                                                          \
    return api<"cusparse" #L "bsr2csr">([&] {                                                      \
      auto& context = use(handle);                                                                 \
      sizes(mb, nb);                                                                               \
      to_rows(context, "cusparse" #L "bsr2csr",                                                    \
              blocks(direction, mb, nb, 0, use_general(descr_a), values, offsets, columns, block), \
              use_general(descr_c).base, csr_values, csr_offsets, csr_columns);                    \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##gebsr2csr(                                               \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb,                      \
      const cusparseMatDescr_t descr_a, const T* values, const int* offsets, const int* columns,   \
      int row_dim, int col_dim, const cusparseMatDescr_t descr_c, T* csr_values, int* csr_offsets, \
      int* csr_columns) {                                                                          \
    return api<"cusparse" #L "gebsr2csr">([&] {                                                    \
      auto& context = use(handle);                                                                 \
      sizes(mb, nb);                                                                               \
      to_rows(context, "cusparse" #L "gebsr2csr",                                                  \
              blocks(direction, mb, nb, 0, use_general(descr_a), values, offsets, columns,         \
                     row_dim, col_dim),                                                            \
              use_general(descr_c).base, csr_values, csr_offsets, csr_columns);                    \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##gebsr2gebsc(                                             \
      cusparseHandle_t handle, int mb, int nb, int nnzb, const T* values, const int* offsets,      \
      const int* columns, int row_dim, int col_dim, T* bsc_values, int* bsc_rows,                  \
      int* bsc_offsets, cusparseAction_t action, cusparseIndexBase_t base, void*) {                \
    return api<"cusparse" #L "gebsr2gebsc">([&] {                                                  \
      auto& context = use(handle);                                                                 \
      sizes(mb, nb, nnzb);                                                                         \
      Shape block(row_dim, col_dim);                                                               \
      require((action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC) &&         \
              (base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE));              \
      submit(context, "cusparse" #L "gebsr2gebsc", [=] {                                           \
        transpose_blocks(mb, nb, base, int64_t{block.rows} * block.cols, values, offsets, columns, \
                         action == CUSPARSE_ACTION_NUMERIC, bsc_values, bsc_rows, bsc_offsets);    \
      });                                                                                          \
    });                                                                                            \
  }
AW_FOUR(AW_BLOCK_CONVERSIONS)
