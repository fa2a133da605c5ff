// Calls that cannot be expanded in place. calls.ptx: nvcc -ptx -arch=sm_80 calls.cu
extern "C" __device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void fib(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fibonacci(i % 13) + i;
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void ack(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = ackermann(i % 3, i / 3 % 3);
}

__device__ __noinline__ void quicksort(int *a, int low, int high) {
  while (low < high) {
    int p = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) {
        int t = a[i];
        a[i] = a[j];
        a[j] = t;
        i++;
        j--;
      }
    }
    if (j - low < high - i) {
      quicksort(a, low, j);
      low = i;
    } else {
      quicksort(a, i, high);
      high = j;
    }
  }
}
extern "C" __global__ void sort(int *rows, int n) { quicksort(rows + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1); }

struct Node {
  int left, right, value;
};
__device__ __noinline__ int sum_below(const Node *nodes, int at) {
  return at < 0 ? 0 : nodes[at].value + sum_below(nodes, nodes[at].left) + sum_below(nodes, nodes[at].right);
}
extern "C" __global__ void tree(int *out, const Node *nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sum_below(nodes, i);
}

struct Shape {
  float width;
  __device__ virtual float area(float s) const = 0;
  __device__ virtual int kind() const { return 7; }
};
struct Square : Shape {
  __device__ float area(float s) const override { return width * width * s; }
};
struct Circle : Shape {
  float pi;
  __device__ float area(float s) const override { return width * pi * s; }
  __device__ int kind() const override { return 9; }
};
__device__ __noinline__ float measure(const Shape *p, float s) { return p->area(s) + p->kind(); }
extern "C" __global__ void virtuals(float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Square a;
  a.width = i;
  Circle b;
  b.width = i;
  b.pi = 3.f;
  const Shape *p = i % 3 ? (const Shape *)&a : (const Shape *)&b;
  out[i] = measure(p, 2.f);
}

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation table[4] = {plus, minus, times, nullptr};
extern "C" __global__ void pointers(int *out, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[(i + k) % 3](i, 3) + 1;
}
extern "C" __global__ void null_pointer(int *out) { out[threadIdx.x] = table[threadIdx.x == 5 ? 3 : threadIdx.x % 3](threadIdx.x, 3); }
extern "C" __global__ void give_pointer(Operation *out) { out[0] = minus; }
extern "C" __global__ void take_pointer(int *out, Operation *f) { out[threadIdx.x] = f[0](threadIdx.x, 9); }

struct Callback {
  Operation f;
  int bias;
};
__device__ __noinline__ int apply(Callback c, int x) { return c.f(x, c.bias) + c.bias; }
extern "C" __global__ void callbacks(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Callback c;
  c.f = i & 1 ? plus : times;
  c.bias = i;
  out[i] = apply(c, i + 1);
}

extern "C" __device__ __noinline__ int down(int n, int *p) {
  volatile int pad[16];
  pad[n & 15] = n;
  if (n == 0) return 0;
  return down(n - 1, p) + pad[n & 15] + p[0];
}
extern "C" __global__ void deep(int *out, int n, int *one) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = down(i == 3 ? n : i % 7, one);
}

// A barrier inside of a function that is called through a pointer, by all threads at once.
__device__ void turn(int *shared) {
  int mine = shared[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
}
typedef void (*Step)(int *);
__device__ Step steps[1] = {turn};
extern "C" __global__ void barriers(int *out, int times) {
  __shared__ int held[256];
  held[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int i = 0; i < times; i++) steps[0](held);
  out[blockIdx.x * blockDim.x + threadIdx.x] = held[threadIdx.x];
}
