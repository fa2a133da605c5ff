// What programs take from Thrust, CUB and libcu++, each against loops on the host. Prints a line per check that fails, and how many there were.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

static int checks, wrong;
static void check(bool right, const char* what) {
  ++checks;
  if (!right) {
    ++wrong;
    std::printf("wrong: %s\n", what);
  }
}
static void check(cudaError_t state, const char* what) { check(state == cudaSuccess, what); }

constexpr int kCount = 30011;

struct Square {
  __host__ __device__ double operator()(float x) const { return double(x) * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

template <int Threads, int Items>
__global__ void sort_blocks(int* keys) {
  using Load = cub::BlockLoad<int, Threads, Items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, Threads, Items, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, Threads, Items>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
  } shared;
  int mine[Items];
  int* place = keys + blockIdx.x * Threads * Items;
  Load(shared.load).Load(place, mine);
  __syncthreads();
  Sort(shared.sort).Sort(mine);
  __syncthreads();
  Store(shared.store).Store(place, mine);
}

__global__ void warps_and_blocks(const int* in, int* warp_sums, int* scanned, int* block_max) {
  using Warp = cub::WarpReduce<int>;
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Warp::TempStorage warps[4];
  __shared__ typename Scan::TempStorage scan;
  __shared__ typename Reduce::TempStorage reduce;
  int i = blockIdx.x * 128 + threadIdx.x, value = in[i], out;
  int sum = Warp(warps[threadIdx.x / 32]).Sum(value);
  if (threadIdx.x % 32 == 0) warp_sums[i / 32] = sum;
  Scan(scan).ExclusiveSum(value, out);
  scanned[i] = out;
  int most = Reduce(reduce).Reduce(value, [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x == 0) block_max[blockIdx.x] = most;
}

__global__ void count_up(cuda::atomic<int, cuda::thread_scope_device>* all, int* slots, cuda::std::array<int, 3> steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto pair = cuda::std::make_tuple(i, steps[i % 3]);
  all->fetch_add(cuda::std::get<1>(pair), cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> slot(slots[i % 7]);
  slot.fetch_max(i);
}

template <class Call>
static void with_room(Call call, const char* what) {
  size_t bytes = 0;
  void* room = nullptr;
  check(call(room, bytes), what);
  check(cudaMalloc(&room, bytes ? bytes : 1), what);
  check(call(room, bytes), what);
  check(cudaDeviceSynchronize(), what);
  cudaFree(room);
}

int main() {
  std::vector<int> numbers(kCount);
  std::vector<float> reals(kCount);
  uint64_t state = 88172645463325252ull;
  for (int i = 0; i < kCount; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    numbers[i] = int(state % 5003) - 1700;
    reals[i] = float(int(state >> 40) - (1 << 23)) / 4096.0f;
  }
  thrust::device_vector<int> d(numbers.begin(), numbers.end());
  thrust::device_vector<float> r(reals.begin(), reals.end());
  auto host = [](const auto& v) {
    std::vector<typename std::decay_t<decltype(v)>::value_type> out(v.size());
    thrust::copy(v.begin(), v.end(), out.begin());
    return out;
  };
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());

  auto s = d;
  thrust::sort(s.begin(), s.end());
  check(host(s) == sorted, "thrust::sort of int");
  auto fs = r;
  thrust::sort(fs.begin(), fs.end(), thrust::greater<float>());
  auto fh = reals;
  std::sort(fh.begin(), fh.end(), std::greater<float>());
  check(host(fs) == fh, "thrust::sort of float, downwards");

  thrust::device_vector<int> order(kCount);
  thrust::sequence(order.begin(), order.end());
  auto keys = d;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
  std::vector<int> stable(kCount);
  std::iota(stable.begin(), stable.end(), 0);
  std::stable_sort(stable.begin(), stable.end(), [&](int a, int b) { return numbers[a] < numbers[b]; });
  check(host(order) == stable, "thrust::stable_sort_by_key");

  long total = std::accumulate(numbers.begin(), numbers.end(), 0L);
  check(thrust::reduce(d.begin(), d.end(), 0L) == total, "thrust::reduce");
  check(thrust::count_if(d.begin(), d.end(), IsOdd()) == std::count_if(numbers.begin(), numbers.end(), IsOdd()), "thrust::count_if");
  check(thrust::min_element(d.begin(), d.end()) - d.begin() == std::min_element(numbers.begin(), numbers.end()) - numbers.begin(), "thrust::min_element");
  double squares = 0;
  for (float x : reals) squares += double(x) * x;
  double got = thrust::transform_reduce(r.begin(), r.end(), Square(), 0.0, thrust::plus<double>());
  check(std::abs(got - squares) <= squares * kCount * 0x1p-53, "thrust::transform_reduce");
  long dot = 0;
  for (int x : numbers) dot += long(x) * x;
  check(thrust::inner_product(d.begin(), d.end(), d.begin(), 0L, thrust::plus<long>(), [] __host__ __device__(int a, int b) { return long(a) * b; }) == dot, "thrust::inner_product");

  thrust::device_vector<long> sums(kCount);
  thrust::inclusive_scan(d.begin(), d.end(), sums.begin(), thrust::plus<long>());
  std::vector<long> expected(kCount);
  long running = 0;
  for (int i = 0; i < kCount; ++i) expected[i] = running += numbers[i];
  check(host(sums) == expected, "thrust::inclusive_scan");
  thrust::device_vector<int> upto(kCount);
  thrust::exclusive_scan(d.begin(), d.end(), upto.begin(), -100000, thrust::maximum<int>());
  std::vector<int> most(kCount);
  for (int i = 0, m = -100000; i < kCount; ++i) most[i] = m, m = std::max(m, numbers[i]);
  check(host(upto) == most, "thrust::exclusive_scan with maximum");

  auto u = s;
  u.erase(thrust::unique(u.begin(), u.end()), u.end());
  auto uh = sorted;
  uh.erase(std::unique(uh.begin(), uh.end()), uh.end());
  check(host(u) == uh, "thrust::unique");
  thrust::device_vector<int> found(u.size()), counts(u.size());
  auto ends = thrust::reduce_by_key(s.begin(), s.end(), thrust::make_constant_iterator(1), found.begin(), counts.begin());
  std::map<int, int> histogram;
  for (int x : numbers) ++histogram[x];
  std::vector<int> hk, hc;
  for (auto [k, c] : histogram) hk.push_back(k), hc.push_back(c);
  check(size_t(ends.first - found.begin()) == hk.size() && host(found) == hk && host(counts) == hc, "thrust::reduce_by_key");

  auto parted = d;
  auto middle = thrust::stable_partition(parted.begin(), parted.end(), IsOdd());
  auto ph = numbers;
  auto pm = std::stable_partition(ph.begin(), ph.end(), IsOdd());
  check(middle - parted.begin() == pm - ph.begin() && host(parted) == ph, "thrust::stable_partition");
  thrust::device_vector<int> left(kCount);
  left.erase(thrust::remove_copy_if(d.begin(), d.end(), left.begin(), IsOdd()), left.end());
  std::vector<int> lh;
  for (int x : numbers)
    if (!(x & 1)) lh.push_back(x);
  check(host(left) == lh, "thrust::remove_copy_if");
  thrust::device_vector<int> both(u.size());
  thrust::device_vector<int> evens(2500);
  thrust::sequence(evens.begin(), evens.end(), -1700, 2);
  both.erase(thrust::set_intersection(u.begin(), u.end(), evens.begin(), evens.end(), both.begin()), both.end());
  std::vector<int> eh(2500), ih;
  for (int i = 0; i < 2500; ++i) eh[i] = -1700 + 2 * i;
  std::set_intersection(uh.begin(), uh.end(), eh.begin(), eh.end(), std::back_inserter(ih));
  check(host(both) == ih, "thrust::set_intersection");
  thrust::device_vector<int> places(kCount);
  thrust::lower_bound(u.begin(), u.end(), d.begin(), d.end(), places.begin());
  std::vector<int> plh(kCount);
  for (int i = 0; i < kCount; ++i) plh[i] = std::lower_bound(uh.begin(), uh.end(), numbers[i]) - uh.begin();
  check(host(places) == plh, "thrust::lower_bound");
  auto zipped = thrust::make_zip_iterator(d.begin(), thrust::make_counting_iterator(0));
  auto last = thrust::max_element(zipped, zipped + kCount, [] __host__ __device__(auto a, auto b) { return thrust::get<0>(a) < thrust::get<0>(b) || (thrust::get<0>(a) == thrust::get<0>(b) && thrust::get<1>(a) < thrust::get<1>(b)); });
  int best = 0;
  for (int i = 0; i < kCount; ++i)
    if (numbers[i] >= numbers[best]) best = i;
  check(last - zipped == best, "thrust::max_element over a zip_iterator");
  thrust::device_vector<int> gathered(kCount);
  thrust::gather(order.begin(), order.end(), d.begin(), gathered.begin());
  check(host(gathered) == sorted, "thrust::gather");

  const int* in = thrust::raw_pointer_cast(d.data());
  thrust::device_vector<int> out(kCount), number(1);
  int *o = thrust::raw_pointer_cast(out.data()), *n = thrust::raw_pointer_cast(number.data());
  with_room([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, in, n, kCount); }, "cub::DeviceReduce::Sum");
  check(number[0] == int(total), "cub::DeviceReduce::Sum");
  with_room([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, in, o, kCount); }, "cub::DeviceScan::ExclusiveSum");
  std::vector<int> before(kCount);
  for (int i = 1; i < kCount; ++i) before[i] = before[i - 1] + numbers[i - 1];
  check(host(out) == before, "cub::DeviceScan::ExclusiveSum");
  with_room([&](void* t, size_t& b) { return cub::DeviceSelect::If(t, b, in, o, n, kCount, IsOdd()); }, "cub::DeviceSelect::If");
  std::vector<int> odd;
  for (int x : numbers)
    if (x & 1) odd.push_back(x);
  out.resize(number[0]);
  check(host(out) == odd, "cub::DeviceSelect::If");
  out.resize(kCount);
  o = thrust::raw_pointer_cast(out.data());
  with_room([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeysDescending(t, b, in, o, kCount); }, "cub::DeviceRadixSort");
  check(host(out) == std::vector<int>(sorted.rbegin(), sorted.rend()), "cub::DeviceRadixSort::SortKeysDescending");
  thrust::device_vector<int> bins(50);
  int* h = thrust::raw_pointer_cast(bins.data());
  with_room([&](void* t, size_t& b) { return cub::DeviceHistogram::HistogramEven(t, b, in, h, 51, -1700, 3300, kCount); }, "cub::DeviceHistogram");
  std::vector<int> bh(50);
  for (int x : numbers)
    if (x >= -1700 && x < 3300) ++bh[(x + 1700) / 100];
  check(host(bins) == bh, "cub::DeviceHistogram::HistogramEven");
  thrust::device_vector<int> bounds(101), segments(100);
  std::vector<int> sb(101), sh(100);
  for (int i = 0; i <= 100; ++i) sb[i] = int(long(kCount) * i * i / 10000);
  for (int i = 0; i < 100; ++i) sh[i] = std::accumulate(numbers.begin() + sb[i], numbers.begin() + sb[i + 1], 0);
  bounds.assign(sb.begin(), sb.end());
  const int* sbp = thrust::raw_pointer_cast(bounds.data());
  int* sp = thrust::raw_pointer_cast(segments.data());
  with_room([&](void* t, size_t& b) { return cub::DeviceSegmentedReduce::Sum(t, b, in, sp, 100, sbp, sbp + 1); }, "cub::DeviceSegmentedReduce");
  check(host(segments) == sh, "cub::DeviceSegmentedReduce::Sum");

