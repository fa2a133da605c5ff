// Driver API reference: stream management.
#include "cpu/stream.h"

#include <algorithm>

#include "core/activity_resources.h"
#include "cpu/capture.h"
#include "cpu/event.h"
#include "cuda/context.h"
#include "cuda/contexts.h"
#include "cuda/thread.h"

namespace aw {

Handles<Stream>& streams() {
  static auto& instance = *new Handles<Stream>;
  return instance;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  if (number == 0) number = thread_state.per_thread ? kPerThreadStream : kLegacyStream;
  if (number == kLegacyStream) return current_context()->legacy;
  if (number == kPerThreadStream) return per_thread_stream(current_context());
  auto stream = streams().find(handle);
  require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
  require(!(stream->context->green && stream->context->destroyed), CUDA_ERROR_STREAM_DETACHED);
  stream->context->check();
  refuse_inside_callback();
  return stream;
}

bool is_legacy_stream(CUstream handle) { return stream_of(handle)->is_legacy; }

}  // namespace aw

using namespace aw;

extern "C" {
CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
}

namespace {

CUresult create(CUstream* out, unsigned flags, int priority) {
  require(out);
  require((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0);
  auto context = current_context();
  // Priorities outside the range are brought into it (cuStreamCreateWithPriority).
  auto stream =
      std::make_shared<Stream>(context, flags, std::clamp(priority, kGreatestPriority, 0));
  {
    std::lock_guard lock(context->mutex);
    context->streams.push_back(stream);
  }
  stream->handle = streams().add(stream);
  tell_of(AW_RESOURCE_STREAM, stream->handle, false, context->handle);
  *out = as_handle<CUstream>(stream->handle);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuStreamCreate(CUstream* out, unsigned flags) {
  return api<"cuStreamCreate">([&] { return create(out, flags, 0); }, out, flags);
}

AW_EXPORT CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  return api<"cuStreamCreateWithPriority">([&] { return create(out, flags, priority); }, out, flags,
                                           priority);
}

AW_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return api<"cuStreamDestroy_v2">(
      [&] {
        refuse_inside_callback();
        auto stream = streams().remove(handle);
        require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
        tell_of(AW_RESOURCE_STREAM, stream->handle, true, stream->context->handle);
        stream->retire();  // what it was given is still done
      },
      handle);
}

AW_EXPORT CUresult cuStreamDestroy(CUstream handle) {
  return api<"cuStreamDestroy">([&] { return cuStreamDestroy_v2(handle); });
}

AW_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  return api<"cuStreamSynchronize">(
      [&] {
        auto stream = stream_of(handle);
        refuse_capture(*stream);
        stream->wait();
        // The default stream comes behind everything that blocking streams were given.
        if (stream->is_legacy) {
          for (auto& other : live_streams(*stream->context)) {
            if (other->blocking()) other->wait();
          }
        }
        note_synchronized();
        stream->context->check();
      },
      handle);
}

AW_EXPORT CUresult cuStreamQuery(CUstream handle) {
  return api<"cuStreamQuery">([&] {
    auto stream = stream_of(handle);
    refuse_capture(*stream);
    bool idle = stream->idle();
    if (stream->is_legacy) {
      for (auto& other : live_streams(*stream->context))
        idle = idle && (!other->blocking() || other->idle());
    }
    stream->context->check();
    return idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

AW_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return api<"cuStreamWaitEvent">(
      [&] {
        require((flags & ~CU_EVENT_WAIT_EXTERNAL) == 0);
        auto stream = stream_of(handle);
        wait_for_event(*event_of(event), *stream, flags == CU_EVENT_WAIT_EXTERNAL);
      },
      handle, event, flags);
}

AW_EXPORT CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data,
                                       unsigned flags) {
  return api<"cuStreamAddCallback">([&] {
    require(function && flags == 0);
    auto stream = stream_of(handle);
    require(!stream->capture(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    stream->submit(CallbackWork{function, handle, data});
  });
}

AW_EXPORT CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return api<"cuStreamGetPriority">([&] {
    require(priority);
    *priority = stream_of(handle)->priority;
  });
}

AW_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return api<"cuStreamGetFlags">([&] {
    require(flags);
    *flags = stream_of(handle)->flags;
  });
}

AW_EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return api<"cuStreamGetId">([&] {
    require(id);
    *id = stream_of(handle)->id;
  });
}

AW_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext* out) {
  return api<"cuStreamGetCtx">([&] {
    require(out);
    *out = as_handle<CUcontext>(stream_of(handle)->context->handle);
  });
}

AW_EXPORT CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* out, void** green) {
  return api<"cuStreamGetCtx_v2">([&] {
    require(out && green);
    auto context = stream_of(handle)->context;
    *green = as_handle<void*>(context->green);
    *out = as_handle<CUcontext>(context->handle);
    if (!context->green) return CUDA_SUCCESS;
    // Of a green context it is the primary one, which that retains.
    CUresult code = cuDevicePrimaryCtxRetain(out, context->device);
    return code ? code : cuDevicePrimaryCtxRelease_v2(context->device);
  });
}

AW_EXPORT CUresult cuStreamGetDevice(CUstream handle, CUdevice* out) {
  return api<"cuStreamGetDevice">([&] {
    require(out);
    *out = stream_of(handle)->context->device;
  });
}

AW_EXPORT CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t,
                                          unsigned flags) {
  return api<"cuStreamAttachMemAsync">([&] {
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
            flags == CU_MEM_ATTACH_SINGLE);
    require(address);
    stream_of(handle);  // managed memory is always visible to everybody here
  });
}
