// What every example needs: CHECK ends the program where a call fails, noise() is the same input
// everywhere, verdict() prints the last line and chooses the exit code.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), #call, __FILE__, __LINE__)

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorName(status));
  std::exit(1);
}

// A number in [0, 1) that differs for every index: the upper 24 bits of a mixed index.
__host__ __device__ inline float noise(uint32_t index) {
  uint32_t x = index * 0x9E3779B9u + 0x7F4A7C15u;
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  x ^= x >> 16;
  return static_cast<float>(x >> 8) * (1.0f / 16777216.0f);
}

inline int verdict(const char* name, bool right) {
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
