// What a source that NVRTC compiles finds without including it (NVRTC manual, section Language).
#ifndef ANYWARP_NVRTC_H
#define ANYWARP_NVRTC_H

#include <stddef.h>

#include "cuda_runtime.h"
#include "anywarp/nv_target.h"

typedef long clock_t;

#ifndef CUDART_VERSION
#define CUDART_VERSION 13050
#endif

#ifndef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __aw_assert(#condition, __FILE__, __LINE__, __func__))
#endif
#endif

// What NVRTC has of the standard library by itself.
namespace std {
using size_t = ::size_t;
using ptrdiff_t = ::ptrdiff_t;
using nullptr_t = decltype(nullptr);

// The compiler makes objects of it, from two pointers or a pointer and a length.
template <class T>
class initializer_list {
  const T* first_;
  size_t size_;
  __host__ __device__ constexpr initializer_list(const T* first, size_t size) : first_(first), size_(size) {}

 public:
  using value_type = T;
  using reference = const T&;
  using const_reference = const T&;
  using size_type = size_t;
  using iterator = const T*;
  using const_iterator = const T*;
  __host__ __device__ constexpr initializer_list() noexcept : first_(nullptr), size_(0) {}
  __host__ __device__ constexpr size_t size() const noexcept { return size_; }
  __host__ __device__ constexpr const T* begin() const noexcept { return first_; }
  __host__ __device__ constexpr const T* end() const noexcept { return first_ + size_; }
};

template <class T>
struct __anywarp_plain {
  using type = T;
};
template <class T>
struct __anywarp_plain<T&> {
  using type = T;
};
template <class T>
struct __anywarp_plain<T&&> {
  using type = T;
};

template <class T>
__host__ __device__ constexpr T&& forward(typename __anywarp_plain<T>::type& value) noexcept {
  return static_cast<T&&>(value);
}
template <class T>
__host__ __device__ constexpr T&& forward(typename __anywarp_plain<T>::type&& value) noexcept {
  return static_cast<T&&>(value);
}
template <class T>
__host__ __device__ constexpr typename __anywarp_plain<T>::type&& move(T&& value) noexcept {
  return static_cast<typename __anywarp_plain<T>::type&&>(value);
}
}  // namespace std

#endif
