// Checks that kernels make while they run (docs/checking.md): the state that launches and blocks
// keep for them, and what generated code calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/artifacts.h"
#include "core/kernel_abi.h"
#include "devices/processor.h"

namespace aw {

// Bytes of the barrier of a cooperative grid, which a launch names as its workspace.
constexpr uint64_t kGridWorkspace = 64;

// What holds for a launch; AwLaunch.check points to it.
struct CheckedLaunch;

// The places that a kernel watches; null when it was not compiled with checks.
std::shared_ptr<const CheckedSites> read_sites(const KernelArtifact& artifact);
std::shared_ptr<CheckedLaunch> begin_checks(const KernelCode& code);

// Readies a worker of a launch whose `check` is set; the record must not move while it runs.
void attach_checks(const AwLaunch& launch, AwWorker& worker);

// The block that the worker ran goes on later; its state is kept until then.
void keep_checked_block(const AwWorker& worker);

// Reports a block whose threads wait for ever.
void report_deadlock(const AwWorker& worker);

}  // namespace aw
