// Textures and surfaces as CUDA C++ programs use them. Compiled by: nvcc -ptx -arch=sm_80 textures.cu
extern "C" {

__global__ void linear_line(cudaTextureObject_t t, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, i - 2);
}

__global__ void turned(cudaTextureObject_t t, float* out, int width, int height, float c, float s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
  out[y * width + x] = tex2D<float>(t, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

__global__ void layers(cudaTextureObject_t t, float4* out, int width) {
  int x = threadIdx.x, layer = blockIdx.x;
  out[layer * width + x] = tex2DLayered<float4>(t, x + 0.5f, 1.5f, layer);
}

__global__ void sky(cudaTextureObject_t t, const float* directions, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = texCubemap<float>(t, directions[3 * i], directions[3 * i + 1], directions[3 * i + 2]);
}

__global__ void solid(cudaTextureObject_t t, float* out) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * blockDim.y + y) * blockDim.x + x] = tex3D<float>(t, x + 0.25f, y + 0.5f, z + 0.75f);
}

__global__ void levels(cudaTextureObject_t t, float* out) {
  int i = threadIdx.x;
  out[3 * i] = tex2DLod<float>(t, 0.5f, 0.5f, i * 0.5f);
  out[3 * i + 1] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(exp2f(i - 4.0f), 0), make_float2(0, 0.001f));
  out[3 * i + 2] = tex2D<float>(t, 0.5f, 0.5f);
}

__global__ void corners(cudaTextureObject_t t, uint4* out) {
  int i = threadIdx.x;
  out[2 * i] = tex2Dgather<uint4>(t, i + 1.0f, 2.0f, 0);
  out[2 * i + 1] = tex2Dgather<uint4>(t, i + 1.0f, 2.0f, 3);
}

__global__ void inverted(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 v;
  surf2Dread(&v, from, x * 4, y);
  surf2Dwrite(make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, v.w), to, (width - 1 - x) * 4, y);
}

__global__ void solids(cudaSurfaceObject_t s) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  float2 v = surf3Dread<float2>(s, x * 8, y, z);
  surf3Dwrite(make_float2(v.y, v.x + 1), s, x * 8, y, z);
}

__global__ void stacked(cudaSurfaceObject_t s) {
  int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  short v = surf2DLayeredread<short>(s, x * 2, y, layer);
  surf2DLayeredwrite((short)(v * 2 + layer), s, x * 2, y, layer);
}

__global__ void beyond(cudaSurfaceObject_t s, int* out, int at) {
  out[0] = surf1Dread<int>(s, at, cudaBoundaryModeZero);
  out[1] = surf1Dread<int>(s, at, cudaBoundaryModeClamp);
  out[2] = surf1Dread<int>(s, at, cudaBoundaryModeTrap);
}
}
