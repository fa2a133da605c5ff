#include "hip/architecture.h"

#include <cctype>

namespace aw {
namespace {

struct Row {
  const char* prefix;  // the longest that fits counts
  Architecture value;
};

constexpr Row kRows[] = {
#include "hip/architectures.inc"
};

}  // namespace

Architecture architecture_of(const std::string& name) {
  const Row* best = &kRows[0];
  size_t length = 0;
  for (auto& row : kRows) {
    std::string prefix = row.prefix;
    if (prefix.size() > length && name.rfind(prefix, 0) == 0) best = &row, length = prefix.size();
  }
  return best->value;
}

bool is_supported(const std::string& name) {
  if (name.rfind("gfx9", 0) == 0) return true;
  return name.rfind("gfx1", 0) == 0 && name.size() > 4 &&
         isdigit(static_cast<unsigned char>(name[4]));
}

}  // namespace aw
