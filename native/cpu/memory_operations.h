// Stream memory operations (cuStreamWriteValue, cuStreamWaitValue) as work, one or many at once.
#pragma once

#include <vector>

#include "cpu/work.h"

namespace aw {

struct BatchTask : SpecialTask {
  std::vector<CUstreamBatchMemOpParams> operations;
  std::vector<Work> work;
  CUcontext context = nullptr;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
  CUDA_BATCH_MEM_OP_NODE_PARAMS params() const;
};

// Throws INVALID_VALUE for operations, addresses and flags that do not exist.
Work batch_work(const CUDA_BATCH_MEM_OP_NODE_PARAMS* params);

}  // namespace aw
