// NVIDIA's NVRTC in our place: found where toolkits and wheels put it, when the user asks for it.
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/log.h"
#include "core/settings.h"
#include "nvrtc/nvrtc_api.h"

namespace aw::nvrtc {
namespace {

#define AW_TEXT_(x) #x
#define AW_TEXT(x) AW_TEXT_(x)
constexpr const char* kName = "libnvrtc.so." AW_TEXT(AW_MAJOR);

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

// The folders `nvidia/*/lib` of the packages of the Python that runs this program, if one does.
void add_packages(std::vector<std::string>& folders) {
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  std::string prefix = variable("VIRTUAL_ENV");
  if (prefix.empty() && length > 0) {
    program[length] = 0;
    prefix = program;
    for (int i = 0; i < 2; ++i)
      prefix.resize(prefix.rfind('/') == std::string::npos ? 0 : prefix.rfind('/'));
  }
  std::string library = prefix + "/lib";
  DIR* dir = opendir(library.c_str());
  while (dirent* entry = dir ? readdir(dir) : nullptr) {
    if (std::string(entry->d_name).rfind("python3", 0) != 0) continue;
    std::string packages = library + "/" + entry->d_name + "/site-packages/nvidia/";
    folders.push_back(packages + (AW_MAJOR == 12 ? "cuda_nvrtc/lib" : "cu13/lib"));
  }
  if (dir) closedir(dir);
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (!variable(name).empty()) out.push_back(variable(name) + "/lib64");
  }
  std::string paths = variable("LD_LIBRARY_PATH");
  for (size_t at = 0; at < paths.size();) {
    size_t end = std::min(paths.find(':', at), paths.size());
    if (end > at) out.push_back(paths.substr(at, end - at));
    at = end + 1;
  }
  add_packages(out);
  out.push_back("/usr/local/cuda/lib64");
  return out;
}

bool is_ours(const std::string& folder) {
  char first[PATH_MAX], second[PATH_MAX];
  return realpath(folder.c_str(), first) && realpath(settings().library_dir.c_str(), second) &&
         std::string(first) == second;
}

void* opened() {
  std::string asked = variable("ANYWARP_NVRTC");
  if (asked.find('/') != std::string::npos) return dlopen(asked.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (auto& folder : folders()) {
    if (is_ours(folder)) continue;
    if (void* library = dlopen((folder + "/" + kName).c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  }
  return nullptr;
}

void* library() {
  static void* const handle = [] {
    void* found = opened();
    if (!found) {
      say(LogLevel::error,
          std::string("ANYWARP_NVRTC asks for NVIDIA's NVRTC, and ") + kName +
              " is neither in CUDA_HOME nor on LD_LIBRARY_PATH nor among the packages; "
              "install nvidia-cuda-nvrtc, or set ANYWARP_NVRTC to the library's path");
    }
    return found;
  }();
  return handle;
}

}  // namespace

bool nvidia_wanted() {
  static const bool wanted = [] {
    std::string asked = variable("ANYWARP_NVRTC");
    return asked == "nvidia" || asked.find('/') != std::string::npos;
  }();
  return wanted;
}

void* nvidia_function(const char* name) { return library() ? dlsym(library(), name) : nullptr; }

}  // namespace aw::nvrtc
