// Functions of ours in libcuda.so.1 (docs/contracts.md, section 8).
#pragma once

#include "core/own_functions.h"
