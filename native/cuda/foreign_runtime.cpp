#include "cuda/foreign_runtime.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <string>

#include "core/log.h"
#include "rebind/place.h"

namespace aw {
namespace {

// The tables that NVIDIA's runtime, and nobody else, asks for first: measured with CUDA 12.8
// and 13.0.
constexpr unsigned char kRuntimeTables[][16] = {
    {0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d,
     0xd9},
    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d,
     0xf9},
};

bool is_runtime_table(const CUuuid& id) {
  for (const auto& table : kRuntimeTables)
    if (memcmp(&id, table, sizeof(table)) == 0) return true;
  return false;
}

// What `anywarp run --rebind` puts into the process; null without it.
const rebind::Place* rebinding() {
  return static_cast<const rebind::Place*>(dlsym(RTLD_DEFAULT, "anywarp_rebind_place"));
}

std::string file_of(const void* code) {
  Dl_info info;
  return dladdr(code, &info) && info.dli_fname ? info.dli_fname : "this program";
}

// Whether a file was stripped of the symbols by which --rebind finds the runtime in it; false for
// one that cannot be read.
bool is_stripped(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header = {};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  file.seekg(static_cast<std::streamoff>(header.e_shoff));
  for (unsigned at = 0; at < header.e_shnum; ++at) {
    Elf64_Shdr section = {};
    if (!file.read(reinterpret_cast<char*>(&section), sizeof(section))) return false;
    if (section.sh_type == SHT_SYMTAB) return false;
  }
  return header.e_shnum > 0;
}

}  // namespace

void tell_foreign_runtime(const CUuuid& table, const void* caller) {
  if (!is_runtime_table(table)) return;
  const rebind::Place* place = rebinding();
  if (place && place->told) return;
  std::string file = file_of(caller);
  std::string name = file.substr(file.rfind('/') + 1);
  std::string text = "error[N001]: " + file;
  if (name.rfind("libcudart.so", 0) == 0) {
    text +=
        " is NVIDIA's CUDA runtime, which works with NVIDIA's own driver only; let the program "
        "find ours first: start it by `anywarp run`, and not with a path to NVIDIA's";
  } else if (file.find("/cuda/bindings/") != std::string::npos) {
    text +=
        " carries NVIDIA's CUDA runtime, which works with NVIDIA's own driver only; `anywarp run` "
        "gives cuda.bindings ours as it is imported, where Python finds our sitecustomize: start "
        "it without --pure and python -I or -S";
  } else if (place || is_stripped(file)) {
    text +=
        " carries NVIDIA's CUDA runtime, linked statically, which works with NVIDIA's own "
        "driver only, and shows no symbols by which to redirect it, so that its calls fail: only "
        "who builds it can link it with `-cudart shared`, or keep its symbols";
  } else {
    text +=
        " carries NVIDIA's CUDA runtime, linked statically (as nvcc does by default), which works "
        "with NVIDIA's own driver only; either start it by `anywarp run --rebind`, which puts our "
        "runtime in its place, or link it with `-cudart shared`";
  }
  diagnose(LogLevel::error, text);
}

}  // namespace aw
