// cuFFT: handles, what a plan is made of, and what it computes.
#include "libraries/cufft/plan.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace aw::cufft {
namespace {

struct Plans {
  std::mutex mutex;
  std::unordered_map<cufftHandle, std::unique_ptr<Plan>> all;
  cufftHandle last = 0;
};

Plans& plans() {
  static auto& it = *new Plans;
  return it;
}

size_t size_of(Number number) {
  return number == Number::kDouble ? 8 : number == Number::kFloat ? 4 : 2;
}

bool real_in(const Problem& problem) { return problem.kind == Kind::kRealToComplex; }
bool real_out(const Problem& problem) { return problem.kind == Kind::kComplexToReal; }

// How many numbers of one side lie along the last dimension.
size_t last_length(const Problem& problem, bool real) {
  const size_t length = problem.length[problem.rank - 1];
  return problem.kind == Kind::kComplex || real ? length : length / 2 + 1;
}

Place place(const Problem& problem, const Layout& layout, void* data, bool real, bool in_place) {
  const auto size = static_cast<ptrdiff_t>(size_of(problem.number) * (real ? 1 : 2));
  Place out{data, {}};
  if (layout.given) {
    ptrdiff_t step = layout.step * size;
    for (size_t i = problem.rank; i-- > 0;) {
      out.stride[i + 1] = step;
      step *= layout.embed[i];
    }
    out.stride[0] = layout.distance * size;
    return out;
  }
  ptrdiff_t step = size;
  for (size_t i = problem.rank; i-- > 0;) {
    out.stride[i + 1] = step;
    size_t length = problem.length[i];
    if (i + 1 == problem.rank) {
      length = last_length(problem, real);
      if (real && in_place) length = 2 * (length / 2 + 1);
    }
    step *= static_cast<ptrdiff_t>(length);
  }
  out.stride[0] = step;
  return out;
}

}  // namespace

Plan& use(cufftHandle handle) {
  std::lock_guard lock(plans().mutex);
  auto found = plans().all.find(handle);
  require(found != plans().all.end(), CUFFT_INVALID_PLAN);
  return *found->second;
}

Plan& use_made(cufftHandle handle) {
  Plan& plan = use(handle);
  require(plan.transform != nullptr, CUFFT_INVALID_PLAN);
  return plan;
}

cufftHandle add(std::unique_ptr<Plan> plan) {
  lib::ensure_context();
  std::lock_guard lock(plans().mutex);
  const cufftHandle handle = ++plans().last;
  plans().all[handle] = std::move(plan);
  return handle;
}

Wanted wanted(cufftType type, int rank, const long long* n, long long batch) {
  Wanted out{};
  require(rank >= 1 && rank <= 3 && n);
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z:
      out.problem.kind = Kind::kComplex;
      break;
    case CUFFT_R2C:
    case CUFFT_D2Z:
      out.problem.kind = Kind::kRealToComplex;
      break;
    case CUFFT_C2R:
    case CUFFT_Z2D:
      out.problem.kind = Kind::kComplexToReal;
      break;
    default:
      throw Failure(CUFFT_INVALID_VALUE);
  }
  const bool wide = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
  out.problem.number = wide ? Number::kDouble : Number::kFloat;
  out.problem.rank = static_cast<size_t>(rank);
  require(batch >= 1, CUFFT_INVALID_SIZE);
  // More numbers than memory has addresses are no size.
  __int128 numbers = batch;
  for (int i = 0; i < rank; ++i) {
    require(n[i] >= 1, CUFFT_INVALID_SIZE);
    numbers *= n[i] + 2;
    require(numbers < int64_t{1} << 58, CUFFT_INVALID_SIZE);
    out.problem.length[static_cast<size_t>(i)] = static_cast<size_t>(n[i]);
  }
  out.problem.batch = static_cast<size_t>(batch);
  return out;
}

void make(Plan& plan, const Wanted& wanted) {
  require(!plan.transform, CUFFT_INVALID_PLAN);  // as documented: once for a handle
  plan.problem = wanted.problem;
  plan.in = wanted.in, plan.out = wanted.out;
  plan.transform = make_transform(wanted.problem);
}

