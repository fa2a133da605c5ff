// cuSPARSE, generic API: between sparse and dense matrices, and SDDMM.
#include <atomic>

#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

void fit(const SpMat& a, const DnMat& b) {
  computable(a);
  require(a.rows == b.rows && a.cols == b.cols && a.type == b.type);
}

template <class S>
bool is_zero(const S& value) {
  if constexpr (std::is_same_v<S, aw::formats::Half> || std::is_same_v<S, aw::formats::Brain>)
    return (value.bits & 0x7fff) == 0;
  else
    return value == S{};
}

// What is not zero, by rows or columns: the offsets, and how many there are in all.
template <class S>
int64_t count(const DnMat& a, const SpMat& b) {
  bool by_columns = b.format == CUSPARSE_FORMAT_CSC;
  auto from = dense_of<const S>(
      a, by_columns ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE);
  std::vector<int64_t> counts(static_cast<size_t>(from.rows));
  in_pieces(from.rows, 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < from.cols; ++j)
        counts[static_cast<size_t>(i)] += !is_zero(from(i, j));
  });
  int64_t sum = 0;
  bool offsets = b.format != CUSPARSE_FORMAT_COO;
  for (int64_t i = 0; i < from.rows; ++i) {
    if (offsets) set_index(b.offsets, b.offset_type, i, sum + b.base);
    sum += counts[static_cast<size_t>(i)];
  }
  if (offsets) set_index(b.offsets, b.offset_type, from.rows, sum + b.base);
  return sum;
}

template <class S>
void convert(const DnMat& a, const SpMat& b) {
  bool by_columns = b.format == CUSPARSE_FORMAT_CSC;
  auto from = dense_of<const S>(
      a, by_columns ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE);
  auto* values = static_cast<S*>(b.values);
  int64_t at = 0;
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.cols; ++j) {
      if (is_zero(from(i, j))) continue;
      if (b.format == CUSPARSE_FORMAT_COO) set_index(b.offsets, b.offset_type, at, i + b.base);
      set_index(b.indices, b.index_type, at, j + b.base);
      values[at++] = from(i, j);
    }
}

void convertible(const DnMat& a, const SpMat& b) {
  fit(b, a);
  if (b.format != CUSPARSE_FORMAT_CSR && b.format != CUSPARSE_FORMAT_CSC &&
      b.format != CUSPARSE_FORMAT_COO)
    unsupported("making a sparse matrix in the format " + std::to_string(b.format) +
                " of a dense one");
}

void check(cusparseOperation_t op_a, cusparseOperation_t op_b, const DnMat& a, const DnMat& b,
           const SpMat& c) {
  is_operation(op_a), is_operation(op_b), computable(c);
  bool turned_a = op_a != CUSPARSE_OPERATION_NON_TRANSPOSE,
       turned_b = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  require((turned_a ? a.cols : a.rows) == c.rows && (turned_b ? b.rows : b.cols) == c.cols &&
          (turned_a ? a.rows : a.cols) == (turned_b ? b.cols : b.rows));
  require((a.batches == 1 || a.batches == c.batches) && (b.batches == 1 || b.batches == c.batches));
  if (c.format != CUSPARSE_FORMAT_CSR && c.format != CUSPARSE_FORMAT_BSR)
    unsupported("SDDMM into a matrix in the format " + std::to_string(c.format));
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                            cusparseConstSpMatDescr_t a,
                                                            cusparseDnMatDescr_t b,
                                                            cusparseSparseToDenseAlg_t,
                                                            size_t* bytes) {
  return api<"cusparseSparseToDense_bufferSize">([&] {
    use(handle);
    fit(use(a), use(b));
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle,
                                                 cusparseConstSpMatDescr_t mat_a,
                                                 cusparseDnMatDescr_t mat_b,
                                                 cusparseSparseToDenseAlg_t, void*) {
  return api<"cusparseSparseToDense">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    fit(a, b);
    with_stored(a.type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseSparseToDense", [=] {
        auto to = dense_of<S>(b, CUSPARSE_OPERATION_NON_TRANSPOSE);
        bool by_rows = b.order == CUSPARSE_ORDER_ROW;
        for (int64_t i = 0; i < (by_rows ? b.rows : b.cols); ++i)
          std::fill_n(to.values + i * b.ld, by_rows ? b.cols : b.rows, S{});
        for_entries(a, 0, [&](int64_t r, int64_t c, int64_t k) {
          to(r, c) = static_cast<const S*>(a.values)[k];
        });
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                            cusparseConstDnMatDescr_t a,
                                                            cusparseSpMatDescr_t b,
                                                            cusparseDenseToSparseAlg_t,
                                                            size_t* bytes) {
  return api<"cusparseDenseToSparse_bufferSize">([&] {
    use(handle);
    convertible(use(a), use(b));
    no_buffer(bytes);
  });
}

// The descriptor gets the number of what is not zero, for which it waits; where a stream is
// captured, only the offsets are written.
AW_EXPORT cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                          cusparseConstDnMatDescr_t mat_a,
                                                          cusparseSpMatDescr_t mat_b,
                                                          cusparseDenseToSparseAlg_t, void*) {
  return api<"cusparseDenseToSparse_analysis">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    convertible(a, b);
    auto found = std::make_shared<std::atomic<int64_t>>(-1);
    with_stored(a.type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseDenseToSparse_analysis", [=] { *found = count<S>(a, b); });
    });
    CUstreamCaptureStatus status;
    require(cuStreamIsCapturing(context.stream, &status) == CUDA_SUCCESS,
            CUSPARSE_STATUS_EXECUTION_FAILED);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE) return;
    wait(context);
    mat_b->nnz = *found;
  });
}

