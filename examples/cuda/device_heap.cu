// malloc, free, new and delete in kernels: memory that lives from one launch to the next, and the
// heap's limit.
//
// expect: device_heap: right
#include <vector>

#include "example.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override {
    return 3.0f * radius * radius;
  }  // as if pi were 3, so that it is exact
};

__global__ void build(Shape** shapes, int** tables) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shapes[i] = i % 3 ? static_cast<Shape*>(new Square(i)) : static_cast<Shape*>(new Disc(i));
  tables[i] = static_cast<int*>(malloc((i + 1) * sizeof(int)));
  for (int k = 0; tables[i] && k <= i; ++k) tables[i][k] = k * i;
}

__global__ void use(Shape** shapes, int** tables, float* areas, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  areas[i] = shapes[i]->area();
  delete shapes[i];
  int sum = 0;
  for (int k = 0; k <= i; ++k) sum += tables[i][k];
  sums[i] = sum;
  free(tables[i]);
}

__global__ void ask_too_much(void** got) {
  void* memory = malloc(size_t(1) << 45);
  *got = memory;
  free(memory);
}

int main() {
  const int count = 128;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  Shape** shapes;
  int** tables;
  float* areas;
  int* sums;
  void** got;
  CHECK(cudaMalloc(&shapes, count * sizeof(Shape*)));
  CHECK(cudaMalloc(&tables, count * sizeof(int*)));
  CHECK(cudaMallocManaged(&areas, count * sizeof(float)));
  CHECK(cudaMallocManaged(&sums, count * sizeof(int)));
  CHECK(cudaMallocManaged(&got, sizeof(void*)));
  build<<<2, count / 2>>>(shapes, tables);
  use<<<2, count / 2>>>(shapes, tables, areas, sums);
  ask_too_much<<<1, 1>>>(got);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong += areas[i] != (i % 3 ? 1 : 3) * i * i;
    wrong += sums[i] != i * i * (i + 1) / 2;
  }
  std::printf("%d objects and tables, %d wrong, too much %s\n", count, wrong,
              *got ? "given" : "refused");
  const bool right = wrong == 0 && limit >= 16 << 20 && *got == nullptr;
  for (void* pointer : {(void*)shapes, (void*)tables, (void*)areas, (void*)sums, (void*)got})
    CHECK(cudaFree(pointer));
  return verdict("device_heap", right);
}
