// Functions of OpenBLAS by the type of their elements, and what arguments have to satisfy for them.
#pragma once

#include <algorithm>
#include <climits>

#include "libraries/cublas/cublas.h"
#include "libraries/engine.h"

namespace aw::cublas {

// The C++ type of the elements that a program names by one of CUDA's.
template <class T>
struct ElementOf {
  using type = T;
};
template <>
struct ElementOf<cuComplex> {
  using type = std::complex<float>;
};
template <>
struct ElementOf<cuDoubleComplex> {
  using type = std::complex<double>;
};
template <class T>
using Element = typename ElementOf<T>::type;

template <class E>
struct RealOf {
  using type = E;
};
template <class E>
struct RealOf<std::complex<E>> {
  using type = E;
};
template <class E>
using Real = typename RealOf<E>::type;
template <class E>
constexpr bool kComplex = !std::is_same_v<E, Real<E>>;

template <class E>
constexpr char kLetter = kComplex<E> ? (sizeof(E) == 8 ? 'c' : 'z') : (sizeof(E) == 4 ? 's' : 'd');

template <class T>
const Element<T>* elements(const T* from) {
  return reinterpret_cast<const Element<T>*>(from);
}
template <class T>
Element<T>* elements(T* from) {
  return reinterpret_cast<Element<T>*>(from);
}

// Calls the function of BLAS or LAPACK whose name is the letter of E and `Rest`. Everything is
// passed by address, as Fortran does.
template <class E, Name Rest, class R = void, class... Args>
R blas(Args... args) {
  static auto* const function = reinterpret_cast<R (*)(Args...)>(
      lib::engine_symbol((kLetter<E> + std::string(Rest.text)).c_str()));
  return function(args...);
}

// Sees to it that OpenBLAS is there and has a function, while an error can still be told.
template <class E, Name Rest>
void need() {
  static void* const found = lib::engine_symbol((kLetter<E> + std::string(Rest.text)).c_str());
  static_cast<void>(found);
}

// OpenBLAS counts with 32 bits.
inline int narrow(int64_t value) {
  if (value > INT_MAX || value < INT_MIN) unsupported("sizes of 2^31 and more");
  return static_cast<int>(value);
}
inline int size(int64_t value) {
  require(value >= 0);
  return narrow(value);
}
// The leading dimension of a matrix of `rows` rows.
inline int leading(int64_t value, int64_t rows) {
  require(value >= std::max<int64_t>(1, rows));
  return narrow(value);
}
inline int step(int64_t value) {
  require(value != 0);
  return narrow(value);
}

inline char letter(cublasOperation_t op) {
  require(op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG);
  if (op == CUBLAS_OP_CONJG) unsupported("CUBLAS_OP_CONJG");
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
}
inline char letter(cublasFillMode_t fill) {
  require(fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER);
  return fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}
inline char letter(cublasDiagType_t diagonal) {
  require(diagonal == CUBLAS_DIAG_NON_UNIT || diagonal == CUBLAS_DIAG_UNIT);
  return diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N';
}
inline char letter(cublasSideMode_t side) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}

// Where element 0 of a vector lies and how far it is to the next: negative increments begin at the
// end.
template <class E>
E* first_of(E* x, int64_t n, int64_t inc) {
  return inc < 0 ? x - (n - 1) * inc : x;
}

// Computes `body()` in the stream and leaves it where the pointer mode says that `result` lies.
template <class R, class Body>
void deliver(cublasContext& handle, R* result, const char* name, Body body) {
  require(result);
  lib::submit(handle.stream, name, [=] { *result = body(); });
  if (handle.pointer_mode == CUBLAS_POINTER_MODE_HOST) finish(handle);
}

}  // namespace aw::cublas
