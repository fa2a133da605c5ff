// cuSPARSE: matrices of blocks times vectors and matrices, and triangular systems of them.
#include "libraries/cusparse/pivots.h"
#include "libraries/cusparse/products.h"
#include "libraries/cusparse/triangles.h"

using namespace aw::cusparse;

struct bsrsv2Info : PivotInfo {};
struct bsrsm2Info : PivotInfo {};

namespace {

void check(cusparseOperation_t op, int mb, int nnzb) {
  is_operation(op);
  require(mb >= 0 && nnzb >= 0);
}

// Finds rows without a diagonal now; the values are those at the solution, as documented.
template <class K>
void analyse(const cusparseContext& context, const char* name, const SpMat& a, PivotInfo* info) {
  require(info != nullptr);
  auto found = info->begin(a.block_rows, a.base);
  if (a.diagonal == CUSPARSE_DIAG_TYPE_UNIT) return;
  submit(context, name, [=] { *found = first_missing(a); });
}

template <class K, class Solve>
void solve(const cusparseContext& context, const char* name, const SpMat& a, cusparseOperation_t op,
           PivotInfo* info, Solve body) {
  require(info && info->position);
  submit(context, name, [=, found = info->position] {
    Triangle<K> triangle(a, op);
    *found = triangle.zero;
    body(triangle);
  });
}

template <class K>
void multiply_masked(const SpMat& a, K alpha, int masked, const int* mask, const int* ends,
                     const K* x, K beta, K* y) {
  auto* values = static_cast<const K*>(a.values);
  Index offsets = offsets_of(a), columns = indices_of(a);
  int64_t block = a.block_rows;
  bool by_rows = a.order == CUSPARSE_ORDER_ROW;
  in_pieces(masked, 16, [&](int64_t first, int64_t last) {
    for (int64_t number = first; number < last; ++number) {
      int64_t row = mask[number] - a.base;
      for (int64_t i = 0; i < block; ++i) {
        K sum{};
        for (int64_t k = offsets(row), end = ends[row] - a.base; k < end; ++k)
          for (int64_t j = 0; j < block; ++j)
            sum += values[k * block * block + (by_rows ? i * block + j : j * block + i)] *
                   x[columns(k) * block + j];
        K& to = y[row * block + i];
        to = beta == K{} ? alpha * sum : alpha * sum + beta * to;
      }
    }
  });
}

}  // namespace

AW_INFO_FUNCTIONS(Bsrsv2, bsrsv2)
AW_INFO_FUNCTIONS(Bsrsm2, bsrsm2)

#define AW_SOLVER_BUFFERS(L, T, Name, Info, Middle)                                             \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_bufferSize(                                    \
      cusparseHandle_t handle, cusparseDirection_t, cusparseOperation_t op, Middle int nnzb,    \
      const cusparseMatDescr_t descr, T*, const int*, const int*, int block, Info info,         \
      int* bytes) {                                                                             \
    return api<"cusparse" #L#Name "_bufferSize">([&] {                                          \
      use(handle), use_general(descr), check(op, mb, nnzb);                                     \
      require(info && bytes && block > 0);                                                      \
      *bytes = 16;                                                                              \
    });                                                                                         \
  }                                                                                             \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_bufferSizeExt(                                 \
      cusparseHandle_t handle, cusparseDirection_t, cusparseOperation_t op, Middle int nnzb,    \
      const cusparseMatDescr_t descr, T*, const int*, const int*, int block, Info info,         \
      size_t* bytes) {                                                                          \
    return api<"cusparse" #L#Name "_bufferSizeExt">([&] {                                       \
      use(handle), use_general(descr), check(op, mb, nnzb);                                     \
      require(info && block > 0);                                                               \
      no_buffer(bytes);                                                                         \
    });                                                                                         \
  }                                                                                             \
  AW_EXPORT cusparseStatus_t cusparse##L##Name##_analysis(                                      \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op,           \
      Middle int nnzb, const cusparseMatDescr_t descr, const T* values, const int* offsets,     \
      const int* columns, int block, Info info, cusparseSolvePolicy_t, void*) {                 \
    return api<"cusparse" #L#Name "_analysis">([&] {                                            \
      auto& context = use(handle);                                                              \
      check(op, mb, nnzb);                                                                      \
      analyse<Number<T>>(                                                                       \
          context, "cusparse" #L#Name "_analysis",                                              \
          blocks(direction, mb, mb, nnzb, use_general(descr), values, offsets, columns, block), \
          info);                                                                                \
    });                                                                                         \
  }
