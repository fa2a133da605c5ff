// An ELF file that may be damaged or hostile: every place that it names is checked against its
// size.
#pragma once

#include "rebind/freestanding.h"

namespace aw::rebind {

// The symbols of one section, with the section that holds their names.
struct Symbols {
  uint64_t offset = 0, count = 0;  // of Elf64_Sym
  uint64_t names = 0, names_bytes = 0;
};

class ElfFile {
 public:
  explicit ElfFile(const char* path);
  ElfFile(const ElfFile&) = delete;
  ~ElfFile();

  // A file for this machine, with its headers inside it. Others are none of our business.
  bool readable() const { return readable_; }
  // What is wrong with it, null while nothing is known to be.
  const char* damage() const { return damage_; }

  // The first section of that type (SHT_SYMTAB, SHT_DYNSYM); false when there is none, or damaged.
  bool symbols(uint32_t type, Symbols& found);
  bool symbol(const Symbols& all, uint64_t index, Elf64_Sym& symbol) const;
  // The symbol's name, null when it lies outside or does not end there.
  const char* name(const Symbols& all, const Elf64_Sym& symbol) const;
  // True when the names hold `text` somewhere.
  bool has_text(const Symbols& all, const char* text) const;
  bool has_section(const char* name);
  // Where in the file the `bytes` of code at an address lie; false when no executable segment of
  // the file holds them.
  bool code(uint64_t address, size_t bytes, const unsigned char** place, int* protection) const;

 private:
  template <class T>
  bool read(uint64_t offset, T& value) const {
    if (!inside(offset, sizeof(T))) return false;
    memcpy(&value, data_ + offset, sizeof(T));
    return true;
  }
  bool inside(uint64_t offset, uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  bool section(uint64_t index, Elf64_Shdr& header) const;
  bool damaged(const char* what) {
    damage_ = what;
    return false;
  }

  const unsigned char* data_ = nullptr;
  uint64_t size_ = 0;
  Elf64_Ehdr header_ = {};
  uint64_t sections_ = 0;
  bool readable_ = false;
  const char* damage_ = nullptr;
};

}  // namespace aw::rebind
