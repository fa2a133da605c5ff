// What can be done in a stream or a graph, as data: one structure per kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cuda/cuda_api.h"
#include "cuda/timeline.h"
#include "devices/device.h"

namespace aw {

struct Array;
struct Context;
struct Function;
struct ExecutionPlan;
class Versions;

struct KernelWork {
  std::shared_ptr<Function> function;
  std::shared_ptr<Versions> versions;
  uint32_t grid[3]{}, block[3]{};
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<uint8_t> params;
};

// A box of bytes: rows of `width`, `height` rows, `depth` layers.
struct CopyWork {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t to_pitch = 0, to_layer = 0, from_pitch = 0, from_layer = 0;
  std::vector<uint8_t> staged;  // the source itself, where the program may change it at once
  std::shared_ptr<const Array> to_array, from_array;  // whose memory it is, if a CUDA array's
};

struct SetWork {
  uint8_t* to = nullptr;
  uint64_t pitch = 0, width = 0, height = 1;  // width in elements
  uint32_t value = 0, element = 1;
};

struct HostWork {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct CallbackWork {
  CUstreamCallback function = nullptr;
  CUstream stream = nullptr;
  void* data = nullptr;
};

// The latest recording of an event: where in which stream, and the time when the stream came there.
struct Recording {
  Point point;
  std::atomic<uint64_t> time_ns{0};
};

struct RecordWork {
  std::shared_ptr<Recording> recording;
  uintptr_t event = 0;
  std::shared_ptr<SharedRecording> shared;  // of an event that processes share
};

struct WaitWork {
  Point point;
  uintptr_t event = 0;
  bool external = false;  // in a graph: for the event as it is at the launch
};

struct FreeWork {
  uint64_t address = 0;
};

// cuStreamWriteValue and cuStreamWaitValue.
struct WriteValueWork {
  uint64_t address = 0, value = 0;
  bool wide = false;
};
struct WaitValueWork {
  uint64_t address = 0, value = 0;
  unsigned flags = 0;
  bool wide = false;
};

struct EmptyWork {};

struct GraphWork {
  std::shared_ptr<const ExecutionPlan> plan;
};

// What is rarer than the rest: nodes of graphs that have a file of their own.
struct SpecialTask {
  virtual ~SpecialTask() = default;
  virtual void perform(Context& context) const = 0;
  virtual CUgraphNodeType type() const = 0;
  virtual bool survives_errors() const { return false; }
};
struct SpecialWork {
  std::shared_ptr<const SpecialTask> task;
};

using Work =
    std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, CallbackWork, RecordWork,
                 WaitWork, FreeWork, WriteValueWork, WaitValueWork, GraphWork, SpecialWork>;

// Does the work now, on this thread. Errors of kernels go into the context.
void perform(const Work& work, Context& context);
void perform(const ExecutionPlan& plan, Context& context);

// Time since some moment, for events.
uint64_t event_clock();

}  // namespace aw
