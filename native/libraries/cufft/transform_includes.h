// What pocketfft and its user include, before any instruction set is chosen: inline functions of
// these are shared.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/own_functions.h"
#include "libraries/cufft/transform.h"
#include "libraries/float_formats.h"
#include "libraries/work.h"

#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 0
