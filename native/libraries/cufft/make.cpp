// cuFFT: making plans, and how large their work areas are: of no bytes.
#include <vector>

#include "libraries/cufft/plan.h"

using namespace aw::cufft;

namespace {

Wanted simple(cufftType type, std::initializer_list<int> n, int batch) {
  std::vector<long long> lengths(n.begin(), n.end());
  return wanted(type, static_cast<int>(lengths.size()), lengths.data(), batch);
}

// One embed that is null makes both layouts the usual ones, as documented.
template <class Int>
void lay_out(Wanted& it, const Int* inembed, Int istride, Int idist, const Int* onembed,
             Int ostride, Int odist) {
  if (!inembed || !onembed) return;
  require(istride >= 1 && ostride >= 1 && idist >= 0 && odist >= 0);
  it.in = {true, {}, istride, idist};
  it.out = {true, {}, ostride, odist};
  for (size_t i = 0; i < it.problem.rank; ++i) {
    it.in.embed[i] = inembed[i], it.out.embed[i] = onembed[i];
    require(i == 0 || (inembed[i] >= 1 &&
                       onembed[i] >= 1));  // the first one only says how long a transform is
  }
}

template <class Int>
Wanted many(int rank, const Int* n, const Int* inembed, Int istride, Int idist, const Int* onembed,
            Int ostride, Int odist, cufftType type, Int batch) {
  require(rank >= 1 && rank <= 3 && n);
  const std::vector<long long> lengths(n, n + rank);
  Wanted out = wanted(type, rank, lengths.data(), batch);
  lay_out(out, inembed, istride, idist, onembed, ostride, odist);
  return out;
}

// The types of numbers of cufftXtMakePlanMany: both sides and the computation have one precision.
Wanted typed(int rank, const long long* n, const long long* inembed, long long istride,
             long long idist, cudaDataType in, const long long* onembed, long long ostride,
             long long odist, cudaDataType out, long long batch, cudaDataType execution) {
  struct Types {
    cudaDataType complex, real;
    Number number;
  };
  static constexpr Types kAll[] = {{CUDA_C_16F, CUDA_R_16F, Number::kHalf},
                                   {CUDA_C_16BF, CUDA_R_16BF, Number::kBfloat},
                                   {CUDA_C_32F, CUDA_R_32F, Number::kFloat},
                                   {CUDA_C_64F, CUDA_R_64F, Number::kDouble}};
  for (auto& types : kAll) {
    if (execution != types.complex && execution != types.real) continue;
    const bool from_complex = in == types.complex, to_complex = out == types.complex;
    if ((!from_complex && in != types.real) || (!to_complex && out != types.real) ||
        !(from_complex || to_complex))
      break;
    const auto type = !from_complex ? CUFFT_R2C : to_complex ? CUFFT_C2C : CUFFT_C2R;
    Wanted it =
        many<long long>(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    it.problem.number = types.number;
    return it;
  }
  unsupported("numbers of type " + std::to_string(in) + " to " + std::to_string(out) +
              ", computed in " + std::to_string(execution));
}

void no_bytes(size_t* size) {
  require(size);
  *size = 0;
}

template <class Ask>
void plan(cufftHandle* handle, const Ask& ask) {
  require(handle);
  auto made = std::make_unique<Plan>();
  make(*made, ask());
  *handle = add(std::move(made));
}

template <class Ask>
void make_plan(cufftHandle handle, size_t* size, const Ask& ask) {
  Plan& it = use(handle);
  require(size);
  make(it, ask());
  *size = 0;
}

}  // namespace

AW_EXPORT cufftResult cufftPlan1d(cufftHandle* handle, int nx, cufftType type, int batch) {
  return api<"cufftPlan1d">([&] { plan(handle, [&] { return simple(type, {nx}, batch); }); });
}

AW_EXPORT cufftResult cufftPlan2d(cufftHandle* handle, int nx, int ny, cufftType type) {
  return api<"cufftPlan2d">([&] { plan(handle, [&] { return simple(type, {nx, ny}, 1); }); });
}

AW_EXPORT cufftResult cufftPlan3d(cufftHandle* handle, int nx, int ny, int nz, cufftType type) {
  return api<"cufftPlan3d">([&] { plan(handle, [&] { return simple(type, {nx, ny, nz}, 1); }); });
}

AW_EXPORT cufftResult cufftPlanMany(cufftHandle* handle, int rank, int* n, int* inembed,
                                    int istride, int idist, int* onembed, int ostride, int odist,
                                    cufftType type, int batch) {
  return api<"cufftPlanMany">([&] {
    plan(handle, [&] {
      return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    });
  });
}

AW_EXPORT cufftResult cufftMakePlan1d(cufftHandle handle, int nx, cufftType type, int batch,
                                      size_t* size) {
  return api<"cufftMakePlan1d">(
      [&] { make_plan(handle, size, [&] { return simple(type, {nx}, batch); }); });
}

AW_EXPORT cufftResult cufftMakePlan2d(cufftHandle handle, int nx, int ny, cufftType type,
                                      size_t* size) {
  return api<"cufftMakePlan2d">(
      [&] { make_plan(handle, size, [&] { return simple(type, {nx, ny}, 1); }); });
}

AW_EXPORT cufftResult cufftMakePlan3d(cufftHandle handle, int nx, int ny, int nz, cufftType type,
                                      size_t* size) {
  return api<"cufftMakePlan3d">(
      [&] { make_plan(handle, size, [&] { return simple(type, {nx, ny, nz}, 1); }); });
}

AW_EXPORT cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int* n, int* inembed,
                                        int istride, int idist, int* onembed, int ostride,
                                        int odist, cufftType type, int batch, size_t* size) {
  return api<"cufftMakePlanMany">([&] {
    make_plan(handle, size, [&] {
      return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    });
  });
}

