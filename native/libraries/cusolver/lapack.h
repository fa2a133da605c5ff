// Routines of LAPACK and BLAS by name, for the four types of numbers, and the memory in which they
// work.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "libraries/engine.h"

namespace aw::cusolver {

template <class T>
struct RealOf {
  using type = T;
  static constexpr bool is_complex = false;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
  static constexpr bool is_complex = true;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kComplex = RealOf<T>::is_complex;

inline float conjugate(float x) { return x; }
inline double conjugate(double x) { return x; }
template <class T>
std::complex<T> conjugate(std::complex<T> x) {
  return std::conj(x);
}

// "potrf" as the engine calls it for T: "dpotrf_".
template <class T, size_t N>
constexpr Name<N + 2> typed(const Name<N>& routine) {
  char text[N + 2] = {};
  text[0] = kComplex<T> ? (sizeof(T) == 8 ? 'c' : 'z') : (sizeof(T) == 4 ? 's' : 'd');
  for (size_t i = 0; i + 1 < N; ++i) text[i + 1] = routine.text[i];
  text[N] = '_';
  return Name<N + 2>(text);
}

template <class A>
auto by_address(const A& argument) {
  if constexpr (std::is_pointer_v<A>)
    return argument;
  else
    return &argument;
}

// Calls a function of Fortran: values by address, and behind all the length of each letter, which
// gfortran's callees may rely on.
template <Name Function, class... Args>
void fortran(Args... args) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    lib::engine<Function, void(decltype(by_address(args))..., decltype(I)...)>()(
        by_address(args)..., (static_cast<void>(I), size_t{1})...);
  }(std::make_index_sequence<(0 + ... + std::is_same_v<Args, char>)>{});
}

// A routine without `info`.
template <class T, Name Routine, Name Complex = Routine, class... Args>
void blas(Args... args) {
  if constexpr (kComplex<T>)
    fortran<typed<T>(Complex)>(args...);
  else
    fortran<typed<T>(Routine)>(args...);
}

// A routine with `info` as its last parameter, which is returned. Complex: its name there, where it
// is another.
template <class T, Name Routine, Name Complex = Routine, class... Args>
int lapack(Args... args) {
  int info = 0;
  blas<T, Routine, Complex>(args..., &info);
  return info;
}

// The memory in which a routine works: what the program gave, and our own where that is too little.
// Also counts what is asked for, for *_bufferSize.
class Memory {
 public:
  Memory() : counts_(true) {}
  Memory(void* given, size_t bytes)
      : start_(reinterpret_cast<uintptr_t>(given)),
        next_(start_),
        end_(given ? next_ + bytes : next_) {}

  bool counts() const { return counts_; }
  size_t bytes() const { return bytes_; }

  template <class T>
  T* take(size_t count) {
    size_t size = count * sizeof(T);
    if (counts_) {
      bytes_ += size + kAlignment;
      return nullptr;
    }
    uintptr_t at = (next_ + kAlignment - 1) & ~uintptr_t{kAlignment - 1};
    if (at <= end_ && size <= end_ - at) {
      next_ = at + size;
      return reinterpret_cast<T*>(at);
    }
    own_.emplace_back(new char[size]);
    own_bytes_ += size + kAlignment;
    return reinterpret_cast<T*>(own_.back().get());
  }

  // For the next problem of the same size: all that was taken is free again, in one piece.
  void again() {
    if (own_.empty()) {
      next_ = start_;
      return;
    }
    size_t bytes = end_ - start_ + own_bytes_;
    own_.clear(), own_bytes_ = 0;
    kept_.reset(new char[bytes]);
    next_ = start_ = reinterpret_cast<uintptr_t>(kept_.get());
    end_ = start_ + bytes;
  }

 private:
  static constexpr size_t kAlignment = 64;
  bool counts_ = false;
  size_t bytes_ = 0;
  uintptr_t start_ = 0, next_ = 0, end_ = 0;
  std::vector<std::unique_ptr<char[]>> own_;
  size_t own_bytes_ = 0;
  std::unique_ptr<char[]> kept_;
};

// The size of `work` that a routine answers with: exact up to the type's precision, so the next
// number above.
template <class T>
int size_in(T answer) {
  Real<T> size = std::real(answer);
  return static_cast<int>(
      std::ceil(std::nextafter(size, std::numeric_limits<Real<T>>::infinity())));
}

inline int size_in(int answer) { return answer; }

// Asks a routine, `ask(T* answer)`, how much it wants to work in. The last answer is kept, by place
// in the source and thread, with what it depends on.
template <class T, class Ask, class... Keys>
int asked(const Ask& ask, Keys... keys) {
  thread_local int answer = 0;
  thread_local std::tuple<Keys...> last;
  std::tuple<Keys...> now(keys...);
  if (answer && last == now) return answer;
  T said{};
  ask(&said);
  answer = std::max(1, size_in(said));
  last = now;
  return answer;
}

template <class A>
auto key_of(const A& argument) {
  if constexpr (std::is_pointer_v<A>)
    return static_cast<void*>(nullptr);
  else
    return argument;
}

// A routine whose parameters are args..., work, lwork, more..., info: `more` are further arrays to
// work in.
template <class T, Name Routine, Name Complex = Routine, class... More, class... Args>
int lapack_in(Memory& memory, std::tuple<More*...> more, Args... args) {
  auto ask = [&](T* answer) {
    [[maybe_unused]] double
        first[2];  // some routines write into those arrays even when they are asked
    lapack<T, Routine, Complex>(args..., answer, -1, reinterpret_cast<More*>(first)...);
  };
  int lwork = asked<T>(ask, key_of(args)...);
  T* work = memory.take<T>(lwork);
  if (memory.counts()) return 0;
  return std::apply(
      [&](auto... last) { return lapack<T, Routine, Complex>(args..., work, lwork, last...); },
      more);
}
template <class T, Name Routine, Name Complex = Routine, class... Args>
int lapack_in(Memory& memory, Args... args) {
  return lapack_in<T, Routine, Complex>(memory, std::tuple<>(), args...);
}

// to(n x m) = conjugate transpose of from(m x n).
template <class T>
void adjoint(int m, int n, const T* from, int ldfrom, T* to, int ldto) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) to[j + size_t(i) * ldto] = conjugate(from[i + size_t(j) * ldfrom]);
}

template <class T>
void copy(int m, int n, const T* from, int ldfrom, T* to, int ldto) {
  for (int j = 0; j < n; ++j)
    std::memmove(to + size_t(j) * ldto, from + size_t(j) * ldfrom, m * sizeof(T));
}

template <class T>
void fill(int m, int n, T value, T* to, int ldto) {
  for (int j = 0; j < n; ++j) std::fill_n(to + size_t(j) * ldto, m, value);
}

// C(m x n) = alpha op(A) op(B) + beta C.
template <class T>
void product(char opA, char opB, int m, int n, int k, T alpha, const T* A, int lda, const T* B,
             int ldb, T beta, T* C, int ldc) {
  blas<T, "gemm">(opA, opB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <class T>
double frobenius(int m, int n, const T* A, int lda) {
  double sum = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double size = std::abs(A[i + size_t(j) * lda]);
      sum += size * size;
    }
  return std::sqrt(sum);
}

template <class T>
bool finite(int m, int n, const T* A, int lda) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      if (T x = A[i + size_t(j) * lda];
          !std::isfinite(std::real(x)) || !std::isfinite(std::imag(x)))
        return false;
  return true;
}

template <class T>
constexpr Real<T> kNan = std::numeric_limits<Real<T>>::quiet_NaN();

}  // namespace aw::cusolver
