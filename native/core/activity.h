// What happens in a process, told to whoever listens: calls, kernels, copies, ranges. One hub lives
// in libcuda.so.1; libcudart, libnvToolsExt and libcupti reach it through the functions below
// (docs/contracts.md, section 9). While nobody listens, a call costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

// What a listener wants, as bits.
enum AwListen : uint32_t {
  AW_LISTEN_CALLS = 1,       // entry to and exit from exported functions
  AW_LISTEN_WORK = 2,        // what streams do: kernels, copies, fills, events, host functions
  AW_LISTEN_NODES = 4,       // the same for each node of a launched graph
  AW_LISTEN_GRAPHS = 8,      // one record for a launched graph
  AW_LISTEN_MEMORY = 16,     // allocations and frees
  AW_LISTEN_RANGES = 32,     // ranges and marks of the program
  AW_LISTEN_RESOURCES = 64,  // contexts, streams, modules, graphs that come and go
};

enum AwDomain : uint32_t { AW_DOMAIN_DRIVER = 1, AW_DOMAIN_RUNTIME = 2, AW_DOMAIN_OTHER = 3 };

// One exported function; static, one for each.
struct AwCallSite {
  const char* name;
  uint32_t domain;
  std::atomic<uint32_t> name_id{0};    // the hub's
  std::atomic<uint32_t> client_id{0};  // a listener's (libcupti keeps the function's number here)
};

// One call in progress; lives on the caller's stack.
struct AwCall {
  AwCallSite* site;
  const void* params;  // the arguments, laid out as a C structure; null where not given
  AwCall* outer;       // the call around it on this thread
  uint64_t begin, end;
  uint64_t listener_data[8];  // one word for each listener, from enter to exit
  uint32_t params_bytes;
  uint32_t correlation;  // the same for a call and for the work it gave to a stream
  uint32_t listeners;    // which of them were told of the entry
  int result;            // at the exit
};

enum AwActivity : uint32_t {
  AW_ACTIVITY_CALL = 1,
  AW_ACTIVITY_KERNEL = 2,
  AW_ACTIVITY_COPY = 3,
  AW_ACTIVITY_FILL = 4,
  AW_ACTIVITY_HOST = 5,          // a host function or callback
  AW_ACTIVITY_EVENT_RECORD = 6,  // the moment when the stream came to it
  AW_ACTIVITY_EVENT_WAIT = 7,
  AW_ACTIVITY_VALUE = 8,  // cuStreamWriteValue and cuStreamWaitValue
  AW_ACTIVITY_FREE = 9,   // the part of an asynchronous free that the stream does
  AW_ACTIVITY_GRAPH = 10,
  AW_ACTIVITY_MEMORY = 11,
  AW_ACTIVITY_RANGE = 12,
  AW_ACTIVITY_MARK = 13,
};

// Of a copy, beside 1 (asynchronous): what it writes does not lie side by side.
inline constexpr uint32_t AW_COPY_HAS_GAPS = 2;

enum AwMemory : uint32_t {
  AW_MEMORY_UNKNOWN = 0,
  AW_MEMORY_PAGEABLE = 1,
  AW_MEMORY_PINNED = 2,
  AW_MEMORY_DEVICE = 3,
  AW_MEMORY_ARRAY = 4,
  AW_MEMORY_MANAGED = 5,
};

// Something that is over. Times are nanoseconds since 1970, of a clock that never goes back. What
// pointers lead to lives only during the call of the listener.
struct AwRecord {
  uint32_t kind;
  uint32_t correlation;  // 0: of no call
  uint32_t thread;       // the thread it ran on, as gettid has it
  uint32_t name;         // a number of anywarp_activity_name; 0: none
  uint64_t begin, end;
  uint64_t queued;  // when it was given to the stream; 0: not known
  uint32_t device, context, stream;
  uint32_t flags;        // of copies: 1 asynchronous, 2 with gaps; of kernels: 1 cooperative
  uint64_t graph, node;  // of work inside a launched graph: handles of both; else 0
  union {
    struct {
      uint32_t grid[3], block[3], dynamic_shared, static_shared, local, reserved;
    } kernel;
    struct {
      uint64_t bytes, to, from;
      uint32_t to_kind, from_kind;  // AwMemory
    } copy;
    struct {
      uint64_t address, bytes;
      uint32_t value, element;
    } fill;
    struct {
      uint64_t address, bytes, pool;
      uint32_t kind, is_free;  // AwMemory
    } memory;
    struct {
      uint64_t handle, value;  // an event, a function, an address, a range
    } other;
  };
};

