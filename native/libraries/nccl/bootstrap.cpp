#include "libraries/nccl/bootstrap.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

constexpr uint64_t kIdMagic = 0x6469'6c63'636e'7761;
constexpr uint32_t kMostRanks = 1 << 16, kMostBytes = 4096;
constexpr double kRound = 600;  // seconds that the ranks may be apart

struct Hello {
  uint64_t magic;
  uint8_t secret[16];
  uint32_t rank, count;
};

struct Root {
  Socket listening;
  uint8_t secret[16];

  // A rank that ends before all know each other ends the meeting for all.
  static void look_after(const std::vector<Socket>& ranks) {
    for (auto& rank : ranks)
      if (rank && ended(rank)) throw Failure(ncclRemoteError);
  }

  // Takes what connects until all ranks are there. What says nothing sensible within a second is
  // sent away.
  std::vector<Socket> all_ranks() {
    std::vector<Socket> ranks;
    uint32_t missing = UINT32_MAX;
    while (missing) {
      Socket one = accept_from(listening, {1e30, nullptr, [&] { look_after(ranks); }});
      Hello hello;
      try {
        receive_all(one, &hello, sizeof hello, {now() + 1, nullptr});
      } catch (const Failure&) {
        continue;
      }
      if (hello.magic != kIdMagic || memcmp(hello.secret, secret, sizeof secret) != 0) continue;
      if (hello.count == 0 || hello.count > kMostRanks || hello.rank >= hello.count) continue;
      if (ranks.empty()) ranks.resize(missing = hello.count);
      if (hello.count != ranks.size() || ranks[hello.rank])
        return {};  // they contradict each other: all are told by the end
      ranks[hello.rank] = std::move(one);
      --missing;
    }
    return ranks;
  }

  void serve() {
    auto ranks = all_ranks();
    while (!ranks.empty()) {
      uint32_t size = 0;
      std::vector<char> all;
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        uint32_t bytes;
        Patience patience{now() + kRound, nullptr, [&] { look_after(ranks); }};
        receive_all(ranks[rank], &bytes, sizeof bytes, patience);
        if (rank == 0) size = bytes, all.resize(size_t{bytes} * ranks.size());
        if (bytes != size || bytes > kMostBytes) return;
        receive_all(ranks[rank], all.data() + rank * size, size, patience);
      }
      for (auto& rank : ranks) send_all(rank, all.data(), all.size(), {now() + kRound, nullptr});
    }
  }
};

// The thread is nobody's to wait for: it ends when the ranks have heard all, or one has gone.
void start(Socket listening, const uint8_t* secret) {
  auto root = std::make_unique<Root>();
  root->listening = std::move(listening);
  memcpy(root->secret, secret, sizeof root->secret);
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread([root = std::move(root)] {
    pthread_setname_np(pthread_self(), "anywarp-nccl");
    try {
      root->serve();
    } catch (const Failure&) {
    } catch (const std::bad_alloc&) {
    }
  }).detach();
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace

void random_bytes(void* to, size_t bytes) {
  if (getrandom(to, bytes, 0) != static_cast<ssize_t>(bytes))
    throw Failure(ncclSystemError, "no random numbers");
}

std::string hexadecimal(const uint8_t* bytes, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += "0123456789abcdef"[bytes[i] >> 4], out += "0123456789abcdef"[bytes[i] & 15];
  return out;
}

ncclUniqueId make_id() {
  Id id = {};
  id.magic = kIdMagic;
  if (const char* named = getenv("NCCL_COMM_ID"); named && *named) {
    // All know the address, and nothing else: the secret is no secret here.
    id.root = parse_address(named), id.named = 1;
    memcpy(id.secret, named, std::min(strlen(named), sizeof id.secret));
  } else {
    random_bytes(id.secret, sizeof id.secret);
    id.root = own_address();
    // The port is the system's to choose.
    memset(id.root.bytes + 2, 0, 2);
    start(listen_at(id.root), id.secret);
  }
  ncclUniqueId out = {};
  memcpy(out.internal, &id, sizeof id);
  return out;
}

Id read_id(const ncclUniqueId& id) {
  Id out;
  memcpy(&out, id.internal, sizeof out);
  if (out.magic != kIdMagic || out.root.size < 16 || out.root.size > sizeof out.root.bytes)
    throw Failure(ncclInvalidArgument, "this is no unique id of ncclGetUniqueId");
  return out;
}

Bootstrap::Bootstrap(const Id& id, int rank, int count, const Patience& patience)
    : count_(count), patience_(patience) {
  if (id.named && rank == 0) {
    Address place = id.root;
    start(listen_at(place), id.secret);
  }
  socket_ = connect_to(id.root, id.named, patience);
  Hello hello = {kIdMagic, {}, static_cast<uint32_t>(rank), static_cast<uint32_t>(count)};
  memcpy(hello.secret, id.secret, sizeof hello.secret);
  send_all(socket_, &hello, sizeof hello, patience);
}

Patience Bootstrap::watched(Patience patience) const {
  patience.look = [this] {
    if (ended(socket_))
      throw Failure(ncclRemoteError, "a rank has ended before all were connected");
  };
  return patience;
}

void Bootstrap::exchange(const void* mine, size_t bytes, void* all) {
  auto size = static_cast<uint32_t>(bytes);
  send_all(socket_, &size, sizeof size, patience_);
  send_all(socket_, mine, bytes, patience_);
  receive_all(socket_, all, bytes * static_cast<size_t>(count_), patience_);
}

}  // namespace aw::nccl
