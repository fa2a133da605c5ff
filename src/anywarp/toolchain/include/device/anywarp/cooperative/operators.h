// plus, less, greater and the bitwise operators that reductions and scans take.
#ifndef ANYWARP_COOPERATIVE_OPERATORS_H
#define ANYWARP_COOPERATIVE_OPERATORS_H

#include "groups.h"

namespace cooperative_groups {
namespace __v1 {

#define AW_OPERATOR(name, expression)               \
  template <class T>                                \
  struct name {                                     \
    AW_CG T operator()(const T &a, const T &b) const { return expression; } \
  };
AW_OPERATOR(plus, a + b)
AW_OPERATOR(less, b < a ? b : a)
AW_OPERATOR(greater, a < b ? b : a)
AW_OPERATOR(bit_and, a & b)
AW_OPERATOR(bit_or, a | b)
AW_OPERATOR(bit_xor, a ^ b)
#undef AW_OPERATOR

namespace aw {
struct yes {};
struct no {};
template <class T>
struct bare {
  typedef T type;
};
template <class T>
struct bare<T &> : bare<T> {};
template <class T>
struct bare<T &&> : bare<T> {};
template <class T>
struct bare<const T> : bare<T> {};
// What changes nothing: all ones for `and`, the largest number for `less`, the smallest for `greater`, T() for the others.
template <class T>
AW_CG T most(yes) {
  constexpr bool whole = (T)0.5 == (T)0, negative = (T)-1 < (T)0;
  return whole ? (T)(~0ull >> (64 - sizeof(T) * 8 + negative)) : (T)__builtin_huge_valf();
}
template <class T>
AW_CG T least(yes) {
  constexpr bool whole = (T)0.5 == (T)0, negative = (T)-1 < (T)0;
  return whole ? (negative ? (T)(-most<T>(yes()) - (T)1) : (T)0) : (T)-__builtin_huge_valf();
}
template <class T>
AW_CG T most(no) {
  return T();
}
template <class T>
AW_CG T least(no) {
  return T();
}
template <class T>
using is_number = typename choose<__is_arithmetic(T), yes, no>::type;
template <class T, class Op>
AW_CG T neutral(const Op &) {
  return T();
}
template <class T>
AW_CG T neutral(const bit_and<T> &) {
  return (T)~T();
}
template <class T>
AW_CG T neutral(const less<T> &) {
  return most<T>(is_number<T>());
}
template <class T>
AW_CG T neutral(const greater<T> &) {
  return least<T>(is_number<T>());
}
}  // namespace aw

}  // namespace __v1
}  // namespace cooperative_groups

#endif
