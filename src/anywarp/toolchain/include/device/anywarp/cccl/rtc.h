// The little of cuda::std that runtime compilation has without a host's library: types, traits, limits, pairs, arrays.
#ifndef ANYWARP_CCCL_RTC_H
#define ANYWARP_CCCL_RTC_H

#include "../attributes.h"

namespace cuda {
namespace std {

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef __INT64_TYPE__ int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef decltype(nullptr) nullptr_t;

template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  typedef integral_constant type;
  AW_HD constexpr operator T() const { return V; }
};
template <bool V>
using bool_constant = integral_constant<bool, V>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool C, class A, class B>
struct conditional {
  typedef A type;
};
template <class A, class B>
struct conditional<false, A, B> {
  typedef B type;
};
// The compiler's own words for traits and changes of types.
#define AW_TRAIT(name)                                  \
  template <class T>                                    \
  struct name : bool_constant<__##name(T)> {};          \
  template <class T>                                    \
  constexpr bool name##_v = __##name(T);
#define AW_CHANGE(name)                                 \
  template <class T>                                    \
  struct name {                                         \
    typedef __##name(T) type;                           \
  };                                                    \
  template <class T>                                    \
  using name##_t = __##name(T);
AW_TRAIT(is_integral)
AW_TRAIT(is_floating_point)
AW_TRAIT(is_arithmetic)
AW_TRAIT(is_signed)
AW_TRAIT(is_unsigned)
AW_TRAIT(is_pointer)
AW_TRAIT(is_reference)
AW_TRAIT(is_const)
AW_TRAIT(is_void)
AW_TRAIT(is_enum)
AW_TRAIT(is_class)
AW_TRAIT(is_empty)
AW_TRAIT(is_trivially_copyable)
AW_CHANGE(remove_cv)
AW_CHANGE(remove_const)
AW_CHANGE(remove_volatile)
AW_CHANGE(remove_pointer)
AW_CHANGE(make_signed)
AW_CHANGE(make_unsigned)
AW_CHANGE(decay)
AW_CHANGE(underlying_type)
#undef AW_TRAIT
#undef AW_CHANGE
template <class T>
struct remove_reference {
  typedef __remove_reference_t(T) type;
};
template <class T>
using remove_reference_t = __remove_reference_t(T);
template <class A, class B>
struct is_same : bool_constant<__is_same(A, B)> {};
template <class A, class B>
constexpr bool is_same_v = __is_same(A, B);
template <class A, class B>
struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class A, class B>
struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <bool C, class T = void>
using enable_if_t = typename enable_if<C, T>::type;
template <bool C, class A, class B>
using conditional_t = typename conditional<C, A, B>::type;
template <class...>
using void_t = void;

template <class T>
AW_HD constexpr remove_reference_t<T> &&move(T &&v) noexcept {
  return static_cast<remove_reference_t<T> &&>(v);
}
template <class T>
AW_HD constexpr T &&forward(remove_reference_t<T> &v) noexcept {
  return static_cast<T &&>(v);
}
template <class T>
T &&declval() noexcept;
template <class T>
AW_HD constexpr const T &min(const T &a, const T &b) {
  return b < a ? b : a;
}
template <class T>
AW_HD constexpr const T &max(const T &a, const T &b) {
  return a < b ? b : a;
}
template <class T>
AW_HD constexpr void swap(T &a, T &b) {
  T t = cuda::std::move(a);
  a = cuda::std::move(b);
  b = cuda::std::move(t);
}
template <class A, class B>
struct pair {
  A first;
  B second;
};
template <class A, class B>
AW_HD constexpr pair<A, B> make_pair(A a, B b) {
  return {a, b};
}
template <class T, size_t N>
struct array {
  typedef T value_type;
  T aw_values[N ? N : 1];
  AW_HD constexpr T &operator[](size_t k) { return aw_values[k]; }
  AW_HD constexpr const T &operator[](size_t k) const { return aw_values[k]; }
  AW_HD constexpr T *data() { return aw_values; }
  AW_HD constexpr const T *data() const { return aw_values; }
  AW_HD constexpr T *begin() { return aw_values; }
  AW_HD constexpr T *end() { return aw_values + N; }
  AW_HD constexpr const T *begin() const { return aw_values; }
  AW_HD constexpr const T *end() const { return aw_values + N; }
  AW_HD static constexpr size_t size() { return N; }
};

template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = is_integral_v<T>, is_signed = T(-1) < T(0), is_integer = true;
  static constexpr int digits = sizeof(T) * 8 - is_signed;
  AW_HD static constexpr T max() { return (T)(~0ull >> (64 - digits)); }
  AW_HD static constexpr T min() { return is_signed ? (T)(-max() - 1) : (T)0; }
  AW_HD static constexpr T lowest() { return min(); }
};
#define AW_LIMITS(T, name, f)                                                           \
  template <>                                                                           \
  struct numeric_limits<T> {                                                            \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false;  \
    static constexpr int digits = __##name##_MANT_DIG__;                                \
    AW_HD static constexpr T max() { return __##name##_MAX__; }                         \
    AW_HD static constexpr T min() { return __##name##_MIN__; }                         \
    AW_HD static constexpr T lowest() { return -__##name##_MAX__; }                     \
    AW_HD static constexpr T epsilon() { return __##name##_EPSILON__; }                 \
    AW_HD static constexpr T denorm_min() { return __##name##_DENORM_MIN__; }           \
    AW_HD static constexpr T infinity() { return __builtin_inf##f(); }                  \
    AW_HD static constexpr T quiet_NaN() { return __builtin_nan##f(""); }               \
  };
AW_LIMITS(float, FLT, f)
AW_LIMITS(double, DBL, )
#undef AW_LIMITS
using namespace ::std;  // the mathematical functions

}  // namespace std
}  // namespace cuda

#endif
