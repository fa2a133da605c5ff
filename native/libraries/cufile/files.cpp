// cuFile: files and buffers that are registered, and what is read and written at once.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>

#include "libraries/cufile/cufile_parts.h"

using namespace aw::file;
using aw::lib::require;

namespace aw::file {

File::File(int of) {
  struct stat found;
  const int flags = fcntl(of, F_GETFL);
  require(flags >= 0 && fstat(of, &found) == 0, CU_FILE_INVALID_VALUE);
  require(S_ISREG(found.st_mode) || S_ISBLK(found.st_mode), CU_FILE_INVALID_FILE_TYPE);
  require(!(flags & (O_APPEND | O_PATH)), CU_FILE_INVALID_FILE_OPEN_FLAG);
  const std::string place = "/proc/self/fd/" + std::to_string(of);
  own_ = open(place.c_str(), (flags & O_ACCMODE) | O_CLOEXEC);
  // Where the file may not be opened again (its name is another user's by now), the same once more.
  if (own_ < 0 && !(flags & O_DIRECT)) own_ = fcntl(of, F_DUPFD_CLOEXEC, 0);
  require(own_ >= 0, CU_FILE_GETNEWFD_FAILED);
}

File::~File() { close(own_); }

namespace {

// Moves until all is moved, the file ends or something goes wrong.
template <class Call>
ssize_t all_of(size_t size, Call&& call) {
  size_t moved = 0;
  while (moved < size) {
    const ssize_t now = call(moved);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0 && moved == 0) return -1;
    if (now <= 0) break;
    moved += static_cast<size_t>(now);
  }
  return static_cast<ssize_t>(moved);
}

std::mutex mutex;
struct Registered {
  int of;
  std::shared_ptr<const File> file;
};
// By handles, which are numbers that come but once.
std::map<CUfileHandle_t, Registered>& files() {
  static auto& all = *new std::map<CUfileHandle_t, Registered>;
  return all;
}
std::map<const void*, size_t>& buffers() {
  static auto& all = *new std::map<const void*, size_t>;
  return all;
}

// Where memory that the driver knows ends; null for memory that is none of its.
const char* end_of(const void* address) {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  CUdeviceptr start = 0;
  size_t size = 0;
  if (cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) != CUDA_SUCCESS ||
      cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) != CUDA_SUCCESS)
    return nullptr;
  return reinterpret_cast<const char*>(start) + size;
}

}  // namespace

ssize_t File::read(void* to, size_t size, off_t from) const {
  return all_of(size, [&](size_t done) {
    return pread(own_, static_cast<char*>(to) + done, size - done, from + off_t(done));
  });
}

ssize_t File::write(const void* from, size_t size, off_t to) const {
  return all_of(size, [&](size_t done) {
    return pwrite(own_, static_cast<const char*>(from) + done, size - done, to + off_t(done));
  });
}

std::shared_ptr<const File> file_of(CUfileHandle_t handle) {
  std::lock_guard lock(mutex);
  const auto found = files().find(handle);
  require(found != files().end(), CU_FILE_HANDLE_NOT_REGISTERED);
  return found->second.file;
}

char* within(const void* base, off_t offset, size_t size) {
  require(base && offset >= 0, CU_FILE_INVALID_VALUE);
  char* const from = static_cast<char*>(const_cast<void*>(base)) + offset;
  if (const char* const end = end_of(base))
    require(from <= end && size <= size_t(end - from), CU_FILE_CUDA_POINTER_RANGE_ERROR);
  return from;
}

ssize_t read(CUfileHandle_t handle, void* base, size_t size, off_t from, off_t offset) {
  require(from >= 0);
  return file_of(handle)->read(within(base, offset, size), size, from);
}

ssize_t write(CUfileHandle_t handle, const void* base, size_t size, off_t to, off_t offset) {
  require(to >= 0);
  return file_of(handle)->write(within(base, offset, size), size, to);
}

