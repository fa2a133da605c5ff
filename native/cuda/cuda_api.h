// NVIDIA's driver interface (CUDA Driver API reference, 13.x): its types, and what we say about
// ourselves. Handles are numbers to us and never pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda_types.h"

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

constexpr int kDriverVersion = 13000;  // of the interface that we are

// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD as numbers.
constexpr uintptr_t kLegacyStream = 1, kPerThreadStream = 2;
