// Groups of threads as objects: blocks, tiles, coalesced threads, clusters of one block, grids.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "anywarp/cooperative/groups.h"
#include "anywarp/cooperative/tiles.h"

#ifdef ANYWARP_GROUPS_WITH_ATOMICS // where a program was refused without
#include <cuda/atomic>
#endif

#endif