namespace {

// What functions return that say how much was moved.
template <Name Function, class Body, class... Args>
ssize_t moved(Body&& body, const Args&... args) {
  ssize_t bytes = 0;
  int why = 0;
  const auto status = lib::call<CUfileOpError, Function>(
      [&] {
        bytes = body();
        why = errno;
      },
      args...);
  if (status != CU_FILE_SUCCESS) return -static_cast<ssize_t>(status);
  if (bytes < 0) errno = why;
  return bytes;
}

// Piece after piece; what was moved before one that fails, or ends early, counts.
template <class One>
ssize_t pieces(const CUfileIOVec_t* each, size_t count, off_t from, unsigned flags, One&& one) {
  require((each || count == 0) && flags == 0);
  ssize_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const ssize_t now = one(each[i], from + total);
    if (now < 0) return total > 0 ? total : -1;
    total += now;
    if (static_cast<size_t>(now) < each[i].len) break;
  }
  return total;
}

}  // namespace
}  // namespace aw::file

AW_EXPORT CUfileError_t cuFileHandleRegister(CUfileHandle_t* fh, CUfileDescr_t* descr) {
  return api<"cuFileHandleRegister">(
      [&] {
        require(fh && descr);
        if (descr->type != CU_FILE_HANDLE_TYPE_OPAQUE_FD)
          throw aw::Failure(CU_FILE_IO_NOT_SUPPORTED, "only files that Linux opened (OPAQUE_FD)");
        auto file = std::make_shared<const File>(descr->handle.fd);
        std::lock_guard lock(mutex);
        for (const auto& [handle, known] : files())
          require(known.of != descr->handle.fd, CU_FILE_HANDLE_ALREADY_REGISTERED);
        static uintptr_t last = 0;
        *fh = reinterpret_cast<CUfileHandle_t>(++last << 4);
        files()[*fh] = {descr->handle.fd, std::move(file)};
      },
      fh, descr);
}

AW_EXPORT void cuFileHandleDeregister(CUfileHandle_t fh) {
  static_cast<void>(api<"cuFileHandleDeregister">(
      [&] {
        std::lock_guard lock(mutex);
        files().erase(fh);
      },
      fh));
}

AW_EXPORT CUfileError_t cuFileBufRegister(const void* bufPtr_base, size_t length, int flags) {
  return api<"cuFileBufRegister">(
      [&] {
        require(bufPtr_base && length > 0 && flags == 0);
        within(bufPtr_base, 0, length);
        std::lock_guard lock(mutex);
        require(buffers().emplace(bufPtr_base, length).second, CU_FILE_MEMORY_ALREADY_REGISTERED);
      },
      bufPtr_base, length, flags);
}

AW_EXPORT CUfileError_t cuFileBufDeregister(const void* bufPtr_base) {
  return api<"cuFileBufDeregister">(
      [&] {
        std::lock_guard lock(mutex);
        require(buffers().erase(bufPtr_base) == 1, CU_FILE_MEMORY_NOT_REGISTERED);
      },
      bufPtr_base);
}

AW_EXPORT ssize_t cuFileRead(CUfileHandle_t fh, void* bufPtr_base, size_t size, off_t file_offset,
                             off_t bufPtr_offset) {
  return moved<"cuFileRead">(
      [&] { return aw::file::read(fh, bufPtr_base, size, file_offset, bufPtr_offset); }, fh,
      bufPtr_base, size, file_offset, bufPtr_offset);
}

AW_EXPORT ssize_t cuFileWrite(CUfileHandle_t fh, const void* bufPtr_base, size_t size,
                              off_t file_offset, off_t bufPtr_offset) {
  return moved<"cuFileWrite">(
      [&] { return aw::file::write(fh, bufPtr_base, size, file_offset, bufPtr_offset); }, fh,
      bufPtr_base, size, file_offset, bufPtr_offset);
}

AW_EXPORT ssize_t cuFileReadv(CUfileHandle_t fh, const CUfileIOVec_t* iov, size_t iovcnt,
                              off_t file_offset, unsigned flags) {
  return moved<"cuFileReadv">([&] {
    return pieces(iov, iovcnt, file_offset, flags, [&](const CUfileIOVec_t& one, off_t from) {
      return aw::file::read(fh, one.base, one.len, from, 0);
    });
  });
}

AW_EXPORT ssize_t cuFileWritev(CUfileHandle_t fh, const CUfileIOVec_t* iov, size_t iovcnt,
                               off_t file_offset, unsigned flags) {
  return moved<"cuFileWritev">([&] {
    return pieces(iov, iovcnt, file_offset, flags, [&](const CUfileIOVec_t& one, off_t to) {
      return aw::file::write(fh, one.base, one.len, to, 0);
    });
  });
}
