// In the place of the header of glibc 2.32, in which the C library tells whether there is one
// thread only; libstdc++ then counts references without atomic instructions. Said here: there may
// be others, which is always right.
#pragma once

static constexpr char __libc_single_threaded = 0;
