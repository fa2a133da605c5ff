// cuSPARSE: descriptors of matrices by rows (cusparseMatDescr_t), which cuSOLVER's sparse solvers
// take as well.
#include <cusparse.h>

#include "libraries/api.h"

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

AW_EXPORT cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* made) {
  return aw::lib::call<cusparseStatus_t, "cusparseCreateMatDescr">([&] {
    aw::lib::require(made);
    *made = new cusparseMatDescr;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
  return aw::lib::call<cusparseStatus_t, "cusparseDestroyMatDescr">([&] { delete descriptor; });
}

// As documented, a getter answers with the value itself.
#define AW_PROPERTY(name, type, field, last)                                                \
  AW_EXPORT cusparseStatus_t cusparseSet##name(cusparseMatDescr_t descriptor, type value) { \
    return aw::lib::call<cusparseStatus_t, "cusparseSet" #name>([&] {                       \
      aw::lib::require(descriptor && value <= last);                                        \
      descriptor->field = value;                                                            \
    });                                                                                     \
  }                                                                                         \
  AW_EXPORT type cusparseGet##name(const cusparseMatDescr_t descriptor) {                   \
    return descriptor ? descriptor->field : type{};                                         \
  }
AW_PROPERTY(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
AW_PROPERTY(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
AW_PROPERTY(MatDiagType, cusparseDiagType_t, diagonal, CUSPARSE_DIAG_TYPE_UNIT)
AW_PROPERTY(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)
#undef AW_PROPERTY
