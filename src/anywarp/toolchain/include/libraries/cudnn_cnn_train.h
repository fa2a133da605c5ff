// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUDNN_CNN_TRAIN_H
#define ANYWARP_CUDNN_CNN_TRAIN_H

#include "cudnn.h"

#ifdef __cplusplus
extern "C" {
#endif


#ifdef __cplusplus
}
#endif

#endif
