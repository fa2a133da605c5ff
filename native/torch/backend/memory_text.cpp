#include "memory_text.h"

#include <cstdio>

namespace awt {

std::string size_text(size_t bytes) {
  const auto value = static_cast<double>(bytes);
  char text[32];
  if (bytes <= 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else if (bytes <= (1u << 20)) {
    std::snprintf(text, sizeof text, "%.2f KiB", value / (1u << 10));
  } else if (bytes <= (1u << 30)) {
    std::snprintf(text, sizeof text, "%.2f MiB", value / (1u << 20));
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", value / (1u << 30));
  }
  return text;
}

}  // namespace awt
