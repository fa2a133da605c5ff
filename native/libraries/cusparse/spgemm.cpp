// cuSPARSE, generic API: SpGEMM, and SpGEMMreuse.
#include "libraries/cusparse/entries.h"

namespace aw::cusparse {
namespace {

// A product of sparse matrices: rows with sorted columns.
template <class K>
struct Product {
  std::vector<int64_t> start, index;
  std::vector<K> value;
};

// Gustavson: row by row, each into a place per column.
template <class K>
Product<K> product(const SpMat& a, const SpMat& b, K alpha) {
  Product<K> out;
  auto rows = static_cast<size_t>(a.rows);
  out.start.assign(rows + 1, 0);
  Index a_offsets = offsets_of(a), a_columns = indices_of(a), b_offsets = offsets_of(b),
        b_columns = indices_of(b);
  auto* a_values = static_cast<const K*>(a.values);
  auto* b_values = static_cast<const K*>(b.values);
  // f(column, k, l) for the products of a row.
  auto products = [&](int64_t r, auto f) {
    for (int64_t k = a_offsets(r), end = a_offsets(r + 1); k < end; ++k) {
      int64_t middle = a_columns(k);
      for (int64_t l = b_offsets(middle), last = b_offsets(middle + 1); l < last; ++l)
        f(static_cast<size_t>(b_columns(l)), k, l);
    }
  };
  in_pieces(a.rows, 64, [&](int64_t first, int64_t last) {
    std::vector<int64_t> seen(static_cast<size_t>(b.cols), -1);
    for (int64_t r = first; r < last; ++r)
      products(r, [&](size_t column, int64_t, int64_t) {
        if (seen[column] != r) seen[column] = r, ++out.start[static_cast<size_t>(r) + 1];
      });
  });
  for (size_t r = 0; r < rows; ++r) out.start[r + 1] += out.start[r];
  out.index.resize(static_cast<size_t>(out.start[rows])), out.value.resize(out.index.size());
  in_pieces(a.rows, 64, [&](int64_t first, int64_t last) {
    std::vector<int64_t> seen(static_cast<size_t>(b.cols), -1);
    std::vector<K> sums(seen.size());
    for (int64_t r = first; r < last; ++r) {
      auto begin = static_cast<size_t>(out.start[static_cast<size_t>(r)]), at = begin;
      products(r, [&](size_t column, int64_t k, int64_t l) {
        if (seen[column] != r)
          seen[column] = r, sums[column] = K{}, out.index[at++] = static_cast<int64_t>(column);
        sums[column] += a_values[k] * b_values[l];
      });
      std::sort(out.index.begin() + static_cast<std::ptrdiff_t>(begin),
                out.index.begin() + static_cast<std::ptrdiff_t>(at));
      for (size_t i = begin; i < at; ++i)
        out.value[i] = alpha * sums[static_cast<size_t>(out.index[i])];
    }
  });
  return out;
}

int64_t products_of(const SpMat& a, const SpMat& b) {
  Index a_offsets = offsets_of(a), a_columns = indices_of(a), b_offsets = offsets_of(b);
  int64_t sum = 0;
  for (int64_t k = a_offsets(0), end = a_offsets(a.rows); k < end; ++k)
    sum += b_offsets(a_columns(k) + 1) - b_offsets(a_columns(k));
  return sum;
}

void check(cusparseOperation_t op_a, cusparseOperation_t op_b, const SpMat& a, const SpMat& b,
           const SpMat& c) {
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE)
    unsupported("SpGEMM of transposed matrices");
  for (auto* m : {&a, &b, &c})
    if (m->format != CUSPARSE_FORMAT_CSR)
      unsupported("SpGEMM of matrices that are not in the format CSR");
  computable(a), computable(b), computable(c);
  require(a.cols == b.rows && a.rows == c.rows && b.cols == c.cols && a.type == b.type &&
          a.type == c.type);
  with_number(a.type, [](auto) {});
}

}  // namespace
}  // namespace aw::cusparse

struct cusparseSpGEMMDescr {
  cudaDataType type;
  std::shared_ptr<void> product;  // a Product<K> of the type
  int64_t products = 0;
};

namespace aw::cusparse {
namespace {

// Computes the product now: its size is asked for next.
void compute_now(const cusparseContext& context, const char* name, const SpMat& a, const SpMat& b,
                 const void* alpha, cusparseSpGEMMDescr& descr, SpMat* c) {
  with_number(a.type, [&](auto number) {
    using K = decltype(number);
    auto made = std::make_shared<Product<K>>();
    descr.type = a.type, descr.product = made;
    if (alpha) {
      Scalar<K> factor(context, alpha);
      submit(context, name, [=] { *made = product<K>(a, b, factor()); });
    } else {
      submit(context, name, [=] { *made = product<K>(a, b, K(1)); });
    }
    wait(context);
    c->nnz = static_cast<int64_t>(made->index.size());
  });
}

template <class K>
void write_pattern(const Product<K>& from, const SpMat& c) {
  for (size_t r = 0; r < from.start.size(); ++r)
    set_index(c.offsets, c.offset_type, static_cast<int64_t>(r), from.start[r] + c.base);
  for (size_t k = 0; k < from.index.size(); ++k)
    set_index(c.indices, c.index_type, static_cast<int64_t>(k), from.index[k] + c.base);
}
template <class K>
void write_values(const Product<K>& from, const SpMat& c, K beta) {
  auto* to = static_cast<K*>(c.values);
  for (size_t k = 0; k < from.value.size(); ++k)
    to[k] = beta == K{} ? from.value[k] : from.value[k] + beta * to[k];
}

template <class K>
std::shared_ptr<Product<K>> computed(const cusparseSpGEMMDescr* descr, cudaDataType type) {
  require(descr && descr->product && descr->type == type);
  return std::static_pointer_cast<Product<K>>(descr->product);
}

}  // namespace
}  // namespace aw::cusparse

