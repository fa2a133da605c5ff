// One operator that runs later: its arguments by address, and where its results go.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/util/DimVector.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fallback.h"

namespace awt {

// The arguments are CPU tensors over the device's memory that own nothing: as on a GPU, a stream
// does not keep the memory of its operators alive, and the allocator gives freed memory only to
// work that comes behind.
struct DeferredCall {
  // An argument that the kernel writes to, as the program sees it: kernels of the CPU may give an
  // `out` other strides.
  struct Written {
    at::Tensor alias;
    c10::DimVector sizes, strides;
    int64_t offset;
  };
  std::string name;
  const c10::OperatorHandle* op = nullptr;  // null: `work`
  const OpInfo* info = nullptr;
  torch::jit::Stack arguments;
  std::vector<at::Tensor>
      planned;  // aliases of results to be filled, in order; undefined where nothing is expected
  std::vector<bool>
      fresh;  // per result: to be copied to the next planned tensor (lists count each element)
  std::vector<const void*> memory;  // addresses of the device's memory that must still be there
  std::vector<Written> written;
  std::vector<at::Tensor> kept;     // tensors of the host
  std::vector<c10::Storage> owned;  // device tensors in memory that no stream orders: the host's
  std::function<void()> work;
  c10::DeviceIndex device = 0;
  DeferredCall* next = nullptr;
};

// Does it, on a thread of the driver; an error fails the context as a kernel's would.
void perform(DeferredCall& call) noexcept;

// Lets go of what calls that are done have kept; on a thread of the program.
void clear_done_calls();

// Gives it to `stream`; into the stream's graph when it is `capturing`.
void submit(std::unique_ptr<DeferredCall> call, c10::Stream stream, bool capturing);

}  // namespace awt
