// A name as a template argument, so that each exported function has a counter of its own.
#pragma once

#include <cstddef>

namespace aw {

template <size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&name)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

}  // namespace aw
