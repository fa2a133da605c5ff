// The processor's tiles (AMX), in which code of kernels computes matrix products.
#pragma once

namespace aw {

// Asks Linux, once, whether code of this process may use them: their 8 KiB per thread are kept only
// for processes that ask. Linux refuses where a thread's signal stack is too small for them, and
// afterwards such stacks. False where ANYWARP_PRODUCT asks for less.
bool may_use_tiles();

// Forgets what is in this thread's tiles, where a kernel ended in the middle: they would be saved
// with the thread from then on.
void release_tiles();

}  // namespace aw
