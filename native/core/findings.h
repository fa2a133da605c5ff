// What checked kernels were found to do wrong: each place once, told at once and kept for the
// report of the run (docs/checking.md).
#pragma once

#include <cstdint>
#include <string>

namespace aw {

// One thing that went wrong. `check` is memory, init, race or sync; `kind` says what exactly.
struct Finding {
  std::string check, kind, kernel;
  std::string file, inlined_at;  // empty: no line information
  uint64_t line = 0, ptx_line = 0;
  uint32_t block[3]{}, thread[3]{};
  std::string access, space;  // load, store, atomic ...; where
  uint64_t address = 0, size = 0;
  std::string text;  // the headline, without the place
  std::string more;  // what is known about the address or the other threads
};

// Counts a finding; the first of its kind at its place is told on stderr.
void add_finding(const Finding& finding);

// All of them as lines of the report (docs/contracts.md, section 5).
std::string render_findings();

// A forked child has found nothing yet.
void forget_findings();

}  // namespace aw
