#include "core/presence.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/file_limit.h"
#include "core/service_place.h"

namespace aw {
namespace {

constexpr char kMagic[8] = {'A', 'W', 'H', 'E', 'R', 'E', '1', 0};

// The content of a file, as its process maps it.
struct Page {
  char magic[8];
  uint64_t pid, started;
  std::atomic<uint64_t> bytes[kPresenceDevices];
};

std::atomic<Page*> own{nullptr};

std::string& own_path() {
  static auto& instance = *new std::string;
  return instance;
}

std::string folder() {
  std::string user = user_folder();
  if (user.empty()) return user;
  user += "/processes";
  mkdir(user.c_str(), 0700);
  return user;
}

// Fields of /proc/PID/stat behind the command's name (proc(5)), which may hold spaces and brackets.
struct Stat {
  uint64_t ticks = 0, started = 0;
  bool running = false;
};

Stat read_stat(pid_t pid) {
  Stat out;
  std::string path = "/proc/" + std::to_string(pid) + "/stat";
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return out;
  char text[1024];
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(got, 0)] = 0;
  const char* rest = strrchr(text, ')');
  if (!rest) return out;
  unsigned long user = 0, kernel = 0;
  unsigned long long started = 0;
  char state = 0;
  int read = sscanf(
      rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu",
      &state, &user, &kernel, &started);
  if (read == 4) out = {user + kernel, started, state != 'Z' && state != 'X'};
  return out;
}

void leave() {
  Page* page = own.load();
  if (page && page->pid == static_cast<uint64_t>(getpid())) unlink(own_path().c_str());
}

// A file of the size of a page whose blocks are there, so that a full disk is noticed now and not
// when the page is written.
int make_file(const std::string& path) {
  if (!within_file_limit(sizeof(Page))) return -1;
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return -1;
  std::string zeros(sizeof(Page), 0);
  if (write(file, zeros.data(), zeros.size()) == static_cast<ssize_t>(zeros.size())) return file;
  close(file);
  unlink(path.c_str());
  return -1;
}

bool read_page(const std::string& path, Presence* out, uint64_t* started) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  alignas(Page) char bytes[sizeof(Page)];
  ssize_t got = read(file, bytes, sizeof bytes);
  close(file);
  if (got != static_cast<ssize_t>(sizeof bytes) || memcmp(bytes, kMagic, sizeof kMagic))
    return false;
  const Page* page = reinterpret_cast<const Page*>(bytes);
  out->pid = static_cast<pid_t>(page->pid);
  *started = page->started;
  for (int i = 0; i < kPresenceDevices; ++i)
    out->bytes[i] = page->bytes[i].load(std::memory_order_relaxed);
  return out->pid > 0;
}

}  // namespace

void announce_presence() {
  std::string place = folder();
  if (place.empty()) return;
  std::string path = place + "/" + std::to_string(getpid());
  int file = make_file(path);
  if (file < 0) return;
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  own_path() = path;
  Page* page = static_cast<Page*>(memory);
  page->pid = static_cast<uint64_t>(getpid());
  page->started = read_stat(getpid()).started;
  memcpy(page->magic, kMagic, sizeof kMagic);
  own = page;
  atexit(leave);
}

void note_memory(int machine_number, uint64_t bytes) {
  Page* page = own.load(std::memory_order_relaxed);
  if (!page || machine_number >= kPresenceDevices) return;
  page->bytes[machine_number].store(bytes, std::memory_order_relaxed);
}

std::vector<Presence> present_processes() {
  std::vector<Presence> out;
  std::string place = folder();
  DIR* entries = place.empty() ? nullptr : opendir(place.c_str());
  if (!entries) return out;
  while (dirent* entry = readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    std::string path = place + "/" + entry->d_name;
    Presence found;
    uint64_t started = 0;
    if (!read_page(path, &found, &started)) continue;
    Stat now = read_stat(found.pid);
    if (now.running && now.started == started) {
      out.push_back(found);
    } else {
      unlink(path.c_str());
    }
  }
  closedir(entries);
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.pid < b.pid; });
  return out;
}

uint64_t processor_time(pid_t pid) {
  static const auto rate = static_cast<uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
  return read_stat(pid).ticks * (1'000'000'000 / rate);
}

}  // namespace aw
