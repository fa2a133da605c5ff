// Copies and fills: every form becomes one shape, whose bytes must all lie in memory that is there,
// now and when it runs.
#include <cstring>

#include "world.h"

namespace fake {

static size_t extent_of(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
  return width + (height - 1) * pitch + (depth - 1) * slice;
}

hipError_t check_shape(const Shape& s) {
  if (!s.width || !s.height || !s.depth) return hipSuccess;
  if (!s.to || !s.from) return hipErrorInvalidValue;
  if (s.height > 1 && (s.to_pitch < s.width || s.from_pitch < s.width))
    return hipErrorInvalidPitchValue;
  if (hipError_t bad =
          check_range(s.to, extent_of(s.width, s.height, s.depth, s.to_pitch, s.to_slice), false,
                      "a copy's destination"))
    return bad;
  return check_range(s.from, extent_of(s.width, s.height, s.depth, s.from_pitch, s.from_slice),
                     false, "a copy's source");
}

void perform(const Shape& s) {
  {
    Lock lock = lock_world();
    if (check_shape(s) != hipSuccess) return;  // a fault was recorded
  }
  for (size_t z = 0; z < s.depth; ++z)
    for (size_t y = 0; y < s.height; ++y)
      memmove(view(s.to + z * s.to_slice + y * s.to_pitch),
              view(s.from + z * s.from_slice + y * s.from_pitch), s.width);
}

hipError_t check_fill(const Fill& f) {
  if (!f.width || !f.height) return hipSuccess;
  size_t row = f.width * f.element;
  if (!f.to || (f.element != 1 && f.element != 2 && f.element != 4) ||
      reinterpret_cast<uintptr_t>(f.to) % f.element)
    return hipErrorInvalidValue;
  if (f.height > 1 && f.pitch < row) return hipErrorInvalidValue;
  return check_range(f.to, row + (f.height - 1) * f.pitch, true, "a fill");
}

void perform(const Fill& f) {
  {
    Lock lock = lock_world();
    if (check_fill(f) != hipSuccess) return;
  }
  for (size_t y = 0; y < f.height; ++y) {
    char* row = view(f.to + y * f.pitch);
    for (size_t x = 0; x < f.width; ++x) memcpy(row + x * f.element, &f.value, f.element);
  }
}

// Memory that only the program knows: an asynchronous copy from or to it is done before the call
// returns.
static bool pageable(const Shape& s) { return !containing(s.to) || !containing(s.from); }

static hipError_t check_kind(const Shape& s, hipMemcpyKind kind) {
  auto on_device = [](const void* address) {
    Allocation* it = containing(address);
    return it && it->memory != Memory::host && it->memory != Memory::registered;
  };
  bool to = on_device(s.to), from = on_device(s.from);
  bool to_managed = containing(s.to) && containing(s.to)->memory == Memory::managed;
  bool from_managed = containing(s.from) && containing(s.from)->memory == Memory::managed;
  switch (kind) {
    case hipMemcpyHostToHost:
      return (to && !to_managed) || (from && !from_managed) ? hipErrorInvalidMemcpyDirection
                                                            : hipSuccess;
    case hipMemcpyHostToDevice:
      return from && !from_managed ? hipErrorInvalidMemcpyDirection : hipSuccess;
    case hipMemcpyDeviceToHost:
      return to && !to_managed ? hipErrorInvalidMemcpyDirection : hipSuccess;
    case hipMemcpyDeviceToDevice:
    case hipMemcpyDeviceToDeviceNoCU:
    case hipMemcpyDefault:
      return hipSuccess;
    default:
      return hipErrorInvalidMemcpyDirection;
  }
}

static hipError_t copy(const Shape& shape, hipMemcpyKind kind, hipStream_t handle, bool wait,
                       bool captured = true) {
  WorkRef work;
  {
    hipError_t status;
    Lock lock = lock_world();
    Stream* stream = stream_of(handle, &status);
    if (!stream) return done(status);
    if ((status = check_shape(shape)) != hipSuccess) return done(status);
    if (shape.width && (status = check_kind(shape, kind)) != hipSuccess) return done(status);
    if (broken(stream) && captured) return done(hipErrorStreamCaptureInvalidated);
    if (capturing(stream) && captured) {
      Captured what;
      what.type = hipGraphNodeTypeMemcpy;
      what.run = [shape] { perform(shape); };
      what.shape = shape;
      what.kind = kind;
      capture(stream, what);
      return done(hipSuccess);
    }
    if (wait && breaks_captures()) return done(hipErrorStreamCaptureImplicit);
    if (!shape.width) return done(hipSuccess);
    work = submit(stream, "copy", [shape] { perform(shape); });
    wait = wait || pageable(shape);
  }
  if (wait)
    finish(work);
  else
    follow(work);
  return done(hipSuccess);
}

static hipError_t fill(const Fill& what, hipStream_t handle, bool wait) {
  WorkRef work;
  {
    hipError_t status;
    Lock lock = lock_world();
    Stream* stream = stream_of(handle, &status);
    if (!stream) return done(status);
    if ((status = check_fill(what)) != hipSuccess) return done(status);
    if (broken(stream)) return done(hipErrorStreamCaptureInvalidated);
    if (capturing(stream)) {
      Captured node;
      node.type = hipGraphNodeTypeMemset;
      node.run = [what] { perform(what); };
      node.fill = what;
      capture(stream, node);
      return done(hipSuccess);
    }
    if (wait && breaks_captures()) return done(hipErrorStreamCaptureImplicit);
    if (!what.width) return done(hipSuccess);
    work = submit(stream, "fill", [what] { perform(what); });
    Allocation* it = containing(what.to);
    wait = wait && it && it->memory != Memory::device;  // of device memory it is asynchronous
  }
  if (wait)
    finish(work);
  else
    follow(work);
  return done(hipSuccess);
}

template <typename To, typename From>
static Shape line(To to, From from, size_t size) {
  Shape s;
  s.to = reinterpret_cast<char*>(const_cast<void*>(reinterpret_cast<const void*>(to)));
  s.from = reinterpret_cast<const char*>(reinterpret_cast<const void*>(from));
  s.width = size;
  return s;
}

static Shape plane(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                   size_t height) {
  Shape s = line(to, from, width);
  s.height = height;
  s.to_pitch = to_pitch;
  s.from_pitch = from_pitch;
  return s;
}

hipError_t shape_of(const hipMemcpy3DParms& p, Shape* s) {
  if (p.srcArray || p.dstArray) return hipErrorNotSupported;
  s->to_pitch = p.dstPtr.pitch;
  s->from_pitch = p.srcPtr.pitch;
  s->to_slice = p.dstPtr.pitch * p.dstPtr.ysize;
  s->from_slice = p.srcPtr.pitch * p.srcPtr.ysize;
  s->to = static_cast<char*>(p.dstPtr.ptr) + p.dstPos.x + p.dstPos.y * s->to_pitch +
          p.dstPos.z * s->to_slice;
  s->from = static_cast<const char*>(p.srcPtr.ptr) + p.srcPos.x + p.srcPos.y * s->from_pitch +
            p.srcPos.z * s->from_slice;
  s->width = p.extent.width;
  s->height = p.extent.height;
  s->depth = p.extent.depth;
  return hipSuccess;
}

hipError_t shape_of(const HIP_MEMCPY3D& p, Shape* s) {
  auto base = [](hipMemoryType type, const void* host, hipDeviceptr_t device, char** out) {
    if (type == hipMemoryTypeArray) return hipErrorNotSupported;
    bool known = type == hipMemoryTypeHost || type == hipMemoryTypeDevice ||
                 type == hipMemoryTypeUnified || type == hipMemoryTypeManaged;
    if (!known) return hipErrorInvalidValue;
    *out = static_cast<char*>(type == hipMemoryTypeHost ? const_cast<void*>(host)
                                                        : reinterpret_cast<void*>(device));
    return hipSuccess;
  };
  char *to, *from;
  if (hipError_t bad = base(p.dstMemoryType, p.dstHost, p.dstDevice, &to)) return bad;
  if (hipError_t bad = base(p.srcMemoryType, p.srcHost, p.srcDevice, &from)) return bad;
  s->width = p.WidthInBytes;
  s->height = p.Height;
  s->depth = p.Depth;
  s->to_pitch = p.dstPitch ? p.dstPitch : p.WidthInBytes;
  s->from_pitch = p.srcPitch ? p.srcPitch : p.WidthInBytes;
  s->to_slice = s->to_pitch * (p.dstHeight ? p.dstHeight : p.Height);
  s->from_slice = s->from_pitch * (p.srcHeight ? p.srcHeight : p.Height);
  s->to = to + p.dstXInBytes + p.dstY * s->to_pitch + p.dstZ * s->to_slice;
  s->from = from + p.srcXInBytes + p.srcY * s->from_pitch + p.srcZ * s->from_slice;
  return hipSuccess;
}

static hipError_t shape_of(const hip_Memcpy2D& p, Shape* s) {
  HIP_MEMCPY3D q{};
  q.srcXInBytes = p.srcXInBytes;
  q.srcY = p.srcY;
  q.srcMemoryType = p.srcMemoryType;
  q.srcHost = p.srcHost;
  q.srcDevice = p.srcDevice;
  q.srcPitch = p.srcPitch;
  q.dstXInBytes = p.dstXInBytes;
  q.dstY = p.dstY;
  q.dstMemoryType = p.dstMemoryType;
  q.dstHost = p.dstHost;
  q.dstDevice = p.dstDevice;
  q.dstPitch = p.dstPitch;
  q.WidthInBytes = p.WidthInBytes;
  q.Height = p.Height;
  q.Depth = 1;
  return shape_of(q, s);
}

template <typename T>
static hipError_t copy_of(const T* parameters, hipStream_t stream, bool wait) {
  if (!parameters) return done(hipErrorInvalidValue);
  Shape shape;
  if (hipError_t bad = shape_of(*parameters, &shape)) return done(bad);
  hipMemcpyKind kind = hipMemcpyDefault;
  if constexpr (requires { parameters->kind; }) kind = parameters->kind;
  return copy(shape, kind, stream, wait);
}

static Fill filling(void* to, uint32_t value, unsigned element, size_t width, size_t height = 1,
                    size_t pitch = 0) {
  return Fill{static_cast<char*>(to), value, element, width, height, pitch};
}

}  // namespace fake

