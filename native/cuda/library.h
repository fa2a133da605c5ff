// Libraries: images that belong to no context; their modules are made in each context that uses
// them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/handles.h"
#include "cuda/module.h"

namespace aw {

struct Kernel;

struct Library {
  uintptr_t handle = 0;
  std::shared_ptr<const ModuleDescription> description;
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Module>> by_context;
  std::map<std::string, std::shared_ptr<Kernel>> kernels;

  std::shared_ptr<Module> module_in(const std::shared_ptr<Context>& context);
};

struct Kernel {
  uintptr_t handle = 0;
  std::weak_ptr<Library> library;
  std::string name;

  std::shared_ptr<Function> function_in(const std::shared_ptr<Context>& context);
};

// The function of a kernel's handle in the current context; null when it is none.
std::shared_ptr<Function> function_of_kernel(uintptr_t handle);

}  // namespace aw
