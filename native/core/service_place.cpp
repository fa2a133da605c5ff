#include "core/service_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "core/settings.h"
#include "core/sha256.h"
#include "core/status.h"

namespace aw {
namespace {

constexpr size_t kLongestPath = 100;  // of the 107 bytes that unix(7) allows

bool is_directory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

void make_directories(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

bool make_private(const std::string& folder) {
  make_directories(folder);
  struct stat status;
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  return status.st_uid == getuid() && !(status.st_mode & 077) &&
         access(folder.c_str(), W_OK | X_OK) == 0;
}

// Whether the cache is a folder of this user's that others may not write to, or can become one.
bool may_hold(const std::string& cache) {
  struct stat status;
  if (stat(cache.c_str(), &status) != 0) return true;
  return S_ISDIR(status.st_mode) && status.st_uid == getuid() && !(status.st_mode & 022);
}

std::string temporary_directory() {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    const char* path = getenv(name);
    if (path && *path && is_directory(path) && access(path, W_OK | X_OK) == 0) return path;
  }
  return "/tmp";
}

// Where folders of this user's own are looked for, best first, without the cache.
std::vector<std::string> user_folders() {
  std::vector<std::string> folders;
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime && is_directory(runtime))
    folders.push_back(std::string(runtime) + "/anywarp");
  for (const std::string& shared : {temporary_directory(), std::string("/dev/shm")})
    folders.push_back(shared + "/anywarp-" + std::to_string(getuid()));
  return folders;
}

}  // namespace

std::string user_folder() {
  for (auto& folder : user_folders()) {
    if (make_private(folder)) return folder;
  }
  return {};
}

std::vector<std::string> service_socket_paths() {
  const Settings& s = settings();
  std::string name =
      "/service-" + sha256_hex(s.build_id + "\n" + s.cache_dir).substr(0, 16) + ".sock";
  std::vector<std::string> folders = user_folders(), paths;
  if (may_hold(s.cache_dir)) folders.insert(folders.end() - 2, s.cache_dir + "/run");
  for (auto& folder : folders) {
    if (folder.size() + name.size() <= kLongestPath && make_private(folder))
      paths.push_back(folder + name);
  }
  if (!paths.empty()) return paths;
  throw Failure(999,
                "there is no private directory for the compile service's socket\nhelp: set "
                "XDG_RUNTIME_DIR or "
                "ANYWARP_CACHE_DIR to a directory that only you may write to");
}

}  // namespace aw
