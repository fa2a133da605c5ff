// Functions of CUDA 11.8's runtime by way of our libcudart.so.12.
#pragma once

namespace aw::rebind {

// The function of libcudart.so.12 of that name; null when it has none.
void* find_in_twelve(const char* name);

// What answers a program that was built for CUDA 11.8; null for what 12 no longer has (texture
// references).
void* find_for_eleven(const char* name);

}  // namespace aw::rebind