AW_EXPORT cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n,
                                          long long* inembed, long long istride, long long idist,
                                          long long* onembed, long long ostride, long long odist,
                                          cufftType type, long long batch, size_t* size) {
  return api<"cufftMakePlanMany64">([&] {
    make_plan(handle, size, [&] {
      return many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    });
  });
}

AW_EXPORT cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long* n,
                                          long long* inembed, long long istride, long long idist,
                                          cudaDataType in, long long* onembed, long long ostride,
                                          long long odist, cudaDataType out, long long batch,
                                          size_t* size, cudaDataType execution) {
  return api<"cufftXtMakePlanMany">([&] {
    make_plan(handle, size, [&] {
      return typed(rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch,
                   execution);
    });
  });
}

AW_EXPORT cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* size) {
  return api<"cufftEstimate1d">([&] { simple(type, {nx}, batch), no_bytes(size); });
}

AW_EXPORT cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* size) {
  return api<"cufftEstimate2d">([&] { simple(type, {nx, ny}, 1), no_bytes(size); });
}

AW_EXPORT cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* size) {
  return api<"cufftEstimate3d">([&] { simple(type, {nx, ny, nz}, 1), no_bytes(size); });
}

AW_EXPORT cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist,
                                        int* onembed, int ostride, int odist, cufftType type,
                                        int batch, size_t* size) {
  return api<"cufftEstimateMany">([&] {
    many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    no_bytes(size);
  });
}

AW_EXPORT cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch,
                                     size_t* size) {
  return api<"cufftGetSize1d">([&] { use(handle), simple(type, {nx}, batch), no_bytes(size); });
}

AW_EXPORT cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type,
                                     size_t* size) {
  return api<"cufftGetSize2d">([&] { use(handle), simple(type, {nx, ny}, 1), no_bytes(size); });
}

AW_EXPORT cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type,
                                     size_t* size) {
  return api<"cufftGetSize3d">([&] { use(handle), simple(type, {nx, ny, nz}, 1), no_bytes(size); });
}

AW_EXPORT cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int* n, int* inembed,
                                       int istride, int idist, int* onembed, int ostride, int odist,
                                       cufftType type, int batch, size_t* size) {
  return api<"cufftGetSizeMany">([&] {
    use(handle);
    many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    no_bytes(size);
  });
}

AW_EXPORT cufftResult cufftGetSizeMany64(cufftHandle handle, int rank, long long* n,
                                         long long* inembed, long long istride, long long idist,
                                         long long* onembed, long long ostride, long long odist,
                                         cufftType type, long long batch, size_t* size) {
  return api<"cufftGetSizeMany64">([&] {
    use(handle);
    many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    no_bytes(size);
  });
}

AW_EXPORT cufftResult cufftXtGetSizeMany(cufftHandle handle, int rank, long long* n,
                                         long long* inembed, long long istride, long long idist,
                                         cudaDataType in, long long* onembed, long long ostride,
                                         long long odist, cudaDataType out, long long batch,
                                         size_t* size, cudaDataType execution) {
  return api<"cufftXtGetSizeMany">([&] {
    use(handle);
    typed(rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, execution);
    no_bytes(size);
  });
}

AW_EXPORT cufftResult cufftGetSize(cufftHandle handle, size_t* size) {
  return api<"cufftGetSize">([&] { use_made(handle), no_bytes(size); });
}
