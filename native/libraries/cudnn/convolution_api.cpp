// cuDNN: convolutions and their gradients.
#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace {

// A descriptor's convolution, of tensors that go with it.
Convolution convolution_of(const cudnnConvolutionDescriptorStruct* desc, const Layout& x,
                           const Layout& w, const Layout& y) {
  auto& from = object(desc);
  require(from.rank > 0, "a convolution descriptor that was never set");
  Convolution how;
  how.rank = from.rank, how.flipped = from.mode == CUDNN_CONVOLUTION;
  std::copy_n(from.pads, from.rank, how.pads), std::copy_n(from.strides, from.rank, how.strides);
  std::copy_n(from.dilations, from.rank, how.dilations);
  check_convolution(how, x, w, y);
  require(x.dims[1] == w.dims[1] * from.groups, "channels that are not those of all groups",
          kWrongShape);
  for (int i = 0; i < how.rank; ++i) {
    const int64_t room =
        x.dims[2 + i] + 2 * how.pads[i] - (w.dims[2 + i] - 1) * how.dilations[i] - 1;
    require(room >= 0 && y.dims[2 + i] == room / how.strides[i] + 1, "an output of another size",
            kWrongShape);
  }
  return how;
}

// Sums of products of bytes are exact as doubles.
bool doubles(const Layout& a, const Layout& b, const cudnnConvolutionDescriptorStruct* desc) {
  return wide(a.type) || wide(b.type) || desc->compute == CUDNN_DATA_DOUBLE ||
         desc->compute == CUDNN_DATA_INT32;
}

