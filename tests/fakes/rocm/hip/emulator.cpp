// Launches that are executed: by another process (FAKE_HIP_EXECUTE, a program of Python's
// FAKE_HIP_PYTHON), which maps the same memory, runs the kernel in tinygrad's emulator of AMD's
// instructions, and answers when it is done.
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "world.h"

namespace fake {
namespace {

int g_socket = -1;
std::set<uint64_t> g_known;  // modules whose code the other process has

bool start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return false;
  std::string number = std::to_string(ends[1]), parent = std::to_string(getpid());
  const char* python = getenv("FAKE_HIP_PYTHON");
  char* arguments[] = {const_cast<char*>(python ? python : "python3"),
                       const_cast<char*>("-E"),
                       const_cast<char*>(getenv("FAKE_HIP_EXECUTE")),
                       number.data(),
                       parent.data(),
                       nullptr};
  // Without what `anywarp run` put there: the other process must not load CUDA's libraries.
  std::vector<char*> environment;
  for (char** each = environ; *each; ++each)
    if (strncmp(*each, "LD_", 3) && strncmp(*each, "FAKE_ROCM", 9)) environment.push_back(*each);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], ends[1]);  // clears close-on-exec
  pid_t child;
  bool fine = !posix_spawnp(&child, arguments[0], &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  g_socket = ends[0];
  return fine;
}

bool send_all(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t done = send(g_socket, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (done <= 0) return false;
    at += static_cast<size_t>(done);
  }
  return true;
}

std::string answer() {
  std::string line;
  char c;
  while (read(g_socket, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

std::string in_hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) (out += digits[c >> 4]) += digits[c & 15];
  return out;
}

std::string request(const Launch& l) {
  Lock lock = lock_world();
  Module* module = l.function->module;
  std::string places;
  for (Allocation* each : mappings()) {
    char text[200];
    int file = each->memory == Memory::opened                   ? static_cast<int>(each->flags)
               : each->physical && each->physical->foreign >= 0 ? each->physical->foreign
                                                                : memory_file();
    bool outside = each->memory == Memory::registered;
    snprintf(text, sizeof text, "%s[%llu,%zu,%d,%lld]", places.empty() ? "" : ",",
             static_cast<unsigned long long>(each->base), each->size, outside ? -1 : file,
             static_cast<long long>(each->at));
    places += text;
  }
  char head[512];
  snprintf(
      head, sizeof head,
      "{\"module\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%u,\"target\":\"%s\",",
      static_cast<unsigned long long>(module->number), l.grid[0], l.grid[1], l.grid[2], l.block[0],
      l.block[1], l.block[2], l.shared, module->target.c_str());
  std::string text = head;
  text += "\"name\":\"" + l.function->facts.name + "\",\"kernarg\":\"" + in_hex(l.kernarg) + "\",";
  if (g_known.insert(module->number).second) text += "\"code\":\"" + in_hex(module->image) + "\",";
  return text + "\"places\":[" + places + "]}\n";
}

}  // namespace

bool emulating() {
  static const bool it = getenv("FAKE_HIP_EXECUTE") != nullptr && *getenv("FAKE_HIP_EXECUTE");
  return it;
}

void emulate(const Launch& launch) {
  if (g_socket < 0 && !start()) {
    fault("the emulator does not start");
    return;
  }
  std::string reply = send_all(request(launch)) ? answer() : "";
  if (reply == "done") return;
  // As the card would: nothing works after a fault.
  fprintf(stderr, "fake rocm: kernel %s: %s\n", launch.function->facts.name.c_str(),
          reply.empty() ? "the emulator has ended" : reply.c_str());
  note("\"kernel_fault\":\"%s\"", launch.function->facts.name.c_str());
  for (const char* name :
       {"hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize", "hipStreamQuery",
        "hipEventQuery", "hipMemcpy", "hipMemcpyDtoH", "hipMemcpyHtoD", "hipMemcpyDtoHAsync",
        "hipModuleLaunchKernel", "hipMalloc", "hipFree"})
    fake_rocm_set_result(
        name,
        reply.find("address") != std::string::npos ? hipErrorIllegalAddress : hipErrorLaunchFailure,
        0, -1);
}

}  // namespace fake
