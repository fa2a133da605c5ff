// What kernels on the device hip and the driver share so that printf, assertions, traps and the
// device's malloc work with no host thread that answers: compiler/amdgpu/services.py and
// native/hip/device/services.c are the kernels' side, native/hip/services.cpp the host's.
//
// Plain C: the kernels' side is compiled as C for AMD GPUs.
#pragma once

#include "hip_structures.h"  // beside this: device code has no path to it

#define kAwHipServicesVersion 1u
#define kAwHipUsed 0x75E5A11Cu
#define kAwHipFree 0xF4EEB10Cu
#define kAwHipLongestText 1024u  // of a format or a %s; what is longer is cut
