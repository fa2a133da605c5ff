// cuSPARSE, generic API: SpMV.
#include "libraries/cusparse/products.h"

using namespace aw::cusparse;

namespace {

void check(cusparseOperation_t op, const SpMat& a, const DnVec& x, const DnVec& y) {
  is_operation(op), computable(a);
  require(x.size == cols_of(a, op) && y.size == rows_of(a, op));
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                                   const void*, cusparseConstSpMatDescr_t a,
                                                   cusparseConstDnVecDescr_t x, const void*,
                                                   cusparseDnVecDescr_t y, cudaDataType compute,
                                                   cusparseSpMVAlg_t, size_t* bytes) {
  return api<"cusparseSpMV_bufferSize">([&] {
    use(handle);
    check(op, use(a), use(x), use(y));
    with_types(a->type, x->type, y->type, compute, [](auto) {});
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op,
                                                   const void*, cusparseConstSpMatDescr_t a,
                                                   cusparseConstDnVecDescr_t x, const void*,
                                                   cusparseDnVecDescr_t y, cudaDataType,
                                                   cusparseSpMVAlg_t, void*) {
  return api<"cusparseSpMV_preprocess">([&] {
    use(handle);
    check(op, use(a), use(x), use(y));
  });
}

AW_EXPORT cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op,
                                        const void* alpha, cusparseConstSpMatDescr_t mat_a,
                                        cusparseConstDnVecDescr_t vec_x, const void* beta,
                                        cusparseDnVecDescr_t vec_y, cudaDataType compute,
                                        cusparseSpMVAlg_t, void*) {
  return api<"cusparseSpMV">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto x = use(vec_x);
    auto y = use(vec_y);
    check(op, a, x, y);
    with_types(a.type, x.type, y.type, compute,
               [&]<class A, class X, class Y, class K>(Types<A, X, Y, K>) {
                 multiply<A, X, Y, K>(context, "cusparseSpMV", a, op, Scalar<K>(context, alpha),
                                      static_cast<const X*>(x.values), Scalar<K>(context, beta),
                                      static_cast<Y*>(y.values));
               });
  });
}
