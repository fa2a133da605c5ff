// Fetches by the texture unit, and the same values by loads and arithmetic of the kernel's own.
// Compiled by: nvcc -ptx -arch=sm_80 textures.cu
extern "C" {

__device__ float at(const float* picture, int size, int x, int y) {
  x = min(max(x, 0), size - 1), y = min(max(y, 0), size - 1);
  return picture[y * size + x];
}

__global__ void linear_unit(cudaTextureObject_t t, const float*, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += tex2D<float>(t, (i % size) + k * 0.37f, (i / size) + k * 0.59f);
  out[i] = sum;
}

__global__ void linear_hand(cudaTextureObject_t, const float* picture, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    float u = (i % size) + k * 0.37f - 0.5f, v = (i / size) + k * 0.59f - 0.5f;
    float x = floorf(u), y = floorf(v);
    float a = floorf((u - x) * 256 + 0.5f) / 256, b = floorf((v - y) * 256 + 0.5f) / 256;
    int p = (int)x, q = (int)y;
    sum += (1 - a) * (1 - b) * at(picture, size, p, q) + a * (1 - b) * at(picture, size, p + 1, q) +
           (1 - a) * b * at(picture, size, p, q + 1) + a * b * at(picture, size, p + 1, q + 1);
  }
  out[i] = sum;
}

__global__ void index_unit(cudaTextureObject_t t, const float*, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += tex1Dfetch<float>(t, (i * 7 + k * 33) & (size * size - 1));
  out[i] = sum;
}

__global__ void index_hand(cudaTextureObject_t, const float* picture, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += picture[(i * 7 + k * 33) & (size * size - 1)];
  out[i] = sum;
}
}
