// plus, less, greater and the bitwise operators that reductions and scans take.
#ifndef ANYWARP_COOPERATIVE_OPERATORS_H
#define ANYWARP_COOPERATIVE_OPERATORS_H

#include "groups.h"

namespace cooperative_groups {

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
// What changes nothing: all ones for `and`, the largest for `less`, the smallest for `greater`, zero for the others.
template <class T, class Op>
AW_CG T neutral(const Op &) {
  return T();
}
template <class T>
AW_CG T neutral(const bit_and<T> &) {
  return (T)~T();
}
}  // namespace aw

}  // namespace cooperative_groups

#endif
