// cuRAND's host interface: generators and their options.
#include "libraries/curand/generator.h"

#include <cuda.h>

#include "anywarp/discrete.h"

namespace aw::curand {
namespace {

constexpr uint64_t kGeneratorMagic = 0x646e6172u;

bool host_may(curandRngType type, curandOrdering order) {
  return order != CURAND_ORDERING_PSEUDO_DYNAMIC &&
         !(type == CURAND_RNG_PSEUDO_MT19937 && order == CURAND_ORDERING_PSEUDO_BEST);
}

curandStatus_t create(curandGenerator_t* made, curandRngType type, bool host) {
  require(made, CURAND_STATUS_OUT_OF_RANGE);
  if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
  if (type == CURAND_RNG_QUASI_DEFAULT) type = CURAND_RNG_QUASI_SOBOL32;
  switch (type) {
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
      break;
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      unsupported(
          "scrambled Sobol' sequences: NVIDIA's scrambled direction vectors are not published");
    default:
      throw Failure(CURAND_STATUS_TYPE_ERROR);
  }
  if (!host) lib::ensure_context();
  auto it = std::make_unique<curandGenerator_st>();
  it->magic = kGeneratorMagic;
  it->type = type;
  it->host = host;
  it->order = is_quasi(type) ? CURAND_ORDERING_QUASI_DEFAULT : CURAND_ORDERING_PSEUDO_DEFAULT;
  *made = it.release();
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

curandGenerator_st& use(curandGenerator_t generator) {
  require(generator && generator->magic == kGeneratorMagic, CURAND_STATUS_NOT_INITIALIZED);
  return *generator;
}

bool is_quasi(curandRngType type) { return type >= CURAND_RNG_QUASI_DEFAULT; }

Grain grain_of(curandRngType type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return Grain::kResidue;
    case CURAND_RNG_QUASI_SOBOL32:
      return Grain::kQuasi32;
    case CURAND_RNG_QUASI_SOBOL64:
      return Grain::kQuasi64;
    default:
      return Grain::kBits;
  }
}

void start(curandGenerator_st& it) {
  if (it.source) return;
  std::unique_ptr<Source> made;
  switch (it.type) {
    case CURAND_RNG_PSEUDO_XORWOW:
      made = make_xorwow(it.seed, it.offset, it.order == CURAND_ORDERING_PSEUDO_SEEDED);
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      made = make_mrg32k3a(it.seed, it.offset,
                           it.order == CURAND_ORDERING_PSEUDO_LEGACY ? 4096 : 81920);
      break;
    case CURAND_RNG_PSEUDO_MTGP32:
      made = make_mtgp32(it.seed, it.order == CURAND_ORDERING_PSEUDO_LEGACY ? 64 : 192);
      break;
    case CURAND_RNG_PSEUDO_MT19937:
      made = make_mt19937(it.seed);
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      made = make_philox(it.seed, it.offset);
      break;
    default:
      made = make_sobol(it.type == CURAND_RNG_QUASI_SOBOL64 ? 64 : 32, it.dimensions, it.offset);
  }
  it.source = std::move(made);
}

}  // namespace aw::curand

using namespace aw::curand;

AW_EXPORT curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return api<"curandCreateGenerator">([&] { return create(generator, type, false); });
}

AW_EXPORT curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                   curandRngType_t type) {
  return api<"curandCreateGeneratorHost">([&] { return create(generator, type, true); });
}

// What was given to a stream goes on: it holds the generator's state.
AW_EXPORT curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return api<"curandDestroyGenerator">([&] {
    use(generator).magic = 0;
    delete generator;
  });
}

AW_EXPORT curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return api<"curandSetStream">([&] { use(generator).stream = stream; });
}

AW_EXPORT curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                            unsigned long long seed) {
  return api<"curandSetPseudoRandomGeneratorSeed">([&] {
    auto& it = use(generator);
    require(!is_quasi(it.type), CURAND_STATUS_TYPE_ERROR);
    it.seed = seed;
    it.source.reset();
  });
}

AW_EXPORT curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                                  unsigned long long offset) {
  return api<"curandSetGeneratorOffset">([&] {
    auto& it = use(generator);
    // As documented these cannot skip ahead.
    require(it.type != CURAND_RNG_PSEUDO_MT19937 && it.type != CURAND_RNG_PSEUDO_MTGP32,
            CURAND_STATUS_TYPE_ERROR);
    it.offset = offset;
    it.source.reset();
  });
}

