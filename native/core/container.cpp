#include "core/container.h"

#include <cstring>

#include "core/sha256.h"

namespace aw {

namespace {

constexpr size_t kPrefix = 8 + 4 + 8 + 32;

}  // namespace

std::optional<Container> read_container(std::string bytes) {
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

std::string write_container(const std::vector<Line>& lines) {
  std::string header = render_lines(lines);
  std::string bytes(kPrefix, '\0');
  auto header_bytes = static_cast<uint32_t>(header.size());
  auto digest = sha256(header.data(), header.size());
  memcpy(bytes.data(), "ANYWARP1", 8);
  memcpy(bytes.data() + 8, &header_bytes, 4);
  memcpy(bytes.data() + 20, digest.data(), 32);
  return bytes + header;
}

}  // namespace aw
