#include "libraries/nccl/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

constexpr int kSlice = 100;  // milliseconds between two looks at what ends a wait

[[noreturn]] void system_error(const std::string& what) {
  throw Failure(ncclSystemError, what + ": " + strerror(errno));
}

// True when the socket can be read (or written); throws when patience has an end.
void ready(const Socket& socket, short events, const Patience& patience, const char* what) {
  for (;;) {
    pollfd one = {socket.file(), events, 0};
    int found = poll(&one, 1, kSlice);
    if (found > 0) return;
    if (found < 0 && errno != EINTR) system_error(what);
    patience.check(what);
  }
}

Socket make(int family) {
  Socket out(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out) system_error("no socket");
  return out;
}

void quick(const Socket& socket) {
  int one = 1;
  setsockopt(socket.file(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

sockaddr_un local_name(const std::string& name, socklen_t* size) {
  sockaddr_un out = {};
  out.sun_family = AF_UNIX;
  memcpy(out.sun_path + 1, name.data(), std::min(name.size(), sizeof out.sun_path - 1));
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

// As NCCL's manual has it: prefixes between commas; "=" before them: whole names; "^": all but
// these.
bool wanted(const char* interface, std::string list) {
  bool except = false, exact = false;
  if (!list.empty() && list[0] == '^') except = true, list.erase(0, 1);
  if (!list.empty() && list[0] == '=') exact = true, list.erase(0, 1);
  bool found = false;
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, end - at);
    std::string own = interface;
    if (!name.empty()) found |= exact ? own == name : own.compare(0, name.size(), name) == 0;
    at = end + 1;
  }
  return found != except;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) close(), file_ = other.release();
  return *this;
}
int Socket::release() { return std::exchange(file_, -1); }
void Socket::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool ended(const Socket& socket) {
  pollfd one = {socket.file(), POLLRDHUP, 0};
  return poll(&one, 1, 0) > 0;
}

void Patience::check(const char* what) const {
  if (look) look();
  if (given_up && *given_up)
    throw Failure(ncclInternalError, std::string(what) + ": the communicator was aborted");
  if (now() > until)
    throw Failure(ncclSystemError, std::string(what) + ": not all ranks came in time");
}

Address own_address() {
  const char* named = getenv("NCCL_SOCKET_IFNAME");
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) system_error("the interfaces of this machine");
  Address best;
  int best_worth = 0;
  for (auto* it = all; it; it = it->ifa_next) {
    if (!it->ifa_addr || !(it->ifa_flags & IFF_UP)) continue;
    int family = it->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    // An address of one link alone means nothing without the number of the interface.
    if (family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<sockaddr_in6*>(it->ifa_addr)->sin6_addr))
      continue;
    if (named && *named && !wanted(it->ifa_name, named)) continue;
    bool looped = it->ifa_flags & IFF_LOOPBACK;
    bool bridge = !named && (wanted(it->ifa_name, "docker,virbr"));
    int worth = 1 + (family == AF_INET) + 2 * bridge * !looped + 4 * !looped * !bridge;
    if (worth <= best_worth) continue;
    best_worth = worth;
    best.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    memcpy(best.bytes, it->ifa_addr, best.size);
  }
  freeifaddrs(all);
  if (!best.size)
    throw Failure(ncclSystemError, "no interface of this machine can be used" +
                                       (named ? ", NCCL_SOCKET_IFNAME=" + std::string(named) : ""));
  return best;
}

Address parse_address(const std::string& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw Failure(ncclInvalidArgument, "NCCL_COMM_ID=" + text + " is no host:port");
  std::string host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0 || !found)
    throw Failure(ncclSystemError, "NCCL_COMM_ID=" + text + ": " + gai_strerror(code));
  Address out;
  if (found->ai_addrlen <= sizeof out.bytes) {
    out.size = found->ai_addrlen;
    memcpy(out.bytes, found->ai_addr, out.size);
  }
  freeaddrinfo(found);
  if (!out.size)
    throw Failure(ncclSystemError, "NCCL_COMM_ID=" + text + " has no address of the internet");
  return out;
}

