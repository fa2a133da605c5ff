// cuSPARSE: systems of equations with three or five diagonals.
#include "libraries/cusparse/entries.h"

using namespace aw::cusparse;

namespace {

// Elements of a diagonal, or of a right side, some way apart.
template <class T>
struct Strided {
  T* first;
  int64_t step;
  T& operator[](int64_t i) const { return first[i * step]; }
};

// Gaussian elimination of a band of `Side` diagonals on each side, of a working copy, for several
// right sides. With exchanges of rows there are twice as many above. `at(i, d)` reads the element
// of row i that is d right of the diagonal.
template <int Side, class T, class At, class Right>
void solve_band(int64_t n, At at, int64_t columns, Right right, bool pivoting) {
  constexpr int kAbove = 2 * Side, kWidth = kAbove + 1;
  // Row i begins with the diagonal; what is left of it lies apart until it is eliminated.
  std::vector<T> upper(static_cast<size_t>(n * kWidth)), lower(static_cast<size_t>(n * Side));
  auto u = [&](int64_t i, int d) -> T& { return upper[static_cast<size_t>(i * kWidth + d)]; };
  auto l = [&](int64_t i, int d) -> T& {
    return lower[static_cast<size_t>(i * Side + d - 1)];
  };  // d left of the diagonal
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d <= Side; ++d)
      if (i + d < n) u(i, d) = at(i, d);
    for (int d = 1; d <= Side; ++d)
      if (i - d >= 0) l(i, d) = at(i, -d);
  }
  // Column i + offset of row r, which may lie on either side of its diagonal.
  auto element = [&](int64_t r, int64_t column) -> T& {
    return column >= r ? u(r, static_cast<int>(column - r)) : l(r, static_cast<int>(r - column));
  };
  for (int64_t i = 0; i < n; ++i) {
    int64_t last_row = std::min(n - 1, i + Side), last_column = std::min(n - 1, i + kAbove);
    if (pivoting) {
      int64_t best = i;
      for (int64_t r = i + 1; r <= last_row; ++r)
        if (magnitude(element(r, i)) > magnitude(element(best, i))) best = r;
      if (best != i) {
        for (int64_t c = i; c <= std::min(last_column, i + kAbove); ++c) {
          if (c - best > kAbove) break;
          std::swap(element(i, c), element(best, c));
        }
        for (int64_t j = 0; j < columns; ++j) std::swap(right(i, j), right(best, j));
      }
    }
    for (int64_t r = i + 1; r <= last_row; ++r) {
      T factor = element(r, i) / u(i, 0);
      for (int64_t c = i + 1; c <= last_column; ++c)
        element(r, c) -= factor * u(i, static_cast<int>(c - i));
      for (int64_t j = 0; j < columns; ++j) right(r, j) -= factor * right(i, j);
    }
  }
  for (int64_t i = n - 1; i >= 0; --i)
    for (int64_t j = 0; j < columns; ++j) {
      T sum = right(i, j);
      for (int64_t c = i + 1; c <= std::min(n - 1, i + kAbove); ++c)
        sum -= u(i, static_cast<int>(c - i)) * right(c, j);
      right(i, j) = sum / u(i, 0);
    }
}

template <class T>
void solve_three(int64_t n, Strided<const T> dl, Strided<const T> d, Strided<const T> du,
                 int64_t columns, Strided<T> b, int64_t ldb, bool pivoting) {
  auto at = [&](int64_t i, int side) { return side < 0 ? dl[i] : side > 0 ? du[i] : d[i]; };
  solve_band<1, T>(
      n, at, columns, [&](int64_t i, int64_t j) -> T& { return b.first[i * b.step + j * ldb]; },
      pivoting);
}

template <class T>
void solve_five(int64_t n, Strided<const T> ds, Strided<const T> dl, Strided<const T> d,
                Strided<const T> du, Strided<const T> dw, Strided<T> x) {
  auto at = [&](int64_t i, int side) {
    const Strided<const T>* diagonals[] = {&ds, &dl, &d, &du, &dw};
    return (*diagonals[side + 2])[i];
  };
  solve_band<2, T>(n, at, 1, [&](int64_t i, int64_t) -> T& { return x[i]; }, true);
}

template <class T, class U>
Strided<T> strided(U* place, int64_t offset, int64_t step) {
  return {reinterpret_cast<T*>(place) + offset, step};
}

}  // namespace

#define AW_BUFFER(Name, Condition, Parameters)                           \
  AW_EXPORT cusparseStatus_t cusparse##Name##_bufferSizeExt Parameters { \
    return api<"cusparse" #Name "_bufferSizeExt">([&] {                  \
      use(handle);                                                       \
      require(Condition);                                                \
      no_buffer(bytes);                                                  \
    });                                                                  \
  }

