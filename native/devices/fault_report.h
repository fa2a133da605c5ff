// Says which thread of which kernel did wrong, from what the worker's record tells.
#pragma once

#include "core/kernel_abi.h"
#include "devices/device.h"
#include "devices/faults.h"

namespace aw {

RunResult explain_fault(const std::string& kernel, const AwLaunch& launch, const AwWorker& worker,
                        const FaultFrame& fault);
RunResult explain_status(const std::string& kernel, const AwLaunch& launch, const AwWorker& worker,
                         int32_t status);

}  // namespace aw
