// Device storages that get another size.
#pragma once

#include <c10/core/StorageImpl.h>

namespace awt {

// Gives a device storage `bytes` of new memory, or none; what it held follows in the order of the
// current stream of its device.
void resize_storage(c10::StorageImpl& storage, size_t bytes);

}  // namespace awt