AW_EXPORT cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
                                                         cusparseConstDnMatDescr_t mat_a,
                                                         cusparseSpMatDescr_t mat_b,
                                                         cusparseDenseToSparseAlg_t, void*) {
  return api<"cusparseDenseToSparse_convert">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    convertible(a, b);
    with_stored(a.type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseDenseToSparse_convert", [=] { convert<S>(a, b); });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSDDMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void*, cusparseSpMatDescr_t c,
    cudaDataType, cusparseSDDMMAlg_t, size_t* bytes) {
  return api<"cusparseSDDMM_bufferSize">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSDDMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void*, cusparseSpMatDescr_t c,
    cudaDataType, cusparseSDDMMAlg_t, void*) {
  return api<"cusparseSDDMM_preprocess">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
  });
}

AW_EXPORT cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void* alpha,
                                         cusparseConstDnMatDescr_t mat_a,
                                         cusparseConstDnMatDescr_t mat_b, const void* beta,
                                         cusparseSpMatDescr_t mat_c, cudaDataType compute,
                                         cusparseSDDMMAlg_t, void*) {
  return api<"cusparseSDDMM">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    auto c = use(mat_c);
    check(op_a, op_b, a, b, c);
    with_types(a.type, b.type, c.type, compute,
               [&]<class A, class X, class Y, class K>(Types<A, X, Y, K>) {
                 Scalar<K> times(context, alpha), by(context, beta);
                 submit(context, "cusparseSDDMM", [=] {
                   K factor = times(), old = by();
                   bool turn_a = op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
                        turn_b = op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
                   for (int64_t batch = 0; batch < c.batches; ++batch) {
                     auto left = dense_of<const A>(a, op_a, a.batches > 1 ? batch : 0);
                     auto right = dense_of<const X>(b, op_b, b.batches > 1 ? batch : 0);
                     auto* values = static_cast<Y*>(c.values) + batch * c.value_stride;
                     in_pieces(c.rows, 16, [&](int64_t first, int64_t last) {
                       for (int64_t r = first; r < last; ++r)
                         for_row(c, batch, r, [&](int64_t column, int64_t k) {
                           K sum{};
                           for (int64_t i = 0; i < left.cols; ++i) {
                             K one = load<K>(left(r, i)), other = load<K>(right(i, column));
                             sum += (turn_a ? conjugate(one) : one) *
                                    (turn_b ? conjugate(other) : other);
                           }
                           store(values[k], old == K{} ? factor * sum
                                                       : factor * sum + old * load<K>(values[k]));
                         });
                     });
                   }
                 });
               });
  });
}
