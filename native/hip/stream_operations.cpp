// Driver API reference: stream memory operations, and graph nodes that hold batches of them.
#include <cstring>

#include "hip/capture.h"

using namespace aw;

namespace {

constexpr unsigned kConditions = CU_STREAM_WAIT_VALUE_NOR;  // all of them; HIP numbers them alike

unsigned condition(unsigned flags) {
  require((flags & ~(kConditions | CU_STREAM_WAIT_VALUE_FLUSH)) == 0);
  return flags & kConditions;  // what has been written by others is seen anyway
}

CUresult wait32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  require_context();
  require(address && address % 4 == 0);
  return to_cuda(AW_HIP(hipStreamWaitValue32)(uncaptured(stream, "cuStreamWaitValue32"),
                                              reinterpret_cast<void*>(address), value,
                                              condition(flags), UINT32_MAX));
}

CUresult wait64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  require_context();
  require(address && address % 8 == 0);
  return to_cuda(AW_HIP(hipStreamWaitValue64)(uncaptured(stream, "cuStreamWaitValue64"),
                                              reinterpret_cast<void*>(address), value,
                                              condition(flags), UINT64_MAX));
}

static_assert(sizeof(hipStreamBatchMemOpParams) == sizeof(CUstreamBatchMemOpParams));
static_assert(sizeof(hipBatchMemOpNodeParams) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS));

// The layouts are the same, the numbers of operations too.
std::vector<hipStreamBatchMemOpParams> operations(const CUstreamBatchMemOpParams* list,
                                                  unsigned count) {
  require(list && count > 0 && count <= 256);
  std::vector<hipStreamBatchMemOpParams> out(count);
  memcpy(out.data(), list, count * sizeof *list);
  for (unsigned i = 0; i < count; ++i) {
    CUstreamBatchMemOpType asked = list[i].operation;
    require(asked >= CU_STREAM_MEM_OP_WAIT_VALUE_32 && asked <= CU_STREAM_MEM_OP_BARRIER);
    if (asked == CU_STREAM_MEM_OP_WAIT_VALUE_32 || asked == CU_STREAM_MEM_OP_WAIT_VALUE_64)
      out[i].waitValue.flags = condition(list[i].waitValue.flags);
  }
  return out;
}

CUresult give_operations(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* list,
                         unsigned flags) {
  require_context();
  require(flags == 0);
  auto all = operations(list, count);
  return to_cuda(
      AW_HIP(hipStreamBatchMemOp)(uncaptured(stream, "cuStreamBatchMemOp"), count, all.data(), 0));
}

hipGraphNode_t hip_node(CUgraphNode handle) { return reinterpret_cast<hipGraphNode_t>(handle); }

}  // namespace

AW_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue32_v2">([&] { return wait32(stream, address, value, flags); });
}
AW_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue64_v2">([&] { return wait64(stream, address, value, flags); });
}
AW_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue32">([&] { return wait32(stream, address, value, flags); });
}
AW_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue64">([&] { return wait64(stream, address, value, flags); });
}
AW_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                                         CUstreamBatchMemOpParams* list, unsigned flags) {
  return api<"cuStreamBatchMemOp_v2">([&] { return give_operations(stream, count, list, flags); });
}
AW_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned count,
                                      CUstreamBatchMemOpParams* list, unsigned flags) {
  return api<"cuStreamBatchMemOp">([&] { return give_operations(stream, count, list, flags); });
}

namespace {

template <class Set>
CUresult with_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS* given, Set set) {
  require_context();
  require(given && given->flags == 0);
  auto all = operations(given->paramArray, given->count);
  hipBatchMemOpNodeParams p{nullptr, given->count, all.data(), 0};
  return to_cuda(set(&p));
}

}  // namespace

AW_EXPORT CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph,
                                            const CUgraphNode* after, size_t count,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return api<"cuGraphAddBatchMemOpNode">([&] {
    require(out);
    return with_operations(given, [&](hipBatchMemOpNodeParams* p) {
      return AW_HIP(hipGraphAddBatchMemOpNode)(
          reinterpret_cast<hipGraphNode_t*>(out), reinterpret_cast<hipGraph_t>(graph),
          reinterpret_cast<const hipGraphNode_t*>(after), count, p);
    });
  });
}
AW_EXPORT CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle,
                                                  CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return api<"cuGraphBatchMemOpNodeGetParams">([&] {
    require(handle && out);
    hipBatchMemOpNodeParams p{};
    check(AW_HIP(hipGraphBatchMemOpNodeGetParams)(hip_node(handle), &p));
    *out = {nullptr, p.count, reinterpret_cast<CUstreamBatchMemOpParams*>(p.paramArray), p.flags};
  });
}
AW_EXPORT CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle,
                                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return api<"cuGraphBatchMemOpNodeSetParams">([&] {
    require(handle);
    return with_operations(given, [&](hipBatchMemOpNodeParams* p) {
      return AW_HIP(hipGraphBatchMemOpNodeSetParams)(hip_node(handle), p);
    });
  });
}
AW_EXPORT CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                                      const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return api<"cuGraphExecBatchMemOpNodeSetParams">([&] {
    require(exec && handle);
    return with_operations(given, [&](hipBatchMemOpNodeParams* p) {
      return AW_HIP(hipGraphExecBatchMemOpNodeSetParams)(reinterpret_cast<hipGraphExec_t>(exec),
                                                         hip_node(handle), p);
    });
  });
}
