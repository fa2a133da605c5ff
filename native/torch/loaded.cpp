// What is done once all static registrations of the library are in place; Python calls it right
// after dlopen.
#include <exception>
#include <string>

#include "allocator.h"
#include "layouts.h"
#include "seam.h"

namespace awt {

void register_operators();

}  // namespace awt

// Returns null, or the words of what went wrong.
extern "C" __attribute__((visibility("default"))) const char* awt_load() {
  static std::string words;
  try {
    awt::install_allocators();
    awt::register_operators();
    awt::register_layouts();
    awt::end_of_overriding();
    return nullptr;
  } catch (const std::exception& error) {
    words = error.what();
    return words.c_str();
  }
}
