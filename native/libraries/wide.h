// Functions that are compiled for wider vectors as well; which is used is chosen when the library
// is loaded.
#pragma once

#if defined(__x86_64__) && !defined(__clang__)
#define AW_WIDE __attribute__((target_clones("default", "arch=x86-64-v3"), optimize("O3")))
#else
#define AW_WIDE
#endif
