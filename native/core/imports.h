// What objects made by the compiler may call (docs/contracts.md, sections 1 and 6).
#pragma once

#include <string>

namespace aw {

// Returns the address of an import; null when there is none of that name.
void* find_import(const std::string& name);

}  // namespace aw
