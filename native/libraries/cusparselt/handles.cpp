// cuSPARSELt: its handle, its descriptors and their attributes.
#include "libraries/cusparselt/matrices.h"

using namespace aw::structured;
using aw::lib::require;
using aw::lib::unsupported;

namespace {

Matrix described(int64_t rows, int64_t cols, int64_t ld, cudaDataType type, cusparseOrder_t order) {
  require(rows > 0 && cols > 0);
  require(order == CUSPARSE_ORDER_ROW || order == CUSPARSE_ORDER_COL);
  require(ld >= (order == CUSPARSE_ORDER_ROW ? cols : rows));
  type_of(type);
  return {rows, cols, ld,    order == CUSPARSE_ORDER_ROW ? rows * ld : cols * ld,
          1,    type, order, false};
}

// An attribute is read or written as the bytes that it has.
template <class T>
void give(const T& value, void* data, size_t size) {
  require(data && size == sizeof(T));
  std::memcpy(data, &value, sizeof(T));
}

template <class T>
void take(T& value, const void* data, size_t size) {
  require(data && size == sizeof(T));
  std::memcpy(&value, data, sizeof(T));
}

// What cannot be changed here may be set to what it is.
template <class T>
void only(T value, const void* data, size_t size, const char* what) {
  T wanted{};
  take(wanted, data, size);
  if (wanted != value) unsupported(what);
}

template <class Visit>
void attribute(Multiplication& of, cusparseLtMatmulDescAttribute_t which, Visit visit) {
  switch (which) {
    case CUSPARSELT_MATMUL_ACTIVATION_RELU:
      return visit(of.relu);
    case CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND:
      return visit(of.relu_bound);
    case CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD:
      return visit(of.relu_threshold);
    case CUSPARSELT_MATMUL_ACTIVATION_GELU:
      return visit(of.gelu);
    case CUSPARSELT_MATMUL_ALPHA_VECTOR_SCALING:
      return visit(of.alpha_vector);
    case CUSPARSELT_MATMUL_BIAS_POINTER:
      return visit(of.bias);
    case CUSPARSELT_MATMUL_BIAS_STRIDE:
      return visit(of.bias_stride);
    default:
      unsupported("attribute " + std::to_string(which) + " of a product");
  }
}

template <class Visit>
void attribute(Matrix& of, cusparseLtMatDescAttribute_t which, Visit visit) {
  if (which == CUSPARSELT_MAT_NUM_BATCHES) return visit(of.batches);
  require(which == CUSPARSELT_MAT_BATCH_STRIDE);
  visit(of.stride);
}

template <class Visit>
void attribute(Algorithm& of, cusparseLtMatmulAlgAttribute_t which, Visit visit) {
  switch (which) {
    case CUSPARSELT_MATMUL_ALG_CONFIG_ID:
      return visit(of.config);
    case CUSPARSELT_MATMUL_SEARCH_ITERATIONS:
      return visit(of.iterations);
    case CUSPARSELT_MATMUL_SPLIT_K:
      return visit(of.split);
    case CUSPARSELT_MATMUL_SPLIT_K_MODE:
      return visit(of.split_mode);
    case CUSPARSELT_MATMUL_SPLIT_K_BUFFERS:
      return visit(of.split_buffers);
    default:
      require(false);
  }
}

template <class Kept, class Descriptor, class Which>
void set(Descriptor* place, Which which, const void* data, size_t size) {
  Kept kept = get<Kept>(place);
  attribute(kept, which, [&](auto& value) { take(value, data, size); });
  put(place, kept);
}

template <class Kept, class Descriptor, class Which>
void ask(const Descriptor* place, Which which, void* data, size_t size) {
  Kept kept = get<Kept>(place);
  attribute(kept, which, [&](auto& value) { give(value, data, size); });
}

bool is_operation(cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE;
}

int64_t rows_of(const Matrix& matrix, cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? matrix.rows : matrix.cols;
}
int64_t cols_of(const Matrix& matrix, cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? matrix.cols : matrix.rows;
}

void check_shapes(const Multiplication& it) {
  const int64_t m = rows_of(it.a, it.op_a), k = cols_of(it.a, it.op_a), n = cols_of(it.b, it.op_b);
  require(rows_of(it.b, it.op_b) == k && it.a.structured != it.b.structured);
  for (const Matrix* each : {&it.c, &it.d}) require(each->rows == m && each->cols == n);
  require(it.c.order == it.d.order && it.a.batches == it.d.batches &&
          it.b.batches == it.d.batches && it.c.batches == it.d.batches);
  require(it.a.type == it.b.type, CUSPARSE_STATUS_NOT_SUPPORTED);
  const bool whole = it.a.type == CUDA_R_8I;
  require(whole == (it.compute == CUSPARSE_COMPUTE_32I), CUSPARSE_STATUS_NOT_SUPPORTED);
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseLtInit(cusparseLtHandle_t* handle) {
  return api<"cusparseLtInit">(
      [&] {
        require(handle);
        aw::lib::ensure_context();
        put(handle, Handle{});
      },
      handle);
}

AW_EXPORT cusparseStatus_t cusparseLtDestroy(const cusparseLtHandle_t* handle) {
  return api<"cusparseLtDestroy">([&] { check_handle(handle); }, handle);
}

AW_EXPORT cusparseStatus_t cusparseLtGetVersion(const cusparseLtHandle_t* handle, int* version) {
  return api<"cusparseLtGetVersion">(
      [&] {
        check_handle(handle);
        require(version);
        const auto& own = aw::lib::version;
        *version = own.major * 1000000 + own.minor * 100 + own.patch;
      },
      handle, version);
}

AW_EXPORT cusparseStatus_t cusparseLtGetProperty(libraryPropertyType type, int* value) {
  return api<"cusparseLtGetProperty">(
      [&] {
        require(value && type >= MAJOR_VERSION && type <= PATCH_LEVEL);
        const auto& own = aw::lib::version;
        *value = type == MAJOR_VERSION ? own.major : type == MINOR_VERSION ? own.minor : own.patch;
      },
      type, value);
}

namespace {

struct Said {
  cusparseStatus_t status;
  const char *name, *words;
};
constexpr Said kSaid[] = {
    {CUSPARSE_STATUS_SUCCESS, "CUSPARSE_STATUS_SUCCESS", "success"},
    {CUSPARSE_STATUS_NOT_INITIALIZED, "CUSPARSE_STATUS_NOT_INITIALIZED", "not initialized"},
    {CUSPARSE_STATUS_ALLOC_FAILED, "CUSPARSE_STATUS_ALLOC_FAILED", "no memory"},
    {CUSPARSE_STATUS_INVALID_VALUE, "CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {CUSPARSE_STATUS_ARCH_MISMATCH, "CUSPARSE_STATUS_ARCH_MISMATCH", "not on this architecture"},
    {CUSPARSE_STATUS_EXECUTION_FAILED, "CUSPARSE_STATUS_EXECUTION_FAILED", "failed while it ran"},
    {CUSPARSE_STATUS_INTERNAL_ERROR, "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {CUSPARSE_STATUS_NOT_SUPPORTED, "CUSPARSE_STATUS_NOT_SUPPORTED", "not supported"},
    {CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
     "insufficient resources"},
};

const Said& said(cusparseStatus_t status) {
  for (const Said& each : kSaid)
    if (each.status == status) return each;
  static constexpr Said unknown{{}, "unknown", "unknown error"};
  return unknown;
}

}  // namespace

AW_EXPORT const char* cusparseLtGetErrorName(cusparseStatus_t status) { return said(status).name; }
AW_EXPORT const char* cusparseLtGetErrorString(cusparseStatus_t status) {
  return said(status).words;
}

AW_EXPORT cusparseStatus_t cusparseLtDenseDescriptorInit(const cusparseLtHandle_t* handle,
                                                         cusparseLtMatDescriptor_t* matrix,
                                                         int64_t rows, int64_t cols, int64_t ld,
                                                         uint32_t alignment, cudaDataType type,
                                                         cusparseOrder_t order) {
  return api<"cusparseLtDenseDescriptorInit">(
      [&] {
        check_handle(handle);
        put(matrix, described(rows, cols, ld, type, order));
      },
      handle, matrix, rows, cols, ld, alignment, type, order);
}

AW_EXPORT cusparseStatus_t cusparseLtStructuredDescriptorInit(
    const cusparseLtHandle_t* handle, cusparseLtMatDescriptor_t* matrix, int64_t rows, int64_t cols,
    int64_t ld, uint32_t alignment, cudaDataType type, cusparseOrder_t order,
    cusparseLtSparsity_t sparsity) {
  return api<"cusparseLtStructuredDescriptorInit">(
      [&] {
        check_handle(handle);
        require(sparsity == CUSPARSELT_SPARSITY_50_PERCENT);
        Matrix made = described(rows, cols, ld, type, order);
        made.structured = true;
        put(matrix, made);
      },
      handle, matrix, rows, cols, ld, alignment, type, order, sparsity);
}

AW_EXPORT cusparseStatus_t cusparseLtMatDescriptorDestroy(const cusparseLtMatDescriptor_t* matrix) {
  return api<"cusparseLtMatDescriptorDestroy">([&] { get<Matrix>(matrix); }, matrix);
}

AW_EXPORT cusparseStatus_t cusparseLtMatDescSetAttribute(const cusparseLtHandle_t* handle,
                                                         cusparseLtMatDescriptor_t* matrix,
                                                         cusparseLtMatDescAttribute_t which,
                                                         const void* data, size_t size) {
  return api<"cusparseLtMatDescSetAttribute">(
      [&] {
        check_handle(handle);
        set<Matrix>(matrix, which, data, size);
        require(get<Matrix>(matrix).batches > 0);
      },
      handle, matrix, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatDescGetAttribute(const cusparseLtHandle_t* handle,
                                                         const cusparseLtMatDescriptor_t* matrix,
                                                         cusparseLtMatDescAttribute_t which,
                                                         void* data, size_t size) {
  return api<"cusparseLtMatDescGetAttribute">(
      [&] {
        check_handle(handle);
        ask<Matrix>(matrix, which, data, size);
      },
      handle, matrix, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulDescriptorInit(
    const cusparseLtHandle_t* handle, cusparseLtMatmulDescriptor_t* product,
    cusparseOperation_t op_a, cusparseOperation_t op_b, const cusparseLtMatDescriptor_t* a,
    const cusparseLtMatDescriptor_t* b, const cusparseLtMatDescriptor_t* c,
    const cusparseLtMatDescriptor_t* d, cusparseComputeType compute) {
  return api<"cusparseLtMatmulDescriptorInit">(
      [&] {
        check_handle(handle);
        require(is_operation(op_a) && is_operation(op_b));
        Multiplication made;
        made.op_a = op_a, made.op_b = op_b, made.compute = compute;
        made.a = get<Matrix>(a), made.b = get<Matrix>(b);
        made.c = get<Matrix>(c), made.d = get<Matrix>(d);
        check_shapes(made);
        put(product, made);
      },
      handle, product, op_a, op_b, a, b, c, d, compute);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulDescSetAttribute(const cusparseLtHandle_t* handle,
                                                            cusparseLtMatmulDescriptor_t* product,
                                                            cusparseLtMatmulDescAttribute_t which,
                                                            const void* data, size_t size) {
  return api<"cusparseLtMatmulDescSetAttribute">(
      [&] {
        check_handle(handle);
        if (which == CUSPARSELT_MATMUL_ACTIVATION_GELU_SCALING)
          return only(1.0f, data, size, "a scale of GELU");
        if (which == CUSPARSELT_MATMUL_BETA_VECTOR_SCALING)
          return only(0, data, size, "a vector of beta");
        if (which == CUSPARSELT_MATMUL_SPARSE_MAT_POINTER)
          return;  // a hint for searches, of which there are none
        if (which >= CUSPARSELT_MATMUL_A_SCALE_MODE && which <= CUSPARSELT_MATMUL_D_OUT_SCALE_MODE)
          return only(CUSPARSELT_MATMUL_SCALE_NONE, data, size, "a scale of a matrix");
        set<Multiplication>(product, which, data, size);
      },
      handle, product, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulDescGetAttribute(
    const cusparseLtHandle_t* handle, const cusparseLtMatmulDescriptor_t* product,
    cusparseLtMatmulDescAttribute_t which, void* data, size_t size) {
  return api<"cusparseLtMatmulDescGetAttribute">(
      [&] {
        check_handle(handle);
        ask<Multiplication>(product, which, data, size);
      },
      handle, product, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulAlgSelectionInit(
    const cusparseLtHandle_t* handle, cusparseLtMatmulAlgSelection_t* chosen,
    const cusparseLtMatmulDescriptor_t* product, cusparseLtMatmulAlg_t alg) {
  return api<"cusparseLtMatmulAlgSelectionInit">(
      [&] {
        check_handle(handle);
        get<Multiplication>(product);
        require(alg == CUSPARSELT_MATMUL_ALG_DEFAULT);
        put(chosen, Algorithm{});
      },
      handle, chosen, product, alg);
}

AW_EXPORT cusparseStatus_t
cusparseLtMatmulAlgSelectionDestroy(const cusparseLtMatmulAlgSelection_t* chosen) {
  return api<"cusparseLtMatmulAlgSelectionDestroy">([&] { get<Algorithm>(chosen); }, chosen);
}

// There is one algorithm, whose sums have one order: of how it might be divided nothing is kept but
// what was set.
AW_EXPORT cusparseStatus_t cusparseLtMatmulAlgSetAttribute(const cusparseLtHandle_t* handle,
                                                           cusparseLtMatmulAlgSelection_t* chosen,
                                                           cusparseLtMatmulAlgAttribute_t which,
                                                           const void* data, size_t size) {
  return api<"cusparseLtMatmulAlgSetAttribute">(
      [&] {
        check_handle(handle);
        Algorithm wanted = get<Algorithm>(chosen);
        attribute(wanted, which, [&](auto& value) { take(value, data, size); });
        require(wanted.config == 0);
        put(chosen, wanted);
      },
      handle, chosen, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulAlgGetAttribute(
    const cusparseLtHandle_t* handle, const cusparseLtMatmulAlgSelection_t* chosen,
    cusparseLtMatmulAlgAttribute_t which, void* data, size_t size) {
  return api<"cusparseLtMatmulAlgGetAttribute">(
      [&] {
        check_handle(handle);
        if (which == CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID) return give(int32_t{1}, data, size);
        ask<Algorithm>(chosen, which, data, size);
      },
      handle, chosen, which, data, size);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulPlanInit(const cusparseLtHandle_t* handle,
                                                    cusparseLtMatmulPlan_t* plan,
                                                    const cusparseLtMatmulDescriptor_t* product,
                                                    const cusparseLtMatmulAlgSelection_t* chosen) {
  return api<"cusparseLtMatmulPlanInit">(
      [&] {
        check_handle(handle);
        get<Algorithm>(chosen);
        const Plan made{get<Multiplication>(product)};
        sparse_of(made.of);
        put(plan, made);
      },
      handle, plan, product, chosen);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulPlanDestroy(const cusparseLtMatmulPlan_t* plan) {
  return api<"cusparseLtMatmulPlanDestroy">([&] { get<Plan>(plan); }, plan);
}

AW_EXPORT cusparseStatus_t cusparseLtMatmulGetWorkspace(const cusparseLtHandle_t* handle,
                                                        const cusparseLtMatmulPlan_t* plan,
                                                        size_t* size) {
  return api<"cusparseLtMatmulGetWorkspace">(
      [&] {
        check_handle(handle);
        get<Plan>(plan);
        require(size);
        *size = 0;
      },
      handle, plan, size);
}
