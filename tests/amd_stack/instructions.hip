// Single instructions on data that differs in every lane. Reads lines of an instruction's name and two operands, and prints the result of each, all as bits in hexadecimal.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#define NEED(call) \
  if (hipError_t error = (call); error != hipSuccess) std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(error)), std::exit(1)

struct Row { uint64_t a, b, result; };

template <typename T>
__device__ T as(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T>
__device__ uint64_t bits(T value) {
  uint64_t found = 0;
  __builtin_memcpy(&found, &value, sizeof value);
  return found;
}

enum { SEGMENT, GREATER, LESSER, CLAMPED, TO_ZERO, UP, DOWN, QUOTIENT, DOUBLE_QUOTIENT, SWAPPED, PLACED, BY_VCC, SIXTH };
constexpr const char* names[] = {"segment", "greater", "lesser", "clamped", "to_zero", "up", "down", "quotient", "double_quotient", "swapped", "placed", "by_vcc", "sixth"};

#define MODE(n) "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " #n "\n"

__global__ void executed(Row* rows, int what) {
  Row& row = rows[blockIdx.x * blockDim.x + threadIdx.x];
  const float x = as<float>(row.a), y = as<float>(row.b);
  const double wide = as<double>(row.a);
  const uint32_t second = row.b;
  const uint64_t b = row.b, a = row.a;
  double d = 0;
  float f = 0;
  uint64_t pair = 0;
  switch (what) {
    case SEGMENT: asm volatile("v_trig_preop_f64 %0, %1, %2" : "=v"(d) : "v"(wide), "v"(second)); break;
    case GREATER: asm volatile("v_max_f32 %0, %1, %2" : "=v"(f) : "v"(x), "v"(y)); break;
    case LESSER: asm volatile("v_min_f32 %0, %1, %2" : "=v"(f) : "v"(x), "v"(y)); break;
    case CLAMPED: asm volatile("v_mul_f32 %0, %1, %2 clamp" : "=v"(f) : "v"(x), "v"(y)); break;
    case TO_ZERO: asm volatile(MODE(3) "v_add_f32 %0, %1, %2\n" MODE(0) : "=v"(f) : "v"(x), "v"(y)); break;
    case UP: asm volatile(MODE(1) "v_add_f32 %0, %1, %2\n" MODE(0) : "=v"(f) : "v"(x), "v"(y)); break;
    case DOWN: asm volatile(MODE(2) "v_add_f32 %0, %1, %2\n" MODE(0) : "=v"(f) : "v"(x), "v"(y)); break;
    case PLACED: {  // operands that a block shares
      const uint32_t compared = __builtin_amdgcn_readfirstlane(second), searched = __builtin_amdgcn_readfirstlane(uint32_t(a));
      uint32_t place, equal;
      asm volatile("s_cmp_eq_u32 %2, 0\ns_ff1_i32_b32 %0, %3\ns_cselect_b32 %1, 1, 0" : "=&s"(place), "=s"(equal) : "s"(compared), "s"(searched) : "scc");
      pair = uint64_t(equal) << 32 | place;
      break;
    }
    case BY_VCC: {  // the first row's operand, which a block shares
      const Row* first = rows + blockIdx.x * blockDim.x;
      asm volatile("s_mov_b64 vcc, %1\ns_load_dwordx2 vcc, vcc, 0\ns_waitcnt lgkmcnt(0)\ns_mov_b64 %0, vcc" : "=s"(pair) : "s"(first) : "vcc");
      break;
    }
    case QUOTIENT: f = x / y; break;
    case SIXTH: d = wide / 6.0; break;
    case DOUBLE_QUOTIENT: d = wide / as<double>(b); break;
#ifdef __gfx942__
    case SWAPPED: asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]" : "=v"(pair) : "v"(a), "v"(b)); break;
#endif
  }
  row.result = what == SWAPPED || what == PLACED || what == BY_VCC ? pair : what == SEGMENT || what == DOUBLE_QUOTIENT || what == SIXTH ? bits(d) : bits(f);
}

int main() {
  std::vector<std::vector<Row>> rows(std::size(names));
  char name[32];
  for (Row row{}; std::scanf("%31s %lx %lx", name, &row.a, &row.b) == 3;)
    for (size_t what = 0; what < std::size(names); ++what)
      if (!std::strcmp(name, names[what])) rows[what].push_back(row);
  for (size_t what = 0; what < rows.size(); ++what) {
    std::vector<Row>& some = rows[what];
    if (some.empty()) continue;
    const size_t count = some.size();
    some.resize((count + 63) / 64 * 64);
    Row* there;
    NEED(hipMalloc(&there, some.size() * sizeof(Row)));
    NEED(hipMemcpy(there, some.data(), some.size() * sizeof(Row), hipMemcpyHostToDevice));
    executed<<<some.size() / 64, 64>>>(there, int(what));
    NEED(hipGetLastError());
    NEED(hipMemcpy(some.data(), there, some.size() * sizeof(Row), hipMemcpyDeviceToHost));
    for (size_t n = 0; n < count; ++n) std::printf("%s %lx\n", names[what], some[n].result);
  }
}
