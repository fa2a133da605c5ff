// How much of its stack the calling thread has left.
#pragma once

#include <cstdint>

namespace aw {

// Bytes; 0 where the thread runs on a stack that is not its own (fibres).
uint64_t stack_room();

}  // namespace aw
