// The trace of one process: a file that every thread fills in pieces of its own, through memory
// that the kernel writes back, so that what was recorded survives whatever ends the process
// (docs/contracts.md, section 9).
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "core/activity_hub.h"
#include "core/file_limit.h"
#include "core/log.h"
#include "core/settings.h"

namespace aw {
namespace {

constexpr uint64_t kHeaderBytes = 4096, kPieceBytes = 256 << 10;
#ifdef ANYWARP_FORWARDING
constexpr bool kForwarding = true;  // in the library that passes calls on to NVIDIA's driver
#else
constexpr bool kForwarding = false;
#endif
constexpr uint32_t kInlineBytes = 24;  // of arguments in the slot of their call
constexpr uint16_t kNameSlot = 100, kThreadSlot = 101;

struct Slot {
  uint16_t kind, extra;  // slots that follow and belong to this one
  uint32_t name;
  uint64_t words[7];
};
static_assert(sizeof(Slot) == 64);

struct Header {
  char magic[8];
  uint32_t piece_bytes, pid, parent, reserved;
  uint64_t start, dropped;
  char command[kHeaderBytes - 40];
};
static_assert(sizeof(Header) == kHeaderBytes);

struct Piece {
  Slot *begin = nullptr, *next = nullptr, *end = nullptr;
};

struct File {
  std::mutex mutex;
  std::string folder;
  int descriptor = -1;
  uint64_t bytes = 0, most = 0;
  Header* header = nullptr;
  bool full = false;
  std::vector<Piece> left;  // pieces of threads that have ended
  uint32_t names = 0;       // how many are written
};

File& file() {
  static File& instance = *new File;
  return instance;
}

struct ThreadPiece {
  Piece piece;
  bool ended = false;
  ~ThreadPiece();
};

ThreadPiece& mine() {
  thread_local ThreadPiece instance;
  return instance;
}

ThreadPiece::~ThreadPiece() {
  ended = true;
  if (!piece.next) return;
  File& f = file();
  std::lock_guard lock(f.mutex);
  f.left.push_back(piece);
  piece = {};
}

void read_command(Header& header) {
  int from = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (from < 0) return;
  ssize_t got = read(from, header.command, sizeof header.command - 1);
  close(from);
  for (ssize_t i = 0; i + 1 < got; ++i) {
    if (!header.command[i]) header.command[i] = ' ';
  }
}

// With the mutex held, as the following.
bool give_up(File& f, const char* what, int error) {
  f.full = true;
  say(LogLevel::warn, std::string("the trace ends here: ") + what +
                          (error ? std::string(": ") + strerror(error) : ""));
  return false;
}

// Reserves room on the disk; returns the error.
int grow(int file, uint64_t from, uint64_t bytes) {
  if (!within_file_limit(from + bytes)) return EFBIG;
  return posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
}

bool begin_file(File& f) {
  uint64_t now = anywarp_activity_now();
  std::string path = f.folder + "/" + std::to_string(getpid()) + "-" + std::to_string(now) + ".awt";
  f.descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (f.descriptor < 0) return give_up(f, "its file cannot be made", errno);
  if (int error = grow(f.descriptor, 0, kHeaderBytes))
    return give_up(f, "its file cannot grow", error);
  void* place = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, f.descriptor, 0);
  if (place == MAP_FAILED) return give_up(f, "its file cannot be mapped", errno);
  f.header = static_cast<Header*>(place);
  f.bytes = kHeaderBytes;
  memcpy(f.header->magic, "AWTRACE1", 8);
  f.header->piece_bytes = kPieceBytes;
  f.header->pid = static_cast<uint32_t>(getpid());
  f.header->parent = static_cast<uint32_t>(getppid());
  f.header->start = now;
  read_command(*f.header);
  return true;
}

void publish(Slot* at, uint16_t kind, uint16_t extra, uint32_t name) {
  Slot head{kind, extra, name, {}};
  uint64_t word;
  memcpy(&word, &head, sizeof word);
  __atomic_store_n(reinterpret_cast<uint64_t*>(at), word, __ATOMIC_RELEASE);
}

bool take_piece(File& f, Piece& piece) {
  if (f.full) return false;
  if (f.descriptor < 0 && !begin_file(f)) return false;
  if (!f.left.empty()) {
    piece = f.left.back();
    f.left.pop_back();
    return true;
  }
  if (f.bytes + kPieceBytes > f.most) return give_up(f, "it is as long as ANYWARP_TRACE_LIMIT", 0);
  // Room on the disk is reserved: memory of a file without it is a SIGBUS.
  if (int error = grow(f.descriptor, f.bytes, kPieceBytes))
    return give_up(f, "its file cannot grow", error);
  void* place = mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, f.descriptor,
                     static_cast<off_t>(f.bytes));
  if (place == MAP_FAILED) return give_up(f, "its file cannot be mapped", errno);
#ifdef MADV_POPULATE_WRITE
  madvise(place, kPieceBytes, MADV_POPULATE_WRITE);  // all pages at once; else each when it is met
#endif
  f.bytes += kPieceBytes;
  piece.begin = piece.next = static_cast<Slot*>(place);
  piece.end = piece.begin + kPieceBytes / sizeof(Slot);
  return true;
}

void write_thread(Piece& piece) {
  piece.next->words[0] = thread_number();
  char* name = reinterpret_cast<char*>(&piece.next->words[1]);
  pthread_getname_np(pthread_self(), name, 16);
  publish(piece.next++, kThreadSlot, 0, 0);
}

