// Functions that Python calls by ctypes: what they throw becomes a number and words, which
// calls.py raises again.
#pragma once

#include <c10/util/Exception.h>

#include <string>

#include "versions.h"

#define AWT_EXPORT extern "C" __attribute__((visibility("default")))

namespace awt {

// The classes of Python that exceptions of C++ become, as torch translates them.
enum class Raised : int { none, runtime, accelerator, memory, value, index, missing, type };

struct LastError {
  std::string words;
  int code = 0;  // the CUresult of an AcceleratorError
};
LastError& last_error() noexcept;  // of this thread

// For use in a catch block: writes the exception down and tells its class.
Raised note_exception() noexcept;

template <class Body>
int exported(Body&& body) noexcept {
  try {
    body();
    return int(Raised::none);
  } catch (...) {
    return int(note_exception());
  }
}

}  // namespace awt
