// Memory that graphs allocate: its address is known when the node is made, and it counts as
// allocated from each time the node is reached until it is freed.
#pragma once

#include "cpu/graph.h"
#include "cpu/memory.h"

namespace aw {

struct GraphMemory {
  uint64_t base = 0, bytes = 0;
  int device = 0;
  MemoryKind kind;
  std::weak_ptr<Context> context;
  uint64_t context_id = 0;
  bool reserved = false;  // pages of it are in use; with the mutex of the counters held
  GraphMemory(const std::shared_ptr<Context>& context, int device, MemoryKind kind, uint64_t bytes);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
};

struct AllocTask : SpecialTask {
  std::shared_ptr<GraphMemory> memory;
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  std::vector<CUmemAccessDesc> access;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
};

struct GraphFreeTask : SpecialTask {
  uint64_t address = 0;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
};

// Work of nodes. Throw INVALID_VALUE and OUT_OF_MEMORY; `params->dptr` becomes the address.
Work alloc_work(CUDA_MEM_ALLOC_NODE_PARAMS* params);
Work free_work(CUdeviceptr address);

// The memory that a node's work allocates; null when it allocates none.
std::shared_ptr<GraphMemory> memory_allocated_by(const Work& work);

// What a graph's steps allocate and do not free.
std::vector<std::shared_ptr<GraphMemory>> left_behind(const std::vector<GraphExec::Step>& steps);

// Before a launch: the memory that it leaves behind is allocated from now on. Throws INVALID_VALUE
// when that of the launch before is not freed, unless `again`.
void promise(const std::vector<std::shared_ptr<GraphMemory>>& memory, bool again);

// Called when an allocation of it ends.
void withdraw(GraphMemory& memory);

}  // namespace aw
