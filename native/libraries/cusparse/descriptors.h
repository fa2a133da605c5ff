// Helpers of the functions that make and ask descriptors.
#pragma once

#include "libraries/cusparse/sparse.h"

namespace aw::cusparse {

inline void index_type(cusparseIndexType_t type) {
  require(
      type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I,
      type == CUSPARSE_INDEX_16U ? CUSPARSE_STATUS_NOT_SUPPORTED : CUSPARSE_STATUS_INVALID_VALUE);
}
inline void index_base(cusparseIndexBase_t base) {
  require(base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE);
}

inline SpMat* matrix(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz,
                     const void* offsets, const void* indices, const void* values,
                     cusparseIndexType_t offset_type, cusparseIndexType_t columns,
                     cusparseIndexBase_t base, cudaDataType type) {
  require(rows >= 0 && cols >= 0 && nnz >= 0);
  index_type(offset_type), index_type(columns), index_base(base);
  size_of(type);
  auto* out = new SpMat{};
  out->format = format, out->rows = rows, out->cols = cols, out->nnz = nnz;
  out->offsets = const_cast<void*>(offsets), out->indices = const_cast<void*>(indices),
  out->values = const_cast<void*>(values);
  out->offset_type = offset_type, out->index_type = columns, out->base = base, out->type = type;
  return out;
}

template <class T, class U>
void tell(T* place, U value) {
  require(place != nullptr);
  *place = static_cast<T>(value);
}

inline const SpMat& of_format(const cusparseSpMatDescr* m, cusparseFormat_t format) {
  require(m && m->format == format);
  return *m;
}

}  // namespace aw::cusparse
