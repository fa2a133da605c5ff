// c10::cuda's streams: those of the stand-in.
#include <c10/cuda/CUDAStream.h>

#include <ostream>

#include "stand_in.h"

namespace c10::cuda {
namespace {

CUDAStream on_device(DeviceIndex device, StreamId id) {
  return CUDAStream(CUDAStream::UNCHECKED,
                    Stream(Stream::UNSAFE, awt::device_or_current(device), id));
}

}  // namespace

cudaStream_t CUDAStream::stream() const {
  uint64_t handle = 0;
  awt::require(awt_native_stream(id(), device_index(), &handle));
  return reinterpret_cast<cudaStream_t>(handle);
}

bool CUDAStream::query() const { return awt::guard().queryStream(unwrap()); }

void CUDAStream::synchronize() const { awt::guard().synchronizeStream(unwrap()); }

CUDAStream getStreamFromPool(const int priority, DeviceIndex device) {
  const c10::Device on = awt::device_or_current(device);
  int64_t id = 0;
  awt::require(awt_new_stream(on.index(), priority, &id));
  return on_device(on.index(), id);
}

CUDAStream getStreamFromPool(const bool high, DeviceIndex device) {
  return getStreamFromPool(high ? 1 - max_compile_time_stream_priorities : 0, device);
}

// Its id is the handle, as in the stand-in.
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  return on_device(device, reinterpret_cast<StreamId>(stream));
}

CUDAStream getDefaultCUDAStream(DeviceIndex device) { return on_device(device, 0); }

CUDAStream getCurrentCUDAStream(DeviceIndex device) {
  return CUDAStream(CUDAStream::UNCHECKED, awt::guard().getStream(awt::device_or_current(device)));
}

void setCurrentCUDAStream(CUDAStream stream) { awt::guard().exchangeStream(stream.unwrap()); }

std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) {
  return out << stream.unwrap();
}

}  // namespace c10::cuda
