// libanywarp_audit.so, named by LD_AUDIT: the loader tells it of each object that it has mapped,
// before anything in it runs. An object that carries NVIDIA's runtime has all entries of
// that runtime redirected to the thunks of libanywarp_rebind.so, or none.
#include <link.h>

#include "rebind/patch.h"

using namespace aw::rebind;

namespace {

constexpr char kTarget[] = "libanywarp_rebind.so";

// What is known of the preloaded library once the loader has mapped it.
struct Target {
  Place* place = nullptr;
  uint64_t thunks = 0;
  char runtime[4096] = {};  // path of libcudart.so.1x beside it; the last digit is filled in
  size_t digit = 0;
} target;

// Objects that came before it: the program itself, first of all.
link_map* waiting[256];
uint32_t waiting_count = 0;

RuntimeCopy copy;
uint64_t targets[kMostFound];

Line& said(Line& line, const char* head, const char* path) {
  return line << "anywarp: " << head << path;
}

// Our driver, should NVIDIA's runtime reach it, need not say it again.
void tell(Line& line) {
  if (target.place) ++target.place->told;
  line.say();
}

void say_stripped(const char* path) {
  Line line;
  said(line, "warning[N002]: ", path)
      << " carries NVIDIA's CUDA runtime, linked statically, but no symbols (it was stripped), so "
         "that it cannot be redirected: link it with `-cudart shared`, or keep its symbols";
  tell(line);
}

void say_refused(const char* path, const char* reason, const char* missing) {
  Line line;
  said(line, "error[N003]: ", path)
      << " carries NVIDIA's CUDA runtime, linked statically, and was left as it is: " << reason;
  if (missing) line << " (" << missing << " is missing)";
  line << "; link it with `-cudart shared` instead";
  tell(line);
}

void say_damaged(const char* path, const char* damage) {
  Line line;
  said(line, "warning[N005]: ", path) << " was not looked at for NVIDIA's CUDA runtime: " << damage;
  line.say();
}

// The thunk of an unknown name: the same one for the same name; kThunks when there are too many.
uint32_t unknown_thunk(const char* name) {
  Place& place = *target.place;
  if (length(name) >= kLongestName) return kThunks;
  uint32_t i = 0;
  while (i < place.unknown_used && !same(place.unknown[i], name)) ++i;
  if (i == kUnknown) return kThunks;
  if (i == place.unknown_used) {
    memcpy(place.unknown[i], name, length(name) + 1);
    place.unknown_used = i + 1;
  }
  return kUnknownThunks + i;
}

const char* redirect_copy(const ElfFile& file, uint64_t base) {
  if (!target.place) return "libanywarp_rebind.so is not in this process (was LD_PRELOAD changed?)";
  // A program of CUDA 11 is answered by the runtime of CUDA 12, by way of rebind/cuda11.cpp.
  target.runtime[target.digit] = copy.major == 13 ? '3' : '2';
  if (!File(target.runtime, O_RDONLY).is_open())
    return copy.major == 13 ? "our libcudart.so.13 is missing" : "our libcudart.so.12 is missing";
  uint32_t set = 0;
  while (kMajors[set] != copy.major) ++set;
  for (uint32_t i = 0; i < copy.count; ++i) {
    const FoundEntry& entry = copy.entries[i];
    uint32_t number = entry.known < kKnown ? entry.known + set * kKnown : unknown_thunk(entry.name);
    if (number == kThunks) return "it has too many entry points that we do not know";
    targets[i] = target.thunks + uint64_t(number) * kThunkBytes;
  }
  return redirect(file, copy, base, targets);
}

void treat(const char* path, uint64_t base) {
  ElfFile file(path);
  if (!file.readable()) return;
  Verdict verdict = find_runtime(file, copy);
  if (file.damage()) return say_damaged(path, file.damage());
  if (verdict == Verdict::stripped) return say_stripped(path);
  if (verdict == Verdict::refused) return say_refused(path, copy.reason, copy.missing);
  if (verdict != Verdict::complete) return;
  if (const char* reason = redirect_copy(file, base)) say_refused(path, reason, nullptr);
}

void treat(const link_map* object) {
  static char path[4096];
  if (object->l_name && object->l_name[0]) return treat(object->l_name, object->l_addr);
  // What the loader calls "" is the program, which /proc/self/exe does not name when the loader was
  // started by hand.
  if (path_at(uint64_t(object->l_ld), path, sizeof(path))) treat(path, object->l_addr);
}

// Finds what the preloaded library shows; it is not relocated yet, so its file is asked.
bool find_target(const link_map* object) {
  const char* path = object->l_name;
  ElfFile file(path);
  Symbols dynamic;
  if (!file.readable() || !file.symbols(SHT_DYNSYM, dynamic)) return false;
  Elf64_Sym symbol;
  for (uint64_t i = 0; file.symbol(dynamic, i, symbol); ++i) {
    const char* name = file.name(dynamic, symbol);
    if (!name || !symbol.st_value) continue;
    if (same(name, "anywarp_rebind_place"))
      target.place = reinterpret_cast<Place*>(object->l_addr + symbol.st_value);
    if (same(name, "anywarp_rebind_thunks")) target.thunks = object->l_addr + symbol.st_value;
  }
  static const char runtime[] = "libcudart.so.1?";
  size_t folder = size_t(base_name(path) - path);
  if (folder + sizeof(runtime) > sizeof(target.runtime)) return false;
  memcpy(target.runtime, path, folder);
  memcpy(target.runtime + folder, runtime, sizeof(runtime));
  target.digit = folder + sizeof(runtime) - 2;
  if (target.place && target.thunks && target.place->magic == kMagic) return true;
  target.place = nullptr;
  return false;
}

bool ready = false;

void treat_waiting() {
  for (uint32_t i = 0; i < waiting_count; ++i) treat(waiting[i]);
  waiting_count = 0;
}

}  // namespace

#define AW_SHOWN extern "C" __attribute__((visibility("default")))

AW_SHOWN unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

AW_SHOWN unsigned la_objopen(link_map* object, Lmid_t, uintptr_t*) {
  if (ready) {
    treat(object);
  } else if (object->l_name && same(base_name(object->l_name), kTarget) && find_target(object)) {
    ready = true;
    treat_waiting();
  } else if (waiting_count < sizeof(waiting) / sizeof(waiting[0])) {
    waiting[waiting_count++] = object;
  }
  return 0;  // no symbol bindings are of interest
}

// All that the program starts with is mapped; nothing of it has run. Without the preloaded library
// (a program changed LD_PRELOAD) what cannot be done is said all the same.
AW_SHOWN void la_preinit(uintptr_t*) {
  if (ready) return;
  ready = true;
  treat_waiting();
}
