// Copies in streams that were looked up.
#pragma once

#include "cpu/stream.h"
#include "cuda/copying.h"

namespace aw {

void copy_async(CopyWork work, Stream& stream);

}  // namespace aw