void output_dims(const cudnnConvolutionDescriptorStruct* desc, const Layout& x, const Layout& w,
                 int64_t* dims) {
  auto& from = object(desc);
  require(x.rank == from.rank + 2 && w.rank == x.rank, "ranks that do not go together",
          kWrongShape);
  require(x.dims[1] == w.dims[1] * from.groups, "channels that are not those of all groups",
          kWrongShape);
  dims[0] = x.dims[0], dims[1] = w.dims[0];
  for (int i = 0; i < from.rank; ++i) {
    const int64_t room =
        x.dims[2 + i] + 2 * from.pads[i] - (w.dims[2 + i] - 1) * from.dilations[i] - 1;
    require(room >= 0, "a filter larger than the padded tensor", kWrongShape);
    dims[2 + i] = room / from.strides[i] + 1;
  }
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w, int count, int dims[]) {
  return api<"cudnnGetConvolutionNdForwardOutputDim">([&] {
    require_pointer(dims);
    require(count == layout(x).rank, "another count of dimensions");
    int64_t found[kMostDims];
    output_dims(desc, layout(x), layout(w), found);
    for (int i = 0; i < count; ++i) dims[i] = static_cast<int>(found[i]);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w, int* n, int* c, int* height, int* width) {
  return api<"cudnnGetConvolution2dForwardOutputDim">([&] {
    require(layout(x).rank == 4, "a tensor that has not four dimensions");
    int64_t found[kMostDims];
    output_dims(desc, layout(x), layout(w), found);
    give(n, found[0]), give(c, found[1]), give(height, found[2]), give(width, found[3]);
  });
}

AW_EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                                const cudnnTensorDescriptor_t x_desc, const void* x,
                                                const cudnnFilterDescriptor_t w_desc, const void* w,
                                                const cudnnConvolutionDescriptor_t desc,
                                                cudnnConvolutionFwdAlgo_t, void*, size_t,
                                                const void* beta,
                                                const cudnnTensorDescriptor_t y_desc, void* y) {
  return api<"cudnnConvolutionForward">([&] {
    auto& h = object(handle);
    const View in = view(x_desc, x), filter = view(w_desc, w), to = view(y_desc, y);
    const Convolution how = convolution_of(desc, in, filter, to);
    const double a = scalar(alpha, in.type), b = scalar(beta, in.type);
    work(h, "cudnn_convolution_forward", doubles(in, to, desc), [=](auto zero) {
      using T = decltype(zero);
      convolve<T>(how, in, filter, to, static_cast<T>(a), static_cast<T>(b));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void* alpha, const cudnnFilterDescriptor_t w_desc, const void* w,
    const cudnnTensorDescriptor_t dy_desc, const void* dy, const cudnnConvolutionDescriptor_t desc,
    cudnnConvolutionBwdDataAlgo_t, void*, size_t, const void* beta,
    const cudnnTensorDescriptor_t dx_desc, void* dx) {
  return api<"cudnnConvolutionBackwardData">([&] {
    auto& h = object(handle);
    const View filter = view(w_desc, w), up = view(dy_desc, dy), to = view(dx_desc, dx);
    const Convolution how = convolution_of(desc, to, filter, up);
    const double a = scalar(alpha, up.type), b = scalar(beta, up.type);
    work(h, "cudnn_convolution_backward_data", doubles(up, to, desc), [=](auto zero) {
      using T = decltype(zero);
      convolve_data<T>(how, filter, up, to, static_cast<T>(a), static_cast<T>(b));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t dy_desc, const void* dy, const cudnnConvolutionDescriptor_t desc,
    cudnnConvolutionBwdFilterAlgo_t, void*, size_t, const void* beta,
    const cudnnFilterDescriptor_t dw_desc, void* dw) {
  return api<"cudnnConvolutionBackwardFilter">([&] {
    auto& h = object(handle);
    const View in = view(x_desc, x), up = view(dy_desc, dy), to = view(dw_desc, dw);
    const Convolution how = convolution_of(desc, in, to, up);
    const double a = scalar(alpha, in.type), b = scalar(beta, in.type);
    work(h, "cudnn_convolution_backward_filter", doubles(in, to, desc), [=](auto zero) {
      using T = decltype(zero);
      convolve_filter<T>(how, in, up, to, static_cast<T>(a), static_cast<T>(b));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                                     const cudnnTensorDescriptor_t dy_desc,
                                                     const void* dy, const void* beta,
                                                     const cudnnTensorDescriptor_t db_desc,
                                                     void* db) {
  return api<"cudnnConvolutionBackwardBias">([&] {
    auto& h = object(handle);
    const View up = view(dy_desc, dy), to = view(db_desc, db);
    require(spreads(to, up) && to.dims[1] == up.dims[1] && to.elements() == up.dims[1],
            "a bias that has not one number for each channel", kWrongShape);
    const double a = scalar(alpha, up.type), b = scalar(beta, up.type);
    work(h, "cudnn_convolution_backward_bias", wide(up.type), [=](auto zero) {
      using T = decltype(zero);
      Scratch<double> sums(to.elements());
      reduce<Sum, T, 1>(up, to, {up}, Copy{}, sums.get());
      map<T, 1>(to, static_cast<T>(a), static_cast<T>(b),
                {View(packed(CUDNN_DATA_DOUBLE, to), sums.get())}, Copy{});
    });
  });
}

// y = activation(alpha1 * convolution + alpha2 * z + bias); z may be y.
AW_EXPORT cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnFilterDescriptor_t w_desc, const void* w, const cudnnConvolutionDescriptor_t desc,
    cudnnConvolutionFwdAlgo_t, void*, size_t, const void* alpha2,
    const cudnnTensorDescriptor_t z_desc, const void* z, const cudnnTensorDescriptor_t bias_desc,
    const void* bias, const cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t y_desc, void* y) {
  return api<"cudnnConvolutionBiasActivationForward">([&] {
    auto& h = object(handle);
    const View in = view(x_desc, x), filter = view(w_desc, w), to = view(y_desc, y),
               offset = view(bias_desc, bias);
    const Convolution how = convolution_of(desc, in, filter, to);
    require(spreads(offset, to), "a bias that does not go with the output", kWrongShape);
    const auto curve = object(activation);
    require(curve.mode == CUDNN_ACTIVATION_RELU || curve.mode == CUDNN_ACTIVATION_IDENTITY,
            "an activation that is neither RELU nor IDENTITY");  // as documented
    const double a = scalar(alpha1, in.type), b = scalar(alpha2, in.type);
    const View more = b != 0 ? view(z_desc, z) : to;
    require(more.same_shape(to), "tensors of different shapes", kWrongShape);
    work(h, "cudnn_convolution_bias_activation_forward", doubles(in, to, desc), [=](auto zero) {
      using T = decltype(zero);
      const bool bends = curve.mode == CUDNN_ACTIVATION_RELU;
      const T least = bends ? T{0} : -std::numeric_limits<T>::infinity();
      const T other =
          !bends || curve.nan == CUDNN_PROPAGATE_NAN ? std::numeric_limits<T>::quiet_NaN() : least;
      if constexpr (std::is_same_v<T, float>)
        if (a == 1 && b == 0 && offset.elements() == to.dims[1] && offset.dims[1] == to.dims[1] &&
            convolve_finished(how, in, filter, to, {numbers_of_channels(offset), least, other}))
          return;
      // In the order of the output, so that nothing is turned round twice.
      Layout lying = to;
      lying.type = type_of<T>();
      const bool in_place = to.type == lying.type && !(b != 0 && more.data == to.data);
      Scratch<T> room(in_place ? 0 : lying.span());
      const View made = in_place ? to : View(lying, room.get());
      convolve<T>(how, in, filter, made, static_cast<T>(a), 0);
      const View each_bias = spread(offset, to);
      auto bend = [=](T v) { return v > least ? v : v == v ? least : other; };
      if (b == 0)
        return map<T, 2>(to, 1, 0, {made, each_bias},
                         each<2>([=](T v, T o) { return bend(v + o); }));
      map<T, 3>(to, 1, 0, {made, each_bias, more},
                each<3>([=, f = static_cast<T>(b)](T v, T o, T m) { return bend(v + f * m + o); }));
    });
  });
}

// The factor of a convolution that is one product of matrices: a row for each place of the output,
// image by image, and a column for each tap of each channel, in the filter's order. It is laid as
// cuBLAS reads matrices, column after column.
AW_EXPORT cudnnStatus_t cudnnIm2Col(cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc,
                                    const void* x, const cudnnFilterDescriptor_t w_desc,
                                    const cudnnConvolutionDescriptor_t desc, void* columns) {
  return api<"cudnnIm2Col">([&] {
    auto& h = object(handle);
    const View in = view(x_desc, x);
    const Layout& w = layout(w_desc);
    require_pointer(columns);
    int64_t sizes[kMostDims];
    output_dims(desc, in, w, sizes);
    const cudnnConvolutionDescriptorStruct how = *desc;
    int64_t places = in.dims[0], taps = 1;
    for (int i = 0; i < how.rank; ++i) places *= sizes[2 + i], taps *= w.dims[2 + i];
    const int64_t count = in.dims[1] * taps;
    const View to(packed(in.type, {count, places}), columns);
    const Layout out =
        packed(in.type, std::initializer_list<int64_t>{in.dims[0], how.rank > 0 ? sizes[2] : 1,
                                                       how.rank > 1 ? sizes[3] : 1,
                                                       how.rank > 2 ? sizes[4] : 1});
    const Layout filter = w;
    work(h, "cudnn_im2col", wide(in.type), [=](auto zero) {
      using T = decltype(zero);
      share(count, places * 4, [&](int64_t column) {
        int64_t tap = column % taps, shifts[3];
        for (int i = how.rank - 1; i >= 0; --i) {
          const int64_t size = filter.dims[2 + i], at = tap % size;
          const int64_t t = how.mode == CUDNN_CONVOLUTION ? size - 1 - at : at;
          shifts[i] = t * how.dilations[i] - how.pads[i], tap /= size;
        }
        Scratch<T> row(places);
        for (int64_t i = 0; i < places; ++i) {
          int64_t rest = i, at = column / taps * in.strides[1];
          bool inside = true;
          for (int k = how.rank - 1; k >= 0; --k) {
            const int64_t where = rest % out.dims[1 + k] * how.strides[k] + shifts[k];
            rest /= out.dims[1 + k];
            inside = inside && where >= 0 && where < in.dims[2 + k];
            at += where * in.strides[2 + k];
          }
          at += rest * in.strides[0];
          row[i] = inside ? *load_row<T>(in, at, 1, 1, &row[i]) : T{0};
        }
        store_row<T>(to, column * places, 1, static_cast<size_t>(places), row.get(), 1, 0);
      });
    });
  });
}
