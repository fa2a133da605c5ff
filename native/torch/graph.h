// CUDA graphs as torch has them: work captured from a stream, with memory of its own, to be
// replayed.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver.h"
#include "memory_pools.h"

namespace awt {

class Graph {
 public:
  explicit Graph(bool keep_graph) : keep_graph_(keep_graph) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // All raise torch's errors for calls that do not fit what went before.
  void capture_begin(PoolId pool, int mode);  // pool (0, 0): one of its own
  bool capture_end();                         // false when the graph is empty
  void instantiate();
  void replay();
  void reset();
  PoolId pool() const;
  void enable_debug() { debug_ = true; }
  void dump(const std::string& path);
  CUgraph raw() const;
  CUgraphExec raw_exec() const;
  void add_generator(at::Generator generator);
  void note_draw(const at::Generator& generator);

 private:
  void give_memory(const at::Generator& generator);
  void stop_capture();  // what a capture changed beside the graph itself
  void destroy() noexcept;

  const bool keep_graph_;
  bool debug_ = false, ended_ = false, owns_pool_ = false, capturing_ = false;
  PoolId pool_{0, 0};
  c10::DeviceIndex device_ = -1;
  std::optional<c10::Stream> stream_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  uint64_t capture_ = 0;  // the driver's number of the capture
  std::vector<at::Generator> generators_;
  bool draws_ = false;  // some operator draws random numbers
  // The device's memory in which CUDA keeps seed and offset of a generator for this graph; memory
  // statistics show it.
  struct GeneratorMemory {
    at::Generator generator;
    c10::DataPtr seed, offset;
  };
  std::vector<GeneratorMemory> memory_;
};

}  // namespace awt
