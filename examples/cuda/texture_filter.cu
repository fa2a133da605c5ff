// A 2D texture: bilinear filtering at any point, clamped and wrapped addresses, normalised bytes
// read as floats.
//
// expect: texture_filter: right
#include <cmath>
#include <vector>

#include "example.h"

__global__ void sample(cudaTextureObject_t texture, const float2* points, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2D<float>(texture, points[i].x, points[i].y);
}

// Bilinear interpolation by hand, with the weights of 8 fractional bits that CUDA's textures have.
double interpolate(const std::vector<double>& image, int width, int height, double x, double y,
                   bool wrap) {
  x -= 0.5;
  y -= 0.5;
  const double left = std::floor(x), top = std::floor(y);
  const double a = std::round((x - left) * 256) / 256, b = std::round((y - top) * 256) / 256;
  const auto at = [&](int i, int j) {
    if (wrap) return image[(j + 4 * height) % height * width + (i + 4 * width) % width];
    return image[std::min(std::max(j, 0), height - 1) * width +
                 std::min(std::max(i, 0), width - 1)];
  };
  const int i = int(left), j = int(top);
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
         a * b * at(i + 1, j + 1);
}

template <typename Texel>
bool run(const char* name, cudaTextureReadMode mode, bool wrap, double scale) {
  const int width = 32, height = 16, count = 2'000;
  std::vector<Texel> texels(width * height);
  std::vector<double> image(width * height);
  for (int i = 0; i < width * height; ++i) {
    texels[i] = static_cast<Texel>(noise(i) * 255);
    image[i] = texels[i] * scale;
  }
  std::vector<float2> points(count);
  for (int i = 0; i < count; ++i) {
    points[i] = make_float2((noise(2 * i) * 1.5f - 0.25f) * width,
                            (noise(2 * i + 1) * 1.5f - 0.25f) * height);
    // Weights that 8 bits hold exactly; normalised coordinates are exact too, since the sizes are
    // powers of two.
    points[i] = make_float2(std::round(points[i].x * 64) / 64, std::round(points[i].y * 4) / 4);
  }

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * sizeof(Texel),
                            width * sizeof(Texel), height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] =
      wrap ? cudaAddressModeWrap : cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = mode;
  description.normalizedCoords = wrap;  // wrapping wants normalised coordinates
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));

  std::vector<float2> coordinates = points;
  if (wrap) {
    for (float2& point : coordinates) point = make_float2(point.x / width, point.y / height);
  }
  float2* device_points;
  float* out;
  std::vector<float> result(count);
  CHECK(cudaMalloc(&device_points, count * sizeof(float2)));
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  CHECK(cudaMemcpy(device_points, coordinates.data(), count * sizeof(float2),
                   cudaMemcpyHostToDevice));
  sample<<<(count + 127) / 128, 128>>>(texture, device_points, out, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(device_points));
  CHECK(cudaFree(out));

  double worst = 0;
  for (int i = 0; i < count; ++i) {
    worst = std::fmax(worst, std::fabs(result[i] - interpolate(image, width, height, points[i].x,
                                                               points[i].y, wrap)));
  }
  const bool right = worst < 1e-6 * 255 * scale;
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
  return right;
}

int main() {
  const bool floats = run<float>("floats, clamped", cudaReadModeElementType, false, 1);
  const bool bytes =
      run<unsigned char>("bytes as floats, wrapped", cudaReadModeNormalizedFloat, true, 1.0 / 255);
  return verdict("texture_filter", floats && bytes);
}
