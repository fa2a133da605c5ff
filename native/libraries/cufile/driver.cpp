// cuFile: the driver that the process opens, and its properties. All that is read and written goes
// through the file system, as in the compatible mode of NVIDIA's.
#include <algorithm>
#include <mutex>

#include "libraries/cufile/cufile_parts.h"

using namespace aw::file;
using aw::lib::require;

namespace {

// The defaults of NVIDIA's cufile.json, in KiB where the name does not say otherwise.
struct Properties {
  size_t poll_threshold = 4, direct = 16384, cache = 131072, pinned = 33554432;
  bool poll = false;
};

std::mutex mutex;
Properties properties;
long opened = 0;

template <class Change>
void change(Change&& how) {
  std::lock_guard lock(mutex);
  how(properties);
}

constexpr size_t kPageKib = 4;  // sizes are multiples of the page that NVIDIA's driver counts in

void require_pages(size_t kib) {
  require(kib > 0 && kib % kPageKib == 0, CU_FILE_DRIVER_UNSUPPORTED_LIMIT);
}

CUfileOpError close_driver() {
  std::lock_guard lock(mutex);
  if (opened == 0) return CU_FILE_DRIVER_NOT_INITIALIZED;
  --opened;
  return CU_FILE_SUCCESS;
}

}  // namespace

AW_EXPORT CUfileError_t cuFileDriverOpen() {
  return api<"cuFileDriverOpen">([] {
    aw::lib::ensure_context();
    std::lock_guard lock(mutex);
    ++opened;
  });
}

#undef cuFileDriverClose
AW_EXPORT CUfileError_t cuFileDriverClose() { return api<"cuFileDriverClose">(close_driver); }
AW_EXPORT CUfileError_t cuFileDriverClose_v2() { return api<"cuFileDriverClose_v2">(close_driver); }

AW_EXPORT long cuFileUseCount() {
  std::lock_guard lock(mutex);
  return opened;
}

AW_EXPORT CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t* props) {
  return api<"cuFileDriverGetProperties">(
      [&] {
        require(props);
        std::lock_guard lock(mutex);
        *props = {};  // version 0 of nvidia-fs, which is not there, and no file system of its own
        props->nvfs.poll_thresh_size = properties.poll_threshold;
        props->nvfs.max_direct_io_size = properties.direct;
        props->nvfs.dcontrolflags =
            (properties.poll ? 1u << CU_FILE_USE_POLL_MODE : 0) | 1u << CU_FILE_ALLOW_COMPAT_MODE;
        props->fflags = 1u << CU_FILE_STREAMS_SUPPORTED;
        props->max_device_cache_size = static_cast<unsigned>(properties.cache);
        props->per_buffer_cache_size = 1024;
        props->max_device_pinned_mem_size = static_cast<unsigned>(properties.pinned);
      },
      props);
}

AW_EXPORT CUfileError_t cuFileDriverSetPollMode(bool poll, size_t poll_threshold_size) {
  return api<"cuFileDriverSetPollMode">(
      [&] {
        require_pages(poll_threshold_size);
        change([&](Properties& all) { all.poll = poll, all.poll_threshold = poll_threshold_size; });
      },
      poll, poll_threshold_size);
}

AW_EXPORT CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t max_direct_io_size) {
  return api<"cuFileDriverSetMaxDirectIOSize">(
      [&] {
        require_pages(max_direct_io_size);
        change([&](Properties& all) { all.direct = max_direct_io_size; });
      },
      max_direct_io_size);
}

AW_EXPORT CUfileError_t cuFileDriverSetMaxCacheSize(size_t max_cache_size) {
  return api<"cuFileDriverSetMaxCacheSize">(
      [&] {
        require_pages(max_cache_size);
        change([&](Properties& all) { all.cache = max_cache_size; });
      },
      max_cache_size);
}

AW_EXPORT CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t max_pinned_size) {
  return api<"cuFileDriverSetMaxPinnedMemSize">(
      [&] {
        require_pages(max_pinned_size);
        change([&](Properties& all) { all.pinned = max_pinned_size; });
      },
      max_pinned_size);
}

AW_EXPORT CUfileError_t cuFileGetVersion(int* version) {
  return api<"cuFileGetVersion">(
      [&] {
        require(version);
        *version = aw::lib::version.major * 1000 + aw::lib::version.minor * 10;
      },
      version);
}
