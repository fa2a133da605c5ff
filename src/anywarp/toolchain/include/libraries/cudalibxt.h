// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUDALIBXT_H
#define ANYWARP_CUDALIBXT_H

#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif


#ifdef __cplusplus
}
#endif

#endif
