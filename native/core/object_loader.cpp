#include "core/object_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/imports.h"
#include "core/relocations.h"
#include "core/status.h"

namespace aw {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;

[[noreturn]] void fail(const std::string& text) {
  throw Failure(999, "a compiled kernel cannot be loaded: " + text);
}

// Reads structures out of the object with every offset checked.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T at(uint64_t offset) const {
    T value;
    memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string_view range(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) fail("it is cut off");
    return bytes_.substr(offset, size);
  }

  std::string text(const Elf64_Shdr& table, uint64_t offset) const {
    std::string_view all = range(table.sh_offset, table.sh_size);
    if (offset >= all.size()) fail("a name lies outside its table");
    size_t end = all.find('\0', offset);
    if (end == std::string_view::npos) fail("a name does not end");
    return std::string(all.substr(offset, end - offset));
  }

 private:
  std::string_view bytes_;
};

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

// One load in progress: sections laid out as text | stubs, then read-only data | address table,
// then data.
class Loader {
 public:
  explicit Loader(std::string_view object) : in_(object) {
    read_headers();
    count_imports();
    lay_out();
    map();
  }

  std::unique_ptr<LoadedObject> finish(const std::string& symbol) {
    for (auto& section : sections_) {
      if (section.sh_type == SHT_RELA && target(section)) relocate(section);
      if (section.sh_type == SHT_REL && target(section)) fail("relocations without addends");
    }
    protect();
    loaded_->entry = find(symbol);
    return std::move(loaded_);
  }

 private:
  enum Group { kText, kConst, kData, kGroups };

