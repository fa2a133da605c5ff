// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

#include "host_defines.h"


#ifdef __cplusplus
extern "C" {
#endif

enum cudaRoundMode
{
  cudaRoundNearest = 0,
  cudaRoundZero = 1,
  cudaRoundPosInf = 2,
  cudaRoundMinInf = 3
};


#ifdef __cplusplus
}
#endif

#endif
