// Managed memory: pointers that host and device share, a linked list and a __managed__ variable,
// advice and prefetch.
//
// expect: managed_memory: right
#include <new>

#include "example.h"

struct Node {
  int value;
  Node* next;
};

__managed__ int visits = 0;
__device__ __managed__ double weights[4] = {0.5, 1.5, 2.5, 3.5};

__global__ void double_values(Node* head) {
  int place = 0;
  for (Node* node = head; node; node = node->next, ++place) {
    if (place % blockDim.x == threadIdx.x) {
      node->value *= 2;
      atomicAdd(&visits, 1);
    }
  }
  if (threadIdx.x < 4) weights[threadIdx.x] += threadIdx.x;
}

int main() {
  const int count = 100;
  Node* head = nullptr;
  for (int i = count; i > 0; --i) {
    void* memory;
    CHECK(cudaMallocManaged(&memory, sizeof(Node)));
    head = new (memory) Node{i, head};
  }
  int device = 0, concurrent = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));

  float* table;
  CHECK(cudaMallocManaged(&table, 1 << 16));
  if (concurrent) {
#if CUDART_VERSION >= 13000
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    CHECK(cudaMemAdvise(table, 1 << 16, cudaMemAdviseSetPreferredLocation, place));
    CHECK(cudaMemPrefetchAsync(table, 1 << 16, place, 0, 0));
#else
    CHECK(cudaMemAdvise(table, 1 << 16, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemPrefetchAsync(table, 1 << 16, device, 0));
#endif
  }
  CHECK(cudaMemset(table, 0, 1 << 16));

  double_values<<<1, 32>>>(head);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  int sum = 0, length = 0;
  while (head) {
    Node* const next = head->next;
    sum += head->value;
    ++length;
    CHECK(cudaFree(head));
    head = next;
  }
  std::printf("%d nodes, sum %d, %d visits, weights %.1f %.1f\n", length, sum, visits, weights[0],
              weights[3]);
  const bool right =
      sum == count * (count + 1) && visits == count && weights[3] == 6.5 && table[77] == 0;
  CHECK(cudaFree(table));
  return verdict("managed_memory", right);
}
