// Ranks of one machine: rings in a memory file without a name, which the first rank makes and hands
// to the others, so that nothing is left behind by whoever dies. Each process holds a lock on its
// ranks' bytes of the file for as long as it lives.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>
#include <condition_variable>
#include <map>
#include <mutex>

#include "libraries/nccl/links.h"
#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

/** Tell the processor that this loop waits: its other thread gets the time. */
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr uint64_t kControlBytes = 8 << 10;

struct alignas(kLine) Bell {
  std::atomic<uint32_t> rung, sleepers, left;
};
struct alignas(kLine) Head {
  std::atomic<uint32_t> aborted;
};

struct Shape {
  uint64_t ranks;
  uint64_t ring_bytes(int lane) const {
    if (lane == kControl) return kControlBytes;
    // The larger, the fewer changes between two ranks that share a processor; there are as many as
    // the square of the ranks.
    return ranks <= 4 ? 1 << 20 : ranks <= 16 ? 256 << 10 : 64 << 10;
  }
  uint64_t place(int lane) const {
    uint64_t at = 0;
    for (int l = 0; l < lane; ++l) at += sizeof(RingState) + ring_bytes(l);
    return at;
  }
  uint64_t bells() const { return sizeof(Head); }
  uint64_t pair(uint64_t from, uint64_t to) const {
    return bells() + ranks * sizeof(Bell) + (from * ranks + to) * place(kLanes);
  }
  uint64_t bytes() const { return pair(ranks, 0); }
};

// The file in this process. One for all ranks in it, because closing any descriptor of a file ends
// all locks on it.
struct Segment {
  Shape shape;
  int file = -1;
  char* base = nullptr;

  Segment(uint64_t ranks, int opened) : shape{ranks}, file(opened) {
    void* got = mmap(nullptr, shape.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (got == MAP_FAILED) {
      close(file);
      throw Failure(ncclSystemError, "memory to share with other ranks cannot be mapped: " +
                                         std::string(strerror(errno)));
    }
    base = static_cast<char*>(got);
  }
  ~Segment() {
    munmap(base, shape.bytes());
    close(file);
  }
  Segment(const Segment&) = delete;
  Head& head() const { return *reinterpret_cast<Head*>(base); }
  Bell& bell(int rank) const { return reinterpret_cast<Bell*>(base + shape.bells())[rank]; }
  Ring ring(int from, int to, int lane) const {
    char* at = base + shape.pair(static_cast<uint64_t>(from), static_cast<uint64_t>(to)) +
               shape.place(lane);
    return {reinterpret_cast<RingState*>(at), at + sizeof(RingState), shape.ring_bytes(lane)};
  }
  struct flock region(int rank) const {
    struct flock out = {};
    out.l_type = F_WRLCK, out.l_whence = SEEK_SET, out.l_start = rank, out.l_len = 1;
    return out;
  }
  void lock(int rank) const {
    auto mine = region(rank);
    if (fcntl(file, F_SETLK, &mine) != 0)
      throw Failure(ncclSystemError, "no lock: " + std::string(strerror(errno)));
  }
  bool locked(int rank) const {
    auto theirs = region(rank);
    return fcntl(file, F_GETLK, &theirs) != 0 || theirs.l_type != F_UNLCK;
  }
};

int make_file(uint64_t ranks) {
  int file = static_cast<int>(syscall(SYS_memfd_create, "anywarp-nccl", 1u /* MFD_CLOEXEC */));
  if (file < 0 || ftruncate(file, static_cast<off_t>(Shape{ranks}.bytes())) != 0) {
    if (file >= 0) close(file);
    throw Failure(ncclSystemError,
                  "memory to share with other ranks: " + std::string(strerror(errno)));
  }
  return file;
}

// Open segments of this process, by the secret of the communicator.
struct Registry {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::weak_ptr<Segment>> open;
};
Registry& registry() {
  static auto& it = *new Registry;
  return it;
}

std::shared_ptr<Segment> enter(const std::string& key, std::shared_ptr<Segment> segment) {
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().open, [](auto& entry) { return entry.second.expired(); });
  registry().open[key] = segment;
  registry().changed.notify_all();
  return segment;
}

std::shared_ptr<Segment> find(const std::string& key, const Patience& patience) {
  std::unique_lock lock(registry().mutex);
  for (;;) {
    if (auto it = registry().open.find(key); it != registry().open.end())
      if (auto found = it->second.lock()) return found;
    patience.check("waiting for the other ranks");
    registry().changed.wait_for(lock, std::chrono::milliseconds(100));
  }
}

// By what a process knows that it reads the memory of another: there may be other processes of that
// number (namespaces), and the system may forbid it.
struct Witness {
  pid_t process;
  const uint64_t* place;
  uint64_t value;
};

Witness own_witness() {
  static const uint64_t value = [] {
    uint64_t made;
    random_bytes(&made, sizeof made);
    return made;
  }();
  return {getpid(), &value, value};
}

