// cuSPARSE, generic API: SpMM.
#include "libraries/cusparse/products.h"

using namespace aw::cusparse;

namespace {

void check(cusparseOperation_t op_a, cusparseOperation_t op_b, const SpMat& a, const DnMat& b,
           const DnMat& c) {
  is_operation(op_a), is_operation(op_b), computable(a);
  bool turned = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  require(rows_of(a, op_a) == c.rows && cols_of(a, op_a) == (turned ? b.cols : b.rows) &&
          (turned ? b.rows : b.cols) == c.cols);
  require((a.batches == 1 || a.batches == c.batches) && (b.batches == 1 || b.batches == c.batches));
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseSpMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void*, cusparseDnMatDescr_t c,
    cudaDataType compute, cusparseSpMMAlg_t, size_t* bytes) {
  return api<"cusparseSpMM_bufferSize">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
    with_types(a->type, b->type, c->type, compute, [](auto) {});
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void*, cusparseDnMatDescr_t c,
    cudaDataType, cusparseSpMMAlg_t, void*) {
  return api<"cusparseSpMM_preprocess">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                        cusparseOperation_t op_b, const void* alpha,
                                        cusparseConstSpMatDescr_t mat_a,
                                        cusparseConstDnMatDescr_t mat_b, const void* beta,
                                        cusparseDnMatDescr_t mat_c, cudaDataType compute,
                                        cusparseSpMMAlg_t, void*) {
  return api<"cusparseSpMM">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    auto c = use(mat_c);
    check(op_a, op_b, a, b, c);
    with_types(a.type, b.type, c.type, compute,
               [&]<class A, class X, class Y, class K>(Types<A, X, Y, K>) {
                 multiply<A, X, Y, K>(context, "cusparseSpMM", a, op_a, Scalar<K>(context, alpha),
                                      b, op_b, Scalar<K>(context, beta), c);
               });
  });
}
