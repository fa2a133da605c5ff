// User objects: things of the program that live as long as graphs that refer to them.
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/cuda_api.h"

namespace aw {

struct UserObject {
  uintptr_t handle = 0;
  void* object = nullptr;
  CUhostFn destroy = nullptr;
  ~UserObject() {
    if (destroy) destroy(object);
  }
};

}  // namespace aw