class SharedLinks final : public Links {
 public:
  SharedLinks(std::shared_ptr<Segment> segment, int rank, std::vector<bool> here,
              std::vector<Witness> witnesses)
      : Links(static_cast<int>(here.size())),
        segment_(std::move(segment)),
        rank_(rank),
        here_(std::move(here)),
        witnesses_(std::move(witnesses)) {
    for (int peer = 0; peer < static_cast<int>(here_.size()); ++peer)
      for (int lane = 0; lane < kLanes; ++lane) {
        out_[index(peer, lane)] = segment_->ring(rank, peer, lane);
        in_[index(peer, lane)] = segment_->ring(peer, rank, lane);
      }
    // As NCCL's setting says: then no rank reads the memory of another.
    if (is_set("NCCL_P2P_DISABLE")) return;
    for (int peer = 0; peer < static_cast<int>(here_.size()); ++peer) {
      auto& witness = witnesses_[static_cast<size_t>(peer)];
      uint64_t seen = 0;
      bool there = read(peer, &seen, witness.place, sizeof seen) == sizeof seen;
      if (there && seen == witness.value) in(peer, kMain).state->direct.store(1);
    }
  }
  int64_t read(int peer, void* to, const void* from, size_t bytes) override {
    if (same_memory(peer)) {
      memcpy(to, from, bytes);
      return static_cast<int64_t>(bytes);
    }
    iovec here = {to, bytes}, there = {const_cast<void*>(from), bytes};
    auto process = witnesses_[static_cast<size_t>(peer)].process;
    ssize_t done = process_vm_readv(process, &here, 1, &there, 1, 0);
    return done < 0 && errno == ESRCH ? 0 : done;
  }
  bool same_memory(int peer) const override { return here_[static_cast<size_t>(peer)]; }
  void notify(int peer, int) override {
    Bell& bell = segment_->bell(peer);
    bell.rung.fetch_add(1);
    if (bell.sleepers.load()) wake(bell);
  }
  uint32_t changes() override { return segment_->bell(rank_).rung.load(); }

  void sleep(uint32_t seen, int milliseconds) override {
    Bell& bell = segment_->bell(rank_);
    for (int i = 0; i < kSpins; ++i) {
      if (bell.rung.load(std::memory_order_acquire) != seen) return;
      relax();
    }
    bell.sleepers.fetch_add(1);
    timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1'000'000l};
    syscall(SYS_futex, &bell.rung, FUTEX_WAIT, seen, &limit, nullptr, 0);
    bell.sleepers.fetch_sub(1);
  }

  bool died(int peer) override {
    auto at = static_cast<size_t>(peer);
    return !here_[at] && !segment_->locked(peer) && !segment_->bell(peer).left.load();
  }
  bool left(int peer) override { return segment_->bell(peer).left.load() != 0; }
  bool aborted() override { return segment_->head().aborted.load() != 0; }
  void abort() override {
    segment_->head().aborted.store(1);
    ring_all();
  }
  void leave() override {
    segment_->bell(rank_).left.store(1);
    ring_all();
  }

 private:
  static constexpr int kSpins = 200;  // some microseconds: what a wake costs

  static void wake(Bell& bell) {
    syscall(SYS_futex, &bell.rung, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  void ring_all() {
    for (int peer = 0; peer < static_cast<int>(here_.size()); ++peer) {
      segment_->bell(peer).rung.fetch_add(1);
      wake(segment_->bell(peer));
    }
  }

  std::shared_ptr<Segment> segment_;
  const int rank_;
  const std::vector<bool> here_;  // ranks of this process
  const std::vector<Witness> witnesses_;
};

}  // namespace

std::unique_ptr<Links> shared_links(int rank, const std::vector<Introduction>& all,
                                    Bootstrap& bootstrap, const Patience& patience) {
  auto same = [&](size_t a, size_t b) {
    return memcmp(all[a].process, all[b].process, sizeof all[a].process) == 0;
  };
  auto me = static_cast<size_t>(rank);
  // The first rank of each process opens the file for all of it.
  std::vector<size_t> firsts;
  for (size_t r = 0; r < all.size(); ++r)
    if (std::none_of(firsts.begin(), firsts.end(), [&](size_t f) { return same(f, r); }))
      firsts.push_back(r);
  bool opens = std::find(firsts.begin(), firsts.end(), me) != firsts.end();
  std::string key = hexadecimal(all[0].session, sizeof all[0].session);
  std::string name = "anywarp-nccl-" + key;
  std::shared_ptr<Segment> segment;
  Socket listening;
  if (rank == 0) {
    segment = enter(key, std::make_shared<Segment>(all.size(), make_file(all.size())));
    listening = listen_locally(name);
  }
  auto witnesses = bootstrap.gather(own_witness());  // and now the first rank listens
  if (rank == 0) {
    for (size_t missing = firsts.size() - 1; missing;) {
      Socket one = accept_from(listening, patience);
      if (user_of(one) != geteuid()) continue;
      send_file(one, segment->file);
      --missing;
    }
  } else if (opens) {
    Socket one = connect_locally(name, patience);
    if (user_of(one) != geteuid())
      throw Failure(ncclSystemError, "another user answers in the place of rank 0");
    segment = enter(key, std::make_shared<Segment>(all.size(), receive_file(one, patience)));
  } else {
    segment = find(key, patience);
  }
  segment->lock(rank);
  std::vector<bool> here;
  for (size_t r = 0; r < all.size(); ++r) here.push_back(same(r, me));
  auto made = std::make_unique<SharedLinks>(std::move(segment), rank, std::move(here),
                                            std::move(witnesses));
  bootstrap.gather(char{});  // now all hold their locks, and know whom they can read
  return made;
}

}  // namespace aw::nccl
