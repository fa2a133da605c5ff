// What can be done in a stream or a graph, as data: one structure per kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/native_work.h"
#include "cpu/timeline.h"
#include "cuda/clock.h"
#include "cuda/copying.h"
#include "cuda/cuda_api.h"

namespace aw {

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

// What a library of ours computes (core/native_work.h).
struct NativeTask {
  AwNativeWork work;
  ~NativeTask() {
    if (work.release) work.release(work.data);
  }
};
struct NativeWork {
  std::shared_ptr<const NativeTask> task;
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

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, CallbackWork,
                          RecordWork, WaitWork, FreeWork, WriteValueWork, WaitValueWork, GraphWork,
                          NativeWork, SpecialWork>;

// Does the work now, on this thread. Errors of kernels go into the context.
void perform(const Work& work, Context& context);
void perform(const ExecutionPlan& plan, Context& context);

}  // namespace aw
