// torch.cuda.memory.change_current_allocator: all device memory from two functions of the user's.
#pragma once

#include <c10/core/Stream.h>

#include <cstddef>
#include <memory>

#include "memory_plugin.h"

namespace awt {

bool plugged() noexcept;
void plug_in(std::shared_ptr<const Plugin> plugin);
void* allocate_plugged(size_t bytes, c10::Stream stream);
bool free_plugged(void* memory);  // false: not one of theirs
[[noreturn]] void raise_unsupported_by_plugin(const char* function);

}  // namespace awt
