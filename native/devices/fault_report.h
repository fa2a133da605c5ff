// Says which thread of which kernel did wrong, from what the worker's record tells.
#pragma once

#include "core/kernel_abi.h"
#include "devices/faults.h"
#include "devices/processor.h"

namespace aw {

RunResult explain_fault(const std::string& kernel, const AwLaunch& launch, const AwWorker& worker,
                        const FaultFrame& fault);
RunResult explain_status(const std::string& kernel, const AwLaunch& launch, const AwWorker& worker,
                         int32_t status);

// After a deadlock: names a thread that waits at the barrier in the record, and the line where.
void find_waiting(const KernelArtifact& artifact, const AwLaunch& launch, AwWorker& worker);

// Where in its source a kernel failed: " (file:line, line N of the PTX)", as far as the compile
// service can tell; else nothing. `instruction` is an address in its code, 0 when that is not
// known; then `line` of the PTX, 0 likewise. Takes as long as compiling the kernel twice.
std::string place_in_source(const KernelCode& code, uint64_t instruction, uint32_t line);

}  // namespace aw
