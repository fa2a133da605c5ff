// Modules and their functions: what a program loaded, described by the compile service; kernels are
// compiled when launched.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/artifacts.h"
#include "core/handles.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/texture_references.h"

namespace aw {

// The .global and .const variables of one module in one context.
struct ModuleData {
  uint8_t* base = nullptr;
  uint64_t bytes = 0;
  int device;
  std::vector<uint64_t> references;  // addresses of .texref, .samplerref and .surfref variables
  ModuleData(const ModuleDescription& description, int device);
  ~ModuleData();
  ModuleData(const ModuleData&) = delete;
  ModuleData& operator=(const ModuleData&) = delete;
};

struct Function;

struct Module {
  uintptr_t handle = 0;
  std::weak_ptr<Context> context;
  std::shared_ptr<const ModuleDescription> description;
  std::shared_ptr<ModuleData> data;
  std::map<std::string, std::shared_ptr<Function>> functions;
  std::map<std::string, std::shared_ptr<TextureReference>> references;  // that programs asked for
};

// Attributes of a function that programs may set.
struct FunctionAttributes {
  int max_dynamic_shared = -1;  // -1: what the static part leaves of 48 KiB
  int carveout = -1;
  std::map<int, int> others;  // clusters: kept, and refused where they would matter
};

// What the interface of CUDA before 4.0 sets one by one before a launch (old_launch.cpp).
struct OldLaunch {
  unsigned block[3] = {1, 1, 1};
  unsigned shared = 0;
  std::vector<uint8_t> params;
};

struct Function {
  uintptr_t handle = 0;
  std::weak_ptr<Context> context;
  uintptr_t module_handle = 0;
  std::shared_ptr<const ModuleDescription> description;
  std::shared_ptr<ModuleData> data;
  const Entry* entry = nullptr;

  std::mutex mutex;
  FunctionAttributes attributes;
  std::map<std::array<uint32_t, 3>, std::shared_ptr<Versions>> compiled;
  std::shared_ptr<Versions>
      for_wide_grids;  // of any block shape and of more than 2^30 threads along x
  OldLaunch old_launch;
  uint64_t stack = 0;  // bytes of a thread's stack for which they were compiled, 0 the usual ones

  // Returns the code for a block shape, compiled if need be; throws Failure with what the compiler
  // said.
  std::shared_ptr<Versions> code(const std::array<uint32_t, 3>& block, uint64_t grid_x = 1);
};

struct JitOptions;

// What a program gave us to load, of any kind: PTX text, a fatbin, a fatbin's wrapper. Throws
// Failure for the rest.
std::shared_ptr<const Image> read_image(const void* image);

std::shared_ptr<Module> load_module(std::shared_ptr<const ModuleDescription> description,
                                    const std::shared_ptr<Context>& context);
std::shared_ptr<const ModuleDescription> describe(std::shared_ptr<const Image> image);

Handles<Module>& modules();
Handles<Function>& functions();
std::shared_ptr<Module> module_of(CUmodule handle);        // throws INVALID_HANDLE
std::shared_ptr<Function> function_of(CUfunction handle);  // accepts kernels too, as CUDA does
std::shared_ptr<Function> find_function(Module& module,
                                        const std::string& name);  // throws NOT_FOUND

}  // namespace aw
