// cuDNN: spatial transformers: a grid of places out of affine maps, and bilinear samples at them. A
// place is (x, y), with -1 and 1 the middles of the first and the last element of a line or column.
#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

struct cudnnSpatialTransformerDescriptorStruct : Object<14> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t dims[4] = {};  // images, channels, height and width of the result; 0 before they are set
};

namespace {

const cudnnSpatialTransformerDescriptorStruct& known_transformer(
    cudnnSpatialTransformerDescriptor_t desc) {
  const auto& found = object(desc);
  require(found.dims[0] > 0, "a spatial transformer that was never set");
  return found;
}

View map_of(const cudnnSpatialTransformerDescriptorStruct& what, const void* theta) {
  require_pointer(theta);
  return {packed(what.type, {what.dims[0], 2, 3}), theta};
}
View grid_of(const cudnnSpatialTransformerDescriptorStruct& what, const void* grid) {
  require_pointer(grid);
  return {packed(what.type, {what.dims[0], what.dims[2], what.dims[3], 2}), grid};
}

// Element `i` of `count` between -1 and 1. The manual does not say where a single one is: in the
// middle, as in PyTorch.
template <class T>
T between(int64_t i, int64_t count) {
  return count > 1 ? static_cast<T>(2 * i) / static_cast<T>(count - 1) - T{1} : T{0};
}

// The four elements around a place; those outside of the image count as 0.
template <class T>
struct Corners {
  int64_t at[4] = {};
  bool inside[4] = {};
  T weight[4] = {}, by_x[4] = {}, by_y[4] = {};  // and how it grows with the place

  Corners(T x, T y, int64_t height, int64_t width) {
    const T half_width = static_cast<T>(width - 1) / 2,
            half_height = static_cast<T>(height - 1) / 2;
    const T column = (x + 1) * half_width, row = (y + 1) * half_height;
    // No place that is far away, or no number, becomes an index.
    if (!(column > -1 && column < static_cast<T>(width) && row > -1 &&
          row < static_cast<T>(height)))
      return;
    const T left = std::floor(column), top = std::floor(row);
    const T right_part = column - left, lower_part = row - top;
    for (int i = 0; i < 4; ++i) {
      const int64_t c = static_cast<int64_t>(left) + (i & 1),
                    r = static_cast<int64_t>(top) + (i >> 1);
      if (c < 0 || c >= width || r < 0 || r >= height) continue;
      const T across = i & 1 ? right_part : 1 - right_part,
              down = i >> 1 ? lower_part : 1 - lower_part;
      inside[i] = true, at[i] = r * width + c, weight[i] = across * down;
      by_x[i] = (i & 1 ? down : -down) * half_width,
      by_y[i] = (i >> 1 ? across : -across) * half_height;
    }
  }
};

void check_sampled(const cudnnSpatialTransformerDescriptorStruct& what, const Layout& x,
                   const Layout& y) {
  require(x.rank == 4 && y.rank == 4, "only images of two dimensions are transformed");
  require(std::equal(y.dims, y.dims + 4, what.dims),
          "a result of another shape than the transformer's", kWrongShape);
  require(x.dims[0] == y.dims[0] && x.dims[1] == y.dims[1],
          "images of another number, or of other channels, than the result's", kWrongShape);
  require(x.type == what.type && y.type == what.type,
          "a tensor of another type than the transformer's");
}

}  // namespace

AW_EXPORT cudnnStatus_t
cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t* desc) {
  return api<"cudnnCreateSpatialTransformerDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t
cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t desc) {
  return api<"cudnnDestroySpatialTransformerDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(
    cudnnSpatialTransformerDescriptor_t desc, cudnnSamplerType_t sampler, cudnnDataType_t type,
    const int rank, const int dims[]) {
  return api<"cudnnSetSpatialTransformerNdDescriptor">([&] {
    auto& to = object(desc);
    require_pointer(dims);
    require(sampler == CUDNN_SAMPLER_BILINEAR, "no such way to sample");
    if (rank != 4) unsupported("spatial transformers of other than two dimensions");
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_HALF)
      unsupported("spatial transformers of other types than half, float and double");
    for (int i = 0; i < rank; ++i) require(dims[i] > 0, "a dimension that is not positive");
    to.type = type;
    std::copy_n(dims, rank, to.dims);
  });
}

