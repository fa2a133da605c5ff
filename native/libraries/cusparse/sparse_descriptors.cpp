// cuSPARSE, generic API: descriptors of sparse matrices.
#include "libraries/cusparse/descriptors.h"

using namespace aw::cusparse;

AW_EXPORT cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* descr, int64_t rows,
                                             int64_t cols, int64_t nnz, void* offsets,
                                             void* indices, void* values,
                                             cusparseIndexType_t offset_type,
                                             cusparseIndexType_t type, cusparseIndexBase_t base,
                                             cudaDataType value_type) {
  return api<"cusparseCreateCsr">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_CSR, rows, cols, nnz, offsets, indices, values, offset_type,
                    type, base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* descr, int64_t rows,
                                             int64_t cols, int64_t nnz, void* offsets,
                                             void* indices, void* values,
                                             cusparseIndexType_t offset_type,
                                             cusparseIndexType_t type, cusparseIndexBase_t base,
                                             cudaDataType value_type) {
  return api<"cusparseCreateCsc">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_CSC, rows, cols, nnz, offsets, indices, values, offset_type,
                    type, base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* descr, int64_t rows,
                                             int64_t cols, int64_t nnz, void* row_indices,
                                             void* indices, void* values, cusparseIndexType_t type,
                                             cusparseIndexBase_t base, cudaDataType value_type) {
  return api<"cusparseCreateCoo">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_COO, rows, cols, nnz, row_indices, indices, values, type, type,
                    base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* descr, int64_t brows,
                                             int64_t bcols, int64_t bnnz, int64_t block_rows,
                                             int64_t block_cols, void* offsets, void* indices,
                                             void* values, cusparseIndexType_t offset_type,
                                             cusparseIndexType_t type, cusparseIndexBase_t base,
                                             cudaDataType value_type, cusparseOrder_t order) {
  return api<"cusparseCreateBsr">([&] {
    require(descr && block_rows > 0 && block_cols > 0 &&
            (order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW));
    auto* made = matrix(CUSPARSE_FORMAT_BSR, brows, bcols, bnnz, offsets, indices, values,
                        offset_type, type, base, value_type);
    made->rows = brows * block_rows, made->cols = bcols * block_cols,
    made->nnz = bnnz * block_rows * block_cols;
    made->block_rows = block_rows, made->block_cols = block_cols, made->order = order;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateSlicedEll(
    cusparseSpMatDescr_t* descr, int64_t rows, int64_t cols, int64_t nnz, int64_t stored,
    int64_t slice, void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,
    cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value_type) {
  return api<"cusparseCreateSlicedEll">([&] {
    require(descr && slice > 0 && stored >= nnz);
    auto* made = matrix(CUSPARSE_FORMAT_SLICED_ELLPACK, rows, cols, nnz, offsets, indices, values,
                        offset_type, type, base, value_type);
    made->slice = slice, made->stored = stored;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateBlockedEll(cusparseSpMatDescr_t* descr, int64_t rows,
                                                    int64_t cols, int64_t block, int64_t ell_cols,
                                                    void* indices, void* values,
                                                    cusparseIndexType_t type,
                                                    cusparseIndexBase_t base,
                                                    cudaDataType value_type) {
  return api<"cusparseCreateBlockedEll">([&] {
    require(descr && block > 0 && ell_cols >= 0 && ell_cols <= cols && rows % block == 0 &&
            cols % block == 0 && ell_cols % block == 0);
    auto* made = matrix(CUSPARSE_FORMAT_BLOCKED_ELL, rows, cols, rows * ell_cols, nullptr, indices,
                        values, type, type, base, value_type);
    made->block_rows = made->block_cols = block, made->ell_cols = ell_cols;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t descr, int64_t* rows, int64_t* cols,
                                          int64_t* nnz, void** offsets, void** indices,
                                          void** values, cusparseIndexType_t* offset_type,
                                          cusparseIndexType_t* type, cusparseIndexBase_t* base,
                                          cudaDataType* value_type) {
  return api<"cusparseCsrGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_CSR);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(offsets, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(offset_type, m.offset_type), tell(type, m.index_type), tell(base, m.base),
        tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t descr, int64_t* rows, int64_t* cols,
                                          int64_t* nnz, void** offsets, void** indices,
                                          void** values, cusparseIndexType_t* offset_type,
                                          cusparseIndexType_t* type, cusparseIndexBase_t* base,
                                          cudaDataType* value_type) {
  return api<"cusparseCscGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_CSC);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(offsets, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(offset_type, m.offset_type), tell(type, m.index_type), tell(base, m.base),
        tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t descr, int64_t* rows, int64_t* cols,
                                          int64_t* nnz, void** row_indices, void** indices,
                                          void** values, cusparseIndexType_t* type,
                                          cusparseIndexBase_t* base, cudaDataType* value_type) {
  return api<"cusparseCooGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_COO);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(row_indices, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseBlockedEllGet(cusparseSpMatDescr_t descr, int64_t* rows,
                                                 int64_t* cols, int64_t* block, int64_t* ell_cols,
                                                 void** indices, void** values,
                                                 cusparseIndexType_t* type,
                                                 cusparseIndexBase_t* base,
                                                 cudaDataType* value_type) {
  return api<"cusparseBlockedEllGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_BLOCKED_ELL);
    tell(rows, m.rows), tell(cols, m.cols), tell(block, m.block_rows), tell(ell_cols, m.ell_cols),
        tell(indices, m.indices), tell(values, m.values);
    tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t descr, void** values) {
  return api<"cusparseSpMatGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstCsr(
    cusparseConstSpMatDescr_t* descr, int64_t rows, int64_t cols, int64_t nnz, const void* offsets,
    const void* indices, const void* values, cusparseIndexType_t offset_type,
    cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value_type) {
  return api<"cusparseCreateConstCsr">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_CSR, rows, cols, nnz, offsets, indices, values, offset_type,
                    type, base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstCsc(
    cusparseConstSpMatDescr_t* descr, int64_t rows, int64_t cols, int64_t nnz, const void* offsets,
    const void* indices, const void* values, cusparseIndexType_t offset_type,
    cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType value_type) {
  return api<"cusparseCreateConstCsc">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_CSC, rows, cols, nnz, offsets, indices, values, offset_type,
                    type, base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t* descr, int64_t rows,
                                                  int64_t cols, int64_t nnz,
                                                  const void* row_indices, const void* indices,
                                                  const void* values, cusparseIndexType_t type,
                                                  cusparseIndexBase_t base,
                                                  cudaDataType value_type) {
  return api<"cusparseCreateConstCoo">([&] {
    require(descr);
    *descr = matrix(CUSPARSE_FORMAT_COO, rows, cols, nnz, row_indices, indices, values, type, type,
                    base, value_type);
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstBsr(
    cusparseConstSpMatDescr_t* descr, int64_t brows, int64_t bcols, int64_t bnnz,
    int64_t block_rows, int64_t block_cols, const void* offsets, const void* indices,
    const void* values, cusparseIndexType_t offset_type, cusparseIndexType_t type,
    cusparseIndexBase_t base, cudaDataType value_type, cusparseOrder_t order) {
  return api<"cusparseCreateConstBsr">([&] {
    require(descr && block_rows > 0 && block_cols > 0 &&
            (order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW));
    auto* made = matrix(CUSPARSE_FORMAT_BSR, brows, bcols, bnnz, offsets, indices, values,
                        offset_type, type, base, value_type);
    made->rows = brows * block_rows, made->cols = bcols * block_cols,
    made->nnz = bnnz * block_rows * block_cols;
    made->block_rows = block_rows, made->block_cols = block_cols, made->order = order;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstSlicedEll(
    cusparseConstSpMatDescr_t* descr, int64_t rows, int64_t cols, int64_t nnz, int64_t stored,
    int64_t slice, const void* offsets, const void* indices, const void* values,
    cusparseIndexType_t offset_type, cusparseIndexType_t type, cusparseIndexBase_t base,
    cudaDataType value_type) {
  return api<"cusparseCreateConstSlicedEll">([&] {
    require(descr && slice > 0 && stored >= nnz);
    auto* made = matrix(CUSPARSE_FORMAT_SLICED_ELLPACK, rows, cols, nnz, offsets, indices, values,
                        offset_type, type, base, value_type);
    made->slice = slice, made->stored = stored;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstBlockedEll(
    cusparseConstSpMatDescr_t* descr, int64_t rows, int64_t cols, int64_t block, int64_t ell_cols,
    const void* indices, const void* values, cusparseIndexType_t type, cusparseIndexBase_t base,
    cudaDataType value_type) {
  return api<"cusparseCreateConstBlockedEll">([&] {
    require(descr && block > 0 && ell_cols >= 0 && ell_cols <= cols && rows % block == 0 &&
            cols % block == 0 && ell_cols % block == 0);
    auto* made = matrix(CUSPARSE_FORMAT_BLOCKED_ELL, rows, cols, rows * ell_cols, nullptr, indices,
                        values, type, type, base, value_type);
    made->block_rows = made->block_cols = block, made->ell_cols = ell_cols;
    *descr = made;
  });
}

AW_EXPORT cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t descr, int64_t* rows,
                                               int64_t* cols, int64_t* nnz, const void** offsets,
                                               const void** indices, const void** values,
                                               cusparseIndexType_t* offset_type,
                                               cusparseIndexType_t* type, cusparseIndexBase_t* base,
                                               cudaDataType* value_type) {
  return api<"cusparseConstCsrGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_CSR);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(offsets, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(offset_type, m.offset_type), tell(type, m.index_type), tell(base, m.base),
        tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t descr, int64_t* rows,
                                               int64_t* cols, int64_t* nnz, const void** offsets,
                                               const void** indices, const void** values,
                                               cusparseIndexType_t* offset_type,
                                               cusparseIndexType_t* type, cusparseIndexBase_t* base,
                                               cudaDataType* value_type) {
  return api<"cusparseConstCscGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_CSC);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(offsets, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(offset_type, m.offset_type), tell(type, m.index_type), tell(base, m.base),
        tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t descr, int64_t* rows,
                                               int64_t* cols, int64_t* nnz,
                                               const void** row_indices, const void** indices,
                                               const void** values, cusparseIndexType_t* type,
                                               cusparseIndexBase_t* base,
                                               cudaDataType* value_type) {
  return api<"cusparseConstCooGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_COO);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz), tell(row_indices, m.offsets),
        tell(indices, m.indices), tell(values, m.values);
    tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstBlockedEllGet(
    cusparseConstSpMatDescr_t descr, int64_t* rows, int64_t* cols, int64_t* block,
    int64_t* ell_cols, const void** indices, const void** values, cusparseIndexType_t* type,
    cusparseIndexBase_t* base, cudaDataType* value_type) {
  return api<"cusparseConstBlockedEllGet">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_BLOCKED_ELL);
    tell(rows, m.rows), tell(cols, m.cols), tell(block, m.block_rows), tell(ell_cols, m.ell_cols),
        tell(indices, m.indices), tell(values, m.values);
    tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t descr,
                                                       const void** values) {
  return api<"cusparseConstSpMatGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t descr, void* values) {
  return api<"cusparseSpMatSetValues">([&] {
    require(descr && values);
    descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t descr) {
  return api<"cusparseDestroySpMat">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t descr, void* offsets,
                                                  void* indices, void* values) {
  return api<"cusparseCsrSetPointers">([&] {
    of_format(descr, CUSPARSE_FORMAT_CSR);
    descr->offsets = offsets, descr->indices = indices, descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t descr, void* offsets,
                                                  void* indices, void* values) {
  return api<"cusparseCscSetPointers">([&] {
    of_format(descr, CUSPARSE_FORMAT_CSC);
    descr->offsets = offsets, descr->indices = indices, descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t descr, void* offsets,
                                                  void* indices, void* values) {
  return api<"cusparseCooSetPointers">([&] {
    of_format(descr, CUSPARSE_FORMAT_COO);
    descr->offsets = offsets, descr->indices = indices, descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t descr,
                                                  cusparseFormat_t* format) {
  return api<"cusparseSpMatGetFormat">([&] { tell(format, use(descr).format); });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t descr,
                                                     cusparseIndexBase_t* base) {
  return api<"cusparseSpMatGetIndexBase">([&] { tell(base, use(descr).base); });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t descr, int64_t* rows,
                                                int64_t* cols, int64_t* nnz) {
  return api<"cusparseSpMatGetSize">([&] {
    auto m = use(descr);
    tell(rows, m.rows), tell(cols, m.cols), tell(nnz, m.nnz);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t descr,
                                                        int* batches) {
  return api<"cusparseSpMatGetStridedBatch">([&] { tell(batches, use(descr).batches); });
}

AW_EXPORT cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t descr, int batches,
                                                      int64_t stride) {
  return api<"cusparseCooSetStridedBatch">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_COO);
    require(batches > 0 && (stride == 0 || stride >= m.nnz));
    descr->batches = batches,
    descr->offset_stride = descr->index_stride = descr->value_stride = stride;
  });
}

AW_EXPORT cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t descr, int batches,
                                                      int64_t offsets, int64_t columns_and_values) {
  return api<"cusparseCsrSetStridedBatch">([&] {
    auto& m = of_format(descr, CUSPARSE_FORMAT_CSR);
    require(batches > 0 && (offsets == 0 || offsets > m.rows) &&
            (columns_and_values == 0 || columns_and_values >= m.nnz));
    descr->batches = batches, descr->offset_stride = offsets,
    descr->index_stride = descr->value_stride = columns_and_values;
  });
}

AW_EXPORT cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t descr, int batches,
                                                      int64_t offsets, int64_t columns,
                                                      int64_t values) {
  return api<"cusparseBsrSetStridedBatch">([&] {
    of_format(descr, CUSPARSE_FORMAT_BSR);
    require(batches > 0 && offsets >= 0 && columns >= 0 && values >= 0);
    descr->batches = batches, descr->offset_stride = offsets, descr->index_stride = columns,
    descr->value_stride = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t descr,
                                                     cusparseSpMatAttribute_t attribute, void* data,
                                                     size_t bytes) {
  return api<"cusparseSpMatSetAttribute">([&] {
    require(descr && data && bytes == sizeof(int));
    int value = *static_cast<int*>(data);
    require(value >= 0 && value <= 2);
    switch (static_cast<int>(attribute)) {
      case CUSPARSE_SPMAT_FILL_MODE:
        require(value <= 1);
        descr->fill = static_cast<cusparseFillMode_t>(value);
        return;
      case CUSPARSE_SPMAT_DIAG_TYPE:
        require(value <= 1);
        descr->diagonal = static_cast<cusparseDiagType_t>(value);
        return;
      case 2:  // CUSPARSE_SPMAT_STORAGE
        descr->storage = value;
        return;
      case 3:  // CUSPARSE_SPMAT_SYMMETRY_TYPE
        descr->symmetry = value;
        return;
      default:
        require(false);
    }
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t descr,
                                                     cusparseSpMatAttribute_t attribute, void* data,
                                                     size_t bytes) {
  return api<"cusparseSpMatGetAttribute">([&] {
    auto m = use(descr);
    require(data && bytes == sizeof(int) && attribute >= 0 && static_cast<int>(attribute) <= 3);
    const int values[] = {m.fill, m.diagonal, m.storage, m.symmetry};
    *static_cast<int*>(data) = values[attribute];
  });
}
