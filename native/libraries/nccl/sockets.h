// TCP sockets of NCCL's bootstrap, and of ranks that share no memory. Whatever waits has an end: a
// time, or a communicator that is given up.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace aw::nccl {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  Socket(Socket&& other) noexcept : file_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }
  int file() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  int release();
  void close();

 private:
  int file_ = -1;
};

// Where a socket listens, in a form that processes hand each other.
struct Address {
  uint32_t size = 0;
  uint8_t bytes[28] = {};  // a sockaddr_in or sockaddr_in6
};

// How long something may take, and what ends it before.
struct Patience {
  double until;  // of now()
  const std::atomic<bool>* given_up = nullptr;
  std::function<void()> look = nullptr;  // throws where others have ended
  void check(const char* what) const;    // throws
};

bool ended(const Socket& socket);  // by the other side
double now();                      // seconds

// An address of this machine for others to connect to: NCCL_SOCKET_IFNAME says of which interfaces,
// else the first that is no loopback, else the loopback.
Address own_address();
// "host:port", "[address]:port" as NCCL_COMM_ID has it.
Address parse_address(const std::string& text);

Socket listen_at(Address& address);              // fills the port
Socket listen_locally(const std::string& name);  // an abstract socket of this machine
Socket accept_from(const Socket& listening, const Patience& patience);
// Who is to listen may start after us (`later`), else must be there.
Socket connect_to(const Address& address, bool later, const Patience& patience);
Socket connect_locally(const std::string& name, const Patience& patience);
uint32_t user_of(const Socket& local);

void send_all(const Socket& to, const void* data, size_t bytes, const Patience& patience);
void receive_all(const Socket& from, void* data, size_t bytes, const Patience& patience);
void send_file(const Socket& to, int file);
int receive_file(const Socket& from, const Patience& patience);

}  // namespace aw::nccl
