// libanywarp_search.so, named by LD_AUDIT: where a program, or a library that it loads, asks for
// one of NVIDIA's libraries, by its name or by a path of its own, the loader takes ours. Nothing is
// loaded before it is asked for, and nothing else is told of anything.
#include <link.h>

#include "rebind/freestanding.h"

using namespace aw::rebind;

namespace {

// What clients carry in wheels of their own and load by path, or find there by RPATH.
constexpr const char* kReplaced[] = {
    "libcublas.so.",     "libcublasLt.so.",  "libcudart.so.",     "libcudnn",
    "libcufft.so.",      "libcurand.so.",    "libcusolver.so.",   "libcusparse.so.",
    "libnccl.so.",       "libnvJitLink.so.", "libnvrtc.so.",      "libcutensor.so.",
    "libcusolverMg.so.", "libcufile.so.",    "libcusparseLt.so.", "libnvshmem_host.so.",
    "libcupti.so.",
};

bool begins(const char* text, const char* with) {
  while (*with && *text == *with) ++text, ++with;
  return !*with;
}

bool is_replaced(const char* name) {
  if (!begins(name, "lib")) return false;
  for (const char* each : kReplaced)
    if (begins(name, each)) return true;
  return false;
}

// Our folder; for a device that has libraries of its own it is `hip`, in that of the common ones.
char folder[4096];
size_t used = 0;

bool find_folder() {
  static bool asked = false;
  if (asked) return used > 0;
  asked = true;
  if (!path_at(reinterpret_cast<uint64_t>(&is_replaced), folder, sizeof(folder))) return false;
  used = size_t(base_name(folder) - folder);
  return used > 0;
}

char found[4096 + 256];  // the loader copies it, and holds its lock while it asks

bool there(size_t prefix, const char* name) {
  if (prefix + length(name) >= sizeof(found)) return false;
  memcpy(found, folder, prefix);
  memcpy(found + prefix, name, length(name) + 1);
  return File(found, O_RDONLY).is_open();
}

constexpr char kOwn[] = "/hip/";

bool ours(const char* name) {
  if (!find_folder()) return false;
  if (there(used, name)) return true;
  bool own = used > sizeof(kOwn) &&
             memcmp(folder + used - (sizeof(kOwn) - 1), kOwn, sizeof(kOwn) - 1) == 0;
  return own && there(used - (sizeof(kOwn) - 2), name);
}

// NVRTC's second half, which PyTorch loads beside it from NVIDIA's package: ours is in one piece,
// so that libnvrtc-builtins.so.13.0 is libnvrtc.so.13.
constexpr char kBuiltins[] = "libnvrtc-builtins.so.", kNvrtc[] = "libnvrtc.so.";

const char* whole(const char* name) {
  static char nvrtc[32];
  if (!begins(name, kBuiltins)) return name;
  size_t at = sizeof(kNvrtc) - 1;
  memcpy(nvrtc, kNvrtc, at);
  for (const char* digit = name + sizeof(kBuiltins) - 1;
       *digit >= '0' && *digit <= '9' && at < sizeof(nvrtc) - 1;)
    nvrtc[at++] = *digit++;
  nvrtc[at] = 0;
  return nvrtc;
}

}  // namespace

#define AW_SHOWN extern "C" __attribute__((visibility("default")))

AW_SHOWN unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

AW_SHOWN char* la_objsearch(const char* name, uintptr_t*, unsigned how) {
  const char* last = whole(base_name(name));
  if (how == LA_SER_ORIG && is_replaced(last) && ours(last)) return found;
  return const_cast<char*>(name);
}
