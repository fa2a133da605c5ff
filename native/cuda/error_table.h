// Result codes by number.
#pragma once

namespace aw {

struct ErrorText {
  int code;
  const char* name;
  const char* words;
};

// Null for a number that no code has.
const ErrorText* find_error(int code);

}  // namespace aw
