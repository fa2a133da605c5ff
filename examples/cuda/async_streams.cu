// Four streams with pinned memory: copies in, a kernel, and copies out overlap; an event joins
// them.
//
// expect: async_streams: right
#include <cmath>

#include "example.h"

constexpr int kStreams = 4;

__global__ void polynomial(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = in[i];
  out[i] = fmaf(fmaf(fmaf(2.0f, x, -3.0f), x, 0.5f), x, 1.0f);
}

int main() {
  const int count = 40'000, piece = count / kStreams;
  const size_t bytes = count * sizeof(float), piece_bytes = piece * sizeof(float);
  float *in, *out, *device_in, *device_out;
  CHECK(cudaMallocHost(&in, bytes));
  CHECK(cudaHostAlloc(&out, bytes, cudaHostAllocDefault));
  CHECK(cudaMalloc(&device_in, bytes));
  CHECK(cudaMalloc(&device_out, bytes));
  for (int i = 0; i < count; ++i) in[i] = noise(i);

  cudaStream_t streams[kStreams];
  cudaEvent_t done[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  for (int s = 0; s < kStreams; ++s) {
    const int first = s * piece;
    CHECK(cudaMemcpyAsync(device_in + first, in + first, piece_bytes, cudaMemcpyHostToDevice,
                          streams[s]));
    polynomial<<<(piece + 255) / 256, 256, 0, streams[s]>>>(device_in + first, device_out + first,
                                                            piece);
    CHECK(cudaMemcpyAsync(out + first, device_out + first, piece_bytes, cudaMemcpyDeviceToHost,
                          streams[s]));
    CHECK(cudaEventRecord(done[s], streams[s]));
  }
  // The first stream waits for the others, so that waiting for it is waiting for all.
  for (int s = 1; s < kStreams; ++s) CHECK(cudaStreamWaitEvent(streams[0], done[s], 0));
  CHECK(cudaStreamSynchronize(streams[0]));

  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double x = in[i];
    worst = std::fmax(worst, std::fabs(out[i] - (((2 * x - 3) * x + 0.5) * x + 1)));
  }
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaEventDestroy(done[s]));
    CHECK(cudaStreamDestroy(streams[s]));
  }
  CHECK(cudaFreeHost(in));
  CHECK(cudaFreeHost(out));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  std::printf("%d elements in %d streams\n", count, kStreams);
  return verdict("async_streams", worst < 5e-7);
}
