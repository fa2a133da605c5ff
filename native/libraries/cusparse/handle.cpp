// cuSPARSE: management and helper functions.
#include "libraries/cusparse/sparse.h"

using namespace aw::cusparse;

AW_EXPORT cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  return api<"cusparseCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cusparseContext{kMagic};
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return api<"cusparseDestroy">([&] {
    use(handle).magic = 0;
    delete handle;
  });
}

AW_EXPORT cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return api<"cusparseGetVersion">([&] {
    use(handle);
    require(version);
    *version = CUSPARSE_VERSION;
  });
}

AW_EXPORT cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  return api<"cusparseGetProperty">([&] {
    require(value && type <= PATCH_LEVEL);
    const int parts[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    *value = parts[type];
  });
}

AW_EXPORT cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return api<"cusparseSetStream">([&] { use(handle).stream = stream; });
}

AW_EXPORT cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return api<"cusparseGetStream">([&] {
    auto& it = use(handle);
    require(stream);
    *stream = it.stream;
  });
}

AW_EXPORT cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                                  cusparsePointerMode_t mode) {
  return api<"cusparseSetPointerMode">([&] {
    auto& it = use(handle);
    require(mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE);
    it.pointer_mode = mode;
  });
}

AW_EXPORT cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle,
                                                  cusparsePointerMode_t* mode) {
  return api<"cusparseGetPointerMode">([&] {
    auto& it = use(handle);
    require(mode);
    *mode = it.pointer_mode;
  });
}

AW_EXPORT const char* cusparseGetErrorName(cusparseStatus_t status) {
  switch (status) {
#define AW_CASE(code) \
  case code:          \
    return #code
    AW_CASE(CUSPARSE_STATUS_SUCCESS);
    AW_CASE(CUSPARSE_STATUS_NOT_INITIALIZED);
    AW_CASE(CUSPARSE_STATUS_ALLOC_FAILED);
    AW_CASE(CUSPARSE_STATUS_INVALID_VALUE);
    AW_CASE(CUSPARSE_STATUS_ARCH_MISMATCH);
    AW_CASE(CUSPARSE_STATUS_MAPPING_ERROR);
    AW_CASE(CUSPARSE_STATUS_EXECUTION_FAILED);
    AW_CASE(CUSPARSE_STATUS_INTERNAL_ERROR);
    AW_CASE(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
    AW_CASE(CUSPARSE_STATUS_ZERO_PIVOT);
    AW_CASE(CUSPARSE_STATUS_NOT_SUPPORTED);
    AW_CASE(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
#undef AW_CASE
  }
  return "unrecognized error code";
}

AW_EXPORT const char* cusparseGetErrorString(cusparseStatus_t status) {
  switch (status) {
    case CUSPARSE_STATUS_SUCCESS:
      return "success";
    case CUSPARSE_STATUS_NOT_INITIALIZED:
      return "initialization error";
    case CUSPARSE_STATUS_ALLOC_FAILED:
      return "out of memory";
    case CUSPARSE_STATUS_INVALID_VALUE:
      return "invalid value";
    case CUSPARSE_STATUS_ARCH_MISMATCH:
      return "architecture mismatch";
    case CUSPARSE_STATUS_MAPPING_ERROR:
      return "texture mapping error";
    case CUSPARSE_STATUS_EXECUTION_FAILED:
      return "execution failed";
    case CUSPARSE_STATUS_INTERNAL_ERROR:
      return "internal error";
    case CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      return "matrix type not supported";
    case CUSPARSE_STATUS_ZERO_PIVOT:
      return "zero pivot";
    case CUSPARSE_STATUS_NOT_SUPPORTED:
      return "operation not supported";
    case CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
      return "insufficient resources";
  }
  return "unrecognized error code";
}

AW_EXPORT cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descr) {
  return api<"cusparseCreateMatDescr">([&] {
    require(descr);
    *descr = new cusparseMatDescr;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) {
  return api<"cusparseDestroyMatDescr">([&] { delete descr; });
}

#define AW_ATTRIBUTE(Name, Type, field, last)                                          \
  AW_EXPORT cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t descr, Type value) { \
    return api<"cusparseSet" #Name>([&] {                                              \
      require(descr && value >= 0 && value <= last);                                   \
      descr->field = value;                                                            \
    });                                                                                \
  }                                                                                    \
  AW_EXPORT Type cusparseGet##Name(const cusparseMatDescr_t descr) {                   \
    return descr ? descr->field : cusparseMatDescr().field;                            \
  }

AW_ATTRIBUTE(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
AW_ATTRIBUTE(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
AW_ATTRIBUTE(MatDiagType, cusparseDiagType_t, diagonal, CUSPARSE_DIAG_TYPE_UNIT)
AW_ATTRIBUTE(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)

AW_LOGGER(cusparse, cusparseStatus_t)

namespace aw::cusparse {

size_t size_of(cudaDataType type) {
  return with_stored(type, [](auto value) { return sizeof value; });
}

void computable(const SpMat& m) {
  if (m.format == CUSPARSE_FORMAT_BLOCKED_ELL)
    unsupported("computing with a matrix in the format Blocked-ELL");
  if (m.storage != 0) unsupported("a matrix of which one triangle is stored");
}

}  // namespace aw::cusparse
