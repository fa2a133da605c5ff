#include "hip/capture.h"

#include <mutex>
#include <set>

namespace aw {
namespace {

// By the number of the capture, which all streams that joined it share.
struct Captures {
  std::mutex mutex;
  std::set<unsigned long long> broken, kept;
};

Captures& captures() {
  static auto& instance = *new Captures;
  return instance;
}

bool is_broken(unsigned long long id) {
  if (!broken_captures.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(captures().mutex);
  return captures().broken.count(id) != 0;
}

// What remains to be known of a capture that ends.
struct Ended {
  bool broken = false, kept = false;
};

Ended forget(unsigned long long id) {
  std::lock_guard lock(captures().mutex);
  Ended out{captures().broken.erase(id) != 0, captures().kept.erase(id) != 0};
  if (out.broken) --broken_captures;
  return out;
}

void break_capture(hipStream_t stream) {
  CaptureInfo info;
  check(read_capture(stream, &info));
  require(info.status != hipStreamCaptureStatusInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  std::lock_guard lock(captures().mutex);
  if (captures().broken.insert(info.id).second) ++broken_captures;
}

// A stream whose capture HIP has invalidated takes no work until another capture of it ended well.
void revive(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  (void)hip.hipStreamIsCapturing(stream, &status);
  hipGraph_t graph = nullptr;
  if (status != hipStreamCaptureStatusInvalidated ||
      hip.hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed) != hipSuccess ||
      hip.hipStreamEndCapture(stream, &graph) != hipSuccess)
    return;
  (void)hip.hipGraphDestroy(graph);
}

// HIP 6.4.3 leaves the streams of a capture captured whose end it has refused since some had not
// come back, and nobody can end it then. A query breaks what is captured, and that can be mended.
void abandon(hipStream_t origin, const CaptureInfo& capture) {
  std::vector<hipStream_t> streams = made_streams();
  streams.push_back(origin);
  streams.push_back(hipStreamPerThread);
  for (hipStream_t stream : streams) {
    CaptureInfo info;
    if (read_capture(stream, &info) != hipSuccess || info.status != hipStreamCaptureStatusActive ||
        info.id != capture.id)
      continue;
    (void)hip.hipStreamQuery(stream);
    revive(stream);
  }
  (void)hip.hipGetLastError();
}

}  // namespace

std::atomic<int> broken_captures{0};

void require_unbroken(hipStream_t stream) {
  CaptureInfo info;
  bool known = read_capture(stream, &info) == hipSuccess;
  require(!known || info.status != hipStreamCaptureStatusInvalidated,
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

hipError_t read_capture(hipStream_t stream, CaptureInfo* info) {
  hipError_t error = AW_HIP(hipStreamGetCaptureInfo_v2)(stream, &info->status, &info->id,
                                                        &info->graph, &info->nodes, &info->count);
  if (error == hipSuccess && info->status == hipStreamCaptureStatusActive && is_broken(info->id))
    info->status = hipStreamCaptureStatusInvalidated;
  return error;
}

bool is_captured(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hip.hipStreamIsCapturing) (void)hip.hipStreamIsCapturing(stream, &status);
  return status == hipStreamCaptureStatusActive;
}

hipStream_t uncaptured(const void* stream, const char* function) {
  hipStream_t handle = stream_for(stream);
  if (__builtin_expect(!is_captured(handle), 1)) return handle;
  break_capture(handle);
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "error[N013]: " + std::string(function) +
                    " cannot be captured on AMD devices: HIP would run it at once, and the graph "
                    "would lack it\nhelp: call it before the capture begins or after it has ended, "
                    "or add a node to the graph where there is one for it");
}

hipStream_t unwaited(const void* stream) {
  hipStream_t handle = stream_for(stream);
  if (__builtin_expect(!is_captured(handle), 1)) return handle;
  break_capture(handle);
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void keep_graph(hipStream_t stream) {
  CaptureInfo info;
  check(read_capture(stream, &info));
  std::lock_guard lock(captures().mutex);
  captures().kept.insert(info.id);
}

CUresult end_capture(hipStream_t stream, hipGraph_t* graph) {
  CaptureInfo info;
  (void)read_capture(stream, &info);
  *graph = nullptr;
  hipError_t error = AW_HIP(hipStreamEndCapture)(stream, graph);
  if (error == hipErrorStreamCaptureUnmatched || error == hipErrorStreamCaptureWrongThread)
    return to_cuda(error);  // another stream's, or another thread's, to end
  Ended ended = forget(info.id);
  if (error == hipErrorStreamCaptureUnjoined) {
    abandon(stream, info);
    *graph = nullptr;
  }
  if (error == hipErrorStreamCaptureInvalidated) revive(stream);
  if (!ended.broken) return to_cuda(error);
  if (*graph && !ended.kept) (void)hip.hipGraphDestroy(*graph);
  *graph = nullptr;
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

void capture_cooperative(hipStream_t stream, const hipKernelNodeParams& params) {
  CaptureInfo info;
  check(read_capture(stream, &info));
  hipGraphNode_t node = nullptr;
  check(AW_HIP(hipGraphAddKernelNode)(&node, info.graph, info.nodes, info.count, &params));
  hipLaunchAttributeValue cooperative{};
  cooperative.cooperative = 1;
  check(AW_HIP(hipGraphKernelNodeSetAttribute)(node, hipLaunchAttributeCooperative, &cooperative));
  check(AW_HIP(hipStreamUpdateCaptureDependencies)(stream, &node, 1,
                                                   hipStreamSetCaptureDependencies));
}

}  // namespace aw
