// Ranges and marks by each of NVTX's ways, also from a second source of the program.
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <nvtx3/nvtx3.hpp>
#include <cstdio>
#include <string>
#include <utility>

struct of_input { static constexpr char const *name{"input"}; };
struct reading { static constexpr char const *name{"reading"}; static constexpr uint32_t id{7}; };
struct opened { static constexpr char const *message{"opened"}; };

extern "C" void elsewhere(void);

__global__ void fill(int *p) { *p = 3; }

void named_by_its_function(bool wanted) { NVTX3_FUNC_RANGE_IF(wanted); }

int main() {
  nvtxNameOsThread(1, "main");
  nvtxNameCudaDevice(0, "the card");
  int depths[] = {nvtxRangePush("outer"), nvtxRangePushW(L"wide \u00e9"), nvtxRangePop()};
  int *p;
  cudaMalloc(&p, sizeof *p);
  fill<<<1, 1>>>(p);
  {
    nvtx3::scoped_range range{"scoped", nvtx3::rgb{1, 2, 3}, nvtx3::payload{5}, nvtx3::named_category::get<reading>()};
    cudaDeviceSynchronize();
  }
  {
    nvtx3::scoped_range_in<of_input> range{nvtx3::registered_string_in<of_input>::get<opened>()};
    named_by_its_function(true);
    named_by_its_function(false);
  }
  nvtx3::end_range(nvtx3::start_range("started"));
  {
    nvtx3::unique_range first{"unique"};
    auto second = std::move(first);
  }
  std::string text = "marked";
  nvtx3::mark_in<of_input>(nvtx3::event_attributes{text, nvtx3::argb{1, 2, 3, 4}});
  elsewhere();
  printf("%d %d %d %d %d\n", depths[0], depths[1], depths[2], nvtxRangePop(), nvtxRangePop());
}
