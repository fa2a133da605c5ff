// Driver API reference: stream memory operations, and the attributes of streams.
#include <cstring>

#include "cuda/context.h"
#include "cuda/stream.h"

using namespace aw;

namespace {

void wait_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags, bool wide) {
  auto stream = stream_of(handle);
  require(address && address % (wide ? 8 : 4) == 0 && (flags & ~(3u | 1u << 30)) == 0);
  stream->submit(WaitValueWork{address, value, flags, wide});
}

void write_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags, bool wide) {
  auto stream = stream_of(handle);
  require(address && address % (wide ? 8 : 4) == 0 && flags <= 1);
  stream->submit(WriteValueWork{address, value, wide});
}

}  // namespace

AW_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue32_v2">([&] { wait_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue64_v2">([&] { wait_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue32_v2">([&] { write_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue64_v2">([&] { write_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue32">([&] { wait_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue64">([&] { wait_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue32">([&] { write_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue64">([&] { write_value(stream, address, value, flags, true); });
}