  void read_headers() {
    auto header = in_.at<Elf64_Ehdr>(0);
    bool good = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                header.e_type == ET_REL && header.e_machine == kMachine &&
                header.e_shentsize == sizeof(Elf64_Shdr);
    if (!good) fail("it is no relocatable object for this machine");
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(in_.at<Elf64_Shdr>(header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr)));
    }
    for (auto& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      symbols_ = &section;
      names_ = &section_at(section.sh_link);
    }
    if (!symbols_) fail("it has no symbols");
    place_.assign(sections_.size(), UINT64_MAX);
  }

  const Elf64_Shdr& section_at(uint64_t index) const {
    if (index >= sections_.size()) fail("a section index is out of range");
    return sections_[index];
  }

  Elf64_Sym symbol_at(uint64_t index) const {
    if (index >= symbols_->sh_size / sizeof(Elf64_Sym)) fail("a symbol index is out of range");
    return in_.at<Elf64_Sym>(symbols_->sh_offset + index * sizeof(Elf64_Sym));
  }

  // The section that relocations apply to, if it is one that is loaded.
  bool target(const Elf64_Shdr& relocations) const {
    return section_at(relocations.sh_info).sh_flags & SHF_ALLOC;
  }

  // Each symbol may need one stub (16 bytes) and one entry of the address table (8 bytes).
  void count_imports() {
    uint64_t count = symbols_->sh_size / sizeof(Elf64_Sym);
    if (count > (1u << 24)) fail("it has too many symbols");
    stub_bytes_ = count * kStubBytes, table_bytes_ = count * 8;
    for (auto& section : sections_) {
      if (section.sh_type != SHT_RELA || !target(section)) continue;
      for (uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Rela); ++i) {
        uint64_t type =
            ELF64_R_TYPE(in_.at<Elf64_Rela>(section.sh_offset + i * sizeof(Elf64_Rela)).r_info);
        low_ = low_ || needs_low_addresses(type);
      }
    }
  }

  static Group group(const Elf64_Shdr& s) {
    if (s.sh_flags & SHF_EXECINSTR) return kText;
    return s.sh_flags & SHF_WRITE ? kData : kConst;
  }

  void lay_out() {
    uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), at = 0;
    for (int g = 0; g < kGroups; ++g) {
      start_[g] = at = align_up(at, page);
      for (size_t i = 0; i < sections_.size(); ++i) {
        auto& s = sections_[i];
        if (!(s.sh_flags & SHF_ALLOC) || group(s) != g) continue;
        if (s.sh_flags & SHF_TLS) fail("it has thread-local variables");
        uint64_t align = s.sh_addralign ? s.sh_addralign : 1;
        if (s.sh_size > kMostBytes || align > page || (align & (align - 1)))
          fail("a section has no sensible size");
        place_[i] = at = align_up(at, align);
        at += s.sh_size;
        if (at > kMostBytes) fail("it is too large");
      }
      if (g == kText) stubs_ = at = align_up(at, 16), at += stub_bytes_;
      if (g == kConst) table_ = at = align_up(at, 16), at += table_bytes_;
    }
    total_ = align_up(at ? at : 1, page);
  }

  void map() {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_32BIT
    if (low_) flags |= MAP_32BIT;
#endif
    void* base = mmap(nullptr, total_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) throw Failure(2, "there is no memory for a compiled kernel");
    loaded_ = std::make_unique<LoadedObject>(base, total_);
    base_ = reinterpret_cast<uint64_t>(base);
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (place_[i] == UINT64_MAX || sections_[i].sh_type == SHT_NOBITS) continue;
      auto content = in_.range(sections_[i].sh_offset, sections_[i].sh_size);
      memcpy(at(place_[i]), content.data(), content.size());
    }
  }

  void protect() {
    const int rights[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int g = 0; g < kGroups; ++g) {
      uint64_t end = g + 1 < kGroups ? start_[g + 1] : total_;
      if (end > start_[g] && mprotect(at(start_[g]), end - start_[g], rights[g]) != 0)
        fail("its pages cannot be protected");
    }
    __builtin___clear_cache(static_cast<char*>(at(0)), static_cast<char*>(at(0)) + start_[kConst]);
  }

  void* at(uint64_t offset) const { return reinterpret_cast<void*>(base_ + offset); }

  // The address that a symbol stands for; *imported tells whether it lies outside the object.
  uint64_t address(uint64_t index, bool* imported) {
    Elf64_Sym s = symbol_at(index);
    *imported = false;
    if (s.st_shndx == SHN_ABS) return s.st_value;
    if (s.st_shndx == SHN_UNDEF) {
      if (index == 0) return 0;
      *imported = true;
      return import(index, s);
    }
    if (s.st_shndx >= sections_.size() || place_[s.st_shndx] == UINT64_MAX)
      fail("a symbol lies in no loaded section");
    if (s.st_value > section_at(s.st_shndx).sh_size) fail("a symbol lies outside its section");
    if (ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC) fail("it has an indirect function");
    return base_ + place_[s.st_shndx] + s.st_value;
  }

  uint64_t import(uint64_t index, const Elf64_Sym& s) {
    auto [it, fresh] = imports_.try_emplace(index, 0);
    if (fresh) {
      std::string name = in_.text(*names_, s.st_name);
      it->second = reinterpret_cast<uint64_t>(find_import(name));
      if (!it->second && ELF64_ST_BIND(s.st_info) != STB_WEAK) fail("nobody provides " + name);
    }
    return it->second;
  }

  // The entry of the address table that holds a symbol's address.
  uint64_t table_entry(uint64_t index, uint64_t address) {
    uint64_t slot = table_ + index * 8;
    memcpy(at(slot), &address, 8);
    return base_ + slot;
  }

  uint64_t stub(uint64_t index, uint64_t address) {
    uint64_t place = stubs_ + index * kStubBytes;
    write_stub(static_cast<uint8_t*>(at(place)), address);
    return base_ + place;
  }

  void relocate(const Elf64_Shdr& relocations) {
    const Elf64_Shdr& section = section_at(relocations.sh_info);
    uint64_t place = place_[relocations.sh_info];
    for (uint64_t i = 0; i < relocations.sh_size / sizeof(Elf64_Rela); ++i) {
      auto r = in_.at<Elf64_Rela>(relocations.sh_offset + i * sizeof(Elf64_Rela));
      uint64_t index = ELF64_R_SYM(r.r_info), type = ELF64_R_TYPE(r.r_info);
      if (section.sh_type == SHT_NOBITS) fail("a relocation of empty space");
      if (r.r_offset > section.sh_size || section.sh_size - r.r_offset < relocation_bytes(type)) {
        fail("a relocation lies outside its section");
      }
      bool imported;
      Fixup f;
      f.type = type, f.addend = r.r_addend;
      f.place = base_ + place + r.r_offset;
      f.symbol = address(index, &imported);
      if (uses_table(type)) f.table_entry = table_entry(index, f.symbol);
      if (imported && is_call(type)) f.symbol = stub(index, f.symbol);
      if (!apply(f)) fail("relocation " + std::to_string(type) + " is not known or does not reach");
    }
  }

  void* find(const std::string& symbol) {
    for (uint64_t i = 1; i < symbols_->sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym s = symbol_at(i);
      if (s.st_shndx == SHN_UNDEF || in_.text(*names_, s.st_name) != symbol) continue;
      bool imported;
      uint64_t found = address(i, &imported);
      if (s.st_shndx >= sections_.size() || group(sections_[s.st_shndx]) != kText)
        fail(symbol + " is no function");
      return reinterpret_cast<void*>(found);
    }
    fail("it has no symbol " + symbol);
  }

  Reader in_;
  std::vector<Elf64_Shdr> sections_;
  const Elf64_Shdr* symbols_ = nullptr;
  const Elf64_Shdr* names_ = nullptr;
  std::vector<uint64_t> place_;  // offset of each loaded section
  std::unordered_map<uint64_t, uint64_t> imports_;
  uint64_t start_[kGroups] = {}, stubs_ = 0, table_ = 0, stub_bytes_ = 0, table_bytes_ = 0,
           total_ = 0, base_ = 0;
  bool low_ = false;
  std::unique_ptr<LoadedObject> loaded_;
};

}  // namespace

LoadedObject::~LoadedObject() { munmap(base_, bytes_); }

std::unique_ptr<LoadedObject> load_object(std::string_view object, const std::string& symbol) {
  return Loader(object).finish(symbol);
}

}  // namespace aw
