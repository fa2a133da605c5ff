// cuSPARSE: what is small is left out of a matrix (pruneDense2csr, pruneCsr2csr).
#include <optional>

#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

struct pruneInfo {};

namespace {

template <class T>
struct PrunedOf {
  using stored = T;
  using number = T;
};
template <>
struct PrunedOf<__half> {
  using stored = aw::formats::Half;
  using number = float;
};

template <class T>
auto at(const void* values, int64_t place) {
  using P = PrunedOf<T>;
  return load<typename P::number>(static_cast<const typename P::stored*>(values)[place]);
}

// What an element must exceed. By percentage it is the element at that place among the sorted
// magnitudes; the manual has ceil(count * (percentage / 100)) - 1, from 0 to count - 1.
template <class T, class M>
auto threshold_of(const M& a, float percentage) {
  using K = typename PrunedOf<T>::number;
  std::vector<K> sizes;
  for (int64_t r = 0; r < a.rows; ++r)
    for_row(a, r, [&](int64_t, int64_t k) { sizes.push_back(std::abs(at<T>(a.values, k))); });
  if (sizes.empty()) return K{};
  auto count = static_cast<int64_t>(sizes.size());
  auto place = static_cast<int64_t>(std::ceil(static_cast<double>(count) * percentage / 100)) - 1;
  auto found = sizes.begin() + std::clamp<int64_t>(place, 0, count - 1);
  std::nth_element(sizes.begin(), found, sizes.end(),
                   [](K x, K y) { return x < y || (std::isnan(y) && !std::isnan(x)); });
  return *found;
}

// How the limit is given: a number where the pointer mode says, or a percentage.
template <class T>
class Limit {
 public:
  Limit(const cusparseContext& context, const T* threshold)
      : given_(std::in_place, context, threshold) {}
  Limit(float percentage, const pruneInfo* info) : percentage_(percentage) {
    require(info && percentage >= 0 && percentage <= 100);
  }
  template <class M>
  auto operator()(const M& a) const {
    if (!given_) return threshold_of<T>(a, percentage_);
    auto value = (*given_)();
    return load<typename PrunedOf<T>::number>(value);
  }

 private:
  std::optional<Scalar<typename PrunedOf<T>::stored>> given_;
  float percentage_ = 0;
};

template <class T, class M>
void count(const cusparseContext& context, const char* name, const M& a, const Limit<T>& limit,
           int base, int* offsets, int* total) {
  require(offsets && total);
  auto sum = std::make_shared<int>();
  submit(context, name, [=] {
    auto least = limit(a);
    offsets[0] = base;
    for (int64_t r = 0; r < a.rows; ++r) {
      int kept = 0;
      for_row(a, r, [&](int64_t, int64_t k) { kept += std::abs(at<T>(a.values, k)) > least; });
      offsets[r + 1] = offsets[r] + kept;
    }
    *sum = offsets[a.rows] - base;
  });
  give(context, total, sum, name);
}

template <class T, class M>
void prune(const cusparseContext& context, const char* name, const M& a, const Limit<T>& limit,
           int base, T* values, const int* offsets, int* columns) {
  require(offsets != nullptr);
  submit(context, name, [=] {
    auto least = limit(a);
    for (int64_t r = 0; r < a.rows; ++r) {
      int to = offsets[r] - base;
      for_row(a, r, [&](int64_t c, int64_t k) {
        if (!(std::abs(at<T>(a.values, k)) > least)) return;
        columns[to] = static_cast<int>(c) + base;
        values[to++] = static_cast<const T*>(a.values)[k];
      });
    }
  });
}

template <class T>
DnMat dense(int m, int n, const T* values, int ld) {
  require(m >= 0 && n >= 0 && ld >= std::max(1, m));
  return {m, n, ld, const_cast<T*>(values), CUDA_R_32F, CUSPARSE_ORDER_COL};  // of no use: the type
}
template <class T>
SpMat rows(int m, int n, int nnz, cusparseMatDescr_t descr, const T* values, const int* offsets,
           const int* columns) {
  require(m >= 0 && n >= 0 && nnz >= 0 && offsets);
  return older<void>(CUSPARSE_FORMAT_CSR, m, n, nnz, use_general(descr), values, offsets, columns);
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t* info) {
  return api<"cusparseCreatePruneInfo">([&] {
    require(info);
    *info = new pruneInfo;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info) {
  return api<"cusparseDestroyPruneInfo">([&] { delete info; });
}

#define AW_DENSE(T) int m, int n, const T *a, int lda
#define AW_ROWS(T)                                                                           \
  int m, int n, int nnz, const cusparseMatDescr_t descr_a, const T *a, const int *offsets_a, \
      const int *columns_a
#define AW_C const cusparseMatDescr_t descr_c
#define AW_BUFFER(Name, T, Of, Given, Made, ...)                                                   \
  AW_EXPORT cusparseStatus_t Name##_bufferSizeExt(cusparseHandle_t handle, Of(T), Given, AW_C,     \
                                                  const T*, const int*, const int*, __VA_ARGS__) { \
    return api<#Name "_bufferSizeExt">([&] {                                                       \
      auto& context = use(handle);                                                                 \
      Made, (void)context, use_general(descr_c), no_buffer(bytes);                                 \
    });                                                                                            \
  }
