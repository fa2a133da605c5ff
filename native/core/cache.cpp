#include "core/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/settings.h"

namespace aw {
namespace {

constexpr off_t kLargest = off_t{1} << 31;
constexpr time_t kFresh = 600;  // seconds within which an entry's time stamp is left alone

// Code is loaded from the cache, so nobody else may be able to write there. The service, which is
// asked then, says so.
bool is_ours() {
  struct stat status;
  return stat(settings().cache_dir.c_str(), &status) == 0 && status.st_uid == getuid() &&
         !(status.st_mode & 022);
}

std::optional<std::string> read_file(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  struct stat status;
  std::string bytes;
  bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= kLargest;
  if (good) bytes.resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (good && done < bytes.size()) {
    ssize_t got = read(file, bytes.data() + done, bytes.size() - done);
    good = got > 0;
    done += good ? static_cast<size_t>(got) : 0;
  }
  if (good && time(nullptr) - status.st_mtime > kFresh) futimens(file, nullptr);
  close(file);
  return good ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace

std::string cache_path(const std::string& key) {
  return settings().cache_dir + "/objects/" + key.substr(0, 2) + "/" + key;
}

std::optional<Container> cached(const std::string& key) {
  if (!is_ours()) return {};
  std::string path = cache_path(key);
  auto bytes = read_file(path);
  if (!bytes) return {};
  auto container = read_container(std::move(*bytes));
  if (!container) unlink(path.c_str());
  return container;
}

}  // namespace aw
