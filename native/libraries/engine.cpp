#include "libraries/engine.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "core/settings.h"
#include "libraries/api.h"

namespace aw::lib {
namespace {

constexpr char kFile[] = "scipy_openblas32/lib/libscipy_openblas.so";

// Where it may lie: as the user says, beside the package that we are part of, or among those of the
// interpreter that runs the compile service.
std::vector<std::string> places() {
  std::vector<std::string> out;
  if (const char* named = getenv("ANYWARP_OPENBLAS"); named && *named) return {named};
  out.push_back(settings().library_dir + "/../../" + kFile);
  const std::string& python = settings().python;
  size_t bin = python.rfind("/bin/");
  if (bin == std::string::npos) return out;
  glob_t found = {};
  std::string pattern = python.substr(0, bin) + "/lib*/python3*/site-packages/" + kFile;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) out.push_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return out;
}

struct Opened {
  void* library = nullptr;
  std::string problem;
};

Opened open() {
  Opened out;
  for (auto& place : places()) {
    out.library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (out.library) break;
    if (const char* said = dlerror(); said && out.problem.empty()) out.problem = said;
  }
  if (!out.library) return out;
  // Bits must not depend on the number of threads, and threads are ours to give.
  auto* set = reinterpret_cast<void (*)(int)>(dlsym(out.library, "scipy_openblas_set_num_threads"));
  if (set) set(1);
  return out;
}

}  // namespace

void* engine_symbol(const char* name) {
  static const Opened& opened = *new Opened(open());
  if (!opened.library)
    unsupported("OpenBLAS cannot be opened (" + opened.problem +
                "); pip install scipy-openblas32, beside anywarp, brings it");
  void* found = dlsym(opened.library, ("scipy_" + std::string(name)).c_str());
  if (!found) unsupported("OpenBLAS has no " + std::string(name));
  return found;
}

}  // namespace aw::lib
