// cuSPARSE, generic API: a sparse and a dense vector.
#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

Index indices_of(const SpVec& x) { return {x.indices, x.index_type == CUSPARSE_INDEX_64I, x.base}; }

void fit(const SpVec& x, const DnVec& y) { require(x.size == y.size && x.type == y.type); }

// What Axpby and Rot compute in: f(S{}, K{}).
template <class F>
void with_vector(cudaDataType type, F f) {
  if (type == CUDA_R_16F) return f(aw::formats::Half{}, float{});
  if (type == CUDA_R_16BF) return f(aw::formats::Brain{}, float{});
  with_number(type, [&](auto number) { f(number, number); });
}

template <class K>
void dot(const cusparseContext& handle, const SpVec& x, const DnVec& y, bool conjugated,
         void* result) {
  auto made = std::make_shared<K>();
  submit(handle, "cusparseSpVV", [=] {
    Index at = indices_of(x);
    K sum{};
    with_stored(x.type, [&](auto kind) {
      using S = decltype(kind);
      if constexpr (std::is_convertible_v<S, K> || std::is_same_v<S, aw::formats::Half> ||
                    std::is_same_v<S, aw::formats::Brain>)
        for (int64_t k = 0; k < x.nnz; ++k) {
          K a = load<K>(static_cast<const S*>(x.values)[k]);
          sum += (conjugated ? conjugate(a) : a) * load<K>(static_cast<const S*>(y.values)[at(k)]);
        }
    });
    *made = sum;
  });
  give(handle, static_cast<K*>(result), made, "cusparseSpVV");
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                                         cusparseConstSpVecDescr_t vec_x, const void* beta,
                                         cusparseDnVecDescr_t vec_y) {
  return api<"cusparseAxpby">([&] {
    auto& context = use(handle);
    auto x = use(vec_x);
    auto y = use(vec_y);
    fit(x, y);
    with_vector(x.type, [&](auto stored, auto number) {
      using S = decltype(stored);
      using K = decltype(number);
      Scalar<K> a(context, alpha), b(context, beta);
      submit(context, "cusparseAxpby", [=] {
        auto* to = static_cast<S*>(y.values);
        K by = b(), times = a();
        if (by == K{})
          std::fill_n(to, y.size, S{});
        else if (!(by == K(1)))
          for (int64_t i = 0; i < y.size; ++i) store(to[i], by * load<K>(to[i]));
        Index at = indices_of(x);
        for (int64_t k = 0; k < x.nnz; ++k)
          store(to[at(k)],
                load<K>(to[at(k)]) + times * load<K>(static_cast<const S*>(x.values)[k]));
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t vec_y,
                                          cusparseSpVecDescr_t vec_x) {
  return api<"cusparseGather">([&] {
    auto& context = use(handle);
    auto x = use(vec_x);
    auto y = use(vec_y);
    fit(x, y);
    with_stored(x.type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseGather", [=] {
        Index at = indices_of(x);
        for (int64_t k = 0; k < x.nnz; ++k)
          static_cast<S*>(x.values)[k] = static_cast<const S*>(y.values)[at(k)];
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t vec_x,
                                           cusparseDnVecDescr_t vec_y) {
  return api<"cusparseScatter">([&] {
    auto& context = use(handle);
    auto x = use(vec_x);
    auto y = use(vec_y);
    fit(x, y);
    with_stored(x.type, [&](auto stored) {
      using S = decltype(stored);
      submit(context, "cusparseScatter", [=] {
        Index at = indices_of(x);
        for (int64_t k = 0; k < x.nnz; ++k)
          static_cast<S*>(y.values)[at(k)] = static_cast<const S*>(x.values)[k];
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c_coeff,
                                       const void* s_coeff, cusparseSpVecDescr_t vec_x,
                                       cusparseDnVecDescr_t vec_y) {
  return api<"cusparseRot">([&] {
    auto& context = use(handle);
    auto x = use(vec_x);
    auto y = use(vec_y);
    fit(x, y);
    with_vector(x.type, [&](auto stored, auto number) {
      using S = decltype(stored);
      using K = decltype(number);
      Scalar<K> c(context, c_coeff), s(context, s_coeff);
      submit(context, "cusparseRot", [=] {
        Index at = indices_of(x);
        for (int64_t k = 0; k < x.nnz; ++k) {
          auto& one = static_cast<S*>(x.values)[k];
          auto& other = static_cast<S*>(y.values)[at(k)];
          K a = load<K>(one), b = load<K>(other);
          store(one, c() * a + s() * b);
          store(other, c() * b - s() * a);
        }
      });
    });
  });
}

AW_EXPORT cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                                   cusparseConstSpVecDescr_t vec_x,
                                                   cusparseConstDnVecDescr_t vec_y, const void*,
                                                   cudaDataType, size_t* bytes) {
  return api<"cusparseSpVV_bufferSize">([&] {
    use(handle), is_operation(op);
    fit(use(vec_x), use(vec_y));
    no_buffer(bytes);
  });
}

AW_EXPORT cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                                        cusparseConstSpVecDescr_t vec_x,
                                        cusparseConstDnVecDescr_t vec_y, void* result,
                                        cudaDataType compute, void*) {
  return api<"cusparseSpVV">([&] {
    auto& context = use(handle);
    is_operation(op);
    auto x = use(vec_x);
    auto y = use(vec_y);
    fit(x, y);
    bool narrow = x.type == CUDA_R_16F || x.type == CUDA_R_16BF || x.type == CUDA_R_8I;
    if (x.type == CUDA_R_8I && compute == CUDA_R_32I)
      return dot<int32_t>(context, x, y, false, result);
    if (compute != x.type && !(narrow && compute == CUDA_R_32F))
      unsupported("vectors of type " + std::to_string(x.type) + ", computed in " +
                  std::to_string(compute));
    with_number(compute, [&](auto number) {
      dot<decltype(number)>(context, x, y, op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, result);
    });
  });
}
