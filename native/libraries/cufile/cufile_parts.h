// What the functions of cuFile share: how their statuses are made, files that were registered, and
// buffers.
#pragma once

#include <cufile.h>

#include <memory>

#include "libraries/api.h"
#include "libraries/work.h"

namespace aw::file {

using lib::require;

// cuFile's statuses are pairs; the second of them is the driver's, where that is the reason.
template <Name Function, class Body, class... Args>
CUfileError_t api(Body&& body, const Args&... args) noexcept {
  return {lib::call<CUfileOpError, Function>(body, args...), CUDA_SUCCESS};
}

// A file of the program, opened once more: without O_DIRECT, which wants aligned addresses and
// sizes that cuFile does not ask of its callers.
class File {
 public:
  explicit File(int of);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Bytes moved, fewer than `size` only at the end of the file; -1 with errno where nothing was.
  ssize_t read(void* to, size_t size, off_t from) const;
  ssize_t write(const void* from, size_t size, off_t to) const;

 private:
  int own_;
};

// Throws HANDLE_NOT_REGISTERED for what was never registered or is no more.
std::shared_ptr<const File> file_of(CUfileHandle_t handle);

// The address `offset` behind `base`; throws where [offset, offset + size) leaves the memory that
// the driver knows there. Other memory is the program's own, as cuFile takes it, too.
char* within(const void* base, off_t offset, size_t size);

// The whole of cuFileRead and cuFileWrite, for those that answer with -1 and errno or with a
// status, whose sign is changed.
ssize_t read(CUfileHandle_t handle, void* base, size_t size, off_t from, off_t offset);
ssize_t write(CUfileHandle_t handle, const void* base, size_t size, off_t to, off_t offset);

}  // namespace aw::file
