// How the recorder's description of a C type follows from the type itself.
#pragma once

#include <type_traits>

#include "hip_implementations.h"
#include "recorder.h"

template <typename T>
inline constexpr const FakeStruct* kLayout = nullptr;

template <typename T>
constexpr FakeType fake_type() {
  if constexpr (std::is_array_v<T>) {
    return fake_type<std::remove_all_extents_t<T>>();
  } else if constexpr (std::is_pointer_v<T>) {
    using Inner = std::remove_pointer_t<T>;
    using Plain = std::remove_cv_t<Inner>;
    if constexpr (std::is_function_v<Plain>) {
      return {'p', 0, false, 8, nullptr};
    } else if constexpr (std::is_pointer_v<Plain>) {
      FakeType inner = fake_type<Plain>();
      // A pointer to a handle: the structure behind it is nobody's business.
      if (inner.depth == 0) return {inner.kind, 1, !std::is_const_v<Inner>, 8, nullptr};
      return {inner.kind, 2, !std::is_const_v<Inner>, inner.size, inner.layout};
    } else if constexpr (std::is_void_v<Plain>) {
      return {'v', 1, !std::is_const_v<Inner>, 0, nullptr};
    } else if constexpr (requires { sizeof(Plain); }) {
      FakeType inner = fake_type<Plain>();
      return {inner.kind, 1, !std::is_const_v<Inner>, inner.size, inner.layout};
    } else {
      return {'h', 0, false, 8, nullptr};
    }
  } else if constexpr (std::is_same_v<T, char>) {
    return {'c', 0, false, 1, nullptr};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {'f', 0, false, sizeof(T), nullptr};
  } else if constexpr (std::is_enum_v<T>) {
    return {'i', 0, false, sizeof(T), nullptr};
  } else if constexpr (std::is_integral_v<T>) {
    return {std::is_signed_v<T> ? 'i' : 'u', 0, false, sizeof(T), nullptr};
  } else if constexpr (std::is_union_v<T>) {
    return {'s', 0, false, sizeof(T), nullptr};
  } else {
    return {'s', 0, false, sizeof(T), kLayout<std::remove_cv_t<T>>};
  }
}

#define FAKE_FIELD(type, field, name)                                                            \
  {name, offsetof(type, field),                                                                  \
   static_cast<uint32_t>(sizeof(type::field) / (fake_type<decltype(type::field)>().depth         \
                                                    ? 8                                          \
                                                    : fake_type<decltype(type::field)>().size)), \
   fake_type<decltype(type::field)>()}
