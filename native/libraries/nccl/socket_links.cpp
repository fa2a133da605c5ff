// Ranks of several machines: a connection for each pair and lane; whoever waits carries bytes
// between rings and sockets.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <mutex>

#include "libraries/nccl/links.h"
#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

constexpr uint64_t kRing = 1 << 20, kControlRing = 8 << 10;

struct Greeting {
  uint8_t session[16];
  uint32_t rank, lane;
};

struct OwnRing {
  RingState state = {};
  std::unique_ptr<char[]> data;
  Ring ring(uint64_t bytes) {
    data = std::make_unique<char[]>(bytes + kLine);
    auto at = reinterpret_cast<uintptr_t>(data.get());
    return {&state, data.get() + (kLine - at % kLine) % kLine, bytes};
  }
};

class SocketLinks final : public Links {
 public:
  SocketLinks(int rank, int count)
      : Links(count), rank_(rank), count_(count), wires_(static_cast<size_t>(count) * kLanes) {}

  void take(int peer, int lane, Socket socket) {
    Wire& wire = wires_[index(peer, lane)];
    wire.socket = std::move(socket);
    uint64_t bytes = lane == kControl ? kControlRing : kRing;
    out_[index(peer, lane)] = wire.out.ring(bytes);
    in_[index(peer, lane)] = wire.in.ring(bytes);
  }

  void notify(int peer, int lane) override {
    std::lock_guard lock(mutex_);
    move(index(peer, lane));
  }
  void pump() override {
    std::lock_guard lock(mutex_);
    for (size_t at = 0; at < wires_.size(); ++at) move(at);
  }
  uint32_t changes() override { return changes_.load(); }

  void sleep(uint32_t seen, int milliseconds) override {
    std::vector<pollfd> files;
    {
      std::lock_guard lock(mutex_);
      if (changes_.load() != seen || aborted_) return;
      for (size_t at = 0; at < wires_.size(); ++at) {
        auto& wire = wires_[at];
        if (!wire.socket || wire.ended) continue;
        short events = 0;
        if (in_[at].free_bytes()) events |= POLLIN;
        if (out_[at].used_bytes()) events |= POLLOUT;
        if (events) files.push_back({wire.socket.file(), events, 0});
      }
    }
    // Another thread of this rank may carry what this one waits for: not for long.
    poll(files.data(), files.size(), std::min(milliseconds, 10));
    pump();
  }

  bool died(int peer) override { return peer != rank_ && ended(peer) && !said_goodbye(peer); }
  bool left(int peer) override { return peer != rank_ && ended(peer); }
  bool aborted() override { return aborted_.load(); }
  void abort() override {
    aborted_ = true;
    std::lock_guard lock(mutex_);
    for (auto& wire : wires_)
      if (wire.socket) shutdown(wire.socket.file(), SHUT_RDWR);
  }
  // What lies in the rings is for others to read; who does not within a while has ended.
  void leave() override {
    for (int peer = 0; peer < count_; ++peer) {
      if (peer == rank_) continue;
      Ring& ring = out(peer, kControl);
      char* at;
      if (ring.free_bytes() < kLine) continue;
      ring.room(&at);
      memset(at, 0, kLine);
      memcpy(at, &kGoodbye, sizeof kGoodbye);
      ring.wrote(kLine);
    }
    double until = now() + 5;
    for (;;) {
      pump();
      bool empty = true;
      for (size_t at = 0; at < wires_.size(); ++at)
        empty &= !wires_[at].socket || wires_[at].ended || out_[at].used_bytes() == 0;
      if (empty || now() > until) break;
      sleep(changes(), 100);
    }
  }

 private:
  struct Wire {
    Socket socket;
    OwnRing out, in;
    bool ended = false;
  };

  bool ended(int peer) {
    pump();
    for (int lane = 0; lane < kLanes; ++lane)
      if (wires_[index(peer, lane)].ended) return true;
    return false;
  }
  bool said_goodbye(int peer) {
    char* at;
    Ring& ring = in(peer, kControl);
    return ring.filled(&at) >= sizeof kGoodbye && memcmp(at, &kGoodbye, sizeof kGoodbye) == 0;
  }

  void move(size_t at) {
    auto& wire = wires_[at];
    if (!wire.socket) return;
    char* place;
    while (uint64_t bytes = out_[at].filled(&place)) {
      ssize_t done = send(wire.socket.file(), place, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done <= 0) break;
      out_[at].took(static_cast<uint64_t>(done));
      ++changes_;
    }
    while (!wire.ended) {
      uint64_t bytes = in_[at].room(&place);
      if (!bytes) break;
      ssize_t done = recv(wire.socket.file(), place, bytes, MSG_DONTWAIT);
      if (done < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (done <= 0) {
        wire.ended = true;
        ++changes_;
        break;
      }
      in_[at].wrote(static_cast<uint64_t>(done));
      ++changes_;
    }
  }

  const int rank_, count_;
  std::mutex mutex_;
  std::vector<Wire> wires_;
  std::atomic<uint32_t> changes_{0};
  std::atomic<bool> aborted_{false};
};

}  // namespace

std::unique_ptr<Links> socket_links(int rank, const std::vector<Introduction>& all,
                                    Socket listening, Bootstrap& bootstrap,
                                    const Patience& patience) {
  int count = static_cast<int>(all.size());
  auto links = std::make_unique<SocketLinks>(rank, count);
  for (int peer = 0; peer < rank; ++peer)
    for (int lane = 0; lane < kLanes; ++lane) {
      Socket socket = connect_to(all[static_cast<size_t>(peer)].place, false, patience);
      Greeting greeting = {{}, static_cast<uint32_t>(rank), static_cast<uint32_t>(lane)};
      memcpy(greeting.session, all[0].session, sizeof greeting.session);
      send_all(socket, &greeting, sizeof greeting, patience);
      links->take(peer, lane, std::move(socket));
    }
  std::vector<bool> seen(static_cast<size_t>(count) * kLanes);
  for (int missing = (count - rank - 1) * kLanes; missing;) {
    Socket socket = accept_from(listening, patience);
    Greeting greeting;
    try {
      receive_all(socket, &greeting, sizeof greeting, {now() + 5, patience.given_up});
    } catch (const Failure&) {
      continue;
    }
    if (memcmp(greeting.session, all[0].session, sizeof greeting.session) != 0) continue;
    if (greeting.rank <= static_cast<uint32_t>(rank) ||
        greeting.rank >= static_cast<uint32_t>(count))
      continue;
    if (greeting.lane >= kLanes || seen[greeting.rank * kLanes + greeting.lane]) continue;
    seen[greeting.rank * kLanes + greeting.lane] = true;
    links->take(static_cast<int>(greeting.rank), static_cast<int>(greeting.lane),
                std::move(socket));
    --missing;
  }
  bootstrap.gather(char{});
  return links;
}

}  // namespace aw::nccl
