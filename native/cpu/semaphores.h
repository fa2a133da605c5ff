// External semaphores: files by which processes and programs tell each other that work is done.
#pragma once

#include <vector>

#include "cpu/work.h"

namespace aw {

// A counter in a file. Binary: an eventfd, which a signal raises by one and a wait lowers by one.
// Time line: eight bytes at the beginning of a mappable file, which a signal sets and a wait
// compares.
struct Semaphore {
  uintptr_t handle = 0;
  int file = -1;
  uint64_t* timeline = nullptr;
  ~Semaphore();
  void signal(uint64_t value) const;
  bool reached(uint64_t value) const;  // a binary one is lowered
};

template <class Params, class Node, CUgraphNodeType Type>
struct SemaphoreTask : SpecialTask {
  using NodeParams = Node;
  std::vector<std::shared_ptr<Semaphore>> semaphores;
  std::vector<CUexternalSemaphore> handles;
  std::vector<Params> values;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return Type; }
  Node params() const {
    return {const_cast<CUexternalSemaphore*>(handles.data()), values.data(),
            static_cast<unsigned>(values.size())};
  }
};

using SignalTask =
    SemaphoreTask<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
                  CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL>;
using SemaphoreWaitTask =
    SemaphoreTask<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
                  CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT>;

Work signal_work(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params);
Work wait_work(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params);

}  // namespace aw
