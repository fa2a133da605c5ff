// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.
#ifndef __CUDART_PLATFORM_H__
#define __CUDART_PLATFORM_H__


#define isEglSupported 1

#ifdef __cplusplus
extern "C" {
#endif



#ifdef __cplusplus
}
#endif

#endif
