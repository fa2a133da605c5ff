#include "rebind/elf_file.h"

#include <sys/stat.h>

namespace aw::rebind {

ElfFile::ElfFile(const char* path) {
  File file(path, O_RDONLY);
  struct stat about;
  if (!file.is_open() || system_call(SYS_fstat, file.number(), long(&about)) < 0) return;
  if ((about.st_mode & S_IFMT) != S_IFREG || about.st_size < long(sizeof(Elf64_Ehdr))) return;
  long mapped = system_call(SYS_mmap, 0, about.st_size, PROT_READ, MAP_PRIVATE, file.number());
  if (mapped < 0 && mapped > -4096) return;
  data_ = reinterpret_cast<const unsigned char*>(mapped);
  size_ = uint64_t(about.st_size);
  read(0, header_);
  static const unsigned char ours[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
  if (memcmp(header_.e_ident, ours, sizeof(ours)) != 0 || header_.e_machine != EM_X86_64) return;
  sections_ = header_.e_shnum;
  Elf64_Shdr first;
  // ELF: with too many sections for the header's field, the first section has their number.
  if (sections_ == 0 && header_.e_shoff && read(header_.e_shoff, first)) sections_ = first.sh_size;
  readable_ = true;
}

ElfFile::~ElfFile() {
  if (data_) system_call(SYS_munmap, long(data_), long(size_));
}

bool ElfFile::section(uint64_t index, Elf64_Shdr& header) const {
  // Bounded by the file's size, so the product cannot overflow.
  if (index >= sections_ || index > size_ / sizeof(Elf64_Shdr)) return false;
  uint64_t offset = index * sizeof(Elf64_Shdr);
  return header_.e_shoff <= size_ && offset <= size_ - header_.e_shoff &&
         read(header_.e_shoff + offset, header);
}

bool ElfFile::symbols(uint32_t type, Symbols& found) {
  Elf64_Shdr table, names;
  if (sections_ && header_.e_shentsize != sizeof(Elf64_Shdr))
    return damaged("its section headers have a wrong size");
  for (uint64_t i = 0; i < sections_; ++i) {
    if (!section(i, table)) return damaged("its section headers lie outside the file");
    if (table.sh_type != type) continue;
    if (table.sh_entsize != sizeof(Elf64_Sym)) return damaged("its symbols have a wrong size");
    if (!inside(table.sh_offset, table.sh_size))
      return damaged("its symbol table lies outside the file");
    if (!section(table.sh_link, names) || names.sh_type != SHT_STRTAB ||
        !inside(names.sh_offset, names.sh_size))
      return damaged("the names of its symbols lie outside the file");
    found = {table.sh_offset, table.sh_size / sizeof(Elf64_Sym), names.sh_offset, names.sh_size};
    return true;
  }
  return false;
}

bool ElfFile::symbol(const Symbols& all, uint64_t index, Elf64_Sym& symbol) const {
  return index < all.count && read(all.offset + index * sizeof(Elf64_Sym), symbol);
}

const char* ElfFile::name(const Symbols& all, const Elf64_Sym& symbol) const {
  if (symbol.st_name >= all.names_bytes) return nullptr;
  auto* text = reinterpret_cast<const char*>(data_ + all.names + symbol.st_name);
  uint64_t room = all.names_bytes - symbol.st_name;
  // Names that matter are short; a long one is as good as one without end.
  for (uint64_t i = 0; i < room && i < 4096; ++i)
    if (text[i] == 0) return text;
  return nullptr;
}

bool ElfFile::has_text(const Symbols& all, const char* text) const {
  size_t bytes = length(text);
  if (bytes == 0 || all.names_bytes < bytes) return false;
  const unsigned char* names = data_ + all.names;
  size_t skip[256];  // Horspool's: how far to go on by the last character compared
  for (size_t& step : skip) step = bytes;
  for (size_t i = 0; i + 1 < bytes; ++i) skip[uint8_t(text[i])] = bytes - 1 - i;
  for (uint64_t at = 0; at <= all.names_bytes - bytes; at += skip[names[at + bytes - 1]])
    if (memcmp(names + at, text, bytes) == 0) return true;
  return false;
}

bool ElfFile::has_section(const char* wanted) {
  Elf64_Shdr names, header;
  uint64_t bytes = length(wanted) + 1;
  if (!section(header_.e_shstrndx, names) || !inside(names.sh_offset, names.sh_size)) return false;
  for (uint64_t i = 0; i < sections_ && section(i, header); ++i) {
    if (header.sh_name > names.sh_size || bytes > names.sh_size - header.sh_name) continue;
    if (memcmp(data_ + names.sh_offset + header.sh_name, wanted, bytes) == 0) return true;
  }
  return false;
}

bool ElfFile::code(uint64_t address, size_t bytes, const unsigned char** place,
                   int* protection) const {
  for (uint64_t i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (header_.e_phoff > size_ || !read(header_.e_phoff + i * sizeof(segment), segment))
      return false;
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    uint64_t offset = address - segment.p_vaddr;
    if (address < segment.p_vaddr || offset > segment.p_filesz) continue;
    if (bytes > segment.p_filesz - offset || segment.p_offset > size_ ||
        !inside(segment.p_offset, segment.p_filesz))
      continue;
    *place = data_ + segment.p_offset + offset;
    *protection = PROT_READ | PROT_EXEC | (segment.p_flags & PF_W ? PROT_WRITE : 0);
    return true;
  }
  return false;
}

}  // namespace aw::rebind
