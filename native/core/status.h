// How the native libraries fail: an exception with the CUresult to return, caught at every exported
// function.
#pragma once

#include <string>
#include <utility>

namespace aw {

// Thrown inside; `code` is a CUresult, `text` what the user is told (empty when the code says it
// all).
struct Failure {
  int code;
  std::string text;
  explicit Failure(int failure_code, std::string words = {})
      : code(failure_code), text(std::move(words)) {}
};

}  // namespace aw
