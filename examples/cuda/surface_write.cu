// A surface: a kernel writes into an array by byte coordinates, another reads it through a texture
// and a surface.
//
// expect: surface_write: right
#include <vector>

#include "example.h"

constexpr int kWidth = 50, kHeight = 30;

__device__ uchar4 colour(int x, int y) { return make_uchar4(x, y, x ^ y, 255 - x); }

__global__ void paint(cudaSurfaceObject_t surface) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight) surf2Dwrite(colour(x, y), surface, x * sizeof(uchar4), y);
}

// Mirrors the picture on its vertical axis in place: each thread exchanges two pixels.
__global__ void mirror(cudaSurfaceObject_t surface) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth / 2 || y >= kHeight) return;
  const int other = kWidth - 1 - x;
  const uchar4 left = surf2Dread<uchar4>(surface, x * sizeof(uchar4), y);
  const uchar4 right = surf2Dread<uchar4>(surface, other * sizeof(uchar4), y);
  surf2Dwrite(right, surface, x * sizeof(uchar4), y);
  surf2Dwrite(left, surface, other * sizeof(uchar4), y);
}

__global__ void fetch(cudaTextureObject_t texture, uchar4* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kWidth && y < kHeight) out[y * kWidth + x] = tex2D<uchar4>(texture, x, y);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));

  uchar4* out;
  CHECK(cudaMalloc(&out, kWidth * kHeight * sizeof(uchar4)));
  const dim3 threads(16, 8), blocks((kWidth + 15) / 16, (kHeight + 7) / 8);
  paint<<<blocks, threads>>>(surface);
  mirror<<<blocks, threads>>>(surface);
  fetch<<<blocks, threads>>>(texture, out);
  CHECK(cudaGetLastError());
  std::vector<uchar4> by_texture(kWidth * kHeight), by_copy(kWidth * kHeight);
  CHECK(cudaMemcpy(by_texture.data(), out, kWidth * kHeight * sizeof(uchar4),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(by_copy.data(), kWidth * sizeof(uchar4), array, 0, 0,
                              kWidth * sizeof(uchar4), kHeight, cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));

  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const unsigned char m = kWidth - 1 - x,
                          expected[] = {m, (unsigned char)y, (unsigned char)(m ^ y),
                                        (unsigned char)(255 - m)};
      for (const auto& picture : {by_texture, by_copy}) {
        const uchar4 pixel = picture[y * kWidth + x];
        wrong += pixel.x != expected[0] || pixel.y != expected[1] || pixel.z != expected[2] ||
                 pixel.w != expected[3];
      }
    }
  }
  std::printf("%d x %d pixels, mirrored: %d wrong\n", kWidth, kHeight, wrong);
  return verdict("surface_write", wrong == 0);
}
