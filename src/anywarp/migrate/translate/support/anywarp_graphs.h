// CUDA 12's form of updating an executable graph, which HIP has in the form of CUDA 11.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_GRAPHS_H
#define ANYWARP_TRANSLATE_GRAPHS_H

#include <hip/hip_runtime.h>

namespace anywarp {

// What became of an update. HIP tells the node that stood in the way, and never the one that its edge comes from.
struct GraphExecUpdateResultInfo {
  hipGraphExecUpdateResult result;
  hipGraphNode_t errorNode;
  hipGraphNode_t errorFromNode;
};

// Update an executable graph by another graph of the same shape; `info` says what stood in the way.
inline hipError_t graph_exec_update(hipGraphExec_t exec, hipGraph_t graph, GraphExecUpdateResultInfo *info) {
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  const hipError_t status = hipGraphExecUpdate(exec, graph, &node, &result);
  info->result = result;
  info->errorNode = node;
  info->errorFromNode = nullptr;
  return status;
}

}  // namespace anywarp

#endif
