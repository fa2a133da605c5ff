#include "core/cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

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

bool write_file(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = write(file, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
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

void keep(const std::string& key, const std::vector<Line>& lines) {
  // The service makes the folder of entries where it stores any (its limit may be 0).
  if (!is_ours() || access((settings().cache_dir + "/objects").c_str(), W_OK)) return;
  std::string bytes = write_container(lines);
  rlimit most;  // of a file; over it a signal would end the program
  if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < bytes.size()) return;
  std::string path = cache_path(key);
  std::string folder = path.substr(0, path.rfind('/'));
  if (mkdir(folder.c_str(), 0700) && errno != EEXIST) return;
  std::string temporary = folder + "/.new-XXXXXX";
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return;
  bool good = write_file(file, bytes);
  good = close(file) == 0 && good;
  if (!good || rename(temporary.c_str(), path.c_str())) unlink(temporary.c_str());
}

}  // namespace aw
