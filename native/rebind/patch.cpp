#include "rebind/patch.h"

namespace aw::rebind {
namespace {

constexpr uint64_t kPage = 4096;

struct Jump {
  unsigned char bytes[kJumpBytes];
};

Jump jump_to(uint64_t target) {
  Jump jump = {{0xff, 0x25, 0, 0, 0, 0}};  // jmp *0(%rip)
  memcpy(jump.bytes + 6, &target, sizeof(target));
  return jump;
}

// Code is written through /proc/self/mem, for which pages need not become writable: that works
// where a policy forbids code to change its protection (PR_SET_MDWE, execmod). Where
// that file is closed to us, pages are made writable, not executable, and executable again.
class CodeWriter {
 public:
  CodeWriter() : memory_("/proc/self/mem", O_RDWR), readable_("/proc/self/mem", O_RDONLY) {}

  bool equal(uint64_t address, const unsigned char* expected) const {
    unsigned char there[kJumpBytes];
    const File& from = memory_.is_open() ? memory_ : readable_;
    // Without /proc the segment is known to be mapped by the loader, so it can be read.
    if (!from.is_open())
      memcpy(there, reinterpret_cast<const void*>(address), kJumpBytes);
    else if (!from.read_at(there, kJumpBytes, address))
      return false;
    return memcmp(there, expected, kJumpBytes) == 0;
  }

  bool write(uint64_t address, const unsigned char* bytes, int protection) const {
    if (memory_.is_open() && memory_.write_at(bytes, kJumpBytes, address)) return true;
    uint64_t first = address & ~(kPage - 1);
    uint64_t all = (address + kJumpBytes - first + kPage - 1) & ~(kPage - 1);
    if (system_call(SYS_mprotect, long(first), long(all), PROT_READ | PROT_WRITE) != 0)
      return false;
    memcpy(reinterpret_cast<void*>(address), bytes, kJumpBytes);
    return system_call(SYS_mprotect, long(first), long(all), protection) == 0;
  }

 private:
  File memory_, readable_;
};

}  // namespace

const char* redirect(const ElfFile& file, const RuntimeCopy& copy, uint64_t base,
                     const uint64_t* targets) {
  CodeWriter writer;
  const unsigned char* original;
  int protection;
  for (uint32_t i = 0; i < copy.count; ++i) {
    uint64_t address = copy.entries[i].address;
    if (!file.code(address, kJumpBytes, &original, &protection))
      return "an entry point lies outside its code";
    if (!writer.equal(base + address, original))
      return "its code in memory is not that of the file";
  }
  uint32_t done = 0;
  for (; done < copy.count; ++done) {
    uint64_t address = copy.entries[done].address;
    Jump jump = jump_to(targets[done]);
    file.code(address, kJumpBytes, &original, &protection);
    if (!writer.write(base + address, jump.bytes, protection) ||
        !writer.equal(base + address, jump.bytes))
      break;
  }
  if (done == copy.count) return nullptr;
  for (uint32_t i = 0; i <= done; ++i) {
    uint64_t address = copy.entries[i].address;
    file.code(address, kJumpBytes, &original, &protection);
    writer.write(base + address, original, protection);
  }
  return "this system lets nobody change its code";
}

}  // namespace aw::rebind
