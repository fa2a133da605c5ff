// What the build of a CUDA torch writes down for its headers; CPU builds come without it.
#pragma once
#define C10_CUDA_BUILD_SHARED_LIBS
