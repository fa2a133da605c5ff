// Doing what streams and graphs hold.
#include "cpu/work.h"

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "core/host_services.h"
#include "core/watched_memory.h"
#include "cpu/activity_work.h"
#include "cpu/graph.h"
#include "cpu/grid_runtime.h"
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cpu/versions.h"
#include "cuda/context.h"
#include "cuda/module.h"
#include "cuda/thread.h"
#include "devices/check.h"
#include "devices/faults.h"
#include "devices/native_run.h"
#include "devices/processor.h"

namespace aw {
namespace {

uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void fill_row(uint8_t* to, uint64_t count, uint32_t value, uint32_t element) {
  if (element == 1) {
    memset(to, static_cast<int>(value & 0xff), count);
    return;
  }
  // One word may be a flag that another stream or the program waits for (cuStreamWaitValue32).
  if (count == 1 && element == 4 && address(to) % 4 == 0) {
    __atomic_store_n(reinterpret_cast<uint32_t*>(to), value, __ATOMIC_RELEASE);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) memcpy(to + i * element, &value, element);
}

struct Performer {
  Context& context;
  std::unique_ptr<Children>& children;  // what a kernel asked for

  void operator()(const EmptyWork&) const {}

  void operator()(const KernelWork& w) const {
    static std::atomic<uint64_t> next_grid{1};
    uint64_t blocks = uint64_t{w.grid[0]} * w.grid[1] * w.grid[2];
    Versions::Choice choice = w.versions->choose(w.params, blocks);
    KernelRun run;
    run.code = choice.code.get();
    run.all_resident = w.cooperative;
    run.most_threads = context.multiprocessors;
    std::optional<GridRuntime> runtime;
    if (w.function->entry->pointer) run.calls = &runtime.emplace(*w.function, context);
    AwLaunch& l = run.launch;
    for (int i = 0; i < 3; ++i) l.grid[i] = w.grid[i], l.block[i] = w.block[i];
    l.dynamic_shared = w.dynamic_shared;
    // Dynamic shared memory starts behind the static part, aligned to 16 (docs/contracts.md,
    // section 7).
    l.shared_total =
        static_cast<uint32_t>((choice.code->artifact.shared + 15) / 16 * 16 + w.dynamic_shared);
    l.params = w.params.data();
    l.module_data = w.function->data->base;
    l.module_data_bytes = w.function->data->bytes;
    l.grid_id = next_grid++;
    alignas(64) uint64_t workspace[kGridWorkspace / 8]{};  // the barrier of a cooperative grid
    if (w.cooperative) l.grid_workspace = reinterpret_cast<uint64_t>(workspace);
    uint64_t begin = choice.measured ? event_clock() : 0;
    auto checks = begin_checks(*run.code);
    l.check = checks.get();
    RunResult result = processor::run(run);
    if (choice.measured) w.versions->ran(choice, blocks, event_clock() - begin);
    flush_prints();
    if (result.code) context.fail(result.code, result.text);
    if (runtime) children = runtime->take();
  }

  void operator()(const CopyWork& w) const {
    const uint8_t* from = w.staged.empty() ? w.from : w.staged.data();
    if (w.height == 1 && w.depth == 1) {
      memmove(w.to, from, w.width);
      note_copied(address(w.to), address(from), w.width);
      return;
    }
    for (uint64_t z = 0; z < w.depth; ++z) {
      for (uint64_t y = 0; y < w.height; ++y) {
        uint8_t* to = w.to + z * w.to_layer + y * w.to_pitch;
        const uint8_t* row = from + z * w.from_layer + y * w.from_pitch;
        memmove(to, row, w.width);
        note_copied(address(to), address(row), w.width);
      }
    }
  }

  void operator()(const SetWork& w) const {
    for (uint64_t y = 0; y < w.height; ++y) {
      fill_row(w.to + y * w.pitch, w.width, w.value, w.element);
      note_written(address(w.to + y * w.pitch), w.width * w.element);
    }
  }

  void operator()(const HostWork& w) const {
    thread_state.inside_callback = true;
    context_of_callback() = &context;
    w.function(w.data);
    context_of_callback() = nullptr;
    thread_state.inside_callback = false;
    HandlersStay::look_again();
  }

