#include "core/service_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <optional>

#include "core/log.h"
#include "core/service_place.h"
#include "core/service_start.h"
#include "core/status.h"

namespace aw {
namespace {

constexpr uint32_t kHeaderLimit = 1u << 20;
constexpr uint64_t kPayloadLimit = 1ull << 30;
constexpr double kStartLimit = 20, kStartAgain = 2, kReplyLimit = 1800, kSlow = 2;

// What goes wrong between the two processes; asking again may help, unlike with a Failure.
struct Broken {
  std::string text;
};

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// An open connection, closed with its owner.
class Connection {
 public:
  explicit Connection(int file) : file_(file) {}
  ~Connection() {
    if (file_ >= 0) close(file_);
  }
  Connection(Connection&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Connection& operator=(Connection&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t got = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Broken{std::string("the connection broke: ") + strerror(errno)};
      bytes.remove_prefix(static_cast<size_t>(got));
    }
  }

  void receive(void* to, size_t bytes, const std::string& slow) {
    auto* p = static_cast<char*>(to);
    while (bytes) {
      wait_for_data(slow);
      ssize_t got = recv(file_, p, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) throw Broken{"the service ended in the middle of a request"};
      if (got < 0) throw Broken{std::string("the connection broke: ") + strerror(errno)};
      p += got, bytes -= static_cast<size_t>(got);
    }
  }

 private:
  // `slow` is what the user is told when it takes long; empty: nothing.
  void wait_for_data(const std::string& slow) {
    double begin = now();
    for (bool said = false;;) {
      pollfd wanted = {file_, POLLIN, 0};
      if (poll(&wanted, 1, 500) > 0) return;
      double waited = now() - begin;
      if (waited > kSlow && !slow.empty() && !std::exchange(said, true)) {
        say(isatty(STDERR_FILENO) ? LogLevel::warn : LogLevel::info, slow);
      }
      if (waited > kReplyLimit) throw Broken{"the service did not answer"};
    }
  }

  int file_;
};

int dial(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path.c_str(), path.size());
  int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    // Whoever answers decides what code runs here.
    ucred peer = {};
    socklen_t size = sizeof peer;
    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid())
      return file;
  }
  close(file);
  return -1;
}

Reply exchange(Connection& c, const std::vector<Line>& request, std::string_view payload,
               const std::string& slow) {
  std::string header = render_lines(request);
  uint32_t header_bytes = static_cast<uint32_t>(header.size());
  uint64_t payload_bytes = payload.size();
  std::string head(12, '\0');
  memcpy(head.data(), &header_bytes, 4);
  memcpy(head.data() + 4, &payload_bytes, 8);
  c.send(head + header);
  c.send(payload);
  char lengths[12];
  c.receive(lengths, sizeof lengths, slow);
  memcpy(&header_bytes, lengths, 4);
  memcpy(&payload_bytes, lengths + 4, 8);
  if (header_bytes > kHeaderLimit || payload_bytes > kPayloadLimit)
    throw Broken{"the service sent nonsense"};
  std::string text(header_bytes, '\0');
  c.receive(text.data(), text.size(), slow);
  Reply reply;
  reply.lines = parse_lines(text);
  reply.payload.resize(payload_bytes);
  c.receive(reply.payload.data(), reply.payload.size(), slow);
  return reply;
}

// Connects and exchanges a ping: a service that is being killed still accepts, but answers nothing.
std::optional<Connection> reach(const std::vector<std::string>& paths) {
  for (auto& path : paths) {
    int file = dial(path);
    if (file < 0) continue;
    Connection connection(file);
    try {
      exchange(connection, {{"op", "ping"}}, {}, "waiting for the compile service ...");
      return connection;
    } catch (const Broken&) {
    }
  }
  return {};
}

// Starts the service when nobody answers, and again when the one started lost its place to one that
// was just ending.
Connection connect_to_service() {
  std::vector<std::string> paths = service_socket_paths();
  double begin = now(), next_start = begin;
  while (now() - begin < kStartLimit) {
    if (auto connection = reach(paths)) return std::move(*connection);
    if (now() >= next_start) {
      std::string problem = start_service(paths, kStartLimit);
      if (!problem.empty()) throw Broken{problem};
      next_start = now() + kStartAgain;
    }
    timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  throw Broken{"the service did not answer within 20 seconds"};
}

// Connections that are open and idle, for the next request.
class Idle {
 public:
  Connection take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Connection c = std::move(idle_.back());
        idle_.pop_back();
        return c;
      }
    }
    return connect_to_service();
  }
  void give(Connection c) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(c));
  }
  void clear() {
    std::lock_guard lock(mutex_);
    idle_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Connection> idle_;
};

Idle& idle() {
  static Idle& instance = *new Idle;
  return instance;
}

std::string value(const Reply& reply, std::string_view key) {
  const Line* line = find_line(reply.lines, key);
  return line && line->size() > 1 ? (*line)[1] : "";
}

Reply attempt(const std::vector<Line>& request, std::string_view image, const std::string& slow) {
  Connection c = idle().take();
  Reply reply = exchange(c, request, {}, slow);
  if (value(reply, "status") == "need-image") reply = exchange(c, request, image, slow);
  idle().give(std::move(c));
  return reply;
}

}  // namespace

Reply ask_service(const std::vector<Line>& request, std::string_view image, const std::string& what,
                  bool aloud) {
  if (image.size() > kPayloadLimit) throw Failure(200, what + ": the image is larger than 1 GiB");
  std::string reason;
  for (int round = 0; round < 2; ++round) {
    try {
      Reply reply = attempt(request, image, aloud ? "compiling " + what + " ..." : "");
      std::string status = value(reply, "status");
      for (auto& line : reply.lines) {
        if (line[0] == "warning" && line.size() > 1) diagnose(LogLevel::warn, line[1]);
      }
      if (status == "ok") return reply;
      if (status != "error") throw Broken{"the service sent no status"};
      std::string code = value(reply, "cuda");
      int number = code.empty() ? 999 : static_cast<int>(whole_number(code));
      throw Failure(number ? number : 999, reply.payload);
    } catch (const Broken& broken) {
      reason = broken.text;
      idle().clear();
    }
  }
  throw Failure(999, what + " cannot be compiled: " + reason +
                         "\nhelp: `anywarp doctor` checks the compile service; ANYWARP_PYTHON must "
                         "be an interpreter "
                         "with anywarp installed");
}

}  // namespace aw
