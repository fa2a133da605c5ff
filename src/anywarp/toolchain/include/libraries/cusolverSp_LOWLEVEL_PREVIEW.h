// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUSOLVERSP_LOWLEVEL_PREVIEW_H
#define ANYWARP_CUSOLVERSP_LOWLEVEL_PREVIEW_H

#include "cusolverSp.h"

#ifdef __cplusplus
extern "C" {
#endif


#ifdef __cplusplus
}
#endif

#endif
