// What the files of this program share.
#pragma once

constexpr int kSteps = 8;

enum Shape { kLinear, kParabola, kSine };
using Function = float (*)(float);

extern __constant__ Function functions[3];
extern __device__ float scale;

__device__ void count_call();
unsigned calls_so_far();  // on the host
