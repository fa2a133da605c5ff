// cuSPARSE, generic API: SpGEAM, the sum of two sparse matrices.
#include "libraries/cusparse/entries.h"

struct cusparseSpGEAMDescr {};

namespace {

using namespace aw::cusparse;

// The entries of a row of alpha op(A) + beta op(B), in order. As documented a matrix with a factor
// of zero has no part in the pattern.
template <class K>
class Sum {
 public:
  Sum(const SpMat& a, cusparseOperation_t op_a, K alpha, const SpMat& b, cusparseOperation_t op_b,
      K beta)
      : a_(lines_of<K>(a, 0, op_a)), b_(lines_of<K>(b, 0, op_b)), alpha_(alpha), beta_(beta) {}

  const std::vector<std::pair<int64_t, K>>& row(int64_t r) {
    row_.clear();
    take(a_, r, alpha_), take(b_, r, beta_);
    auto before = [](const auto& x, const auto& y) { return x.first < y.first; };
    if (!std::is_sorted(row_.begin(), row_.end(), before))
      std::stable_sort(row_.begin(), row_.end(), before);
    size_t kept = 0;
    for (size_t i = 0; i < row_.size(); ++i)
      if (kept && row_[kept - 1].first == row_[i].first)
        row_[kept - 1].second += row_[i].second;
      else
        row_[kept++] = row_[i];
    row_.resize(kept);
    return row_;
  }

 private:
  void take(const Lines<K>& from, int64_t r, K factor) {
    if (factor == K{}) return;
    auto line = static_cast<size_t>(r);
    for (auto k = static_cast<size_t>(from.start[line]),
              end = static_cast<size_t>(from.start[line + 1]);
         k < end; ++k)
      row_.emplace_back(from.index[k], factor * from.value[k]);
  }

  Lines<K> a_, b_;
  K alpha_, beta_;
  std::vector<std::pair<int64_t, K>> row_;
};

void check(cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha, const void* beta,
           const SpMat& a, const SpMat& b, const SpMat& c, cudaDataType compute,
           cusparseSpGEAMAlg_t algorithm, const cusparseSpGEAMDescr* descr) {
  is_operation(op_a), is_operation(op_b);
  require(alpha && beta && descr);
  require(algorithm == CUSPARSE_SPGEAM_ALG_DEFAULT || algorithm == CUSPARSE_SPGEAM_ALG1);
  for (auto* m : {&a, &b, &c}) {
    if (m->format != CUSPARSE_FORMAT_CSR)
      unsupported("SpGEAM of matrices that are not in the format CSR");
    computable(*m);
    if (m->batches > 1) unsupported("SpGEAM of batches");
    if (m->type != compute)
      unsupported("SpGEAM of type " + std::to_string(m->type) + ", computed in " +
                  std::to_string(compute));
  }
  with_number(compute, [](auto) {});
  for (auto [m, op] : {std::pair{&a, op_a}, std::pair{&b, op_b}})
    require(rows_of(*m, op) == c.rows && cols_of(*m, op) == c.cols);
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseSpGEAM_createDescr(cusparseSpGEAMDescr_t* descr) {
  return api<"cusparseSpGEAM_createDescr">([&] {
    require(descr);
    *descr = new cusparseSpGEAMDescr;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEAM_destroyDescr(cusparseSpGEAMDescr_t descr) {
  return api<"cusparseSpGEAM_destroyDescr">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseSpGEAM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseSpMatDescr_t a, const void* beta, cusparseSpMatDescr_t b, cusparseSpMatDescr_t c,
    cudaDataType compute, cusparseSpGEAMAlg_t algorithm, cusparseSpGEAMDescr_t descr,
    size_t* bytes) {
  return api<"cusparseSpGEAM_bufferSize">([&] {
    use(handle);
    check(op_a, op_b, alpha, beta, use(a), use(b), use(c), compute, algorithm, descr);
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEAM_nnz(cusparseHandle_t handle, cusparseOperation_t op_a,
                                              cusparseOperation_t op_b, const void* alpha,
                                              cusparseSpMatDescr_t mat_a, const void* beta,
                                              cusparseSpMatDescr_t mat_b,
                                              cusparseSpMatDescr_t mat_c, cudaDataType compute,
                                              cusparseSpGEAMAlg_t algorithm,
                                              cusparseSpGEAMDescr_t descr, void*) {
  return api<"cusparseSpGEAM_nnz">([&] {
    auto& context = use(handle);
    auto a = use(mat_a), b = use(mat_b), c = use(mat_c);
    check(op_a, op_b, alpha, beta, a, b, c, compute, algorithm, descr);
    require(c.offsets != nullptr);
    auto count = std::make_shared<int64_t>();
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> times(context, alpha), by(context, beta);
      submit(context, "cusparseSpGEAM_nnz", [=] {
        Sum<K> sum(a, op_a, times(), b, op_b, by());
        *count = 0;
        for (int64_t r = 0; r < c.rows; ++r) {
          set_index(c.offsets, c.offset_type, r, *count + c.base);
          *count += static_cast<int64_t>(sum.row(r).size());
        }
        set_index(c.offsets, c.offset_type, c.rows, *count + c.base);
      });
    });
    wait(context);
    mat_c->nnz = *count;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEAM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, const void* alpha,
                                          cusparseSpMatDescr_t mat_a, const void* beta,
                                          cusparseSpMatDescr_t mat_b, cusparseSpMatDescr_t mat_c,
                                          cudaDataType compute, cusparseSpGEAMAlg_t algorithm,
                                          cusparseSpGEAMDescr_t descr, void*) {
  return api<"cusparseSpGEAM">([&] {
    auto& context = use(handle);
    auto a = use(mat_a), b = use(mat_b), c = use(mat_c);
    check(op_a, op_b, alpha, beta, a, b, c, compute, algorithm, descr);
    require(c.offsets && (c.nnz == 0 || (c.indices && c.values)));
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> times(context, alpha), by(context, beta);
      submit(context, "cusparseSpGEAM", [=] {
        Sum<K> sum(a, op_a, times(), b, op_b, by());
        Index offsets = offsets_of(c);
        for (int64_t r = 0; r < c.rows; ++r) {
          int64_t at = offsets(r);
          for (auto [column, value] : sum.row(r)) {
            set_index(c.indices, c.index_type, at, column + c.base);
            static_cast<K*>(c.values)[at++] = value;
          }
        }
      });
    });
  });
}
