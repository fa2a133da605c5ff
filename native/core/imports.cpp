#include "core/imports.h"

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "core/host_services.h"

// Arithmetic that compilers call instead of inlining it (libgcc and compiler-rt share these names).
extern "C" {
#define AW_BUILTIN(name) void name();
#include "core/builtins.inc"
#undef AW_BUILTIN
}

namespace aw {
namespace {

using ImportTable = std::unordered_map<std::string, void*>;

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

ImportTable make_table() {
  ImportTable t = {
      {"memcpy", address<void*(void*, const void*, size_t)>(memcpy)},
      {"memmove", address<void*(void*, const void*, size_t)>(memmove)},
      {"memset", address<void*(void*, int, size_t)>(memset)},
      {"fma", address<double(double, double, double)>(fma)},
      {"fmaf", address<float(float, float, float)>(fmaf)},
      {"fmod", address<double(double, double)>(fmod)},
      {"fmodf", address<float(float, float)>(fmodf)},
      {"aw_texture_fault", address(aw_texture_fault)},
  };
#define AW_HOST_FUNCTION(name) t[#name] = address(name);
  AW_HOST_FUNCTIONS(AW_HOST_FUNCTION)
#undef AW_HOST_FUNCTION
#define AW_BUILTIN(name) t[#name] = address(::name);
#include "core/builtins.inc"
#undef AW_BUILTIN
  return t;
}

}  // namespace

void* find_import(const std::string& name) {
  static const ImportTable& table = *new ImportTable(make_table());
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace aw
