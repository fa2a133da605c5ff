// cuFile: what is read and written in the order of a stream. Sizes and offsets are read when the
// work is done, as documented, unless the stream was registered with the promise that they stay.
#include <cerrno>

#include "libraries/cufile/cufile_parts.h"

using namespace aw::file;
using aw::lib::require;

namespace {

// Puts the work into the stream; a failure is its result there, as documented: -1 for an error of
// the file system, else a status with its sign changed.
template <class Move>
void later(CUstream stream, const char* name, CUfileHandle_t handle, ssize_t* result, Move move) {
  file_of(handle);  // says at once what can never work
  aw::lib::ensure_context();
  aw::lib::submit(stream, name, [result, move] {
    try {
      *result = move();
    } catch (const aw::Failure& failure) {
      *result = -static_cast<ssize_t>(failure.code);
    }
  });
}

constexpr unsigned kFlags = 15;  // CU_FILE_STREAM_*

}  // namespace

AW_EXPORT CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags) {
  return api<"cuFileStreamRegister">([&] { require(flags <= kFlags); }, stream, flags);
}

AW_EXPORT CUfileError_t cuFileStreamDeregister(CUstream stream) {
  return api<"cuFileStreamDeregister">([] {}, stream);
}

AW_EXPORT CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void* bufPtr_base, size_t* size_p,
                                        off_t* file_offset_p, off_t* bufPtr_offset_p,
                                        ssize_t* bytes_read_p, CUstream stream) {
  return api<"cuFileReadAsync">(
      [&] {
        require(size_p && file_offset_p && bufPtr_offset_p && bytes_read_p);
        later(stream, "cuFileReadAsync", fh, bytes_read_p,
              [=] { return read(fh, bufPtr_base, *size_p, *file_offset_p, *bufPtr_offset_p); });
      },
      fh, bufPtr_base, size_p, file_offset_p, bufPtr_offset_p, bytes_read_p, stream);
}

AW_EXPORT CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void* bufPtr_base, size_t* size_p,
                                         off_t* file_offset_p, off_t* bufPtr_offset_p,
                                         ssize_t* bytes_written_p, CUstream stream) {
  return api<"cuFileWriteAsync">(
      [&] {
        require(size_p && file_offset_p && bufPtr_offset_p && bytes_written_p);
        later(stream, "cuFileWriteAsync", fh, bytes_written_p,
              [=] { return write(fh, bufPtr_base, *size_p, *file_offset_p, *bufPtr_offset_p); });
      },
      fh, bufPtr_base, size_p, file_offset_p, bufPtr_offset_p, bytes_written_p, stream);
}
