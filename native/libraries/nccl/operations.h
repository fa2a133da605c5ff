// One operation of a communicator while it is performed.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "libraries/nccl/flows.h"
#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {

// Messages that may be under way together.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual bool done() const = 0;
  virtual void step(Links& links, Step& step) = 0;
  // The ranks that it waits for.
  virtual std::vector<int> awaited() const = 0;
};

std::unique_ptr<Exchange> collective(const Communicator& comm, const Operation& operation);
// All ncclSend and ncclRecv of a group. Throws INVALID_USAGE where a rank sends itself what it does
// not receive.
std::unique_ptr<Exchange> pairs(const Communicator& comm, const std::vector<Operation>& operations);

// Performs `beside` and, one after the other, what `next` makes until it makes none. False where
// that failed. `agreeing`: it goes on though the communicator was revoked.
bool carry_out(Communicator& comm, std::unique_ptr<Exchange> beside,
               const std::function<std::unique_ptr<Exchange>()>& next, bool agreeing = false);

// Between calls, beside all work of streams: what each rank says, to all but those in `without`,
// whose places stay 0.
std::vector<char> agree(Communicator& comm, const void* mine, size_t bytes,
                        const std::vector<int>& without = {});

}  // namespace aw::nccl