void execute(const Plan& plan, void* in, void* out, bool forward) {
  require(in && out);
  const bool in_place = in == out;
  const Place source = place(plan.problem, plan.in, in, real_in(plan.problem), in_place);
  const Place target = place(plan.problem, plan.out, out, real_out(plan.problem), in_place);
  static constexpr const char* kNames[] = {"cufft_c2c", "cufft_r2c", "cufft_c2r"};
  lib::submit(plan.stream, kNames[static_cast<int>(plan.problem.kind)],
              [transform = plan.transform, source, target, forward] {
                transform->run(source, target, forward);
              });
}

size_t bytes_in(const Problem& problem) {
  const auto at = place(problem, {}, nullptr, real_in(problem), false);
  return static_cast<size_t>(at.stride[0]) * problem.batch;
}

size_t bytes_out(const Problem& problem) {
  const auto at = place(problem, {}, nullptr, real_out(problem), false);
  return static_cast<size_t>(at.stride[0]) * problem.batch;
}

}  // namespace aw::cufft

using namespace aw::cufft;

AW_EXPORT cufftResult cufftCreate(cufftHandle* handle) {
  return api<"cufftCreate">([&] {
    require(handle);
    *handle = add(std::make_unique<Plan>());
  });
}

// What was given to a stream goes on: it holds the transform itself.
AW_EXPORT cufftResult cufftDestroy(cufftHandle handle) {
  return api<"cufftDestroy">([&] {
    std::lock_guard lock(plans().mutex);
    require(plans().all.erase(handle) == 1, CUFFT_INVALID_PLAN);
  });
}

AW_EXPORT cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return api<"cufftSetStream">([&] { use(handle).stream = stream; });
}

// Transforms need no work area of the program's: every way of giving one is accepted.
AW_EXPORT cufftResult cufftSetAutoAllocation(cufftHandle handle, int) {
  return api<"cufftSetAutoAllocation">([&] { use(handle); });
}

AW_EXPORT cufftResult cufftSetWorkArea(cufftHandle handle, void*) {
  return api<"cufftSetWorkArea">([&] { use_made(handle); });
}

AW_EXPORT cufftResult cufftGetVersion(int* version) {
  return api<"cufftGetVersion">([&] {
    require(version);
    *version = CUFFT_VERSION;
  });
}

AW_EXPORT cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  return api<"cufftGetProperty">([&] {
    require(value && type <= PATCH_LEVEL);
    const int parts[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
    *value = parts[type];
  });
}

namespace {

// Properties tune NVIDIA's planner: they are kept and given back.
void check_property(cufftProperty property) {
  require(property >= NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT);
#ifdef AW_CUDA_12
  require(property <= NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS);
#else
  require(property <= NVFFT_PLAN_PROPERTY_INT64_DISABLE_FMA);
#endif
}

}  // namespace

AW_EXPORT cufftResult cufftSetPlanPropertyInt64(cufftHandle handle, cufftProperty property,
                                                const long long value) {
  return api<"cufftSetPlanPropertyInt64">([&] {
    Plan& plan = use(handle);
    check_property(property);
    require(!plan.transform, CUFFT_NOT_SUPPORTED);  // as documented: before the plan is made
    plan.properties[property] = value;
  });
}

AW_EXPORT cufftResult cufftGetPlanPropertyInt64(cufftHandle handle, cufftProperty property,
                                                long long* value) {
  return api<"cufftGetPlanPropertyInt64">([&] {
    Plan& plan = use(handle);
    check_property(property);
    require(value);
    auto found = plan.properties.find(property);
    *value = found == plan.properties.end() ? 0 : found->second;
  });
}

AW_EXPORT cufftResult cufftResetPlanProperty(cufftHandle handle, cufftProperty property) {
  return api<"cufftResetPlanProperty">([&] {
    Plan& plan = use(handle);
    check_property(property);
    require(!plan.transform, CUFFT_NOT_SUPPORTED);
    plan.properties.erase(property);
  });
}
