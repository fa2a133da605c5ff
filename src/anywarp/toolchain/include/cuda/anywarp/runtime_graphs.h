// Events, graphs and user objects: forms with fewer parameters, and symbols in place of addresses.
#ifndef ANYWARP_RUNTIME_GRAPHS_H
#define ANYWARP_RUNTIME_GRAPHS_H

#include "cuda_runtime_api.h"

static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                               cudaGraphNode_t* pErrorNode, char* pLogBuffer, size_t bufferSize) {
  (void)pErrorNode, (void)pLogBuffer, (void)bufferSize;
  return cudaGraphInstantiate(pGraphExec, graph, 0);
}

static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                              cudaGraphNode_t* hErrorNode_out,
                                              enum cudaGraphExecUpdateResult* updateResult_out) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t status = cudaGraphExecUpdate(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return status;
}

#if defined(__CUDACC__)
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                         const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                         const T& symbol, const void* src, size_t count, size_t offset,
                                                         enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNodeToSymbol(pGraphNode, graph, pDependencies, numDependencies,
                                        (const void*)__builtin_addressof(symbol), src, count, offset, kind);
}

template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                           const cudaGraphNode_t* pDependencies,
                                                           size_t numDependencies, void* dst, const T& symbol,
                                                           size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNodeFromSymbol(pGraphNode, graph, pDependencies, numDependencies, dst,
                                          (const void*)__builtin_addressof(symbol), count, offset, kind);
}

template <class T>
static inline cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T& symbol, const void* src,
                                                               size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void*)__builtin_addressof(symbol), src, count, offset,
                                              kind);
}

template <class T>
static inline cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const T& symbol,
                                                                 size_t count, size_t offset,
                                                                 enum cudaMemcpyKind kind) {
  return cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, (const void*)__builtin_addressof(symbol), count, offset,
                                                kind);
}

template <class T>
static inline cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                   const T& symbol, const void* src, size_t count,
                                                                   size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphExecMemcpyNodeSetParamsToSymbol(hGraphExec, node, (const void*)__builtin_addressof(symbol), src,
                                                  count, offset, kind);
}

template <class T>
static inline cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                     void* dst, const T& symbol, size_t count,
                                                                     size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphExecMemcpyNodeSetParamsFromSymbol(hGraphExec, node, dst, (const void*)__builtin_addressof(symbol),
                                                    count, offset, kind);
}
#endif

#if __cplusplus >= 201103L
// The graph owns the object and deletes it with its last reference.
template <class T>
static inline cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, T* objectToWrap,
                                               unsigned int initialRefcount, unsigned int flags) {
  return cudaUserObjectCreate(
      object_out, (void*)objectToWrap, [](void* object) { delete static_cast<T*>(object); }, initialRefcount, flags);
}

template <class T>
static inline cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, T* objectToWrap,
                                               unsigned int initialRefcount, cudaUserObjectFlags flags) {
  return cudaUserObjectCreate(object_out, objectToWrap, initialRefcount, (unsigned int)flags);
}
#endif

#endif
