#include "core/relocations.h"

#include <elf.h>

#include <cstring>

namespace aw {
namespace {

void put32(uint64_t place, uint64_t value) {
  uint32_t low = static_cast<uint32_t>(value);
  memcpy(reinterpret_cast<void*>(place), &low, 4);
}

void put64(uint64_t place, uint64_t value) { memcpy(reinterpret_cast<void*>(place), &value, 8); }

bool fits_signed(uint64_t value, unsigned bits) {
  int64_t v = static_cast<int64_t>(value);
  return v >= -(int64_t{1} << (bits - 1)) && v < (int64_t{1} << (bits - 1));
}

}  // namespace

#if defined(__x86_64__)

#ifndef R_X86_64_GOTPCRELX
#define R_X86_64_GOTPCRELX 41
#define R_X86_64_REX_GOTPCRELX 42
#endif

const unsigned kMachine = EM_X86_64;

uint64_t relocation_bytes(uint64_t type) {
  return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

bool needs_low_addresses(uint64_t type) { return type == R_X86_64_32 || type == R_X86_64_32S; }

bool uses_table(uint64_t type) {
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

bool is_call(uint64_t type) { return type == R_X86_64_PLT32 || type == R_X86_64_PC32; }

void write_stub(uint8_t* to, uint64_t target) {
  const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *(%rip), the address follows
  memcpy(to, jump, sizeof jump);
  memcpy(to + sizeof jump, &target, 8);
}

bool apply(const Fixup& f) {
  uint64_t absolute = f.symbol + static_cast<uint64_t>(f.addend), relative = absolute - f.place;
  switch (f.type) {
    case R_X86_64_NONE:
      return true;
    case R_X86_64_64:
      return put64(f.place, absolute), true;
    case R_X86_64_PC64:
      return put64(f.place, relative), true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      return put32(f.place, relative), fits_signed(relative, 32);
    case R_X86_64_32:
      return put32(f.place, absolute), absolute >> 32 == 0;
    case R_X86_64_32S:
      return put32(f.place, absolute), fits_signed(absolute, 32);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      relative = f.table_entry + static_cast<uint64_t>(f.addend) - f.place;
      return put32(f.place, relative), fits_signed(relative, 32);
    default:
      return false;
  }
}

#elif defined(__aarch64__)

namespace {

uint32_t word_at(uint64_t place) {
  uint32_t word;
  memcpy(&word, reinterpret_cast<void*>(place), 4);
  return word;
}

void put_adrp(uint64_t place, uint64_t pages) {
  uint32_t low = static_cast<uint32_t>(pages & 3) << 29,
           high = static_cast<uint32_t>(pages >> 2 & 0x7ffff) << 5;
  put32(place, (word_at(place) & 0x9f00001f) | low | high);
}

void put_offset12(uint64_t place, uint64_t value, unsigned shift) {
  put32(place, (word_at(place) & 0xffc003ff) | static_cast<uint32_t>((value & 0xfff) >> shift)
                                                   << 10);
}

uint64_t page(uint64_t address) { return address & ~uint64_t{0xfff}; }

}  // namespace

const unsigned kMachine = EM_AARCH64;

uint64_t relocation_bytes(uint64_t type) {
  return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4;
}

bool needs_low_addresses(uint64_t) { return false; }

bool uses_table(uint64_t type) {
  return type == R_AARCH64_ADR_GOT_PAGE || type == R_AARCH64_LD64_GOT_LO12_NC;
}

bool is_call(uint64_t type) { return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26; }

void write_stub(uint8_t* to, uint64_t target) {
  const uint32_t jump[2] = {0x58000050, 0xd61f0200};  // ldr x16, #8; br x16; the address follows
  memcpy(to, jump, sizeof jump);
  memcpy(to + sizeof jump, &target, 8);
}

bool apply(const Fixup& f) {
  uint64_t absolute = f.symbol + static_cast<uint64_t>(f.addend), relative = absolute - f.place;
  uint64_t entry = f.table_entry + static_cast<uint64_t>(f.addend);
  switch (f.type) {
    case R_AARCH64_NONE:
      return true;
    case R_AARCH64_ABS64:
      return put64(f.place, absolute), true;
    case R_AARCH64_PREL64:
      return put64(f.place, relative), true;
    case R_AARCH64_PREL32:
      return put32(f.place, relative), fits_signed(relative, 32);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      put32(f.place,
            (word_at(f.place) & 0xfc000000) | (static_cast<uint32_t>(relative >> 2) & 0x3ffffff));
      return fits_signed(relative, 28);
    case R_AARCH64_ADR_PREL_PG_HI21:
      relative = page(absolute) - page(f.place);
      return put_adrp(f.place, relative >> 12), fits_signed(relative, 33);
    case R_AARCH64_ADR_GOT_PAGE:
      relative = page(entry) - page(f.place);
      return put_adrp(f.place, relative >> 12), fits_signed(relative, 33);
    case R_AARCH64_LD64_GOT_LO12_NC:
      return put_offset12(f.place, entry, 3), true;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return put_offset12(f.place, absolute, 0), true;
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return put_offset12(f.place, absolute, 1), true;
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return put_offset12(f.place, absolute, 2), true;
    case R_AARCH64_LDST64_ABS_LO12_NC:
      return put_offset12(f.place, absolute, 3), true;
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return put_offset12(f.place, absolute, 4), true;
    default:
      return false;
  }
}

#else
#error "anywarp loads objects for x86-64 and aarch64 only"
#endif

}  // namespace aw