// A place for so many slots in the piece of this thread; null when the trace has ended.
Slot* reserve(unsigned slots) {
  ThreadPiece& own = mine();
  Piece& piece = own.piece;
  if (piece.next && piece.next + slots <= piece.end) return piece.next;
  File& f = file();
  if (own.ended) return nullptr;
  std::lock_guard lock(f.mutex);
  for (;;) {
    if (piece.begin) munmap(piece.begin, kPieceBytes);
    piece = {};
    if (!take_piece(f, piece)) {
      if (f.header) ++f.header->dropped;
      return nullptr;
    }
    if (piece.next + slots + 1 <= piece.end) break;
  }
  write_thread(piece);
  return piece.next;
}

void write_name(uint32_t number) {
  std::string_view text = anywarp_activity_text(number);
  text = text.substr(0, 60000);
  auto extra = static_cast<unsigned>((text.size() + sizeof(Slot) - 1) / sizeof(Slot));
  Slot* at = reserve(1 + extra);
  if (!at) return;
  memcpy(at + 1, text.data(), text.size());
  at->words[0] = text.size();
  publish(at, kNameSlot, static_cast<uint16_t>(extra), number);
  mine().piece.next += 1 + extra;
}

// Names are written before what uses them, by whoever comes first.
void ensure_name(uint32_t number) {
  File& f = file();
  if (number <= __atomic_load_n(&f.names, __ATOMIC_RELAXED)) return;
  uint32_t from;
  {
    std::lock_guard lock(f.mutex);
    from = f.names + 1;
    if (number < from) return;
    __atomic_store_n(&f.names, number, __ATOMIC_RELAXED);
  }
  for (uint32_t each = from; each <= number; ++each) write_name(each);
}

uint64_t both(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// Every page of the file costs as much as twenty calls, so short arguments share the call's slot.
void write_call(AwCall* call) {
  uint32_t name = call->site->name_id.load(std::memory_order_relaxed);
  ensure_name(name);
  bool is_short = call->params_bytes <= kInlineBytes;
  unsigned extra = is_short ? 0 : (call->params_bytes + 63) / 64;
  Slot* at = reserve(1 + extra);
  if (!at) return;
  void* params = is_short ? static_cast<void*>(at->words + 4) : at + 1;
  if (call->params_bytes) memcpy(params, call->params, call->params_bytes);
  at->words[0] = call->begin, at->words[1] = call->end;
  at->words[2] = both(call->correlation, static_cast<uint32_t>(call->result));
  at->words[3] = both(thread_number(), call->site->domain | call->params_bytes << 8);
  publish(at, AW_ACTIVITY_CALL, static_cast<uint16_t>(extra), name);
  mine().piece.next += 1 + extra;
}

bool is_small(const AwRecord& r) {
  bool plain = r.kind != AW_ACTIVITY_KERNEL && r.kind != AW_ACTIVITY_COPY &&
               r.kind != AW_ACTIVITY_FILL && r.kind != AW_ACTIVITY_MEMORY;
  return plain && !r.graph;
}

void write_record(const AwRecord* record) {
  const AwRecord& r = *record;
  ensure_name(r.name);
  bool small = is_small(r);
  Slot* at = reserve(small ? 1 : 2);
  if (!at) return;
  at->words[0] = r.begin, at->words[1] = r.end;
  at->words[2] = both(r.correlation, r.thread);
  at->words[3] = both(r.device, r.context);
  at->words[4] = both(r.stream, r.flags);
  at->words[5] = small ? r.other.handle : r.queued;
  at->words[6] = small ? r.other.value : r.graph;
  if (!small) {
    auto* details = reinterpret_cast<unsigned char*>(at + 1);
    memcpy(details, &r.node, sizeof r.node);
    memcpy(details + 8, &r.kernel, sizeof r.kernel);
  }
  publish(at, static_cast<uint16_t>(r.kind), small ? 0 : 1, r.name);
  mine().piece.next += small ? 1 : 2;
}

// The mapping of a forked child is its parent's: it begins a file of its own.
void begin_file_anew() {
  File& f = file();
  new (&f.mutex) std::mutex;
  if (f.descriptor >= 0) close(f.descriptor);
  f.descriptor = -1;
  f.header = nullptr;
  f.full = false;
  f.left.clear();
  f.names = 0;
  mine().piece = {};
}

uint32_t wanted_by_setting() {
  const char* graphs = getenv("ANYWARP_TRACE_GRAPHS");
  bool whole = graphs && strcmp(graphs, "whole") == 0;
  return AW_LISTEN_CALLS | AW_LISTEN_WORK | AW_LISTEN_MEMORY | AW_LISTEN_RANGES |
         (whole ? AW_LISTEN_GRAPHS : AW_LISTEN_NODES);
}

}  // namespace

void start_trace() {
  // Read here and not with the other settings, which may come later than the first call.
  const char* folder = getenv("ANYWARP_TRACE_DIR");
  const char* driver = getenv("ANYWARP_NVIDIA_DRIVER");
  bool elsewhere = driver && *driver;  // then the library that passes calls on to it writes
  if (!folder || !*folder || elsewhere != kForwarding) return;
  file().folder = folder;
  const char* limit = getenv("ANYWARP_TRACE_LIMIT");
  file().most = limit && *limit ? parse_size(limit) : uint64_t{4} << 30;
  pthread_atfork(nullptr, nullptr, begin_file_anew);
  static AwListener& listener = *new AwListener{};
  listener.wants = wanted_by_setting();
  listener.exit = write_call;
  listener.record = write_record;
  anywarp_activity_listen(&listener);
}

}  // namespace aw
