// cuSPARSE, generic API: descriptors of vectors and dense matrices.
#include "libraries/cusparse/descriptors.h"

using namespace aw::cusparse;

AW_EXPORT cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* descr, int64_t size,
                                               void* values, cudaDataType type) {
  return api<"cusparseCreateDnVec">([&] {
    require(descr && size >= 0);
    size_of(type);
    *descr = new DnVec{size, const_cast<void*>(static_cast<const void*>(values)), type};
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* descr, int64_t size,
                                               int64_t nnz, void* indices, void* values,
                                               cusparseIndexType_t type, cusparseIndexBase_t base,
                                               cudaDataType value_type) {
  return api<"cusparseCreateSpVec">([&] {
    require(descr && size >= 0 && nnz >= 0 && nnz <= size);
    index_type(type), index_base(base), size_of(value_type);
    *descr = new SpVec{size,
                       nnz,
                       const_cast<void*>(static_cast<const void*>(indices)),
                       const_cast<void*>(static_cast<const void*>(values)),
                       type,
                       base,
                       value_type};
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* descr, int64_t rows,
                                               int64_t cols, int64_t ld, void* values,
                                               cudaDataType type, cusparseOrder_t order) {
  return api<"cusparseCreateDnMat">([&] {
    require(descr && rows >= 0 && cols >= 0 &&
            (order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW));
    require(ld >= (order == CUSPARSE_ORDER_COL ? rows : cols));
    size_of(type);
    *descr =
        new DnMat{rows, cols, ld, const_cast<void*>(static_cast<const void*>(values)), type, order};
  });
}

AW_EXPORT cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t descr, int64_t* size,
                                            void** values, cudaDataType* type) {
  return api<"cusparseDnVecGet">([&] {
    auto m = use(descr);
    tell(size, m.size), tell(values, m.values), tell(type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t descr, int64_t* rows,
                                            int64_t* cols, int64_t* ld, void** values,
                                            cudaDataType* type, cusparseOrder_t* order) {
  return api<"cusparseDnMatGet">([&] {
    auto m = use(descr);
    tell(rows, m.rows), tell(cols, m.cols), tell(ld, m.ld), tell(values, m.values),
        tell(type, m.type), tell(order, m.order);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t descr, int64_t* size, int64_t* nnz,
                                            void** indices, void** values,
                                            cusparseIndexType_t* type, cusparseIndexBase_t* base,
                                            cudaDataType* value_type) {
  return api<"cusparseSpVecGet">([&] {
    auto m = use(descr);
    tell(size, m.size), tell(nnz, m.nnz), tell(indices, m.indices), tell(values, m.values),
        tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t descr, void** values) {
  return api<"cusparseDnVecGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t descr, void** values) {
  return api<"cusparseDnMatGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t descr, void** values) {
  return api<"cusparseSpVecGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* descr, int64_t size,
                                                    const void* values, cudaDataType type) {
  return api<"cusparseCreateConstDnVec">([&] {
    require(descr && size >= 0);
    size_of(type);
    *descr = new DnVec{size, const_cast<void*>(static_cast<const void*>(values)), type};
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t* descr, int64_t size,
                                                    int64_t nnz, const void* indices,
                                                    const void* values, cusparseIndexType_t type,
                                                    cusparseIndexBase_t base,
                                                    cudaDataType value_type) {
  return api<"cusparseCreateConstSpVec">([&] {
    require(descr && size >= 0 && nnz >= 0 && nnz <= size);
    index_type(type), index_base(base), size_of(value_type);
    *descr = new SpVec{size,
                       nnz,
                       const_cast<void*>(static_cast<const void*>(indices)),
                       const_cast<void*>(static_cast<const void*>(values)),
                       type,
                       base,
                       value_type};
  });
}

AW_EXPORT cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* descr, int64_t rows,
                                                    int64_t cols, int64_t ld, const void* values,
                                                    cudaDataType type, cusparseOrder_t order) {
  return api<"cusparseCreateConstDnMat">([&] {
    require(descr && rows >= 0 && cols >= 0 &&
            (order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW));
    require(ld >= (order == CUSPARSE_ORDER_COL ? rows : cols));
    size_of(type);
    *descr =
        new DnMat{rows, cols, ld, const_cast<void*>(static_cast<const void*>(values)), type, order};
  });
}

AW_EXPORT cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t descr, int64_t* size,
                                                 const void** values, cudaDataType* type) {
  return api<"cusparseConstDnVecGet">([&] {
    auto m = use(descr);
    tell(size, m.size), tell(values, m.values), tell(type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t descr, int64_t* rows,
                                                 int64_t* cols, int64_t* ld, const void** values,
                                                 cudaDataType* type, cusparseOrder_t* order) {
  return api<"cusparseConstDnMatGet">([&] {
    auto m = use(descr);
    tell(rows, m.rows), tell(cols, m.cols), tell(ld, m.ld), tell(values, m.values),
        tell(type, m.type), tell(order, m.order);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t descr, int64_t* size,
                                                 int64_t* nnz, const void** indices,
                                                 const void** values, cusparseIndexType_t* type,
                                                 cusparseIndexBase_t* base,
                                                 cudaDataType* value_type) {
  return api<"cusparseConstSpVecGet">([&] {
    auto m = use(descr);
    tell(size, m.size), tell(nnz, m.nnz), tell(indices, m.indices), tell(values, m.values),
        tell(type, m.index_type), tell(base, m.base), tell(value_type, m.type);
  });
}

AW_EXPORT cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t descr,
                                                       const void** values) {
  return api<"cusparseConstDnVecGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t descr,
                                                       const void** values) {
  return api<"cusparseConstDnMatGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t descr,
                                                       const void** values) {
  return api<"cusparseConstSpVecGetValues">([&] { tell(values, use(descr).values); });
}

AW_EXPORT cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t descr, void* values) {
  return api<"cusparseDnVecSetValues">([&] {
    require(descr && values);
    descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t descr) {
  return api<"cusparseDestroyDnVec">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t descr, void* values) {
  return api<"cusparseDnMatSetValues">([&] {
    require(descr && values);
    descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t descr) {
  return api<"cusparseDestroyDnMat">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t descr, void* values) {
  return api<"cusparseSpVecSetValues">([&] {
    require(descr && values);
    descr->values = values;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t descr) {
  return api<"cusparseDestroySpVec">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t descr,
                                                     cusparseIndexBase_t* base) {
  return api<"cusparseSpVecGetIndexBase">([&] { tell(base, use(descr).base); });
}

AW_EXPORT cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t descr, int batches,
                                                        int64_t stride) {
  return api<"cusparseDnMatSetStridedBatch">([&] {
    auto m = use(descr);
    require(batches > 0 &&
            (stride == 0 || stride >= m.ld * (m.order == CUSPARSE_ORDER_COL ? m.cols : m.rows)));
    descr->batches = batches, descr->batch_stride = stride;
  });
}

AW_EXPORT cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t descr,
                                                        int* batches, int64_t* stride) {
  return api<"cusparseDnMatGetStridedBatch">(
      [&] { tell(batches, use(descr).batches), tell(stride, use(descr).batch_stride); });
}
