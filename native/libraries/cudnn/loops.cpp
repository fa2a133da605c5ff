#include "libraries/cudnn/elementwise.h"

namespace aw::dnn {

Loops::Loops(const Layout& shape, const Layout* const* given, int count, const bool* groups)
    : views(count) {
  int order[kMostDims], found = 0;
  for (int i = 0; i < shape.rank; ++i)
    if (shape.dims[i] != 1) order[found++] = i;
  std::stable_sort(order, order + found, [&](int a, int b) {
    for (int v = 0; v < count; ++v)
      if (given[v]->strides[a] != given[v]->strides[b])
        return given[v]->strides[a] > given[v]->strides[b];
    return false;
  });
  for (int k = 0; k < found; ++k) {
    const int from = order[k];
    const bool drops = groups && groups[from];
    bool merges = rank > 0 && reduced[rank - 1] == drops;
    for (int v = 0; v < count && merges; ++v)
      merges = strides[v][rank - 1] == given[v]->strides[from] * shape.dims[from];
    if (!merges) ++rank, dims[rank - 1] = 1;
    dims[rank - 1] *= shape.dims[from];
    reduced[rank - 1] = drops;
    for (int v = 0; v < count; ++v) strides[v][rank - 1] = given[v]->strides[from];
  }
  if (rank == 0) {  // one element
    rank = 1, dims[0] = 1;
    reduced[0] = false;
  }
}

int64_t Loops::outer() const {
  int64_t product = 1;
  for (int i = 0; i + 1 < rank; ++i) product *= dims[i];
  return product;
}

void Loops::place(int64_t number, int64_t* at) const {
  std::fill_n(at, views, 0);
  for (int i = rank - 2; i >= 0; --i) {
    const int64_t index = number % dims[i];
    number /= dims[i];
    for (int v = 0; v < views; ++v) at[v] += index * strides[v][i];
  }
}

}  // namespace aw::dnn
