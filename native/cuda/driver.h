// The seam between what all drivers share, which is this folder and knows no device, and the driver
// of one device (cpu/, hip/). Each driver makes a library of its own together with the shared code
// and defines what is declared here; calls are bound when the library is linked, so that none costs
// more than a call. What else a driver defines is declared where it belongs: calls and errors
// (api.h), contexts (context.h, contexts.h), which devices there are and what they are
// (visible.h, device_attributes.h), memory and copies (memory.h, copying.h, copy_order.h), modules
// and functions (module.h, function_attributes.h, occupancy.h), textures (texture_references.h,
// devices/texture_table.h), and every function of CUDA's interface that no file here defines.
#pragma once

#include "core/device_info.h"
#include "cuda/api.h"

namespace aw {

struct Context;

// A stream as the driver keeps it. Shared code hands on handles; a driver whose handles are another
// library's has no such class.
class Stream;

// The code of a kernel for one block shape, loaded, in as many versions as the driver has.
class Versions;

// Throws NO_DEVICE if the program asks for a device that is not this driver's.
void require_own_device();

// Called when the program has waited for a stream, an event or a context: memory that pools keep
// beyond their thresholds goes back.
void note_synchronized();

// Called once, when the program has initialised its first device: the report begins.
void begin_process();

// The device of the current context; the first without one.
const DeviceInfo& device_info();

// Whether a handle names the legacy default stream here and now. Throws INVALID_HANDLE for what is
// no stream.
bool is_legacy_stream(CUstream stream);

// Throws STREAM_CAPTURE_UNSUPPORTED if a stream of the context is being captured, and invalidates
// the capture.
void refuse_captures(Context& context);

}  // namespace aw
