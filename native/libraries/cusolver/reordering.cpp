// cuSOLVER, sparse: orders of rows and columns, on the host. Numbers of an order begin at 0,
// whatever those of the matrix do.
#include <numeric>

#include "libraries/cusolver/sparse_calls.h"

using namespace aw::cusolver;

namespace {

// A pattern by rows first[i] ... last[i].
struct Pattern {
  int rows, columns, base;
  const int *first, *last, *column;

  Pattern(int m, int n, int entries, cusparseMatDescr_t descriptor, const int* begin,
          const int* end, const int* indices)
      : rows(m), columns(n), base(base_of(descriptor)), first(begin), last(end), column(indices) {
    require(m > 0 && n > 0 && entries > 0 && begin && end && indices);
    for (int i = 0; i < m; ++i) {
      require(first[i] >= base && first[i] <= last[i] && last[i] - base <= entries);
      for (int at = first[i] - base; at < last[i] - base; ++at)
        require(column[at] >= base && column[at] - base < n);
    }
  }
};

template <class Order>
void reorder(cusolverSpHandle_t handle, int n, int entries, cusparseMatDescr_t descriptor,
             const int* row, const int* column, int* p, Order order) {
  use_sparse(handle);
  require(p);
  Pattern A(n, n, entries, descriptor, row, row + 1, column);
  std::vector<int> found = order(graph_of(n, A.base, A.first, A.last, column));
  std::copy(found.begin(), found.end(), p);
}

// Rows that stand where their column has a number that is not 0, by paths that exchange what was
// found before. Rows that none is left for fill the places that remain. Returns how many there are.
template <class T>
int match(const Csr<T>& A, int* p) {
  std::vector<int> row_of(A.n, -1), seen(A.n, -1), next(A.n);
  int found = 0;
  for (int start = 0; start < A.n; ++start) {
    std::vector<int> path{start};  // of rows; next[row]: where among its entries it goes on
    next[start] = A.begin(start);
    while (!path.empty()) {
      int row = path.back();
      if (next[row] == A.end(row)) {
        path.pop_back();
        continue;
      }
      int at = next[row]++, column = A.column[at] - A.base;
      if (A.value[at] == T(0) || seen[column] == start) continue;
      seen[column] = start;
      if (row_of[column] < 0) {
        for (int i : path) row_of[A.column[next[i] - 1] - A.base] = i;
        ++found;
        break;
      }
      path.push_back(row_of[column]);
      next[path.back()] = A.begin(path.back());
    }
  }
  std::vector<bool> used(A.n);
  for (int row : row_of)
    if (row >= 0) used[row] = true;
  int left = 0;
  for (int j = 0; j < A.n; ++j) {
    while (left < A.n && used[left]) ++left;
    p[j] = row_of[j] >= 0 ? row_of[j] : left++;
  }
  return found;
}

}  // namespace

#define AW_ORDER(Name, ...)                                                               \
  AW_EXPORT cusolverStatus_t cusolverSpX##Name##Host(                                     \
      cusolverSpHandle_t handle, int n, int entries, const cusparseMatDescr_t descriptor, \
      const int* row, const int* column, int* p) {                                        \
    return api<"cusolverSpX" #Name "Host">(                                               \
        [&] { reorder(handle, n, entries, descriptor, row, column, p, __VA_ARGS__); }, n, \
        entries);                                                                         \
  }
AW_ORDER(csrsymrcm, narrow_order)
AW_ORDER(csrsymmdq, [](const Graph& graph) { return minimum_degree(graph, false); })
AW_ORDER(csrsymamd, [](const Graph& graph) { return minimum_degree(graph, true); })
#undef AW_ORDER

// `options` are for METIS, which does not compute this.
AW_EXPORT cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int entries,
                                                     const cusparseMatDescr_t descriptor,
                                                     const int* row, const int* column,
                                                     const int64_t*, int* p) {
  return api<"cusolverSpXcsrmetisndHost">(
      [&] { reorder(handle, n, entries, descriptor, row, column, p, nested_dissection); }, n,
      entries);
}

