// How bytes get from one rank to another: a ring per direction and lane. Ranks of one machine have
// the rings in memory that they share; between others sockets carry what lies in rings of their
// own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libraries/nccl/bootstrap.h"

namespace aw::nccl {

// What must not wait behind something else: data to be reduced, data to be handed on, ncclSend, and
// what calls agree upon.
enum Lane { kMain, kSpread, kPair, kControl, kLanes };

constexpr uint64_t kLine = 64;
constexpr uint64_t kGoodbye = 0x6579'6264'6f6f'6761;  // the last message on kControl begins with it

struct RingState {
  alignas(kLine) std::atomic<uint64_t> head;  // bytes that were ever written
  alignas(kLine) std::atomic<uint64_t> tail;  // and read
  std::atomic<uint32_t> direct;               // the reader can read the writer's memory
};

// One direction of one lane, which one thread writes and one reads. Messages begin at multiples of
// 64, so that elements never lie across the end.
struct Ring {
  RingState* state = nullptr;
  char* data = nullptr;
  uint64_t size = 0;  // a multiple of 64

  // Contiguous bytes that can be written or read now.
  uint64_t room(char** at) const;
  uint64_t filled(char** at) const;
  uint64_t free_bytes() const;
  uint64_t used_bytes() const;
  void wrote(uint64_t bytes) const { state->head.fetch_add(bytes, std::memory_order_release); }
  void took(uint64_t bytes) const { state->tail.fetch_add(bytes, std::memory_order_release); }
};

class Links {
 public:
  virtual ~Links() = default;
  Ring& out(int peer, int lane) { return out_[index(peer, lane)]; }
  Ring& in(int peer, int lane) { return in_[index(peer, lane)]; }

  // Copies from the memory of a rank that may be read (RingState::direct). The bytes that were
  // copied: 0 where its process has ended, -1 where there is no such memory.
  virtual int64_t read(int, void*, const void*, size_t) { return -1; }
  // Whether that memory is ours, too.
  virtual bool same_memory(int) const { return false; }
  bool reads(int peer) { return in(peer, kMain).state->direct.load() != 0; }
  bool is_read(int peer) { return out(peer, kMain).state->direct.load() != 0; }

  // Tells `peer` that a ring between us has changed.
  virtual void notify(int peer, int lane) = 0;
  // Moves what can be moved without waiting.
  virtual void pump() {}
  // A number that changes whenever a ring of ours has changed.
  virtual uint32_t changes() = 0;
  // Waits until it is no longer `seen`; at most `milliseconds`.
  virtual void sleep(uint32_t seen, int milliseconds) = 0;

  // True when the process of a rank has ended, or given up the communicator without
  // ncclCommDestroy.
  virtual bool died(int peer) = 0;
  // True when nothing more comes from it.
  virtual bool left(int peer) = 0;
  // Some rank said that the communicator is of no use any more.
  virtual bool aborted() = 0;
  virtual void abort() = 0;
  // The end in good order.
  virtual void leave() = 0;

 protected:
  explicit Links(int count)
      : out_(static_cast<size_t>(count) * kLanes), in_(static_cast<size_t>(count) * kLanes) {}
  static size_t index(int peer, int lane) {
    return static_cast<size_t>(peer) * kLanes + static_cast<size_t>(lane);
  }
  std::vector<Ring> out_, in_;
};

// Meets the other ranks and connects to them.
std::unique_ptr<Links> connect_ranks(const ncclUniqueId& id, int rank, int count,
                                     const Patience& patience);

bool is_set(const char* name);  // a setting of NCCL's

// What each rank tells all at first.
struct Introduction {
  uint8_t machine[16];  // equal where memory can be shared
  uint8_t process[16];
  uint8_t session[16];  // that of rank 0 is what connections between the ranks begin with
  Address place;        // where it listens for ranks of other machines
};

std::unique_ptr<Links> shared_links(int rank, const std::vector<Introduction>& all,
                                    Bootstrap& bootstrap, const Patience& patience);
std::unique_ptr<Links> socket_links(int rank, const std::vector<Introduction>& all,
                                    Socket listening, Bootstrap& bootstrap,
                                    const Patience& patience);

}  // namespace aw::nccl
