// Convolutions in f32 without a matrix of patches: sums are made of copies of the inputs that have
// pads around them and channels in blocks.
#pragma once

#include "libraries/cudnn/convolution_shape.h"
#include "libraries/product/kernels.h"

namespace aw::dnn {

// Whether rows of x and y may be read so, and the direction is one of those that it is quick for.
bool direct_forward(const ConvolutionShape& s, const View& x, const View& w);
bool direct_data(const ConvolutionShape& s, const View& w, const View& dy);
bool direct_filter(const ConvolutionShape& s, const View& x, const View& dy);

void convolve_directly(const Convolution& how, const ConvolutionShape& s, const View& x,
                       const View& w, const View& y, float alpha, float beta,
                       const Finish* finish = nullptr);
void convolve_data_directly(const Convolution& how, const ConvolutionShape& s, const View& w,
                            const View& dy, const View& dx, float alpha, float beta);
void convolve_filter_directly(const Convolution& how, const ConvolutionShape& s, const View& x,
                              const View& dy, const View& dw, float alpha, float beta);

namespace direct {

using product::Run;

// Whether products of a type's numbers are made in f32 here.
bool widened(cudnnDataType_t type);
// Whether a tensor's lines or channels lie side by side.
bool readable(const View& tensor, const int64_t* space);

// A part of an image's channels, copied: planes [channels in blocks of `width`][space][width], from
// index `low` of each dimension on, which may lie outside and is 0 there.
struct Planes {
  int64_t in[3], in_space[3];  // extents and strides of the tensor's space
  int64_t low[3], size[3];     // of what is copied
  int64_t channels, width;     // of a group; of a block
  int64_t pitch;               // from pixel to pixel

  int64_t blocks() const { return (channels + width - 1) / width; }
  int64_t block_size() const { return size[0] * size[1] * size[2] * pitch; }
  // Whether all of them are the tensor's.
  bool inside() const {
    bool out = true;
    for (int i = 0; i < 3; ++i) out &= low[i] >= 0 && low[i] + size[i] <= in[i];
    return out;
  }
  // Channels that lie side by side stay so where a block has all of them. Lines [d0, dn) x [h0,
  // hn), counted from `low`, of a block of `count` channels from `at` on. `to` is where index (d0,
  // h0) goes; `size` says how far apart planes and lines lie.
  void copy(const View& tensor, int64_t at, int64_t count, int64_t d0, int64_t dn, int64_t h0,
            int64_t hn, float* to) const;
};

product::Type product_type(cudnnDataType_t type);

}  // namespace direct
}  // namespace aw::dnn