using namespace aw::cusparse;

AW_EXPORT cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descr) {
  return api<"cusparseSpGEMM_createDescr">([&] {
    require(descr);
    *descr = new cusparseSpGEMMDescr{};
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr) {
  return api<"cusparseSpGEMM_destroyDescr">([&] { delete descr; });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t mat_a, cusparseConstSpMatDescr_t mat_b, const void*,
    cusparseSpMatDescr_t mat_c, cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr,
    size_t* bytes, void* buffer) {
  return api<"cusparseSpGEMM_workEstimation">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    check(op_a, op_b, a, b, use(mat_c));
    require(descr);
    if (!buffer) return no_buffer(bytes);
    auto found = std::make_shared<int64_t>();
    submit(context, "cusparseSpGEMM_workEstimation", [=] { *found = products_of(a, b); });
    wait(context);
    descr->products = *found;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr,
                                                         int64_t* count) {
  return api<"cusparseSpGEMM_getNumProducts">([&] {
    require(descr && count);
    *count = descr->products;
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_estimateMemory(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void*, cusparseSpMatDescr_t c,
    cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, float fraction, size_t* bytes3,
    void* buffer3, size_t* bytes2) {
  return api<"cusparseSpGEMM_estimateMemory">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
    require(descr && fraction > 0 && fraction <= 1);
    buffer3 ? no_buffer(bytes2) : no_buffer(bytes3);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                                  cusparseOperation_t op_b, const void* alpha,
                                                  cusparseConstSpMatDescr_t mat_a,
                                                  cusparseConstSpMatDescr_t mat_b, const void* beta,
                                                  cusparseSpMatDescr_t mat_c, cudaDataType compute,
                                                  cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr,
                                                  size_t* bytes, void* buffer) {
  return api<"cusparseSpGEMM_compute">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    check(op_a, op_b, a, b, use(mat_c));
    require(descr && alpha && beta);
    if (compute != a.type)
      unsupported("SpGEMM of type " + std::to_string(a.type) + ", computed in " +
                  std::to_string(compute));
    if (!buffer) return no_buffer(bytes);
    compute_now(context, "cusparseSpGEMM_compute", a, b, alpha, *descr, mat_c);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void*,
                                               cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta,
                                               cusparseSpMatDescr_t mat_c, cudaDataType compute,
                                               cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr) {
  return api<"cusparseSpGEMM_copy">([&] {
    auto& context = use(handle);
    auto c = use(mat_c);
    check(op_a, op_b, use(a), use(b), c);
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> old(context, beta);
      submit(context, "cusparseSpGEMM_copy", [=, made = computed<K>(descr, compute)] {
        write_pattern(*made, c);
        write_values(*made, c, old());
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMMreuse_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, size_t* bytes, void* buffer) {
  return api<"cusparseSpGEMMreuse_workEstimation">([&] {
    use(handle);
    check(op_a, op_b, use(a), use(b), use(c));
    require(descr);
    if (!buffer) no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMMreuse_nnz(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
    cusparseConstSpMatDescr_t mat_a, cusparseConstSpMatDescr_t mat_b, cusparseSpMatDescr_t mat_c,
    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, size_t* bytes2, void* buffer2, size_t* bytes3,
    void* buffer3, size_t* bytes4, void* buffer4) {
  return api<"cusparseSpGEMMreuse_nnz">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    check(op_a, op_b, a, b, use(mat_c));
    require(descr);
    if (!buffer2 && !buffer3 && !buffer4)
      return no_buffer(bytes2), no_buffer(bytes3), no_buffer(bytes4);
    compute_now(context, "cusparseSpGEMMreuse_nnz", a, b, nullptr, *descr, mat_c);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMMreuse_copy(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t mat_c,
    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, size_t* bytes, void* buffer) {
  return api<"cusparseSpGEMMreuse_copy">([&] {
    auto& context = use(handle);
    auto c = use(mat_c);
    check(op_a, op_b, use(a), use(b), c);
    if (!buffer) return no_buffer(bytes);
    with_number(c.type, [&](auto number) {
      using K = decltype(number);
      submit(context, "cusparseSpGEMMreuse_copy",
             [=, made = computed<K>(descr, c.type)] { write_pattern(*made, c); });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSpGEMMreuse_compute(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t mat_a, cusparseConstSpMatDescr_t mat_b, const void* beta,
    cusparseSpMatDescr_t mat_c, cudaDataType compute, cusparseSpGEMMAlg_t,
    cusparseSpGEMMDescr_t descr) {
  return api<"cusparseSpGEMMreuse_compute">([&] {
    auto& context = use(handle);
    auto a = use(mat_a);
    auto b = use(mat_b);
    auto c = use(mat_c);
    check(op_a, op_b, a, b, c);
    require(descr && descr->product);
    if (compute != a.type)
      unsupported("SpGEMM of type " + std::to_string(a.type) + ", computed in " +
                  std::to_string(compute));
    with_number(compute, [&](auto number) {
      using K = decltype(number);
      Scalar<K> factor(context, alpha), old(context, beta);
      submit(context, "cusparseSpGEMMreuse_compute",
             [=] { write_values(product<K>(a, b, factor()), c, old()); });
    });
  });
}
