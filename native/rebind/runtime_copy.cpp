#include "rebind/runtime_copy.h"

namespace aw::rebind {
namespace {

// Part of the name of every private function of NVIDIA's static runtime, and of nothing else; in
// CUDA 11 digits follow.
constexpr char kMarker[] = "libcudart_static_";
constexpr char kMarker11[] = "__cudart";

bool is_runtime_name(const char* name) {
  if (name[0] == '_' && name[1] == '_') name += 2;
  return name[0] == 'c' && name[1] == 'u' && name[2] == 'd' && name[3] == 'a' && name[4] >= 'A' &&
         name[4] <= 'Z';
}

bool is_function(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
}

uint32_t known(const char* name) {
  uint32_t low = 0, high = kKnown;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    const char *a = kEntries[middle].name, *b = name;
    while (*a && *a == *b) ++a, ++b;
    if (*a == *b) return middle;
    if (uint8_t(*a) < uint8_t(*b)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return kKnown;
}

void sort_by_address(FoundEntry* entries, uint32_t count) {
  for (uint32_t gap = count / 2; gap; gap = gap == 2 ? 1 : uint32_t(uint64_t(gap) * 5 / 11)) {
    for (uint32_t i = gap; i < count; ++i) {
      FoundEntry moved = entries[i];
      uint32_t at = i;
      for (; at >= gap && entries[at - gap].address > moved.address; at -= gap)
        entries[at] = entries[at - gap];
      entries[at] = moved;
    }
  }
}

bool has_private_names(ElfFile& file, const Symbols& all) {
  if (file.has_text(all, kMarker)) return true;
  if (!file.has_text(all, kMarker11)) return false;
  constexpr size_t digit = sizeof(kMarker11) - 1;
  Elf64_Sym symbol;
  for (uint64_t i = 0; i < all.count && file.symbol(all, i, symbol); ++i) {
    const char* name = is_function(symbol) ? file.name(all, symbol) : nullptr;
    if (!name || length(name) <= digit || memcmp(name, kMarker11, digit) != 0) continue;
    if (name[digit] >= '0' && name[digit] <= '9') return true;
  }
  return false;
}

bool refuse(RuntimeCopy& copy, const char* reason, const char* missing = nullptr) {
  copy.reason = reason;
  copy.missing = missing;
  return false;
}

// The functions with names as the runtime's; the range is that of the known ones.
bool collect(ElfFile& file, const Symbols& all, RuntimeCopy& copy) {
  Elf64_Sym symbol;
  for (uint64_t i = 0; i < all.count && file.symbol(all, i, symbol); ++i) {
    if (!is_function(symbol)) continue;
    const char* name = file.name(all, symbol);
    if (!name || !is_runtime_name(name)) continue;
    if (copy.count == kMostFound) return refuse(copy, "it has too many entry points");
    copy.entries[copy.count++] = {symbol.st_value, known(name), name};
  }
  return true;
}

// Names that we do not know count only between known ones: elsewhere they are the program's own.
void keep_range(RuntimeCopy& copy) {
  uint64_t low = ~uint64_t(0), high = 0;
  for (uint32_t i = 0; i < copy.count; ++i) {
    const FoundEntry& entry = copy.entries[i];
    if (entry.known == kKnown) continue;
    low = entry.address < low ? entry.address : low;
    high = entry.address > high ? entry.address : high;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < copy.count; ++i) {
    const FoundEntry& entry = copy.entries[i];
    if (entry.address >= low && entry.address <= high) copy.entries[kept++] = entry;
  }
  copy.count = kept;
}

// The major release: the one that alone has some of the names.
bool decide_major(RuntimeCopy& copy, const bool* present) {
  for (uint32_t i = 0; i < kKnown; ++i) {
    if (!present[i]) continue;
    int only = 0, majors = 0;
    for (int major : kMajors)
      if (since(kEntries[i], major)) only = major, ++majors;
    if (majors != 1) continue;
    if (copy.major && copy.major != only)
      return refuse(copy, "it carries runtimes of two majors of CUDA at once");
    copy.major = only;
  }
  if (!copy.major) return refuse(copy, "its runtime is none of CUDA 11.8, CUDA 12 or CUDA 13");
  return true;
}

// All that the newest release it shows has must be there: an entry left alone would run NVIDIA's
// code.
bool check_complete(RuntimeCopy& copy, const bool* present) {
  uint32_t newest = 0;
  for (uint32_t i = 0; i < kKnown; ++i) {
    uint32_t brought = since(kEntries[i], copy.major);
    if (present[i] && !brought)
      return refuse(copy, "it carries runtimes of two majors of CUDA at once");
    if (present[i] && brought > newest) newest = brought;
  }
  for (uint32_t i = 0; i < kKnown; ++i) {
    uint32_t brought = since(kEntries[i], copy.major);
    if (!present[i] && brought && brought <= newest)
      return refuse(copy, "its symbols do not show every entry point of the runtime",
                    kEntries[i].name);
  }
  return true;
}

// No entry may be so short that the jump would run into what follows.
bool check_room(ElfFile& file, const Symbols& all, RuntimeCopy& copy) {
  FoundEntry* entries = copy.entries;
  for (uint32_t i = 1; i < copy.count; ++i)
    if (entries[i].address - entries[i - 1].address < kJumpBytes)
      return refuse(copy, "two of its entry points lie too close together");
  Elf64_Sym symbol;
  for (uint64_t i = 0; i < all.count && file.symbol(all, i, symbol); ++i) {
    if (!is_function(symbol)) continue;
    uint32_t low = 0, high = copy.count;  // the last entry before the function
    while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (entries[middle].address < symbol.st_value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low > 0 && symbol.st_value - entries[low - 1].address < kJumpBytes)
      return refuse(copy, "one of its entry points is too short to be redirected");
  }
  return true;
}

}  // namespace

Verdict find_runtime(ElfFile& file, RuntimeCopy& copy) {
  copy.major = 0;
  copy.count = 0;
  copy.reason = copy.missing = nullptr;
  Symbols all, dynamic;
  if (!file.symbols(SHT_SYMTAB, all)) {
    // Sections with kernels, and nobody to be asked for registering them: the runtime is inside.
    bool kernels = !file.damage() && file.has_section(".nvFatBinSegment");
    bool shared = kernels && file.symbols(SHT_DYNSYM, dynamic) &&
                  file.has_text(dynamic, "__cudaRegisterFatBinary");
    return kernels && !shared ? Verdict::stripped : Verdict::none;
  }
  if (!has_private_names(file, all)) return Verdict::none;
  static bool present[kKnown];  // the loader's lock is held: one file at a time
  memset(present, 0, sizeof(present));
  if (!collect(file, all, copy)) return Verdict::refused;
  keep_range(copy);
  sort_by_address(copy.entries, copy.count);
  for (uint32_t i = 0; i < copy.count; ++i)
    if (copy.entries[i].known != kKnown) present[copy.entries[i].known] = true;
  bool fine =
      decide_major(copy, present) && check_complete(copy, present) && check_room(file, all, copy);
  return fine ? Verdict::complete : Verdict::refused;
}

}  // namespace aw::rebind
