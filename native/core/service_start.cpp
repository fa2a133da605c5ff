#include "core/service_start.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/settings.h"

namespace aw {
namespace {

double seconds_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// As service_environment() in src/anywarp/settings.py.
bool is_kept(const std::string& name) {
  static const char* const kOwn[] = {
      "PATH", "HOME", "USER",       "LOGNAME",         "TMPDIR",        "TEMP",
      "TMP",  "TZ",   "PYTHONPATH", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"};
  if (name == "ANYWARP_REPORT_DIR" || name == "ANYWARP_CACHE_DIR") return false;
  for (const char* prefix : {"ANYWARP_", "ROCM_", "HIP_"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn);
}

std::vector<std::string> service_environment() {
  std::vector<std::string> out;
  for (char** e = environ; e && *e; ++e) {
    const char* equals = strchr(*e, '=');
    if (equals && is_kept({*e, static_cast<size_t>(equals - *e)})) out.push_back(*e);
  }
  out.push_back("ANYWARP_CACHE_DIR=" + settings().cache_dir);
  return out;
}

// Python's own start (src/anywarp/start.py) beside these libraries; by its name as a module where
// they lie elsewhere, as in a checkout.
std::vector<std::string> command(const std::vector<std::string>& paths) {
  std::vector<std::string> out = {settings().python};
  std::string script;
  for (const char* above : {"/..", "/../.."}) {
    std::string found = settings().library_dir + above + "/start.py";
    if (script.empty() && access(found.c_str(), R_OK) == 0) script = found;
  }
  if (char* real = script.empty() ? nullptr : realpath(script.c_str(), nullptr)) {
    out.insert(out.end(), {"-S", "-E", "-X", "utf8", real});
    free(real);
  } else {
    out.insert(out.end(), {"-I", "-X", "utf8", "-m", "anywarp.start"});
  }
  out.insert(out.end(), {"anywarp.runtime.service", "--detach"});
  for (auto& path : paths) out.insert(out.end(), {"--socket", path});
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Reads what the starter says on its stderr until it closes it, for the diagnostic when it fails.
std::string drain(int file, double limit) {
  std::string text;
  char buffer[512];
  double begin = seconds_now();
  while (seconds_now() - begin < limit) {
    pollfd wanted = {file, POLLIN, 0};
    if (poll(&wanted, 1, 200) <= 0) continue;
    ssize_t got = read(file, buffer, sizeof buffer);
    if (got <= 0) break;
    if (text.size() < 65536) text.append(buffer, static_cast<size_t>(got));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

// Returns what went wrong. The starter ends as soon as the service listens.
std::string start(std::vector<std::string> words, std::vector<std::string> environment,
                  double limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe can be made";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  auto arguments = pointers(words), variables = pointers(environment);
  int error =
      posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  std::string said = error ? strerror(error) : drain(ends[0], limit);
  close(ends[0]);
  int status = 0;
  if (!error) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  bool failed = error || (WIFEXITED(status) && WEXITSTATUS(status) != 0) || WIFSIGNALED(status);
  return failed ? settings().python + " cannot start it: " + said : "";
}

}  // namespace

std::string start_service(const std::vector<std::string>& paths, double limit) {
  auto environment = service_environment();
  std::string problem = start(command(paths), environment, limit);
  // An interpreter may find its own libraries only where this program does, as on clusters.
  const char* libraries = getenv("LD_LIBRARY_PATH");
  if (problem.empty() || !libraries) return problem;
  environment.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
  return start(command(paths), environment, limit).empty() ? "" : problem;
}

}  // namespace aw
