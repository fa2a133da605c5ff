// cuSPARSE, generic API: SpSV and SpSM. The analysis takes the values, as documented;
// cusparseSpSV_updateMatrix brings others.
#include "libraries/cusparse/triangles.h"

struct cusparseSpSVDescr {
  cudaDataType type;
  std::shared_ptr<void> triangle;  // a shared_ptr<Triangle<K>>, which the analysis fills
};
struct cusparseSpSMDescr : cusparseSpSVDescr {};

using namespace aw::cusparse;

namespace {

template <class K>
using Place = std::unique_ptr<Triangle<K>>;

void check_matrix(cusparseOperation_t op, const SpMat& a, cudaDataType compute) {
  is_operation(op), computable(a);
  require(a.rows == a.cols);
  if (a.type != compute)
    unsupported("a triangular matrix of type " + std::to_string(a.type) + ", computed in " +
                std::to_string(compute));
  with_number(compute, [](auto) {});
}

void analyse(const cusparseContext& context, const char* name, const SpMat& a,
             cusparseOperation_t op, cusparseSpSVDescr* descr) {
  require(descr != nullptr);
  with_number(a.type, [&](auto number) {
    using K = decltype(number);
    auto place = std::make_shared<Place<K>>();
    descr->type = a.type, descr->triangle = place;
    submit(context, name, [=] { *place = std::make_unique<Triangle<K>>(a, op); });
  });
}

template <class K>
std::shared_ptr<Place<K>> analysed(const cusparseSpSVDescr* descr, cudaDataType type) {
  require(descr && descr->triangle && descr->type == type);
  return std::static_pointer_cast<Place<K>>(descr->triangle);
}

void update(const cusparseContext& context, const char* name, const cusparseSpSVDescr* descr,
            const void* values, bool whole) {
  require(descr && descr->triangle && values);
  with_number(descr->type, [&](auto number) {
    using K = decltype(number);
    auto place = analysed<K>(descr, descr->type);
    submit(context, name, [=] {
      auto* from = static_cast<const K*>(values);
      whole ? (*place)->update(from) : (*place)->update_diagonal(from);
    });
  });
}

void check_vectors(const SpMat& a, const DnVec& x, const DnVec& y) {
  require(x.size == a.rows && y.size == a.rows && x.type == a.type && y.type == a.type);
}

void check_matrices(cusparseOperation_t op_b, const SpMat& a, const DnMat& b, const DnMat& c) {
  is_operation(op_b);
  bool turned = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  require(c.rows == a.rows && (turned ? b.cols : b.rows) == a.rows &&
          (turned ? b.rows : b.cols) == c.cols);
  require(b.type == a.type && c.type == a.type);
}

}  // namespace

#define AW_DESCRIPTOR(Name)                                                                 \
  AW_EXPORT cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t* descr) { \
    return api<"cusparse" #Name "_createDescr">([&] {                                       \
      require(descr);                                                                       \
      *descr = new cusparse##Name##Descr{};                                                 \
    });                                                                                     \
  }                                                                                         \
  AW_EXPORT cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descr) { \
    return api<"cusparse" #Name "_destroyDescr">([&] { delete descr; });                    \
  }
AW_DESCRIPTOR(SpSV)
AW_DESCRIPTOR(SpSM)

AW_EXPORT cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                                   const void*, cusparseConstSpMatDescr_t a,
                                                   cusparseConstDnVecDescr_t x,
                                                   cusparseDnVecDescr_t y, cudaDataType compute,
                                                   cusparseSpSVAlg_t, cusparseSpSVDescr_t descr,
                                                   size_t* bytes) {
  return api<"cusparseSpSV_bufferSize">([&] {
    use(handle), require(descr);
    check_matrix(op, use(a), compute), check_vectors(*a, use(x), use(y));
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op,
                                                 const void*, cusparseConstSpMatDescr_t a,
                                                 cusparseConstDnVecDescr_t x,
                                                 cusparseDnVecDescr_t y, cudaDataType compute,
                                                 cusparseSpSVAlg_t, cusparseSpSVDescr_t descr,
                                                 void*) {
  return api<"cusparseSpSV_analysis">([&] {
    auto& context = use(handle);
    check_matrix(op, use(a), compute), check_vectors(*a, use(x), use(y));
    analyse(context, "cusparseSpSV_analysis", *a, op, descr);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                              const void* alpha, cusparseConstSpMatDescr_t a,
                                              cusparseConstDnVecDescr_t vec_x,
                                              cusparseDnVecDescr_t vec_y, cudaDataType compute,
                                              cusparseSpSVAlg_t, cusparseSpSVDescr_t descr) {
  return api<"cusparseSpSV_solve">([&] {
    auto& context = use(handle);
    auto x = use(vec_x);
    auto y = use(vec_y);
    check_matrix(op, use(a), compute), check_vectors(*a, x, y);
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> factor(context, alpha);
      submit(context, "cusparseSpSV_solve", [=, place = analysed<K>(descr, compute)] {
        auto* from = static_cast<const K*>(x.values);
        auto* to = static_cast<K*>(y.values);
        (*place)->solve(
            factor(), [&](int64_t i) { return from[i]; },
            [&](int64_t i, K value) { to[i] = value; }, [&](int64_t i) { return to[i]; });
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle,
                                                     cusparseSpSVDescr_t descr, void* values,
                                                     cusparseSpSVUpdate_t part) {
  return api<"cusparseSpSV_updateMatrix">([&] {
    update(use(handle), "cusparseSpSV_updateMatrix", descr, values,
           part == CUSPARSE_SPSV_UPDATE_GENERAL);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
    cudaDataType compute, cusparseSpSMAlg_t, cusparseSpSMDescr_t descr, size_t* bytes) {
  return api<"cusparseSpSM_bufferSize">([&] {
    use(handle), require(descr);
    check_matrix(op_a, use(a), compute), check_matrices(op_b, *a, use(b), use(c));
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSM_analysis(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
    cudaDataType compute, cusparseSpSMAlg_t, cusparseSpSMDescr_t descr, void*) {
  return api<"cusparseSpSM_analysis">([&] {
    auto& context = use(handle);
    check_matrix(op_a, use(a), compute), check_matrices(op_b, *a, use(b), use(c));
    analyse(context, "cusparseSpSM_analysis", *a, op_a, descr);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a,
                                              cusparseOperation_t op_b, const void* alpha,
                                              cusparseConstSpMatDescr_t a,
                                              cusparseConstDnMatDescr_t mat_b,
                                              cusparseDnMatDescr_t mat_c, cudaDataType compute,
                                              cusparseSpSMAlg_t, cusparseSpSMDescr_t descr) {
  return api<"cusparseSpSM_solve">([&] {
    auto& context = use(handle);
    auto b = use(mat_b);
    auto c = use(mat_c);
    check_matrix(op_a, use(a), compute), check_matrices(op_b, *a, b, c);
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> factor(context, alpha);
      submit(context, "cusparseSpSM_solve", [=, place = analysed<K>(descr, compute)] {
        (*place)->solve(factor(), dense_of<const K>(b, op_b),
                        op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
                        dense_of<K>(c, CUSPARSE_OPERATION_NON_TRANSPOSE));
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle,
                                                     cusparseSpSMDescr_t descr, void* values,
                                                     cusparseSpSMUpdate_t part) {
  return api<"cusparseSpSM_updateMatrix">([&] {
    update(use(handle), "cusparseSpSM_updateMatrix", descr, values,
           part == CUSPARSE_SPSM_UPDATE_GENERAL);
  });
}
