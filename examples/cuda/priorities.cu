// Streams with priorities: the range, what a stream says of itself, and that order within a stream
// does not depend on them.
//
// expect: priorities: right
#include <vector>

#include "example.h"

__global__ void append(int* log, int* length, int value) { log[atomicAdd(length, 1)] = value; }

int main() {
  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  bool right = greatest <= least;
  const int count = 20;
  cudaStream_t urgent, ordinary;
  CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreateWithPriority(&ordinary, cudaStreamDefault,
                                     least - 100));  // brought into the range
  int of_urgent = 99, of_ordinary = 99, of_default = 99;
  unsigned flags = 99;
  unsigned long long first_id = 0, second_id = 0;
  CHECK(cudaStreamGetPriority(urgent, &of_urgent));
  CHECK(cudaStreamGetPriority(ordinary, &of_ordinary));
  CHECK(cudaStreamGetPriority(0, &of_default));
  CHECK(cudaStreamGetFlags(urgent, &flags));
  CHECK(cudaStreamGetId(urgent, &first_id));
  CHECK(cudaStreamGetId(ordinary, &second_id));
  right = right && of_urgent == greatest && of_ordinary == greatest && of_default == 0 &&
          flags == cudaStreamNonBlocking && first_id != second_id;

  int *log, *length;
  CHECK(cudaMallocManaged(&log, 2 * count * sizeof(int)));
  CHECK(cudaMallocManaged(&length, sizeof(int)));
  *length = 0;
  for (int i = 0; i < count; ++i) {
    append<<<1, 1, 0, ordinary>>>(log, length, i);
    append<<<1, 1, 0, urgent>>>(log, length, 1000 + i);
  }
  CHECK(cudaStreamSynchronize(urgent));
  CHECK(cudaStreamSynchronize(ordinary));
  int next[2] = {0, 0};
  for (int i = 0; i < *length; ++i) {
    const int stream = log[i] / 1000;
    right = right && log[i] % 1000 == next[stream]++;
  }
  right = right && next[0] == count && next[1] == count;
  std::printf("%d entries, each stream's in order\n", *length);
  CHECK(cudaStreamDestroy(urgent));
  CHECK(cudaStreamDestroy(ordinary));
  CHECK(cudaFree(log));
  CHECK(cudaFree(length));
  return verdict("priorities", right);
}
