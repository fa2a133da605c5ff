// Functions of the device run time that our PTX compiler defines: the grid's barrier and the switch of a conditional graph node.
#ifndef ANYWARP_DEVICE_RUNTIME_H
#define ANYWARP_DEVICE_RUNTIME_H

#include "attributes.h"

extern "C" {
__device__ unsigned long long cudaCGGetIntrinsicHandle(unsigned int scope);
__device__ unsigned int cudaCGSynchronize(unsigned long long handle, unsigned int flags);
__device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
}

#endif
