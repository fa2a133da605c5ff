// Driver API reference: execution control.
#include <cstring>

#include "core/stack_room.h"
#include "cpu/event.h"
#include "cpu/launch.h"
#include "cpu/stream.h"
#include "cpu/versions.h"
#include "cuda/context.h"
#include "cuda/function_attributes.h"
#include "cuda/module.h"

using namespace aw;

namespace {

constexpr uint64_t kInline = 20'000;  // nanoseconds: what handing work to another thread may take
constexpr uint64_t kStackReserve = 128 << 10;

// Whether a launch is better done on this thread before it returns: it is known to be over soon,
// and no kernel that waits for something or launches others.
bool may_run_inline(const KernelWork& work) {
  if (work.cooperative || work.function->entry->pointer) return false;
  auto code = work.versions->general();
  const KernelArtifact& a = code->artifact;
  if (!a.alone || !a.stack) return false;
  uint64_t blocks = uint64_t{work.grid[0]} * work.grid[1] * work.grid[2];
  uint64_t each = code->ns_per_block.load(std::memory_order_relaxed);
  return each && blocks <= kInline && each * blocks <= kInline &&
         stack_room() > a.stack + kStackReserve;
}

void launch(CUfunction handle, const LaunchRequest& request, CUstream stream) {
  current_context();
  auto target = stream_of(stream);
  auto function = function_of(handle);
  require(target->context->shares_with(function->context.lock().get()), CUDA_ERROR_INVALID_HANDLE);
  KernelWork work = plan_launch(function, request, target->context->multiprocessors);
  report_launch(function->entry->name);
  bool inlined = may_run_inline(work);
  Work whole = std::move(work);
  if (inlined && target->try_run(whole)) return;
  target->submit(std::move(whole));
}

LaunchRequest shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared) {
  LaunchRequest r = {{gx, gy, gz}, {bx, by, bz}, shared, nullptr, nullptr, false};
  return r;
}

CUresult launch_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  ExtendedLaunch asked = read_launch(config, params, extra);
  launch(function, asked.request, config->hStream);
  for (CUevent event : asked.events) record_event(*event_of(event), *stream_of(config->hStream));
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                  unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                  CUstream stream, void** params, void** extra) {
  return api<"cuLaunchKernel">(
      [&] {
        LaunchRequest r = shape(gx, gy, gz, bx, by, bz, shared);
        r.params = params, r.extra = extra;
        launch(function, r, stream);
      },
      function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

AW_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy,
                                             unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                             unsigned shared, CUstream stream, void** params) {
  return api<"cuLaunchCooperativeKernel">(
      [&] {
        LaunchRequest r = shape(gx, gy, gz, bx, by, bz, shared);
        r.params = params, r.cooperative = true;
        launch(function, r, stream);
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
        require(function);
        stream_of(stream)->submit(HostWork{function, data});
      },
      stream, function, data);
}

// How the stream waits for the function is the device's affair: here its own thread runs it.
AW_EXPORT CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* data,
                                       unsigned mode) {
  return api<"cuLaunchHostFunc_v2">([&] {
    require(function && mode <= CU_HOST_TASK_SPINWAIT);
    stream_of(stream)->submit(HostWork{function, data});
  });
}

AW_EXPORT CUresult cuFuncLoad(CUfunction function) {
  return api<"cuFuncLoad">([&] {
    current_context();
    read_attribute(*function_of(function), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  });
}
