#include "core/container.h"

#include <cstring>

#include "core/sha256.h"

namespace aw {

std::optional<Container> read_container(std::string bytes) {
  constexpr size_t kPrefix = 8 + 4 + 8 + 32;
  if (bytes.size() < kPrefix || memcmp(bytes.data(), "ANYWARP1", 8) != 0) return {};
  uint32_t header_bytes;
  uint64_t payload_bytes;
  memcpy(&header_bytes, bytes.data() + 8, 4);
  memcpy(&payload_bytes, bytes.data() + 12, 8);
  size_t rest = bytes.size() - kPrefix;
  if (header_bytes > rest || payload_bytes != rest - header_bytes) return {};
  auto digest = sha256(bytes.data() + kPrefix, rest);
  if (memcmp(digest.data(), bytes.data() + 20, 32) != 0) return {};
  Container c;
  c.lines = parse_lines(std::string_view(bytes).substr(kPrefix, header_bytes));
  c.payload_at = kPrefix + header_bytes;
  c.bytes = std::move(bytes);
  return c;
}

}  // namespace aw
