// The relocations of each processor: System V ABI for x86-64 (table 4.9), ELF for the Arm 64-bit
// architecture (5.7).
#pragma once

#include <cstdint>

namespace aw {

constexpr uint64_t kStubBytes = 16;

// One relocation, with every address it may need.
struct Fixup {
  uint64_t type = 0, place = 0, symbol = 0, table_entry = 0;
  int64_t addend = 0;
};

extern const unsigned kMachine;                 // e_machine of objects for this processor
uint64_t relocation_bytes(uint64_t type);       // how many bytes at the place it changes
bool needs_low_addresses(uint64_t type);        // stores an address in 32 bits
bool uses_table(uint64_t type);                 // goes through the table of addresses
bool is_call(uint64_t type);                    // may go through a stub
void write_stub(uint8_t* to, uint64_t target);  // code that jumps to `target`, however far
bool apply(const Fixup& fixup);                 // false: not known, or the distance does not fit

}  // namespace aw