#define AW_GTSV(L, T, Name, pivoting)                                                              \
  AW_BUFFER(L##Name, m >= 3 && n >= 0 && ldb >= m,                                                 \
            (cusparseHandle_t handle, int m, int n, const T*, const T*, const T*, const T*,        \
             int ldb, size_t* bytes))                                                              \
  AW_EXPORT cusparseStatus_t cusparse##L##Name(cusparseHandle_t handle, int m, int n, const T* dl, \
                                               const T* d, const T* du, T* b, int ldb, void*) {    \
    return api<"cusparse" #L#Name>([&] {                                                           \
      auto& context = use(handle);                                                                 \
      require(m >= 3 && n >= 0 && ldb >= m && dl && d && du && (b || !n));                         \
      using K = Number<T>;                                                                         \
      submit(context, "cusparse" #L#Name, [=] {                                                    \
        in_pieces(n, 4, [&](int64_t first, int64_t last) {                                         \
          solve_three<K>(m, strided<const K>(dl, 0, 1), strided<const K>(d, 0, 1),                 \
                         strided<const K>(du, 0, 1), last - first, strided<K>(b, first * ldb, 1),  \
                         ldb, pivoting);                                                           \
        });                                                                                        \
      });                                                                                          \
    });                                                                                            \
  }

#define AW_DIAGONALS(L, T)                                                                        \
  AW_GTSV(L, T, gtsv2, true)                                                                      \
  AW_GTSV(L, T, gtsv2_nopivot, false)                                                             \
  AW_BUFFER(L##gtsv2StridedBatch, m >= 3 && count >= 0 && stride >= m,                            \
            (cusparseHandle_t handle, int m, const T*, const T*, const T*, const T*, int count,   \
             int stride, size_t* bytes))                                                          \
  AW_EXPORT cusparseStatus_t cusparse##L##gtsv2StridedBatch(cusparseHandle_t handle, int m,       \
                                                            const T* dl, const T* d, const T* du, \
                                                            T* x, int count, int stride, void*) { \
    return api<"cusparse" #L "gtsv2StridedBatch">([&] {                                           \
      auto& context = use(handle);                                                                \
      require(m >= 3 && count >= 0 && stride >= m);                                               \
      using K = Number<T>;                                                                        \
      submit(context, "cusparse" #L "gtsv2StridedBatch", [=] {                                    \
        in_pieces(count, 1, [&](int64_t first, int64_t last) {                                    \
          for (int64_t i = first; i < last; ++i)                                                  \
            solve_three<K>(                                                                       \
                m, strided<const K>(dl, i * stride, 1), strided<const K>(d, i * stride, 1),       \
                strided<const K>(du, i * stride, 1), 1, strided<K>(x, i * stride, 1), 0, false);  \
        });                                                                                       \
      });                                                                                         \
    });                                                                                           \
  }                                                                                               \
  AW_BUFFER(L##gtsvInterleavedBatch, m >= 1 && count >= 0 && algo >= 0 && algo <= 2,              \
            (cusparseHandle_t handle, int algo, int m, const T*, const T*, const T*, const T*,    \
             int count, size_t* bytes))                                                           \
  AW_EXPORT cusparseStatus_t cusparse##L##gtsvInterleavedBatch(                                   \
      cusparseHandle_t handle, int algo, int m, T* dl, T* d, T* du, T* x, int count, void*) {     \
    return api<"cusparse" #L "gtsvInterleavedBatch">([&] {                                        \
      auto& context = use(handle);                                                                \
      require(m >= 1 && count >= 0 && algo >= 0 && algo <= 2);                                    \
      using K = Number<T>;                                                                        \
      submit(context, "cusparse" #L "gtsvInterleavedBatch", [=] {                                 \
        in_pieces(count, 1, [&](int64_t first, int64_t last) {                                    \
          for (int64_t i = first; i < last; ++i)                                                  \
            solve_three<K>(m, strided<const K>(dl, i, count), strided<const K>(d, i, count),      \
                           strided<const K>(du, i, count), 1, strided<K>(x, i, count), 0,         \
                           algo != 0);                                                            \
        });                                                                                       \
      });                                                                                         \
    });                                                                                           \
  }                                                                                               \
  AW_BUFFER(L##gpsvInterleavedBatch, m >= 1 && count >= 0 && algo == 0,                           \
            (cusparseHandle_t handle, int algo, int m, const T*, const T*, const T*, const T*,    \
             const T*, const T*, int count, size_t* bytes))                                       \
  AW_EXPORT cusparseStatus_t cusparse##L##gpsvInterleavedBatch(cusparseHandle_t handle, int algo, \
                                                               int m, T* ds, T* dl, T* d, T* du,  \
                                                               T* dw, T* x, int count, void*) {   \
    return api<"cusparse" #L "gpsvInterleavedBatch">([&] {                                        \
      auto& context = use(handle);                                                                \
      require(m >= 1 && count >= 0 && algo == 0);                                                 \
      using K = Number<T>;                                                                        \
      submit(context, "cusparse" #L "gpsvInterleavedBatch", [=] {                                 \
        in_pieces(count, 1, [&](int64_t first, int64_t last) {                                    \
          for (int64_t i = first; i < last; ++i)                                                  \
            solve_five<K>(m, strided<const K>(ds, i, count), strided<const K>(dl, i, count),      \
                          strided<const K>(d, i, count), strided<const K>(du, i, count),          \
                          strided<const K>(dw, i, count), strided<K>(x, i, count));               \
        });                                                                                       \
      });                                                                                         \
    });                                                                                           \
  }
AW_FOUR(AW_DIAGONALS)
