// Facts of NVIDIA's public interface, written by anywarp.catalogue.binding_headers; change that instead.
#ifndef ANYWARP_CUPTI_VERSION_H
#define ANYWARP_CUPTI_VERSION_H

#include <cupti.h>

#endif
