// Work of our own libraries in streams (core/native_work.h).
#include "core/native_work.h"

#include "cpu/stream.h"
#include "cuda/api.h"
#include "cuda/context.h"
#include "devices/native_run.h"

using namespace aw;

AW_EXPORT int anywarp_native_work(void* stream, const AwNativeWork* given) {
  auto task = std::make_shared<const NativeTask>(*given);  // from here on released, come what may
  return api<"anywarp_native_work">([&] {
    auto target = stream_of(static_cast<CUstream>(stream));
    target->context->check();
    report_launch(given->name);
    Work work = NativeWork{std::move(task)};
    if (!given->waits && target->try_run(work)) return;
    target->submit(std::move(work));
  });
}

AW_EXPORT bool anywarp_parallel(uint64_t count, void (*body)(void*, uint64_t), void* data) {
  return processor::parallel(count, body, data);
}

AW_EXPORT unsigned anywarp_threads() { return processor::threads(); }
