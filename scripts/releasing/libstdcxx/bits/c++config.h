// Before libstdc++'s own header of this name. That one was configured with the C library of its
// Debian; these functions of POSIX threads came with glibc 2.30, and libstdc++ does without them
// where they are not there.
#pragma GCC system_header
#include_next <bits/c++config.h>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
