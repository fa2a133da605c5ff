// Driver API reference: peer context memory access, and events behind all work of a context.
#include "cpu/event.h"
#include "cpu/stream.h"
#include "cuda/contexts.h"

using namespace aw;

namespace {}  // namespace

AW_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return api<"cuCtxEnablePeerAccess">([&] {
    require(flags == 0);
    auto other = context_of(peer), mine = current_context();
    require(other != mine, CUDA_ERROR_INVALID_CONTEXT);
    // A device cannot be its own peer.
    require(other->device != mine->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    std::lock_guard lock(mine->mutex);
    require(mine->peers.insert(other->id).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  });
}

AW_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return api<"cuCtxDisablePeerAccess">([&] {
    auto other = context_of(peer), mine = current_context();
    std::lock_guard lock(mine->mutex);
    require(mine->peers.erase(other->id) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  });
}

AW_EXPORT CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return api<"cuCtxRecordEvent">([&] {
    auto context = context_of(handle);
    context->check();
    // Behind everything that the context was given, in a stream that nothing else waits for.
    auto behind = std::make_shared<Stream>(context, CU_STREAM_NON_BLOCKING, 0);
    behind->submit(WaitWork{context->legacy->last(), 0});
    for (auto& stream : live_streams(*context)) behind->submit(WaitWork{stream->last(), 0});
    record_event(*event_of(event), *behind);
    behind->retire();
  });
}

AW_EXPORT CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  return api<"cuCtxWaitEvent">([&] {
    auto context = context_of(handle);
    context->check();
    Point point = event_of(event)->point();
    context->legacy->submit(WaitWork{point, 0});
    for (auto& stream : live_streams(*context)) stream->submit(WaitWork{point, 0});
  });
}
