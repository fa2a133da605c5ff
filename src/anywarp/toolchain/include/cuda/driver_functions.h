// Small structures of the runtime interface, made in one call.
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

static inline struct cudaPitchedPtr make_cudaPitchedPtr(void* d, size_t p, size_t xsz, size_t ysz) {
  struct cudaPitchedPtr made;
  made.ptr = d;
  made.pitch = p;
  made.xsize = xsz;
  made.ysize = ysz;
  return made;
}

static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos made;
  made.x = x;
  made.y = y;
  made.z = z;
  return made;
}

static inline struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  struct cudaExtent made;
  made.width = w;
  made.height = h;
  made.depth = d;
  return made;
}

#endif
