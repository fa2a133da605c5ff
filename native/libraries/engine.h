// OpenBLAS, which computes what cuBLAS and cuSOLVER are asked for: the package scipy-openblas32,
// opened when it is first needed. Every function has the prefix scipy_ and 32-bit integers; one
// thread computes each call.
#pragma once

#include "core/name.h"

namespace aw::lib {

// Returns a function of OpenBLAS, such as "dgemm_" or "cblas_sdot"; throws NOT_SUPPORTED, with what
// to do, where there is none.
void* engine_symbol(const char* name);

// engine<"dgemm_", void(const char*, ...)>()
template <Name Function, class Type>
Type* engine() {
  static Type* const found = reinterpret_cast<Type*>(engine_symbol(Function.text));
  return found;
}

}  // namespace aw::lib
