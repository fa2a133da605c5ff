// What HIP does not capture, and captures that a refused call has broken. HIP runs some calls at
// once on a stream that is being captured, so that the graph would lack them without a word (CLR's
// sources have no STREAM_CAPTURE in them: rocm-6.0.0 to 6.2.2, October 2024 and July 2026; the
// cooperative launch has one since January 2025).
#pragma once

#include "hip/forward.h"
#include "hip/graph_nodes.h"

namespace aw {

// What cuStreamGetCaptureInfo tells, in HIP's types.
struct CaptureInfo {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  size_t count = 0;
};

// Reads it; the status of a capture that we broke is Invalidated. HIP itself does not hear of that:
// until May 2026 a stream whose capture it has invalidated stays so, and streams that had joined
// keep on capturing into a graph that is gone.
hipError_t read_capture(hipStream_t stream, CaptureInfo* info);

bool is_captured(hipStream_t stream);

// HIP's stream; while it is being captured, breaks the capture and throws
// STREAM_CAPTURE_UNSUPPORTED, with a line that names the function.
hipStream_t uncaptured(const void* stream, const char* function);

// The same for what waits for a stream, which CUDA refuses as well.
hipStream_t unwaited(const void* stream);

// Tells that the stream is being captured into a graph of the program's.
void keep_graph(hipStream_t stream);

// Ends a capture as cuStreamEndCapture does.
CUresult end_capture(hipStream_t stream, hipGraph_t* graph);

// Adds a kernel node to the graph that a stream is being captured into, behind all that was
// captured before it.
void capture_cooperative(hipStream_t stream, const hipKernelNodeParams& params);

}  // namespace aw
