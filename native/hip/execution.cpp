// Driver API reference: execution control.
#include <cstring>

#include "cuda/function_attributes.h"
#include "hip/forward.h"
#include "hip/launch.h"

namespace aw {
namespace {

// A host function, within which CUDA must not be called.
struct HostCall {
  CUhostFn function;
  void* data;
  bool once;
};

void call_host(void* given) {
  auto* call = static_cast<HostCall*>(given);
  bool before = thread_state.inside_callback;
  thread_state.inside_callback = true;
  call->function(call->data);
  thread_state.inside_callback = before;
  if (call->once) delete call;
}

}  // namespace

CUresult launch_host(hipStream_t stream, CUhostFn function, void* data) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hip.hipStreamIsCapturing) (void)hip.hipStreamIsCapturing(stream, &status);
  // What is captured runs at every launch of the graph, which HIP may copy: it stays.
  auto* call = new HostCall{function, data, status == hipStreamCaptureStatusNone};
  hipError_t error = AW_HIP(hipLaunchHostFunc)(stream, call_host, call);
  if (error != hipSuccess) delete call;
  return to_cuda(error);
}

}  // namespace aw

using namespace aw;

namespace {

LaunchRequest shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, void** params, void** extra) {
  return {{gx, gy, gz}, {bx, by, bz}, shared, params, extra, false};
}

CUresult launch_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  ExtendedLaunch asked = read_launch(config, params, extra);
  hipStream_t stream = stream_for(config->hStream);
  CUresult code = launch(function, asked.request, stream);
  for (CUevent event : asked.events) {
    if (!code) code = to_cuda(AW_HIP(hipEventRecord)(reinterpret_cast<hipEvent_t>(event), stream));
  }
  return code;
}

}  // namespace

AW_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                  unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                  CUstream stream, void** params, void** extra) {
  return api<"cuLaunchKernel">(
      [&] {
        return launch(function, shape(gx, gy, gz, bx, by, bz, shared, params, extra),
                      stream_for(stream));
      },
      function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

AW_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy,
                                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                             unsigned shared, CUstream stream, void** params) {
  return api<"cuLaunchCooperativeKernel">(
      [&] {
        LaunchRequest r = shape(gx, gy, gz, bx, by, bz, shared, params, nullptr);
        r.cooperative = true;
        return launch(function, r, stream_for(stream));
      },
      function, gx, gy, gz, bx, by, bz, shared, stream, params);
}

AW_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                    void** params, void** extra) {
  return api<"cuLaunchKernelEx">([&] { return launch_ex(config, function, params, extra); }, config,
                                 function, params, extra);
}

AW_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return api<"cuLaunchHostFunc">(
      [&] {
        require_context();
        require(function);
        return launch_host(stream_for(stream), function, data);
      },
      stream, function, data);
}

// How the stream waits for the function is HIP's affair.
AW_EXPORT CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* data,
                                       unsigned mode) {
  return api<"cuLaunchHostFunc_v2">([&] {
    require_context();
    require(function && mode <= CU_HOST_TASK_SPINWAIT);
    return launch_host(stream_for(stream), function, data);
  });
}

AW_EXPORT CUresult cuFuncLoad(CUfunction function) {
  return api<"cuFuncLoad">([&] {
    require_context();
    any_code(*function_of(function));
  });
}
