// cuSPARSELt: D = activation(alpha * op(A) op(B) + beta * C + bias), of which A or B is compressed.
// It is expanded again and multiplied by our own product: on a processor zeros cost as much as
// other numbers, and the sums are the same.
#include <algorithm>
#include <vector>

#include "libraries/cusparselt/matrices.h"

using namespace aw::structured;
using aw::lib::require;
using aw::lib::unsupported;

namespace aw::structured {
namespace {

struct Given {
  const void *a, *b, *c;
  void* d;
  const void* alpha;
  float beta;
};

// A matrix, whose elements lie as (order) says, in the place of op(matrix), or of its transpose.
product::Factor factor(const Matrix& matrix, const void* data, cusparseOperation_t op,
                       bool turned) {
  product::Factor made;
  made.data = data, made.type = type_of(matrix.type);
  made.ld = matrix.ld, made.stride = matrix.stride;
  made.transposed =
      ((matrix.order == CUSPARSE_ORDER_ROW) != (op == CUSPARSE_OPERATION_TRANSPOSE)) != turned;
  return made;
}

product::Matrix result(const Matrix& matrix, const void* data) {
  return {data, type_of(matrix.type), matrix.ld, matrix.stride, false};
}

void rectify(void* context, int64_t, int64_t, int64_t, int64_t count, float* values) {
  const auto& of = *static_cast<const Multiplication*>(context);
  for (int64_t i = 0; i < count; ++i)
    values[i] = values[i] <= of.relu_threshold ? 0.0f : std::min(values[i], of.relu_bound);
}

void multiply(const Multiplication& of, const Given& given) {
  // The compressed matrix as lines of k elements: rows, whatever its order was.
  const Sparse sparse = sparse_of(of);
  const int64_t count = sparse.lines() * sparse.k();
  std::vector<char> lines(size_t(count * sparse.bytes() * sparse.matrix.batches));
  const auto* packed = static_cast<const char*>(of.a.structured ? given.a : given.b);
  for (int64_t item = 0; item < sparse.matrix.batches; ++item)
    expand(sparse, packed + item * sparse.compressed_bytes(),
           lines.data() + item * count * sparse.bytes());
  Matrix open = sparse.matrix;
  open.order = CUSPARSE_ORDER_ROW, open.ld = sparse.k(), open.stride = count;
  const auto straight = CUSPARSE_OPERATION_NON_TRANSPOSE, other = CUSPARSE_OPERATION_TRANSPOSE;

  // Ours is column-major: where D is not, D^T = op(B)^T op(A)^T is computed.
  const bool turned = of.d.order == CUSPARSE_ORDER_ROW;
  const product::Factor a = of.a.structured ? factor(open, lines.data(), straight, turned)
                                            : factor(of.a, given.a, of.op_a, turned);
  const product::Factor b = of.a.structured ? factor(of.b, given.b, of.op_b, turned)
                                            : factor(open, lines.data(), other, turned);
  product::Product it;
  it.m = turned ? of.d.cols : of.d.rows, it.n = turned ? of.d.rows : of.d.cols, it.k = sparse.k();
  it.batch = of.d.batches;
  it.a = turned ? b : a, it.b = turned ? a : b;
  it.c = result(of.c, given.c), it.d = result(of.d, given.d);
  it.beta = given.beta;
  if (!of.alpha_vector)
    it.alpha = *static_cast<const float*>(given.alpha);
  else if (turned)
    it.b_scale = static_cast<const float*>(given.alpha);
  else
    it.a_scale = static_cast<const float*>(given.alpha);
  if (of.bias) it.bias = {of.bias, type_of(of.d.type), turned, of.bias_stride};
  Multiplication kept = of;
  if (of.relu) it.hook = rectify, it.context = &kept;
  if (of.gelu) it.activation = product::Activation::gelu;
  product::product(it);
}

void submit(const cusparseLtHandle_t* handle, const cusparseLtMatmulPlan_t* plan, const void* alpha,
            const void* a, const void* b, const void* beta, const void* c, void* d,
            cudaStream_t* streams, int32_t count) {
  check_handle(handle);
  const Multiplication of = get<Plan>(plan).of;
  require(alpha && beta && a && b && d && count >= 0 && (count == 0 || streams));
  const float wanted = *static_cast<const float*>(beta);
  require(c || wanted == 0);
  if (of.bias && of.a.type == CUDA_R_8I) unsupported("a bias of a product of whole numbers");
  Given given{a, b, c, d, alpha, wanted};
  float scale = 0;
  if (!of.alpha_vector) scale = *static_cast<const float*>(alpha);
  lib::submit(count > 0 ? streams[0] : nullptr, "cusparseLtMatmul", [=]() mutable {
    if (!of.alpha_vector) given.alpha = &scale;
    multiply(of, given);
  });
}

}  // namespace
}  // namespace aw::structured

AW_EXPORT cusparseStatus_t cusparseLtMatmul(const cusparseLtHandle_t* handle,
                                            const cusparseLtMatmulPlan_t* plan, const void* alpha,
                                            const void* a, const void* b, const void* beta,
                                            const void* c, void* d, void* workspace,
                                            cudaStream_t* streams, int32_t count) {
  return api<"cusparseLtMatmul">(
      [&] { submit(handle, plan, alpha, a, b, beta, c, d, streams, count); }, handle, plan, alpha,
      a, b, beta, c, d, workspace, streams, count);
}

// There is one algorithm to be found: it computes D, as those that are tried do.
AW_EXPORT cusparseStatus_t cusparseLtMatmulSearch(const cusparseLtHandle_t* handle,
                                                  cusparseLtMatmulPlan_t* plan, const void* alpha,
                                                  const void* a, const void* b, const void* beta,
                                                  const void* c, void* d, void* workspace,
                                                  cudaStream_t* streams, int32_t count) {
  return api<"cusparseLtMatmulSearch">(
      [&] { submit(handle, plan, alpha, a, b, beta, c, d, streams, count); }, handle, plan, alpha,
      a, b, beta, c, d, workspace, streams, count);
}
