// Finding the copy of NVIDIA's runtime that a program or library carries, by its own symbols.
#pragma once

#include "rebind/elf_file.h"
#include "rebind/entries.h"

namespace aw::rebind {

inline constexpr size_t kJumpBytes = 14;      // jmp *0(%rip) and the address behind it
inline constexpr uint32_t kMostFound = 4096;  // entries in one file; several copies may be in it

struct FoundEntry {
  uint64_t address;  // as linked
  uint32_t known;    // number in kEntries, or kKnown when the name is not there
  const char* name;  // in the file
};

enum class Verdict {
  none,      // carries no copy
  stripped,  // carries one, as its sections say, but no symbols that tell where
  refused,   // carries one that cannot be redirected as a whole: `reason`
  complete,
};

struct RuntimeCopy {
  int major = 0;  // 12 or 13
  uint32_t count = 0;
  FoundEntry entries[kMostFound];  // in order of address
  const char* reason = nullptr;
  const char* missing = nullptr;  // an entry that the copy should have
};

// Fills `copy`, which is large and may be used again.
Verdict find_runtime(ElfFile& file, RuntimeCopy& copy);

}  // namespace aw::rebind