enum AwResourceKind : uint32_t {
  AW_RESOURCE_CONTEXT = 1,
  AW_RESOURCE_STREAM = 2,
  AW_RESOURCE_MODULE = 3,
  AW_RESOURCE_GRAPH = 4,
  AW_RESOURCE_NODE = 5,
  AW_RESOURCE_GRAPH_EXEC = 6,
};

// Something that came to be, or is about to go.
struct AwResource {
  uint32_t kind, gone;
  uint64_t handle;
  uint64_t owner;   // of a node or an executable graph: its graph; of the others: their context
  uint64_t origin;  // of a clone: what it was made from; of a module: its image in memory
  uint64_t bytes;   // of a module: how long its image is, where known
  uint32_t type;    // of a node: its CUgraphNodeType
};

struct AwListener {
  uint32_t wants;  // AwListen; 0 takes the listener away
  uint32_t slot;   // from anywarp_activity_listen; 0 at first
  void (*enter)(AwCall* call);
  void (*exit)(AwCall* call);
  void (*record)(const AwRecord* record);
  void (*resource)(const AwResource* resource);
};

extern "C" {
// Where the union of what listeners want lies; there before cuInit. Loaded with relaxed order.
const std::atomic<uint32_t>* anywarp_activity_wanted();

// A call begins and ends. `call` is filled in by `enter`, but for params, params_bytes.
void anywarp_activity_enter(AwCall* call, AwCallSite* site);
void anywarp_activity_exit(AwCall* call, int result);

// Ranges and marks as NVTX has them. Push and pop nest per thread; start and end go anywhere.
// `domain` and `text` may be null; nothing is kept of the pointers. `color`: 0xAARRGGBB, 0 none.
int anywarp_activity_range_push(const char* domain, const char* text, uint32_t color);  // the depth
int anywarp_activity_range_pop(const char* domain);  // the depth left; -1: there was none
uint64_t anywarp_activity_range_start(const char* domain, const char* text, uint32_t color);
void anywarp_activity_range_end(uint64_t range);
void anywarp_activity_mark(const char* domain, const char* text, uint32_t color);

// Tells of work that was done without a stream of ours (begin, end, kind, name, ...).
void anywarp_activity_record(const AwRecord* record);

uint64_t anywarp_activity_now();
// The number of a text, which stays; texts beyond a million share one number.
uint32_t anywarp_activity_name(const char* text);
const char* anywarp_activity_text(uint32_t name);

// Adds, changes or (wants 0) takes away a listener; what it points to must stay. 0, or -1 when
// there is no room. Listeners are called on the thread where the thing happens and must not throw.
int anywarp_activity_listen(AwListener* listener);
}

namespace aw {

// A call in the scope of an exported function: AwTracedCall call(wanted, site, arguments...).
class TracedCall {
 public:
  // `wanted` from anywarp_activity_wanted; arguments in the order of the function's own.
  template <class... Args>
  TracedCall(const std::atomic<uint32_t>& wanted, AwCallSite& site, const Args&... args)
      : on_(wanted.load(std::memory_order_relaxed) & AW_LISTEN_CALLS) {
    if (on_) [[unlikely]]
      begin(site, args...);
  }
  void end(int result) {
    if (on_) [[unlikely]]
      anywarp_activity_exit(&call_, result);
  }

 private:
  template <class... Args>
  void begin(AwCallSite& site, const Args&... args) {
    call_.params = nullptr;
    uint32_t at = 0;
    (pack(at, args), ...);
    if (at) call_.params = params_;
    call_.params_bytes = at;
    anywarp_activity_enter(&call_, &site);
  }
  // As a C structure has its members: each at the next multiple of its alignment.
  template <class T>
  void pack(uint32_t& at, const T& value) {
    at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
    if (at + sizeof(T) > sizeof params_) return;
    memcpy(params_ + at, &value, sizeof(T));
    at += sizeof(T);
  }

  bool on_;
  AwCall call_;
  alignas(16) unsigned char params_[128];
};

}  // namespace aw
