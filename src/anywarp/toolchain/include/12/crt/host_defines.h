// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.
#pragma once
#include "../host_defines.h"