#define AW_SV_MIDDLE int mb,
#define AW_SM_MIDDLE cusparseOperation_t, int mb, int,

#define AW_BLOCKS(L, T)                                                                            \
  AW_EXPORT cusparseStatus_t cusparse##L##bsrmv(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int mb,      \
      int nb, int nnzb, const T* alpha, const cusparseMatDescr_t descr, const T* values,           \
      const int* offsets, const int* columns, int block, const T* x, const T* beta, T* y) {        \
    return api<"cusparse" #L "bsrmv">([&] {                                                        \
      auto& context = use(handle);                                                                 \
      check(op, mb, nnzb);                                                                         \
      using K = Number<T>;                                                                         \
      auto a =                                                                                     \
          blocks(direction, mb, nb, nnzb, use_general(descr), values, offsets, columns, block);    \
      multiply<K, K, K, K>(context, "cusparse" #L "bsrmv", a, op, Scalar<K>(context, alpha),       \
                           reinterpret_cast<const K*>(x), Scalar<K>(context, beta),                \
                           reinterpret_cast<K*>(y));                                               \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##bsrmm(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op_a,            \
      cusparseOperation_t op_b, int mb, int n, int kb, int nnzb, const T* alpha,                   \
      const cusparseMatDescr_t descr, const T* values, const int* offsets, const int* columns,     \
      const int block, const T* b, const int ldb, const T* beta, T* c, int ldc) {                  \
    return api<"cusparse" #L "bsrmm">([&] {                                                        \
      auto& context = use(handle);                                                                 \
      check(op_a, mb, nnzb), is_operation(op_b);                                                   \
      require(n >= 0 && kb >= 0);                                                                  \
      using K = Number<T>;                                                                         \
      if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE) unsupported("bsrmm of a transposed matrix");   \
      auto a =                                                                                     \
          blocks(direction, mb, kb, nnzb, use_general(descr), values, offsets, columns, block);    \
      bool turned = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;                                      \
      require(ldb >= (turned ? n : a.cols) && ldc >= a.rows);                                      \
      DnMat from = {turned ? n : a.cols, turned ? a.cols : n, ldb,                                 \
                    const_cast<T*>(b),   data_type<K>,        CUSPARSE_ORDER_COL};                 \
      DnMat to = {a.rows, n, ldc, c, data_type<K>, CUSPARSE_ORDER_COL};                            \
      multiply<K, K, K, K>(context, "cusparse" #L "bsrmm", a, op_a, Scalar<K>(context, alpha),     \
                           from, op_b, Scalar<K>(context, beta), to);                              \
    });                                                                                            \
  }                                                                                                \
  AW_SOLVER_BUFFERS(L, T, bsrsv2, bsrsv2Info_t, AW_SV_MIDDLE)                                      \
  AW_SOLVER_BUFFERS(L, T, bsrsm2, bsrsm2Info_t, AW_SM_MIDDLE)                                      \
  AW_EXPORT cusparseStatus_t cusparse##L##bsrsv2_solve(                                            \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int mb,      \
      int nnzb, const T* alpha, const cusparseMatDescr_t descr, const T* values,                   \
      const int* offsets, const int* columns, int block, bsrsv2Info_t info, const T* f, T* x,      \
      cusparseSolvePolicy_t, void*) {                                                              \
    return api<"cusparse" #L "bsrsv2_solve">([&] {                                                 \
      auto& context = use(handle);                                                                 \
      check(op, mb, nnzb);                                                                         \
      using K = Number<T>;                                                                         \
      Scalar<K> factor(context, alpha);                                                            \
      auto a =                                                                                     \
          blocks(direction, mb, mb, nnzb, use_general(descr), values, offsets, columns, block);    \
      solve<K>(                                                                                    \
          context, "cusparse" #L "bsrsv2_solve", a, op, info, [=](const Triangle<K>& triangle) {   \
            DnMat from = {a.rows, 1, a.rows, const_cast<T*>(f), data_type<K>, CUSPARSE_ORDER_COL}, \
                  to = from;                                                                       \
            to.values = x;                                                                         \
            triangle.solve(factor(), dense_of<const K>(from, CUSPARSE_OPERATION_NON_TRANSPOSE),    \
                           false, dense_of<K>(to, CUSPARSE_OPERATION_NON_TRANSPOSE));              \
          });                                                                                      \
    });                                                                                            \
  }                                                                                                \
  AW_EXPORT cusparseStatus_t cusparse##L##bsrsm2_solve(                                            \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op,              \
      cusparseOperation_t op_x, int mb, int n, int nnzb, const T* alpha,                           \
      const cusparseMatDescr_t descr, const T* values, const int* offsets, const int* columns,     \
      int block, bsrsm2Info_t info, const T* b, int ldb, T* x, int ldx, cusparseSolvePolicy_t,     \
      void*) {                                                                                     \
    return api<"cusparse" #L "bsrsm2_solve">([&] {                                                 \
      auto& context = use(handle);                                                                 \
      check(op, mb, nnzb), is_operation(op_x);                                                     \
      require(n >= 0);                                                                             \
      using K = Number<T>;                                                                         \
      Scalar<K> factor(context, alpha);                                                            \
      auto a =                                                                                     \
          blocks(direction, mb, mb, nnzb, use_general(descr), values, offsets, columns, block);    \
      bool turned = op_x != CUSPARSE_OPERATION_NON_TRANSPOSE;                                      \
      require(ldb >= (turned ? n : a.rows) && ldx >= (turned ? n : a.rows));                       \
      if (op_x == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && is_complex<K>)                         \
        unsupported("bsrsm2 of conjugated right sides");                                           \
      DnMat from = {turned ? n : a.rows, turned ? a.rows : n, ldb,                                 \
                    const_cast<T*>(b),   data_type<K>,        CUSPARSE_ORDER_COL},                 \
            to = from;                                                                             \
      to.values = x, to.ld = ldx;                                                                  \
      solve<K>(                                                                                    \
          context, "cusparse" #L "bsrsm2_solve", a, op, info, [=](const Triangle<K>& triangle) {   \
            triangle.solve(factor(), dense_of<const K>(from, op_x), false, dense_of<K>(to, op_x)); \
          });                                                                                      \
    });                                                                                            \
  }