#define AW_NNZ(Name, T, Of, Given, Made, AsLimit, ...)                                         \
  AW_EXPORT cusparseStatus_t Name(cusparseHandle_t handle, Of(T), Given, AW_C, int* offsets_c, \
                                  int* total, __VA_ARGS__) {                                   \
    return api<#Name>([&] {                                                                    \
      auto& context = use(handle);                                                             \
      count<T>(context, #Name, Made, AsLimit, use_general(descr_c).base, offsets_c, total);    \
    });                                                                                        \
  }
#define AW_PRUNED(Name, T, Of, Given, Made, AsLimit, ...)                                     \
  AW_EXPORT cusparseStatus_t Name(cusparseHandle_t handle, Of(T), Given, AW_C, T* values_c,   \
                                  const int* offsets_c, int* columns_c, __VA_ARGS__) {        \
    return api<#Name>([&] {                                                                   \
      auto& context = use(handle);                                                            \
      prune<T>(context, #Name, Made, AsLimit, use_general(descr_c).base, values_c, offsets_c, \
               columns_c);                                                                    \
    });                                                                                       \
  }
#define AW_PRUNE(Stem, T, Of, Made)                                                               \
  AW_BUFFER(Stem, T, Of, const T* threshold, (Made, Limit<T>(context, threshold)), size_t* bytes) \
  AW_NNZ(Stem##Nnz, T, Of, const T* threshold, Made, Limit<T>(context, threshold), void*)         \
  AW_PRUNED(Stem, T, Of, const T* threshold, Made, Limit<T>(context, threshold), void*)           \
  AW_BUFFER(Stem##ByPercentage, T, Of, float percentage, (Made, Limit<T>(percentage, info)),      \
            pruneInfo_t info, size_t* bytes)                                                      \
  AW_NNZ(Stem##NnzByPercentage, T, Of, float percentage, Made, Limit<T>(percentage, info),        \
         pruneInfo_t info, void*)                                                                 \
  AW_PRUNED(Stem##ByPercentage, T, Of, float percentage, Made, Limit<T>(percentage, info),        \
            pruneInfo_t info, void*)
#define AW_PRUNES(L, T)                                                   \
  AW_PRUNE(cusparse##L##pruneDense2csr, T, AW_DENSE, dense(m, n, a, lda)) \
  AW_PRUNE(cusparse##L##pruneCsr2csr, T, AW_ROWS, rows(m, n, nnz, descr_a, a, offsets_a, columns_a))

AW_PRUNES(H, __half)
AW_PRUNES(S, float)
AW_PRUNES(D, double)
