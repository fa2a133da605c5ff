// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.
#ifndef __cuda_profiler_h__
#define __cuda_profiler_h__

#include "cuda.h"


#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUoutput_mode_enum
{
  CU_OUT_KEY_VALUE_PAIR = 0,
  CU_OUT_CSV = 1
} CUoutput_mode;

CUresult cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode outputMode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