using namespace fake;

static hipStream_t own(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }

HIP(hipMemcpy)(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return copy(line(to, from, size), kind, nullptr, true);
}
HIP(hipMemcpy_spt)(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return copy(line(to, from, size), kind, hipStreamPerThread, true);
}
HIP(hipMemcpyWithStream)(void* to, const void* from, size_t size, hipMemcpyKind kind,
                         hipStream_t s) {
  return copy(line(to, from, size), kind, s, true);
}
HIP(hipMemcpyAsync)(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t s) {
  return copy(line(to, from, size), kind, s, false);
}
HIP(hipMemcpyAsync_spt)(void* to, const void* from, size_t size, hipMemcpyKind kind,
                        hipStream_t s) {
  return copy(line(to, from, size), kind, own(s), false);
}
HIP(hipMemcpyHtoD)(hipDeviceptr_t to, const void* from, size_t size) {
  return copy(line(to, from, size), hipMemcpyHostToDevice, nullptr, true);
}
HIP(hipMemcpyDtoH)(void* to, hipDeviceptr_t from, size_t size) {
  return copy(line(to, from, size), hipMemcpyDeviceToHost, nullptr, true);
}
HIP(hipMemcpyDtoD)(hipDeviceptr_t to, hipDeviceptr_t from, size_t size) {
  return copy(line(to, from, size), hipMemcpyDeviceToDevice, nullptr, false);
}
HIP(hipMemcpyHtoDAsync)(hipDeviceptr_t to, const void* from, size_t size, hipStream_t s) {
  return copy(line(to, from, size), hipMemcpyHostToDevice, s, false);
}
HIP(hipMemcpyDtoHAsync)(void* to, hipDeviceptr_t from, size_t size, hipStream_t s) {
  return copy(line(to, from, size), hipMemcpyDeviceToHost, s, false);
}
HIP(hipMemcpyDtoDAsync)(hipDeviceptr_t to, hipDeviceptr_t from, size_t size, hipStream_t s) {
  return copy(line(to, from, size), hipMemcpyDeviceToDevice, s, false);
}
HIP(hipMemcpyPeer)(void* to, int a, const void* from, int b, size_t size) {
  if (!device(a) || !device(b)) return done(hipErrorInvalidDevice);
  return copy(line(to, from, size), hipMemcpyDeviceToDevice, nullptr, true);
}
HIP(hipMemcpyPeerAsync)(void* to, int a, const void* from, int b, size_t size, hipStream_t s) {
  if (!device(a) || !device(b)) return done(hipErrorInvalidDevice);
  // CLR 6.0.0: it runs at once, on a stream that is being captured too.
  return copy(line(to, from, size), hipMemcpyDeviceToDevice, s, false, false);
}
HIP(hipMemcpy2D)(void* to, size_t tp, const void* from, size_t fp, size_t w, size_t h,
                 hipMemcpyKind kind) {
  return copy(plane(to, tp, from, fp, w, h), kind, nullptr, true);
}
HIP(hipMemcpy2DAsync)(void* to, size_t tp, const void* from, size_t fp, size_t w, size_t h,
                      hipMemcpyKind kind, hipStream_t s) {
  return copy(plane(to, tp, from, fp, w, h), kind, s, false);
}
HIP(hipMemcpyParam2D)(const hip_Memcpy2D* p) { return copy_of(p, nullptr, true); }
HIP(hipMemcpyParam2DAsync)(const hip_Memcpy2D* p, hipStream_t s) { return copy_of(p, s, false); }
HIP(hipDrvMemcpy2DUnaligned)(const hip_Memcpy2D* p) { return copy_of(p, nullptr, true); }
HIP(hipMemcpy3D)(const hipMemcpy3DParms* p) { return copy_of(p, nullptr, true); }
HIP(hipMemcpy3DAsync)(const hipMemcpy3DParms* p, hipStream_t s) { return copy_of(p, s, false); }
HIP(hipDrvMemcpy3D)(const HIP_MEMCPY3D* p) { return copy_of(p, nullptr, true); }
HIP(hipDrvMemcpy3DAsync)(const HIP_MEMCPY3D* p, hipStream_t s) { return copy_of(p, s, false); }
HIP(hipMemcpyBatchAsync)(void** to, void** from, size_t* sizes, size_t count,
                         hipMemcpyAttributes* attributes, size_t* places, size_t kinds,
                         size_t* failed, hipStream_t s) {
  if (!to || !from || !sizes || !count || !attributes || !places || !kinds || kinds > count ||
      places[0])
    return done(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    hipError_t status = copy(line(to[i], from[i], sizes[i]), hipMemcpyDefault, s, false);
    if (status == hipSuccess) continue;
    if (failed) *failed = i;
    return status;
  }
  return done(hipSuccess);
}
HIP(hipMemset)(void* to, int value, size_t size) {
  return fill(filling(to, static_cast<uint8_t>(value), 1, size), nullptr, true);
}
HIP(hipMemsetAsync)(void* to, int value, size_t size, hipStream_t s) {
  return fill(filling(to, static_cast<uint8_t>(value), 1, size), s, false);
}
HIP(hipMemsetAsync_spt)(void* to, int value, size_t size, hipStream_t s) {
  return fill(filling(to, static_cast<uint8_t>(value), 1, size), own(s), false);
}
HIP(hipMemsetD8)(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill(filling(to, value, 1, count), nullptr, true);
}
HIP(hipMemsetD16)(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill(filling(to, value, 2, count), nullptr, true);
}
HIP(hipMemsetD32)(hipDeviceptr_t to, int value, size_t count) {
  return fill(filling(to, static_cast<uint32_t>(value), 4, count), nullptr, true);
}
HIP(hipMemsetD8Async)(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t s) {
  return fill(filling(to, value, 1, count), s, false);
}
HIP(hipMemsetD16Async)(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t s) {
  return fill(filling(to, value, 2, count), s, false);
}
HIP(hipMemsetD32Async)(hipDeviceptr_t to, int value, size_t count, hipStream_t s) {
  return fill(filling(to, static_cast<uint32_t>(value), 4, count), s, false);
}
HIP(hipMemset2D)(void* to, size_t pitch, int value, size_t w, size_t h) {
  return fill(filling(to, static_cast<uint8_t>(value), 1, w, h, pitch), nullptr, true);
}
HIP(hipMemset2DAsync)(void* to, size_t pitch, int value, size_t w, size_t h, hipStream_t s) {
  return fill(filling(to, static_cast<uint8_t>(value), 1, w, h, pitch), s, false);
}
HIP(hipMemsetD2D8)(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t w, size_t h) {
  return fill(filling(to, value, 1, w, h, pitch), nullptr, true);
}
HIP(hipMemsetD2D16)(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t w, size_t h) {
  return fill(filling(to, value, 2, w, h, pitch), nullptr, true);
}
HIP(hipMemsetD2D32)(hipDeviceptr_t to, size_t pitch, unsigned value, size_t w, size_t h) {
  return fill(filling(to, value, 4, w, h, pitch), nullptr, true);
}
HIP(hipMemsetD2D8Async)(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t w, size_t h,
                        hipStream_t s) {
  return fill(filling(to, value, 1, w, h, pitch), s, false);
}
HIP(hipMemsetD2D16Async)(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t w, size_t h,
                         hipStream_t s) {
  return fill(filling(to, value, 2, w, h, pitch), s, false);
}
HIP(hipMemsetD2D32Async)(hipDeviceptr_t to, size_t pitch, unsigned value, size_t w, size_t h,
                         hipStream_t s) {
  return fill(filling(to, value, 4, w, h, pitch), s, false);
}