  void operator()(const CallbackWork& w) const {
    thread_state.inside_callback = true;
    w.function(w.stream, static_cast<CUresult>(context.error.load()), w.data);
    thread_state.inside_callback = false;
  }

  void operator()(const RecordWork& w) const {
    w.recording->time_ns = event_clock();
    if (w.shared) w.shared->complete();
  }
  void operator()(const WaitWork& w) const { w.point.wait(); }
  void operator()(const FreeWork& w) const { finish_free(w.address); }

  void operator()(const WriteValueWork& w) const {
    note_written(w.address, w.wide ? 8 : 4);
    if (w.wide) {
      __atomic_store_n(reinterpret_cast<uint64_t*>(w.address), w.value, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(reinterpret_cast<uint32_t*>(w.address), static_cast<uint32_t>(w.value),
                       __ATOMIC_RELEASE);
    }
  }

  void operator()(const WaitValueWork& w) const {
    while (!holds(w) && !context.error) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

  void operator()(const GraphWork& w) const { perform(*w.plan, context); }

  void operator()(const NativeWork& w) const {
    const AwNativeWork& work = w.task->work;
    context_of_callback() = &context;
    RunResult result = processor::run_native(work.name, work.perform, work.data);
    context_of_callback() = nullptr;
    if (result.code) context.fail(result.code, result.text);
  }
  void operator()(const SpecialWork& w) const { w.task->perform(context); }

  // The four conditions of CUstreamWaitValue_flags: at least, equal, and, nor.
  static bool holds(const WaitValueWork& w) {
    uint64_t is = w.wide
                      ? __atomic_load_n(reinterpret_cast<uint64_t*>(w.address), __ATOMIC_ACQUIRE)
                      : __atomic_load_n(reinterpret_cast<uint32_t*>(w.address), __ATOMIC_ACQUIRE);
    uint64_t mask = w.wide ? UINT64_MAX : UINT32_MAX;
    switch (w.flags & CU_STREAM_WAIT_VALUE_NOR) {
      case CU_STREAM_WAIT_VALUE_GEQ:
        return w.wide ? static_cast<int64_t>(is - w.value) >= 0
                      : static_cast<int32_t>(is - w.value) >= 0;
      case CU_STREAM_WAIT_VALUE_EQ:
        return is == w.value;
      case CU_STREAM_WAIT_VALUE_AND:
        return (is & w.value) != 0;
      default:
        return (~(is | w.value) & mask) != 0;
    }
  }
};

// What is done even after a kernel of the context has failed: it only lets others go on, or tells
// them.
bool survives_errors(const Work& work) {
  if (auto* special = std::get_if<SpecialWork>(&work)) return special->task->survives_errors();
  return std::holds_alternative<CallbackWork>(work) || std::holds_alternative<FreeWork>(work) ||
         std::holds_alternative<RecordWork>(work) || std::holds_alternative<WaitWork>(work);
}

}  // namespace

// Returns what a kernel has left to be done when its grid has ended; null where it is nothing.
static std::unique_ptr<Children> perform_one(const Work& work, Context& context) {
  std::unique_ptr<Children> children;
  if (context.error && !survives_errors(work)) return children;
  Observed observed(work);
  try {
    std::visit(Performer{context, children}, work);
  } catch (const Failure& failure) {
    context.fail(failure.code, failure.text);
  } catch (const std::exception& error) {
    context.fail(CUDA_ERROR_UNKNOWN, error.what());
  }
  return children;
}

void perform_children(std::unique_ptr<Children> children, Context& context) {
  // Of the grids that have ended and whose children have not, the innermost last.
  std::vector<std::unique_ptr<Children>> open;
  open.push_back(std::move(children));
  while (!open.empty()) {
    std::optional<Work> next = open.back()->take();
    if (open.back()->empty()) open.pop_back();  // a chain of launches at the tail grows no stack
    if (!next) continue;
    if (auto more = perform_one(*next, context)) open.push_back(std::move(more));
  }
}

void perform(const Work& work, Context& context) {
  if (auto left = perform_one(work, context)) perform_children(std::move(left), context);
}

void perform(const ExecutionPlan& plan, Context& context) {
  HandlersStay handlers;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    set_current_node(plan.nodes[i]);
    if (!context.error) perform(*plan.steps[i], context);
  }
}

}  // namespace aw
