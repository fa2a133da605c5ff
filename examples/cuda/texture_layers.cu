// A layered texture and a 3D texture: layers are filtered each by itself, a volume between its
// slices; cudaMemcpy3D fills both.
//
// expect: texture_layers: right
#include <cmath>
#include <vector>

#include "example.h"

constexpr int kWidth = 8, kHeight = 6, kDepth = 4;

__global__ void sample_layers(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  out[(layer * kHeight + y) * kWidth + x] = tex2DLayered<float>(texture, x + 1.0f, y + 0.5f, layer);
}

__global__ void sample_volume(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  out[(z * kHeight + y) * kWidth + x] = tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 1.0f);
}

cudaArray_t make_array(const std::vector<float>& data, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kWidth, kHeight, kDepth), flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr =
      make_cudaPitchedPtr(const_cast<float*>(data.data()), kWidth * sizeof(float), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

std::vector<float> sample(cudaArray_t array, void (*kernel)(cudaTextureObject_t, float*)) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  for (cudaTextureAddressMode& mode : description.addressMode) mode = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  std::vector<float> result(kWidth * kHeight * kDepth);
  float* out;
  CHECK(cudaMalloc(&out, result.size() * sizeof(float)));
  kernel<<<kDepth, dim3(kWidth, kHeight)>>>(texture, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out));
  CHECK(cudaDestroyTextureObject(texture));
  return result;
}

int main() {
  std::vector<float> data(kWidth * kHeight * kDepth);
  for (size_t i = 0; i < data.size(); ++i) data[i] = noise(i);
  const auto at = [&](int x, int y, int z) {
    return double(data[(std::min(z, kDepth - 1) * kHeight + y) * kWidth + std::min(x, kWidth - 1)]);
  };
  const cudaArray_t layers = make_array(data, cudaArrayLayered),
                    volume = make_array(data, cudaArrayDefault);
  const std::vector<float> from_layers = sample(layers, sample_layers),
                           from_volume = sample(volume, sample_volume);
  double layer_error = 0, volume_error = 0;
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const int i = (z * kHeight + y) * kWidth + x;
        layer_error =
            std::fmax(layer_error, std::fabs(from_layers[i] - (at(x, y, z) + at(x + 1, y, z)) / 2));
        volume_error = std::fmax(volume_error,
                                 std::fabs(from_volume[i] - (at(x, y, z) + at(x, y, z + 1)) / 2));
      }
    }
  }
  cudaExtent extent;
  unsigned flags = 0;
  cudaChannelFormatDesc format;
  CHECK(cudaArrayGetInfo(&format, &extent, &flags, layers));
  std::printf("%zu layers, channels of %d bits\n", extent.depth, format.x);
  CHECK(cudaFreeArray(layers));
  CHECK(cudaFreeArray(volume));
  return verdict("texture_layers",
                 flags == cudaArrayLayered && layer_error < 1e-6 && volume_error < 1e-6);
}