AW_FOUR(AW_BLOCKS)

// The rows of blocks that the mask names, whose blocks end where `ends` says; the others of y stay.
#define AW_MASKED(L, T)                                                                           \
  AW_EXPORT cusparseStatus_t cusparse##L##bsrxmv(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int masked, \
      int mb, int nb, int nnzb, const T* alpha, const cusparseMatDescr_t descr, const T* values,  \
      const int* mask, const int* offsets, const int* ends, const int* columns, int block,        \
      const T* x, const T* beta, T* y) {                                                          \
    return api<"cusparse" #L "bsrxmv">([&] {                                                      \
      auto& context = use(handle);                                                                \
      check(op, mb, nnzb);                                                                        \
      require(masked >= 0 && masked <= mb && nb >= 0);                                            \
      if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) unsupported("bsrxmv of a transposed matrix");   \
      using K = Number<T>;                                                                        \
      Scalar<K> times(context, alpha), by(context, beta);                                         \
      auto a =                                                                                    \
          blocks(direction, mb, nb, nnzb, use_general(descr), values, offsets, columns, block);   \
      submit(context, "cusparse" #L "bsrxmv", [=] {                                               \
        multiply_masked(a, times(), masked, mask, ends, reinterpret_cast<const K*>(x), by(),      \
                        reinterpret_cast<K*>(y));                                                 \
      });                                                                                         \
    });                                                                                           \
  }
AW_FOUR(AW_MASKED)
