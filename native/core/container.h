// The file format of compiled kernels and module descriptions (docs/contracts.md, section 1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace aw {

struct Container {
  std::vector<Line> lines;
  std::string bytes;  // the whole file; `payload` points into it
  size_t payload_at = 0;

  std::string_view payload() const { return std::string_view(bytes).substr(payload_at); }
};

// Reads a container; nothing when it is short, long or its digest differs.
std::optional<Container> read_container(std::string bytes);

// Writes one that has lines and no payload.
std::string write_container(const std::vector<Line>& lines);

}  // namespace aw
