// The state of the fake runtime: devices, objects behind handles, memory, and work that was given
// to streams.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "hip_implementations.h"
#include "recorder.h"

// Defines what stands behind an exported function.
#define HIP(name) extern "C" hipError_t impl_##name

namespace fake {

using Lock = std::unique_lock<std::recursive_mutex>;
Lock lock_world();

// What a real card of that architecture says of itself.
struct Card {
  const char* arch;
  const char* gcn_name;
  const char* product;
  uint64_t memory;
  int units;
  int wave;
  int lds;
  int registers;
  int max_threads;
  int clock_khz;
  int memory_clock_khz;
  int bus_bits;
  int l2;
  int major, minor;
};

struct Object {
  const char* kind = "";
  uint64_t number = 0;
  bool alive = true;
  virtual ~Object() = default;
};

struct Stream;
struct Pool;
struct Graph;
struct Node;
struct Module;

struct Device {
  Card card;
  int ordinal;
  int number;        // on the machine
  std::string name;  // gcnArchName
  uint64_t used = 0;
  Stream* null_stream = nullptr;
  Pool* default_pool = nullptr;
  Pool* pool = nullptr;
  Object* context = nullptr;
  int retained = 0;
  unsigned flags = 0;
  std::set<int> peers;
  size_t limits[16] = {};
};

struct Work {
  uint64_t number = 0;
  Stream* stream = nullptr;
  std::string what;
  std::vector<std::shared_ptr<Work>> after;
  std::function<void()> run;
  std::function<bool()> ready;
  Module* module = nullptr;
  bool done = false;
  double submitted = 0, finished = 0;
};
using WorkRef = std::shared_ptr<Work>;

struct Stream : Object {
  Device* device = nullptr;
  unsigned flags = 0;
  int priority = 0;
  WorkRef last;
  // Capture.
  hipStreamCaptureStatus capture = hipStreamCaptureStatusNone;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  Graph* graph = nullptr;
  std::vector<Node*> ends;  // what the next captured node depends on
  std::vector<hipGraphNode_t> shown_ends;
  bool origin = false;
  pid_t captured_by = 0;  // the thread
  uint64_t capture_id = 0;
};

struct Event : Object {
  Device* device = nullptr;
  unsigned flags = 0;
  WorkRef work;
  Stream* stream = nullptr;  // where it was recorded last
  Graph* graph = nullptr;    // recorded while capturing
  uint64_t capture_id = 0;
  std::vector<Node*> ends;
  // Of an event that processes share: how often it was recorded, and the newest record that is
  // done.
  std::atomic<uint64_t>* shared = nullptr;
  struct {
    pid_t pid;
    int file;
    int64_t at;
  } place{};
};

enum class Memory { device, host, managed, registered, reserved, mapped, opened };

struct Allocation {
  uintptr_t base = 0;
  size_t size = 0;
  Memory memory = Memory::device;
  int device = 0;
  unsigned flags = 0;
  uint64_t number = 0;
  bool alive = true;
  Pool* pool = nullptr;
  off_t at = 0;  // in the file that holds all memory
  bool readable = true;
  struct Physical* physical = nullptr;
  // Advice about managed memory, of the whole allocation.
  int read_mostly = 0, preferred = hipInvalidDeviceId, prefetched = hipInvalidDeviceId;
  std::set<int> accessed_by;
};

struct Physical : Object {
  size_t size = 0;
  off_t at = 0;
  hipMemAllocationProp properties{};
  int references = 1;
  int foreign = -1;
};

struct Pool : Object {
  Device* device = nullptr;
  hipMemPoolProps properties{};
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  uint64_t threshold = 0;
  int reuse[4] = {1, 1, 1, 1};
  std::map<int, hipMemAccessFlags> granted;  // to other devices
  bool own = false;
};

struct KernelFacts {
  std::string name, symbol;
  uint32_t kernarg = 0, lds = 0, scratch = 0, max_threads = 1024, wave = 64, vgprs = 0, sgprs = 0,
           agprs = 0;
  struct Argument {
    uint32_t offset, size;
    std::string kind;
  };
  std::vector<Argument> arguments;
  uint64_t descriptor = 0;  // device address of NAME.kd
};

struct Function : Object {
  Module* module = nullptr;
  KernelFacts facts;
  int max_dynamic = 0, carveout = -1;
};

struct Module : Object {
  Device* device = nullptr;
  std::string image, target;
  std::map<std::string, Function*> functions;
  std::map<std::string, std::pair<uint64_t, uint64_t>> globals;
  uintptr_t base = 0;
};

// Devices and contexts (devices.cpp).
std::vector<Device*>& devices();
Device* device(int ordinal);  // null where there is none
Device* current_device();
hipError_t done(hipError_t status);  // keeps the thread's last error
hipError_t ready_world();            // hipSuccess, or why nothing works: no device

// Objects (devices.cpp).
void enter(Object* object, const char* kind);
bool is_object(const void* handle);
template <typename T>
T* find(const void* handle, const char* kind) {
  if (!handle || !is_object(handle)) {
    if (handle) fault("%p is no %s", handle, kind);
    return nullptr;
  }
  auto* object = const_cast<T*>(static_cast<const T*>(handle));
  if (std::string(object->kind) != kind) {
    fault("%p is a %s, not a %s", handle, object->kind, kind);
    return nullptr;
  }
  if (object->alive) return object;
  fault("%s %llu is used after it was destroyed", kind,
        static_cast<unsigned long long>(object->number));
  return nullptr;
}
template <typename T>
T* create(const char* kind) {
  auto* made = new T;
  enter(made, kind);
  return made;
}

// Work and streams (work.cpp).
Stream* stream_of(hipStream_t handle, hipError_t* status);
WorkRef submit(Stream* stream, std::string what, std::function<void()> run,
               const std::vector<WorkRef>& after = {});
void follow(const WorkRef& work);  // after submit, without the lock: what the mode asks for
void finish(const WorkRef& work);
void finish_stream(Stream* stream);
void finish_device(Device* device);
bool progress(const WorkRef& work);  // one query's worth; whether it is done
std::vector<WorkRef> pending();
double now();
bool in_host_function();
void run_host_function(const std::function<void()>& call);
bool capturing(Stream* stream);
bool broken(Stream* stream);  // whether its capture is invalidated
bool forbidden_by_capture();  // a call that may not happen while this thread captures
bool breaks_captures();       // one that no capture of the process outlives, of whatever mode

// Memory (memory.cpp).
Allocation* containing(const void* address);
// Memory of a pool comes back to it.
void returned(Allocation* it);
hipError_t allocate(size_t size, Memory memory, Device* device, unsigned flags, Pool* pool,
                    void** out);
void release(Allocation* allocation);
char* view(const void* address);  // where the bytes of an address can be touched by us
bool in_arena(const void* address);
// Whether size bytes may be touched; a fault where memory was freed, an error where they were never
// allocated.
hipError_t check_range(const void* address, size_t size, bool device_only, const char* what);
std::vector<Allocation*> mappings();
int memory_file();
std::atomic<uint64_t>* shared_page(int64_t* at);                       // a new page of the file
std::atomic<uint64_t>* foreign_page(pid_t pid, int file, int64_t at);  // one of another process
uint64_t next_number();

// Copies as one shape (copies.cpp).
struct Shape {
  char* to = nullptr;
  const char* from = nullptr;
  size_t width = 0, height = 1, depth = 1;
  size_t to_pitch = 0, to_slice = 0, from_pitch = 0, from_slice = 0;
};
hipError_t check_shape(const Shape& shape);
void perform(const Shape& shape);
struct Fill {
  char* to = nullptr;
  uint32_t value = 0;
  unsigned element = 1;
  size_t width = 0, height = 1, pitch = 0;
};
hipError_t check_fill(const Fill& fill);
void perform(const Fill& fill);
hipError_t shape_of(const hipMemcpy3DParms& parameters, Shape* shape);
hipError_t shape_of(const HIP_MEMCPY3D& parameters, Shape* shape);

// Launches (modules.cpp).
struct Launch {
  Function* function = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared = 0;
  bool cooperative = false;
  std::string kernarg;
};
hipError_t check_launch(Launch& launch, Stream* stream, void** parameters, void** extra);
void note_launch(const Launch& launch, Stream* stream, uint64_t work, const char* how);
void perform(const Launch& launch);

// Graphs (graphs.cpp): a node for what a capturing stream was given.
struct Captured {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  std::function<void()> run;
  Launch launch;
  Shape shape;
  Fill fill;
  hipHostNodeParams host{};
  Event* event = nullptr;
  hipMemcpyKind kind = hipMemcpyDefault;
};
void capture(Stream* stream, const Captured& what);
bool reaches(const std::vector<Node*>& from,
             const std::vector<Node*>& all);  // along edges backwards

// The emulator (emulator.cpp): whether launches are executed, and one of them.
bool emulating();
void emulate(const Launch& launch);

}  // namespace fake
