#include "cuda/capture.h"

#include "cuda/event.h"
#include "cuda/graph.h"
namespace aw {
void Capture::add(Stream&, Work) { throw Failure(CUDA_ERROR_NOT_SUPPORTED); }
void capture_record(Event&, Stream&, Capture&) { throw Failure(CUDA_ERROR_NOT_SUPPORTED); }
void capture_wait(Event&, Stream&) { throw Failure(CUDA_ERROR_NOT_SUPPORTED); }
}  // namespace aw