// Advice about managed memory changes nothing that a program can see.
static hipError_t advise(const void* address, size_t size) {
  Lock lock = lock_world();
  if (ready_world() != hipSuccess) return done(ready_world());
  if (!address || !size) return done(hipErrorInvalidValue);
  Allocation* it = containing(address);
  if (!it || (it->memory != Memory::managed && it->memory != Memory::registered))
    return done(hipErrorInvalidValue);
  return done(check_range(address, size, true, "advice"));
}
static hipError_t keep_advice(const void* address, size_t size, hipMemoryAdvise advice, int where) {
  if (hipError_t bad = advise(address, size)) return bad;
  Lock lock = lock_world();
  Allocation* it = containing(address);
  switch (advice) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
      it->read_mostly = advice == hipMemAdviseSetReadMostly;
      break;
    case hipMemAdviseSetPreferredLocation:
    case hipMemAdviseUnsetPreferredLocation:
      it->preferred = advice == hipMemAdviseSetPreferredLocation ? where : hipInvalidDeviceId;
      break;
    case hipMemAdviseSetAccessedBy:
      it->accessed_by.insert(where);
      break;
    case hipMemAdviseUnsetAccessedBy:
      it->accessed_by.erase(where);
      break;
    default:
      break;
  }
  return done(hipSuccess);
}
HIP(hipMemAdvise)(const void* address, size_t size, hipMemoryAdvise advice, int where) {
  if (where != hipCpuDeviceId && !device(where)) return done(hipErrorInvalidDevice);
  return keep_advice(address, size, advice, where);
}
HIP(hipMemAdvise_v2)(const void* address, size_t size, hipMemoryAdvise advice,
                     hipMemLocation where) {
  bool on_device = where.type == hipMemLocationTypeDevice;
  if (on_device && !device(where.id)) return done(hipErrorInvalidDevice);
  return keep_advice(address, size, advice, on_device ? where.id : hipCpuDeviceId);
}
HIP(hipMemRangeGetAttribute)(void* data, size_t size, hipMemRangeAttribute attribute,
                             const void* address, size_t bytes) {
  if (!data || size < 4) return done(hipErrorInvalidValue);
  if (hipError_t bad = advise(address, bytes)) return bad;
  Lock lock = lock_world();
  Allocation* it = containing(address);
  auto* out = static_cast<int*>(data);
  switch (attribute) {
    case hipMemRangeAttributeReadMostly:
      *out = it->read_mostly;
      break;
    case hipMemRangeAttributePreferredLocation:
      *out = it->preferred;
      break;
    case hipMemRangeAttributeLastPrefetchLocation:
      *out = it->prefetched;
      break;
    case hipMemRangeAttributeAccessedBy: {
      auto next = it->accessed_by.begin();
      for (size_t i = 0; i < size / 4; ++i)
        out[i] = next == it->accessed_by.end() ? int{hipInvalidDeviceId} : *next++;
      break;
    }
    default:
      return done(hipErrorInvalidValue);
  }
  return done(hipSuccess);
}
HIP(hipMemRangeGetAttributes)(void** data, size_t* sizes, hipMemRangeAttribute* attributes,
                              size_t count, const void* address, size_t bytes) {
  if (!data || !sizes || !attributes || !count) return done(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i)
    if (hipError_t bad =
            impl_hipMemRangeGetAttribute(data[i], sizes[i], attributes[i], address, bytes))
      return bad;
  return done(hipSuccess);
}
constexpr int kNowhere = -100;  // attached, not moved
static hipError_t prefetch(const void* address, size_t size, hipStream_t handle, int where) {
  if (hipError_t bad = advise(address, size)) return bad;
  hipError_t status;
  Lock lock = lock_world();
  Stream* stream = stream_of(handle, &status);
  if (!stream) return done(status);
  if (where != kNowhere) containing(address)->prefetched = where;
  submit(stream, "prefetch", nullptr);
  return done(hipSuccess);
}
HIP(hipMemPrefetchAsync)(const void* address, size_t size, int where, hipStream_t s) {
  if (where != hipCpuDeviceId && !device(where)) return done(hipErrorInvalidDevice);
  return prefetch(address, size, s, where);
}
HIP(hipMemPrefetchAsync_v2)(const void* address, size_t size, hipMemLocation where, unsigned flags,
                            hipStream_t s) {
  if (flags || (where.type == hipMemLocationTypeDevice && !device(where.id)))
    return done(hipErrorInvalidValue);
  return prefetch(address, size, s,
                  where.type == hipMemLocationTypeDevice ? where.id : hipCpuDeviceId);
}
HIP(hipStreamAttachMemAsync)(hipStream_t s, void* address, size_t size, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)
    return done(hipErrorInvalidValue);
  return prefetch(address, size ? size : 1, s, kNowhere);
}