Socket listen_at(Address& address) {
  auto* place = reinterpret_cast<sockaddr*>(address.bytes);
  Socket out = make(place->sa_family);
  int one = 1;
  setsockopt(out.file(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(out.file(), place, address.size) != 0 || listen(out.file(), 1024) != 0)
    system_error("listening for the other ranks");
  socklen_t size = sizeof address.bytes;
  getsockname(out.file(), place, &size);
  return out;
}

Socket listen_locally(const std::string& name) {
  Socket out = make(AF_UNIX);
  socklen_t size;
  auto place = local_name(name, &size);
  if (bind(out.file(), reinterpret_cast<sockaddr*>(&place), size) != 0 ||
      listen(out.file(), 1024) != 0)
    system_error("listening for the ranks of this machine");
  return out;
}

Socket accept_from(const Socket& listening, const Patience& patience) {
  ready(listening, POLLIN, patience, "waiting for the other ranks");
  Socket out(accept4(listening.file(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!out) system_error("waiting for the other ranks");
  quick(out);
  return out;
}

Socket connect_to(const Address& address, bool later, const Patience& patience) {
  auto* place = reinterpret_cast<const sockaddr*>(address.bytes);
  for (;;) {
    Socket out = make(place->sa_family);
    if (connect(out.file(), place, address.size) == 0) {
      quick(out);
      return out;
    }
    if (!(later && errno == ECONNREFUSED) && errno != EINTR && errno != EAGAIN)
      system_error("connecting to another rank");
    patience.check("connecting to another rank");
    usleep(kSlice * 1000 / 4);
  }
}

Socket connect_locally(const std::string& name, const Patience& patience) {
  socklen_t size;
  auto place = local_name(name, &size);
  for (;;) {
    Socket out = make(AF_UNIX);
    if (connect(out.file(), reinterpret_cast<sockaddr*>(&place), size) == 0) return out;
    if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN)
      system_error("connecting to a rank of this machine");
    patience.check("connecting to a rank of this machine");
    usleep(kSlice * 1000 / 4);
  }
}

uint32_t user_of(const Socket& local) {
  ucred who = {};
  socklen_t size = sizeof who;
  if (getsockopt(local.file(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return UINT32_MAX;
  return who.uid;
}

void send_all(const Socket& to, const void* data, size_t bytes, const Patience& patience) {
  auto* at = static_cast<const char*>(data);
  while (bytes) {
    ssize_t done = send(to.file(), at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno != EAGAIN && errno != EINTR)
      throw Failure(ncclRemoteError, "another rank has ended");
    if (done < 0) {
      ready(to, POLLOUT, patience, "sending to another rank");
      continue;
    }
    at += done, bytes -= static_cast<size_t>(done);
  }
}

void receive_all(const Socket& from, void* data, size_t bytes, const Patience& patience) {
  auto* at = static_cast<char*>(data);
  while (bytes) {
    ssize_t done = recv(from.file(), at, bytes, MSG_DONTWAIT);
    if (done == 0 || (done < 0 && errno != EAGAIN && errno != EINTR))
      throw Failure(ncclRemoteError, "another rank has ended");
    if (done < 0) {
      ready(from, POLLIN, patience, "waiting for the other ranks");
      continue;
    }
    at += done, bytes -= static_cast<size_t>(done);
  }
}

void send_file(const Socket& to, int file) {
  char byte = 'f';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS,
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &file, sizeof file);
  if (sendmsg(to.file(), &message, MSG_NOSIGNAL) != 1)
    throw Failure(ncclRemoteError, "another rank has ended");
}

int receive_file(const Socket& from, const Patience& patience) {
  ready(from, POLLIN, patience, "waiting for the memory that ranks share");
  char byte;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  int file = -1;
  if (recvmsg(from.file(), &message, MSG_CMSG_CLOEXEC) == 1) {
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
      memcpy(&file, CMSG_DATA(head), sizeof file);
  }
  if (file < 0) throw Failure(ncclRemoteError, "another rank has ended");
  return file;
}

}  // namespace aw::nccl
