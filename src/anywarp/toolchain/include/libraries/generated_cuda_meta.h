// Facts of NVIDIA's public interface, written by anywarp.catalogue.binding_headers; change that instead.
#ifndef ANYWARP_GENERATED_CUDA_META_H
#define ANYWARP_GENERATED_CUDA_META_H

#include <cupti.h>

#endif
