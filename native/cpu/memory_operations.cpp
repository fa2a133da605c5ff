// Driver API reference: stream memory operations, and graph nodes that hold batches of them.
#include "cpu/memory_operations.h"

#include "cpu/graph.h"
#include "cpu/stream.h"

namespace aw {
namespace {

Work work_for(const CUstreamBatchMemOpParams& o) {
  // Nothing is under way when an operation's turn comes: flushes and barriers have nothing to do.
  if (o.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES ||
      o.operation == CU_STREAM_MEM_OP_BARRIER)
    return EmptyWork{};
  bool wide = o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
              o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  bool waits = o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
               o.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  require(waits || o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
          o.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64);
  const auto& p = o.waitValue;  // writes are laid out alike
  require(p.address && p.address % (wide ? 8 : 4) == 0);
  uint64_t value = wide ? p.value64 : p.value;
  if (!waits) {
    require(p.flags <= CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    return WriteValueWork{p.address, value, wide};
  }
  require((p.flags & ~(CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH)) == 0);
  return WaitValueWork{p.address, value, p.flags, wide};
}

void submit_one(CUstream handle, CUstreamBatchMemOpType operation, CUdeviceptr address,
                uint64_t value, unsigned flags) {
  auto stream = stream_of(handle);
  CUstreamBatchMemOpParams o = {};
  auto& p = o.waitValue;
  p.operation = operation, p.address = address, p.value64 = value, p.flags = flags;
  Work work = work_for(o);
  if (!stream->capture()) return stream->submit(std::move(work));
  CUDA_BATCH_MEM_OP_NODE_PARAMS all = {nullptr, 1, &o, 0};
  stream->submit(batch_work(&all));
}

CUresult submit_all(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                    unsigned flags) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS all = {nullptr, count, operations, flags};
  stream_of(stream)->submit(batch_work(&all));
  return CUDA_SUCCESS;
}

const BatchTask& batch_of(const GraphNode& node) {
  auto* special = std::get_if<SpecialWork>(node.work.get());
  auto* task = special ? dynamic_cast<const BatchTask*>(special->task.get()) : nullptr;
  require(task);
  return *task;
}

}  // namespace

void BatchTask::perform(Context& context) const {
  for (auto& each : work) aw::perform(each, context);
}

CUDA_BATCH_MEM_OP_NODE_PARAMS BatchTask::params() const {
  return {context, static_cast<unsigned>(operations.size()),
          const_cast<CUstreamBatchMemOpParams*>(operations.data()), 0};
}

Work batch_work(const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  require(p && p->paramArray && p->count > 0 && p->count <= 256 && p->flags == 0);
  auto task = std::make_shared<BatchTask>();
  task->context = p->ctx;
  task->operations.assign(p->paramArray, p->paramArray + p->count);
  for (auto& operation : task->operations) task->work.push_back(work_for(operation));
  return SpecialWork{std::move(task)};
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue32_v2">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue64_v2">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue32_v2">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue64_v2">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue32">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue64">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue32">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags); });
}

AW_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue64">(
      [&] { submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags); });
}

AW_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                                         CUstreamBatchMemOpParams* operations, unsigned flags) {
  return api<"cuStreamBatchMemOp_v2">([&] { return submit_all(stream, count, operations, flags); });
}

AW_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned count,
                                      CUstreamBatchMemOpParams* operations, unsigned flags) {
  return api<"cuStreamBatchMemOp">([&] { return submit_all(stream, count, operations, flags); });
}

AW_EXPORT CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph,
                                            const CUgraphNode* after, size_t count,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return api<"cuGraphAddBatchMemOpNode">([&] {
    require(out);
    *out = as_handle<CUgraphNode>(add_node(graph, after, count, batch_work(params))->handle);
  });
}

AW_EXPORT CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                                  CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return api<"cuGraphBatchMemOpNodeGetParams">([&] {
    require(out);
    *out = batch_of(*node_of(node)).params();
  });
}

AW_EXPORT CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return api<"cuGraphBatchMemOpNodeSetParams">(
      [&] { replace_work(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, batch_work(params)); });
}

AW_EXPORT CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return api<"cuGraphExecBatchMemOpNodeSetParams">(
      [&] { replace_work(exec, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, batch_work(params)); });
}
