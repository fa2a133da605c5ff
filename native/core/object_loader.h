// Loads an ELF relocatable object that the compiler made, so that its kernel can be called.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace aw {

// Code and data of one object in memory; unmapped with its owner.
class LoadedObject {
 public:
  LoadedObject(void* base, size_t bytes) : base_(base), bytes_(bytes) {}
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  void* entry = nullptr;

 private:
  void* base_;
  size_t bytes_;
};

// Maps the object, links it against the imports table and finds `symbol`. No page is ever writable
// and executable. Throws Failure (999) naming what is wrong with a damaged object or a symbol that
// nobody provides.
std::unique_ptr<LoadedObject> load_object(std::string_view object, const std::string& symbol);

}  // namespace aw