AW_EXPORT curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                    curandOrdering_t order) {
  return api<"curandSetGeneratorOrdering">([&] {
    auto& it = use(generator);
    const bool fits = is_quasi(it.type) ? order == CURAND_ORDERING_QUASI_DEFAULT
                                        : order >= CURAND_ORDERING_PSEUDO_BEST &&
                                              order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    require(fits && (!it.host || host_may(it.type, order)), CURAND_STATUS_OUT_OF_RANGE);
    require(order != CURAND_ORDERING_PSEUDO_SEEDED || it.type == CURAND_RNG_PSEUDO_XORWOW,
            CURAND_STATUS_OUT_OF_RANGE);
    require(order != CURAND_ORDERING_PSEUDO_DYNAMIC || it.type != CURAND_RNG_PSEUDO_MT19937,
            CURAND_STATUS_OUT_OF_RANGE);
    it.order = order;
    it.source.reset();
  });
}

AW_EXPORT curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                                 unsigned int dimensions) {
  return api<"curandSetQuasiRandomGeneratorDimensions">([&] {
    auto& it = use(generator);
    require(is_quasi(it.type), CURAND_STATUS_TYPE_ERROR);
    require(dimensions >= 1 && dimensions <= kDimensions, CURAND_STATUS_OUT_OF_RANGE);
    it.dimensions = dimensions;
    it.source.reset();
  });
}

AW_EXPORT curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return api<"curandGenerateSeeds">([&] { start(use(generator)); });
}

AW_EXPORT curandStatus_t curandGetVersion(int* version) {
  return api<"curandGetVersion">([&] {
    require(version, CURAND_STATUS_OUT_OF_RANGE);
    *version = CURAND_VERSION;
  });
}

AW_EXPORT curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  return api<"curandGetProperty">([&] {
    require(value && type <= PATCH_LEVEL, CURAND_STATUS_OUT_OF_RANGE);
    const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    *value = parts[type];
  });
}

AW_EXPORT curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                                     curandDirectionVectorSet_t set) {
  return api<"curandGetDirectionVectors32">([&] {
    if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
      unsupported("CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6");
    require(vectors && set == CURAND_DIRECTION_VECTORS_32_JOEKUO6, CURAND_STATUS_OUT_OF_RANGE);
    *vectors =
        reinterpret_cast<curandDirectionVectors32_t*>(const_cast<uint32_t*>(directions32().data()));
  });
}

AW_EXPORT curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                                     curandDirectionVectorSet_t set) {
  return api<"curandGetDirectionVectors64">([&] {
    if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
      unsupported("CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6");
    require(vectors && set == CURAND_DIRECTION_VECTORS_64_JOEKUO6, CURAND_STATUS_OUT_OF_RANGE);
    *vectors =
        reinterpret_cast<curandDirectionVectors64_t*>(const_cast<uint64_t*>(directions64().data()));
  });
}

// The distribution lies in memory of the device, where curand_discrete of curand_kernel.h reads it.
AW_EXPORT curandStatus_t
curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t* distribution) {
  return api<"curandCreatePoissonDistribution">([&] {
    require(distribution, CURAND_STATUS_OUT_OF_RANGE);
    require(lambda > 0 && lambda <= kMostLambda, CURAND_STATUS_OUT_OF_RANGE);
    aw::lib::ensure_context();
    const auto counts = Counts::poisson(lambda);
    const size_t sums = counts->sums().size();
    CUdeviceptr memory;
    require(cuMemAlloc(&memory, sizeof(curandDiscreteDistribution_st) + sums * sizeof(double)) ==
                CUDA_SUCCESS,
            CURAND_STATUS_ALLOCATION_FAILED);
    auto* it = reinterpret_cast<curandDiscreteDistribution_st*>(memory);
    auto* table = reinterpret_cast<double*>(it + 1);
    *it = {table, static_cast<unsigned>(sums), counts->first()};
    std::copy(counts->sums().begin(), counts->sums().end(), table);
    *distribution = it;
  });
}

AW_EXPORT curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  return api<"curandDestroyDistribution">([&] {
    require(distribution, CURAND_STATUS_NOT_INITIALIZED);
    require(cuMemFree(reinterpret_cast<CUdeviceptr>(distribution)) == CUDA_SUCCESS,
            CURAND_STATUS_NOT_INITIALIZED);
  });
}
