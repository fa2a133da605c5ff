// Joins PTX modules into one, as a linker joins objects: one definition per name, private names
// kept apart.
#pragma once

#include <string>
#include <vector>

namespace aw {

struct PtxInput {
  std::string name;  // for messages
  std::string text;
};

// Returns one module's text. A single input comes back as it is. Throws Failure (218) for names
// defined twice and for text that does not hold together.
std::string link_ptx(const std::vector<PtxInput>& inputs);

// Tells NVIDIA's libcudadevrt.a by its only member. Programs link it for functions that the
// compiler brings itself (compiler/device_runtime.py); there is nothing to take from it.
bool is_device_runtime(const std::string& bytes);

}  // namespace aw
