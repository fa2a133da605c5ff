// As much of cuSOLVER's dense interface as the headers of torch name; there is no cuSOLVER to call.
#pragma once
#include <cusolver_common.h>
typedef struct cusolverDnContext* cusolverDnHandle_t;