  auto blocks = d;
  sort_blocks<64, 5><<<kCount / 320, 64>>>(thrust::raw_pointer_cast(blocks.data()));
  auto bsh = numbers;
  for (int i = 0; i < kCount / 320; ++i) std::sort(bsh.begin() + 320 * i, bsh.begin() + 320 * (i + 1));
  check(host(blocks) == bsh, "cub::BlockRadixSort");
  int whole = kCount / 128;
  thrust::device_vector<int> ws(whole * 4), sc(whole * 128), bm(whole);
  warps_and_blocks<<<whole, 128>>>(in, thrust::raw_pointer_cast(ws.data()), thrust::raw_pointer_cast(sc.data()), thrust::raw_pointer_cast(bm.data()));
  std::vector<int> wsh(whole * 4), sch(whole * 128), bmh(whole);
  for (int i = 0; i < whole * 128; ++i) {
    wsh[i / 32] += numbers[i];
    sch[i] = i % 128 ? sch[i - 1] + numbers[i - 1] : 0;
    bmh[i / 128] = i % 128 ? std::max(bmh[i / 128], numbers[i]) : numbers[i];
  }
  check(host(ws) == wsh && host(sc) == sch && host(bm) == bmh, "cub::WarpReduce, BlockScan, BlockReduce");

  cuda::atomic<int, cuda::thread_scope_device>* all;
  check(cudaMallocManaged(&all, sizeof *all), "cudaMallocManaged");
  new (all) cuda::atomic<int, cuda::thread_scope_device>(0);
  thrust::device_vector<int> slots(7, -1);
  count_up<<<20, 100>>>(all, thrust::raw_pointer_cast(slots.data()), cuda::std::array<int, 3>{1, 10, 100});
  check(cudaDeviceSynchronize(), "count_up");
  int counted = 0;
  std::vector<int> slh(7);
  for (int i = 0; i < 2000; ++i) counted += i % 3 == 0 ? 1 : i % 3 == 1 ? 10 : 100, slh[i % 7] = i;
  check(all->load() == counted && host(slots) == slh, "cuda::atomic, cuda::atomic_ref, cuda::std::array, tuple");

  std::printf("%d checks, %d wrong\n", checks, wrong);
  return wrong != 0;
}
