// cuRAND's host interface: generation.
#include "libraries/curand/generator.h"

using namespace aw::curand;

namespace {

void generate(curandGenerator_st& it, const Draw& draw, void* out, size_t count) {
  require(out || count == 0, CURAND_STATUS_OUT_OF_RANGE);
  require(count % static_cast<size_t>(draw.values) == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  if (is_quasi(it.type)) require(count % it.dimensions == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  start(it);
  if (count == 0) return;
  const uint64_t units = count / static_cast<size_t>(draw.values);
  auto* to = static_cast<char*>(out);
  if (it.host) return it.source->draw(draw, units, to, false);
  aw::lib::submit(it.stream, "curand_generate",
                  [source = it.source, draw, units, to] { source->draw(draw, units, to, true); });
}

// 32-bit results are not made of 64-bit coordinates, and 64-bit ones of nothing else.
void must_have_bits(const curandGenerator_st& it, bool wide) {
  require((it.type == CURAND_RNG_QUASI_SOBOL64) == wide, CURAND_STATUS_TYPE_ERROR);
}

std::shared_ptr<const Counts> counts_of(curandGenerator_st& it, double a, double b) {
  if (!it.counts || it.counts_of[0] != a || it.counts_of[1] != b) {
    it.counts = b < 0 ? Counts::poisson(a) : Counts::binomial(static_cast<unsigned>(a), b);
    it.counts_of[0] = a, it.counts_of[1] = b;
  }
  return it.counts;
}

void poisson(curandGenerator_t generator, unsigned* out, size_t count, double lambda) {
  auto& it = use(generator);
  require(lambda > 0 && lambda <= kMostLambda, CURAND_STATUS_OUT_OF_RANGE);
  generate(it, counts(grain_of(it.type), counts_of(it, lambda, -1)), out, count);
}

void binomial(curandGenerator_t generator, unsigned* out, size_t count, unsigned n, double p) {
  auto& it = use(generator);
  require(p >= 0 && p <= 1, CURAND_STATUS_OUT_OF_RANGE);
  generate(it, counts(grain_of(it.type), counts_of(it, n, p)), out, count);
}

// Ways to the same distribution: ours is one of inversion, whatever is chosen.
void must_be_method(curandMethod method) {
  require(method >= CURAND_CHOOSE_BEST && method <= CURAND_POISSON, CURAND_STATUS_OUT_OF_RANGE);
}

}  // namespace

AW_EXPORT curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out,
                                        size_t count) {
  return api<"curandGenerate">([&] {
    auto& it = use(generator);
    must_have_bits(it, false);
    generate(it, bits(grain_of(it.type)), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateLongLong(curandGenerator_t generator,
                                                unsigned long long* out, size_t count) {
  return api<"curandGenerateLongLong">([&] {
    auto& it = use(generator);
    must_have_bits(it, true);
    generate(it, bits(grain_of(it.type)), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out,
                                               size_t count) {
  return api<"curandGenerateUniform">([&] {
    auto& it = use(generator);
    generate(it, uniform_float(grain_of(it.type)), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out,
                                                     size_t count) {
  return api<"curandGenerateUniformDouble">([&] {
    auto& it = use(generator);
    generate(it, uniform_double(grain_of(it.type)), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count,
                                              float mean, float deviation) {
  return api<"curandGenerateNormal">([&] {
    auto& it = use(generator);
    generate(it, normal_float(grain_of(it.type), mean, deviation, false), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out,
                                                    size_t count, double mean, double deviation) {
  return api<"curandGenerateNormalDouble">([&] {
    auto& it = use(generator);
    generate(it, normal_double(grain_of(it.type), mean, deviation, false), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out,
                                                 size_t count, float mean, float deviation) {
  return api<"curandGenerateLogNormal">([&] {
    auto& it = use(generator);
    generate(it, normal_float(grain_of(it.type), mean, deviation, true), out, count);
  });
}

AW_EXPORT curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out,
                                                       size_t count, double mean,
                                                       double deviation) {
  return api<"curandGenerateLogNormalDouble">([&] {
    auto& it = use(generator);
    generate(it, normal_double(grain_of(it.type), mean, deviation, true), out, count);
  });
}

AW_EXPORT curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* out,
                                               size_t count, double lambda) {
  return api<"curandGeneratePoisson">([&] { poisson(generator, out, count, lambda); });
}

AW_EXPORT curandStatus_t curandGeneratePoissonMethod(curandGenerator_t generator, unsigned int* out,
                                                     size_t count, double lambda,
                                                     curandMethod_t method) {
  return api<"curandGeneratePoissonMethod">(
      [&] { must_be_method(method), poisson(generator, out, count, lambda); });
}

AW_EXPORT curandStatus_t curandGenerateBinomial(curandGenerator_t generator, unsigned int* out,
                                                size_t count, unsigned n, double p) {
  return api<"curandGenerateBinomial">([&] { binomial(generator, out, count, n, p); });
}

AW_EXPORT curandStatus_t curandGenerateBinomialMethod(curandGenerator_t generator,
                                                      unsigned int* out, size_t count, unsigned n,
                                                      double p, curandMethod_t method) {
  return api<"curandGenerateBinomialMethod">(
      [&] { must_be_method(method), binomial(generator, out, count, n, p); });
}
