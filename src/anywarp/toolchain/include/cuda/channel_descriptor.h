// The format of a texture's elements, by their C++ type.
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#if defined(__cplusplus)

#include "cuda_runtime_api.h"

// Other types have no format: their texture could not be read.
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc(void) {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf(void) {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1(void) { return cudaCreateChannelDescHalf(); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2(void) {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4(void) {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#define __anywarp_channels(type, bits_x, bits_y, bits_z, bits_w, kind)                       \
  template <>                                                                                \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>(void) {                           \
    return cudaCreateChannelDesc(bits_x, bits_y, bits_z, bits_w, cudaChannelFormatKind##kind); \
  }
#define __anywarp_channels_124(type, bits, kind)          \
  __anywarp_channels(type##1, bits, 0, 0, 0, kind)        \
  __anywarp_channels(type##2, bits, bits, 0, 0, kind)     \
  __anywarp_channels(type##4, bits, bits, bits, bits, kind)

__anywarp_channels(char, 8, 0, 0, 0, Signed)
__anywarp_channels(signed char, 8, 0, 0, 0, Signed)
__anywarp_channels(unsigned char, 8, 0, 0, 0, Unsigned)
__anywarp_channels(short, 16, 0, 0, 0, Signed)
__anywarp_channels(unsigned short, 16, 0, 0, 0, Unsigned)
__anywarp_channels(int, 32, 0, 0, 0, Signed)
__anywarp_channels(unsigned int, 32, 0, 0, 0, Unsigned)
__anywarp_channels(float, 32, 0, 0, 0, Float)
__anywarp_channels_124(char, 8, Signed)
__anywarp_channels_124(uchar, 8, Unsigned)
__anywarp_channels_124(short, 16, Signed)
__anywarp_channels_124(ushort, 16, Unsigned)
__anywarp_channels_124(int, 32, Signed)
__anywarp_channels_124(uint, 32, Unsigned)
__anywarp_channels_124(float, 32, Float)

#undef __anywarp_channels_124
#undef __anywarp_channels

#endif

#endif