AW_EXPORT cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int entries,
                                                   const cusparseMatDescr_t descriptor,
                                                   const int* first, const int* last,
                                                   const int* column, int* symmetric) {
  return api<"cusolverSpXcsrissymHost">([&] {
    use_sparse(handle);
    require(symmetric);
    Pattern A(m, m, entries, descriptor, first, last, column);
    std::vector<std::pair<int, int>> places, turned;
    for (int i = 0; i < m; ++i)
      for (int at = first[i] - A.base; at < last[i] - A.base; ++at) {
        places.emplace_back(i, column[at] - A.base);
        turned.emplace_back(column[at] - A.base, i);
      }
    std::sort(places.begin(), places.end()), std::sort(turned.begin(), turned.end());
    *symmetric = places == turned;
  });
}

AW_EXPORT cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(
    cusolverSpHandle_t handle, int m, int n, int entries, const cusparseMatDescr_t descriptor,
    const int* row, const int* column, const int* p, const int* q, size_t* bytes) {
  return api<"cusolverSpXcsrperm_bufferSizeHost">([&] {
    use_sparse(handle);
    require(p && q && bytes);
    Pattern(m, n, entries, descriptor, row, row + 1, column);
    *bytes = 16;
  });
}

// B = A(p, q) in the place of A; `map` goes the way that the values must go.
AW_EXPORT cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n,
                                                  int entries, const cusparseMatDescr_t descriptor,
                                                  int* row, int* column, const int* p, const int* q,
                                                  int* map, void*) {
  return api<"cusolverSpXcsrpermHost">([&] {
    use_sparse(handle);
    require(p && q && map);
    Pattern A(m, n, entries, descriptor, row, row + 1, column);
    auto permutation = [](const int* order, int count) {
      std::vector<int> place(count, -1);
      for (int i = 0; i < count; ++i) {
        require(order[i] >= 0 && order[i] < count && place[order[i]] < 0);
        place[order[i]] = i;
      }
      return place;
    };
    permutation(p, m);
    std::vector<int> place = permutation(q, n);
    struct Entry {
      int column, map;
    };
    std::vector<Entry> made;
    std::vector<int> starts{A.base};
    for (int i = 0; i < m; ++i) {
      size_t begin = made.size();
      for (int at = row[p[i]] - A.base; at < row[p[i] + 1] - A.base; ++at)
        made.push_back({place[column[at] - A.base], map[at]});
      std::stable_sort(made.begin() + static_cast<std::ptrdiff_t>(begin), made.end(),
                       [](const Entry& a, const Entry& b) { return a.column < b.column; });
      starts.push_back(static_cast<int>(made.size()) + A.base);
    }
    std::copy(starts.begin(), starts.end(), row);
    for (size_t k = 0; k < made.size(); ++k)
      column[k] = made[k].column + A.base, map[k] = made[k].map;
  });
}

// P[j] is the row that stands at j, where it has a number on the diagonal, if there is such an
// order.
#define AW_ZERO_FREE(L, T, R)                                                             \
  AW_EXPORT cusolverStatus_t cusolverSp##L##csrzfdHost(                                   \
      cusolverSpHandle_t handle, int n, int entries, const cusparseMatDescr_t descriptor, \
      const T* value, const int* row, const int* column, int* p, int* found) {            \
    return api<"cusolverSp" #L "csrzfdHost">(                                             \
        [&] {                                                                             \
          use_sparse(handle);                                                             \
          require(value && p && found);                                                   \
          Pattern(n, n, entries, descriptor, row, row + 1, column);                       \
          *found = match(matrix(n, entries, descriptor, own(value), row, column), p);     \
        },                                                                                \
        n, entries);                                                                      \
  }
AW_FOUR(AW_ZERO_FREE, , )
#undef AW_ZERO_FREE
