// cuSPARSE: csrcolor, colours for the nodes of a matrix's graph.
#include <numeric>

#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

struct cusparseColorInfo {};

namespace {

// Each node gets the least colour that none of its neighbours has; when `fraction` of them have
// one, the rest get colours of their own. Returns how many colours there are.
int color(const SpMat& a, double fraction, int* coloring) {
  auto nodes = static_cast<size_t>(a.rows);
  // Neighbours in either direction: a pattern that is not symmetric is seen as the sum with its
  // transpose.
  std::vector<std::vector<int>> neighbours(nodes);
  for_entries(a, 0, [&](int64_t r, int64_t c, int64_t) {
    if (r == c) return;
    neighbours[static_cast<size_t>(r)].push_back(static_cast<int>(c));
    neighbours[static_cast<size_t>(c)].push_back(static_cast<int>(r));
  });
  auto wanted = static_cast<size_t>(std::ceil(fraction * static_cast<double>(nodes)));
  int colors = 0;
  std::vector<size_t> taken;  // by colour: the last node next to one of it, counted from 1
  for (size_t node = 0; node < nodes; ++node) {
    if (node >= wanted) {
      coloring[node] = colors++;
      continue;
    }
    taken.resize(static_cast<size_t>(colors) + 1);
    for (int other : neighbours[node])
      if (static_cast<size_t>(other) < node) taken[static_cast<size_t>(coloring[other])] = node + 1;
    int found = 0;
    while (taken[static_cast<size_t>(found)] == node + 1) ++found;
    coloring[node] = found;
    colors = std::max(colors, found + 1);
  }
  return colors;
}

}  // namespace

AW_EXPORT cusparseStatus_t cusparseCreateColorInfo(cusparseColorInfo_t* info) {
  return api<"cusparseCreateColorInfo">([&] {
    require(info);
    *info = new cusparseColorInfo;
  });
}

AW_EXPORT cusparseStatus_t cusparseDestroyColorInfo(cusparseColorInfo_t info) {
  return api<"cusparseDestroyColorInfo">([&] { delete info; });
}

// `reordering` may be null: which node stands where when those of a colour stand together.
#define AW_COLOR(L, T, R)                                                                          \
  AW_EXPORT cusparseStatus_t cusparse##L##csrcolor(                                                \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const T* values,    \
      const int* offsets, const int* columns, const R* fraction, int* colors, int* coloring,       \
      int* reordering, const cusparseColorInfo_t info) {                                           \
    return api<"cusparse" #L "csrcolor">([&] {                                                     \
      auto& context = use(handle);                                                                 \
      require(m >= 0 && nnz >= 0 && offsets && coloring && colors && info);                        \
      Scalar<R> part(context, fraction);                                                           \
      if (context.pointer_mode == CUSPARSE_POINTER_MODE_HOST) require(part() >= 0 && part() <= 1); \
      auto a =                                                                                     \
          older(CUSPARSE_FORMAT_CSR, m, m, nnz, use_general(descr), values, offsets, columns);     \
      auto count = std::make_shared<int>();                                                        \
      submit(context, "cusparse" #L "csrcolor", [=] {                                              \
        *count = color(a, part(), coloring);                                                       \
        if (!reordering) return;                                                                   \
        std::iota(reordering, reordering + m, 0);                                                  \
        std::stable_sort(reordering, reordering + m,                                               \
                         [&](int x, int y) { return coloring[x] < coloring[y]; });                 \
      });                                                                                          \
      give(context, colors, count, "cusparse" #L "csrcolor");                                      \
    });                                                                                            \
  }
AW_COLOR(S, float, float)
AW_COLOR(D, double, double)
AW_COLOR(C, cuComplex, float)
AW_COLOR(Z, cuDoubleComplex, double)
