#include "deferred_call.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "alias.h"
#include "allocator.h"
#include "devices.h"
#include "driver.h"
#include "operator_watch.h"
#include "streams.h"

namespace awt {
namespace {

const DriverFn<CUresult(CUstream, CUhostFn, void*)> launch_host_function{"cuLaunchHostFunc"};
const DriverFn<CUresult(CUstream, int*, uint64_t*, CUgraph*, const CUgraphNode**, size_t*)>
    capture_info{"cuStreamGetCaptureInfo_v2"};
const DriverFn<CUresult(CUuserObject*, void*, CUhostFn, unsigned, unsigned)> object_create{
    "cuUserObjectCreate"};
const DriverFn<CUresult(CUgraph, CUuserObject, unsigned, unsigned)> graph_retain{
    "cuGraphRetainUserObject"};
const DriverFn<CUresult(int, const char*)> fail{"anywarp_fail"};

constexpr unsigned kNoDestructorSync = 1, kMove = 1;
constexpr int kIllegalAddress = 700, kAssert = 710;

// What was done lies here until a thread of the program comes by: tensors of the host may belong to
// Python.
std::atomic<DeferredCall*> done{nullptr};

void bury(void* dead) {
  auto* call = static_cast<DeferredCall*>(dead);
  call->next = done.load(std::memory_order_relaxed);
  while (!done.compare_exchange_weak(call->next, call, std::memory_order_release)) {
  }
}

void fill(const DeferredCall& call, const torch::jit::Stack& results) {
  size_t next = 0, planned = 0;
  auto put = [&](const at::Tensor& result) {
    const size_t here = next++;
    if (here >= call.fresh.size() || !call.fresh[here]) return;
    const at::Tensor& target = call.planned[planned++];
    if (!target.defined() || !result.defined()) return;
    TORCH_CHECK(target.sizes() == result.sizes(), "a result has the shape ", result.sizes(),
                " where ", target.sizes(), " was expected");
    if (target.data_ptr() != result.data_ptr()) target.copy_(result);
  };
  for (const auto& result : results) {
    if (result.isTensor()) {
      put(result.toTensor());
    } else if (result.isTensorList()) {
      for (const at::Tensor& each : result.toTensorVector()) put(each);
    }
  }
}

void keep_layout(const DeferredCall::Written& written) {
  const at::Tensor& alias = written.alias;
  if (alias.sizes() == written.sizes && alias.strides() == written.strides &&
      alias.storage_offset() == written.offset)
    return;
  const bool same_shape = alias.sizes() == written.sizes;
  const at::Tensor result = same_shape ? alias.clone() : at::Tensor();
  const auto shape = alias.sizes().vec();
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(written.sizes, written.strides,
                                                     written.offset);
  TORCH_CHECK(same_shape, "an argument that it writes to would have to become one of the shape ",
              shape, " and has ", written.sizes);
  alias.copy_(result);
}

struct Told {};  // an error of which the driver knows

void require_memory(const DeferredCall& call) {
  for (const void* address : call.memory) {
    if (device_of(address) >= 0) continue;
    const std::string words =
        call.name + ": memory that it uses was given back to the driver before it ran";
    fail(kIllegalAddress, words.c_str());
    throw Told();
  }
}

// With AddressSanitizer: kernels of the CPU are not built with it, so their arguments are looked at
// here.
void require_unfreed(const DeferredCall& call) {
#ifdef __SANITIZE_ADDRESS__
  const auto look = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.has_storage() || tensor.storage().nbytes() == 0) return;
    auto* begin = const_cast<void*>(tensor.storage().data());
    void* bad = __asan_region_is_poisoned(begin, tensor.storage().nbytes());
    if (!bad) return;
    fprintf(stderr, "anywarp: %s works on memory that was freed\n", call.name.c_str());
    __asan_describe_address(bad);
    abort();
  };
  for (const auto& value : call.arguments) {
    if (value.isTensor()) look(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& each : value.toTensorVector()) look(each);
  }
  for (const at::Tensor& each : call.planned) look(each);
#endif
}

void run(DeferredCall& call) {
  require_memory(call);
  require_unfreed(call);
  const c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
  const at::NoGradGuard no_grad;
  if (!call.op) return call.work();
  const OnDevice here(call.device);
  const Watch watch(call.op->schema().name().c_str(), call.device);
  torch::jit::Stack stack = call.arguments;
  call_kernel(*call.op, *call.info, &stack, call.device);
  for (const auto& written : call.written) keep_layout(written);
  fill(call, stack);
}

void run_once(void* data) {
  perform(*static_cast<DeferredCall*>(data));
  bury(data);
}

void run_again(void* data) { perform(*static_cast<DeferredCall*>(data)); }

void add_to_graph(std::unique_ptr<DeferredCall> call, CUstream stream) {
  int status = 0;
  CUgraph graph = nullptr;
  check(capture_info(stream, &status, nullptr, &graph, nullptr, nullptr));
  DeferredCall* given = call.get();
  CUuserObject object = nullptr;
  check(object_create(&object, given, &bury, 1, kNoDestructorSync));
  call.release();  // the object's from here on
  check(graph_retain(graph, object, 1, kMove));
  check(launch_host_function(stream, &run_again, given));
}

}  // namespace

void clear_done_calls() {
  if (!done.load(std::memory_order_relaxed)) return;
  DeferredCall* call = done.exchange(nullptr, std::memory_order_acquire);
  while (call) delete std::exchange(call, call->next);
}

void perform(DeferredCall& call) noexcept {
  const bool before = std::exchange(on_driver_thread(), true);
  const c10::DeviceIndex device_before = current_device();
  set_device_unchecked(call.device);
  std::string words;
  int code = 0;
  try {
    run(call);
  } catch (const Told&) {
  } catch (const c10::OutOfMemoryError& error) {
    code = CUDA_ERROR_OUT_OF_MEMORY, words = error.what_without_backtrace();
  } catch (const c10::Error& error) {
    code = kAssert, words = error.what_without_backtrace();
  } catch (const std::bad_alloc&) {
    code = CUDA_ERROR_OUT_OF_MEMORY, words = "no memory";
  } catch (const std::exception& error) {
    code = kAssert, words = error.what();
  } catch (...) {
    code = kAssert, words = "unknown exception";
  }
  if (code) fail(code, (call.name + ": " + words).c_str());
  set_device_unchecked(device_before);
  on_driver_thread() = before;
}

void submit(std::unique_ptr<DeferredCall> call, c10::Stream stream, bool capturing) {
  clear_done_calls();
  const InContext in(stream.device_index());
  CUstream native = native_stream(stream);
  if (capturing) return add_to_graph(std::move(call), native);
  check(launch_host_function(native, &run_once, call.get()));
  call.release();
}

}  // namespace awt