AW_EXPORT cudnnStatus_t cudnnSpatialTfGridGeneratorForward(
    cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t desc, const void* theta,
    void* grid) {
  return api<"cudnnSpatialTfGridGeneratorForward">([&] {
    auto& h = object(handle);
    const auto& what = known_transformer(desc);
    const View from = map_of(what, theta), to = grid_of(what, grid);
    work(h, "cudnn_grid_forward", wide(what.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> maps(from);
      Scratch<T> places(to.elements());
      const int64_t height = to.dims[1], width = to.dims[2];
      share(to.dims[0] * height, width * 4, [&](int64_t line) {
        const T* m = maps.get() + line / height * 6;
        const T y = between<T>(line % height, height);
        for (int64_t i = 0; i < width; ++i) {
          const T x = between<T>(i, width);
          places[(line * width + i) * 2] = m[0] * x + m[1] * y + m[2];
          places[(line * width + i) * 2 + 1] = m[3] * x + m[4] * y + m[5];
        }
      });
      put<T>(to, places.get());
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(
    cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t desc, const void* dgrid,
    void* dtheta) {
  return api<"cudnnSpatialTfGridGeneratorBackward">([&] {
    auto& h = object(handle);
    const auto& what = known_transformer(desc);
    const View from = grid_of(what, dgrid), to = map_of(what, dtheta);
    work(h, "cudnn_grid_backward", wide(what.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> rise(from);
      Scratch<T> maps(to.elements());
      const int64_t height = from.dims[1], width = from.dims[2];
      share(to.dims[0], height * width * 6, [&](int64_t image) {
        double sums[6] = {};
        for (int64_t j = 0; j < height; ++j)
          for (int64_t i = 0; i < width; ++i) {
            const double x = between<double>(i, width), y = between<double>(j, height);
            const T* of = rise.get() + ((image * height + j) * width + i) * 2;
            for (int k = 0; k < 2; ++k) {
              const auto d = static_cast<double>(of[k]);
              sums[3 * k] += d * x, sums[3 * k + 1] += d * y, sums[3 * k + 2] += d;
            }
          }
        for (int k = 0; k < 6; ++k) maps[image * 6 + k] = static_cast<T>(sums[k]);
      });
      put<T>(to, maps.get());
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnSpatialTfSamplerForward(
    cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t desc, const void* alpha,
    const cudnnTensorDescriptor_t x_desc, const void* x, const void* grid, const void* beta,
    cudnnTensorDescriptor_t y_desc, void* y) {
  return api<"cudnnSpatialTfSamplerForward">([&] {
    auto& h = object(handle);
    const auto& what = known_transformer(desc);
    const View from = view(x_desc, x), to = view(y_desc, y), where = grid_of(what, grid);
    check_sampled(what, from, to);
    const double a = scalar(alpha, from.type), b = scalar(beta, to.type);
    work(h, "cudnn_sampler_forward", wide(what.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> images(from), places(where);
      Scratch<T> out(to.elements());
      const int64_t channels = to.dims[1], height = to.dims[2], width = to.dims[3];
      const int64_t plane = from.dims[2] * from.dims[3];
      share(to.dims[0] * height, width * channels * 8, [&](int64_t line) {
        const int64_t image = line / height, row = line % height;
        for (int64_t i = 0; i < width; ++i) {
          const T* place = places.get() + (line * width + i) * 2;
          const Corners<T> corners(place[0], place[1], from.dims[2], from.dims[3]);
          for (int64_t c = 0; c < channels; ++c) {
            const T* in = images.get() + (image * channels + c) * plane;
            T sum = 0;
            for (int k = 0; k < 4; ++k)
              if (corners.inside[k]) sum += corners.weight[k] * in[corners.at[k]];
            out[((image * channels + c) * height + row) * width + i] = sum;
          }
        }
      });
      put<T>(to, out.get(), static_cast<T>(a), static_cast<T>(b));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnSpatialTfSamplerBackward(
    cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t desc, const void* alpha,
    const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const void* alpha_grid,
    const cudnnTensorDescriptor_t dy_desc, const void* dy, const void* grid, const void* beta_grid,
    void* dgrid) {
  return api<"cudnnSpatialTfSamplerBackward">([&] {
    auto& h = object(handle);
    const auto& what = known_transformer(desc);
    const View in = view(x_desc, x), up = view(dy_desc, dy), to = view(dx_desc, dx);
    const View where = grid_of(what, grid), to_grid = grid_of(what, dgrid);
    check_sampled(what, in, up);
    require(in.same_shape(to) && to.type == in.type, "a gradient of another shape or type",
            kWrongShape);
    const double a = scalar(alpha, in.type), b = scalar(beta, in.type);
    const double ag = scalar(alpha_grid, in.type), bg = scalar(beta_grid, in.type);
    work(h, "cudnn_sampler_backward", wide(what.type), [=](auto zero) {
      using T = decltype(zero);
      const Dense<T> images(in), rise(up), places(where);
      Scratch<T> image_slope(in.elements()), place_slope(where.elements());
      const int64_t channels = up.dims[1], height = up.dims[2], width = up.dims[3];
      const int64_t plane = in.dims[2] * in.dims[3], outputs = height * width;
      // An element of a plane gets its sums from one thread, in the order of places.
      share(up.dims[0] * channels, outputs * 8, [&](int64_t number) {
        T* sums = image_slope.get() + number * plane;
        std::fill_n(sums, plane, T{0});
        const T* place = places.get() + number / channels * outputs * 2;
        for (int64_t i = 0; i < outputs; ++i) {
          const Corners<T> corners(place[2 * i], place[2 * i + 1], in.dims[2], in.dims[3]);
          for (int k = 0; k < 4; ++k)
            if (corners.inside[k])
              sums[corners.at[k]] += corners.weight[k] * rise[number * outputs + i];
        }
      });
      share(up.dims[0] * height, width * channels * 12, [&](int64_t line) {
        const int64_t image = line / height, row = line % height;
        for (int64_t i = 0; i < width; ++i) {
          const T* place = places.get() + (line * width + i) * 2;
          const Corners<T> corners(place[0], place[1], in.dims[2], in.dims[3]);
          T by_x = 0, by_y = 0;
          for (int64_t c = 0; c < channels; ++c) {
            const T* from = images.get() + (image * channels + c) * plane;
            const T d = rise[((image * channels + c) * height + row) * width + i];
            for (int k = 0; k < 4; ++k)
              if (corners.inside[k]) {
                by_x += d * corners.by_x[k] * from[corners.at[k]];
                by_y += d * corners.by_y[k] * from[corners.at[k]];
              }
          }
          place_slope[(line * width + i) * 2] = by_x,
                                           place_slope[(line * width + i) * 2 + 1] = by_y;
        }
      });
      put<T>(to, image_slope.get(), static_cast<T>(a), static_cast<T>(b));
      put<T>(to_grid, place_slope.get(), static_cast<T>(ag), static_cast<T>(bg));
    });
  });
}
