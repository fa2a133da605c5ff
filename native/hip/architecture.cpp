#include "hip/architecture.h"

#include <cctype>

namespace aw {
namespace {

constexpr uint32_t kKiB = 1024;

struct Row {
  const char* prefix;  // the longest that fits counts
  Architecture value;
};

// A compute unit of gfx9 has four SIMDs of 64 lanes; two compute units of gfx10 and later (a
// work-group processor) have two SIMDs of 32 lanes each, and share LDS.
constexpr Row kRows[] = {
    {"gfx9", {64, 64 * kKiB, 64 * kKiB, 512, 65536, 256, 4, 4, 10}},
    {"gfx908", {64, 64 * kKiB, 64 * kKiB, 512, 65536, 256, 4, 4, 10}},
    {"gfx90a", {64, 64 * kKiB, 64 * kKiB, 512, 131072, 512, 8, 4, 8}},
    {"gfx940", {64, 64 * kKiB, 64 * kKiB, 512, 131072, 512, 8, 4, 8}},
    {"gfx942", {64, 64 * kKiB, 64 * kKiB, 512, 131072, 512, 8, 4, 8}},
    {"gfx9-4", {64, 64 * kKiB, 64 * kKiB, 512, 131072, 512, 8, 4, 8}},
    {"gfx950", {64, 160 * kKiB, 160 * kKiB, 1280, 131072, 512, 8, 4, 8}},
    {"gfx10", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 8, 2, 20}},
    {"gfx103", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 16, 2, 16}},
    {"gfx10-3", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 16, 2, 16}},
    {"gfx11", {32, 64 * kKiB, 64 * kKiB, 512, 98304, 1536, 24, 2, 16}},
    {"gfx1102", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 16, 2, 16}},
    {"gfx1103", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 16, 2, 16}},
    {"gfx115", {32, 64 * kKiB, 64 * kKiB, 512, 65536, 1024, 16, 2, 16}},
    {"gfx12", {32, 64 * kKiB, 64 * kKiB, 512, 98304, 1536, 24, 2, 16}},
    {"gfx125", {32, 320 * kKiB, 320 * kKiB, 2048, 65536, 1024, 16, 2, 16}},
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
