// The options of a compilation as the text that stands in requests and cache keys; one spelling per
// meaning, mirrored in src/anywarp/compiler/options.py (docs/contracts.md, section 2).
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace aw {

// An integer parameter (place and size in bytes) whose value is a multiple of `modulus`.
struct Multiple {
  uint64_t offset = 0, size = 0, modulus = 0;
  auto operator<=>(const Multiple&) const = default;
};

struct CompileOptions {
  std::set<std::string> checks;  // memory, race, init, sync: what the code checks while it runs
  unsigned lanes = 0;            // emitted together; 0: the compiler's choice
  std::vector<Multiple> multiples;
  uint64_t stack = 0;  // bytes of a thread's stack, if more than usual is asked for
  bool quick = false;  // soon rather than fast
};

// Empty for a full compilation that assumes only the block shape.
std::string write_options(const CompileOptions& options);

// Whether every one of `multiples` holds for these parameters.
bool holds(const std::vector<Multiple>& multiples, const std::vector<uint8_t>& params);

}  // namespace aw
