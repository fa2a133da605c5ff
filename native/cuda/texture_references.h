// Texture and surface references of modules (`.texref`, `.surfref` variables), as programs from
// before texture objects use them: the host binds memory to a name, kernels use the name.
#pragma once

#include <memory>
#include <optional>

#include "cuda/textures.h"

typedef struct CUtexref_st* CUtexref;
typedef struct CUsurfref_st* CUsurfref;

namespace aw {

struct Module;

struct TextureReference {
  uintptr_t handle = 0;
  std::weak_ptr<Context> context;
  std::shared_ptr<struct ModuleData> data;  // null for one that cuTexRefCreate made
  uint64_t cell = 0;                        // address of the variable; 0 likewise
  CUDA_RESOURCE_DESC resource{};
  bool bound = false;
  int format = CU_AD_FORMAT_FLOAT, channels = 1;
  CUDA_TEXTURE_DESC sampling{};
  std::unique_ptr<TextureSlot> slot;
};

// Lets go of a module's references; kernels find nothing bound to them any more.
void forget_references(Module& module);

// Stores what a variable of a module stands for now, where kernels read it.
void write_reference(uint64_t cell, uint64_t handle);

}  // namespace aw
