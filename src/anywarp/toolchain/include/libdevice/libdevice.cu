// Every function of NVIDIA's libdevice (Libdevice User's Guide, chapter Function Reference) by our own device library; libdevice.py compiles it.
//
// Subnormal floats: what is plain arithmetic here follows the functions that it is inlined into. What names an instruction of PTX asks
// __nvvm_reflect("__CUDA_FTZ"), which the compiler that links this answers (guide, section Linking with libdevice). Square roots
// (-prec-sqrt) are plain arithmetic; no other function divides floats inexactly, so nothing asks for -prec-div.
#define AW_NV extern "C" __device__
#define AW_TO(name, Result, parameters, value) \
  AW_NV Result __nv_##name parameters { return value; }

extern "C" __device__ int aw_reflect(const char *) __asm__("__nvvm_reflect");
AW_FN bool aw_flushing() { return aw_reflect("__CUDA_FTZ") != 0; }

// A function for double and one, with the suffix f, for float.
#define AW_1(name)                         \
  AW_TO(name, double, (double x), name(x)) \
  AW_TO(name##f, float, (float x), name##f(x))
#define AW_2(name)                                      \
  AW_TO(name, double, (double x, double y), name(x, y)) \
  AW_TO(name##f, float, (float x, float y), name##f(x, y))
AW_1(acos)
AW_1(acosh)
AW_1(asin)
AW_1(asinh)
AW_1(atan)
AW_1(atanh)
AW_1(cbrt)
AW_1(ceil)
AW_1(cos)
AW_1(cosh)
AW_1(cospi)
AW_1(cyl_bessel_i0)
AW_1(cyl_bessel_i1)
AW_1(erf)
AW_1(erfc)
AW_1(erfcinv)
AW_1(erfcx)
AW_1(erfinv)
AW_1(exp)
AW_1(exp10)
AW_1(exp2)
AW_1(expm1)
AW_1(fabs)
AW_1(floor)
AW_1(j0)
AW_1(j1)
AW_1(lgamma)
AW_1(log)
AW_1(log10)
AW_1(log1p)
AW_1(log2)
AW_1(logb)
AW_1(nearbyint)
AW_1(normcdf)
AW_1(normcdfinv)
AW_1(rcbrt)
AW_1(rint)
AW_1(round)
AW_1(sin)
AW_1(sinh)
AW_1(sinpi)
AW_1(sqrt)
AW_1(tan)
AW_1(tanh)
AW_1(tgamma)
AW_1(trunc)
AW_1(y0)
AW_1(y1)
AW_2(atan2)
AW_2(copysign)
AW_2(fdim)
AW_2(fmax)
AW_2(fmin)
AW_2(fmod)
AW_2(hypot)
AW_2(nextafter)
AW_2(pow)
AW_2(remainder)
AW_2(rhypot)

#define AW_FORMAT(T, f)                                                             \
  AW_TO(fma##f, T, (T x, T y, T z), fma##f(x, y, z))                                \
  AW_TO(frexp##f, T, (T x, int *e), frexp##f(x, e))                                 \
  AW_TO(ilogb##f, int, (T x), ilogb##f(x))                                          \
  AW_TO(jn##f, T, (int n, T x), jn##f(n, x))                                        \
  AW_TO(yn##f, T, (int n, T x), yn##f(n, x))                                        \
  AW_TO(ldexp##f, T, (T x, int n), ldexp##f(x, n))                                  \
  AW_TO(scalbn##f, T, (T x, int n), scalbn##f(x, n))                                \
  AW_TO(llrint##f, long long, (T x), llrint##f(x))                                  \
  AW_TO(llround##f, long long, (T x), llround##f(x))                                \
  AW_TO(modf##f, T, (T x, T * whole), modf##f(x, whole))                            \
  AW_TO(nan##f, T, (const char *tag), nan##f(tag))                                  \
  AW_TO(norm##f, T, (int n, const T *p), norm##f(n, p))                             \
  AW_TO(rnorm##f, T, (int n, const T *p), rnorm##f(n, p))                           \
  AW_TO(norm3d##f, T, (T a, T b, T c), norm3d##f(a, b, c))                          \
  AW_TO(rnorm3d##f, T, (T a, T b, T c), rnorm3d##f(a, b, c))                        \
  AW_TO(norm4d##f, T, (T a, T b, T c, T d), norm4d##f(a, b, c, d))                  \
  AW_TO(rnorm4d##f, T, (T a, T b, T c, T d), rnorm4d##f(a, b, c, d))                \
  AW_TO(remquo##f, T, (T x, T y, int *q), remquo##f(x, y, q))                       \
  AW_TO(sincos##f, void, (T x, T * s, T * c), sincos##f(x, s, c))                   \
  AW_TO(sincospi##f, void, (T x, T * s, T * c), sincospi##f(x, s, c))
AW_FORMAT(double, )
AW_FORMAT(float, f)
AW_TO(powi, double, (double x, int n), pow(x, n))
AW_TO(powif, float, (float x, int n), pow(x, n))
AW_TO(rsqrt, double, (double x), rsqrt(x))

// Instructions of PTX: a form that flushes subnormal numbers, and one that does not.
#define AW_CHOICE_1(name, Result, to, Argument, from, plain, flush)    \
  AW_NV Result __nv_##name(Argument x) {                               \
    Result r;                                                          \
    if (aw_flushing())                                                 \
      __asm__(flush " %0, %1;" : "=" to(r) : from(x));                 \
    else                                                               \
      __asm__(plain " %0, %1;" : "=" to(r) : from(x));                 \
    return r;                                                          \
  }
#define AW_CHOICE_2(name, plain, flush)                                \
  AW_NV float __nv_##name(float x, float y) {                          \
    float r;                                                           \
    if (aw_flushing())                                                 \
      __asm__(flush " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));        \
    else                                                               \
      __asm__(plain " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));        \
    return r;                                                          \
  }
#define AW_CHOICE_3(name, plain, flush)                                         \
  AW_NV float __nv_##name(float x, float y, float z) {                          \
    float r;                                                                    \
    if (aw_flushing())                                                          \
      __asm__(flush " %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z));     \
    else                                                                        \
      __asm__(plain " %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z));     \
    return r;                                                                   \
  }
#define AW_FLOAT_1(name, op) AW_CHOICE_1(name, float, "f", float, "f", op ".f32", op ".ftz.f32")
#define AW_FLOAT_2(name, op) AW_CHOICE_2(name, op ".f32", op ".ftz.f32")
#define AW_FLOAT_3(name, op) AW_CHOICE_3(name, op ".f32", op ".ftz.f32")
#define AW_WAYS(FORM, name, op) \
  FORM(name##_rn, op ".rn")     \
  FORM(name##_rz, op ".rz")     \
  FORM(name##_ru, op ".rp")     \
  FORM(name##_rd, op ".rm")
AW_WAYS(AW_FLOAT_2, fadd, "add")
AW_WAYS(AW_FLOAT_2, fsub, "sub")
AW_WAYS(AW_FLOAT_2, fmul, "mul")
AW_WAYS(AW_FLOAT_2, fdiv, "div")
AW_WAYS(AW_FLOAT_1, fsqrt, "sqrt")
AW_WAYS(AW_FLOAT_1, frcp, "rcp")
AW_WAYS(AW_FLOAT_3, fmaf, "fma")
AW_FLOAT_1(rsqrtf, "rsqrt.approx")
AW_FLOAT_1(fast_sinf, "sin.approx")
AW_FLOAT_1(fast_cosf, "cos.approx")
AW_FLOAT_1(fast_log2f, "lg2.approx")
AW_FLOAT_2(fast_fdividef, "div.approx")
AW_CHOICE_1(saturatef, float, "f", float, "f", "cvt.sat.f32.f32", "cvt.sat.ftz.f32.f32")
AW_ROUNDED_1(aw_exp2_flushed, float, "f", "ex2.approx.ftz.f32")
AW_FN float aw_fast_exp2(float x) { return aw_flushing() ? aw_exp2_flushed(x) : __exp2f(x); }
AW_TO(fast_expf, float, (float x), aw_fast_exp2(__nv_fmul_rn(x, 1.4426950408889634f)))
AW_TO(fast_exp10f, float, (float x), aw_fast_exp2(__nv_fmul_rn(x, 3.3219280948873623f)))
AW_TO(fast_logf, float, (float x), __nv_fmul_rn(__nv_fast_log2f(x), 0.6931471805599453f))
AW_TO(fast_log10f, float, (float x), __nv_fmul_rn(__nv_fast_log2f(x), 0.3010299956639812f))
AW_TO(fast_powf, float, (float x, float y), aw_fast_exp2(__nv_fmul_rn(y, __nv_fast_log2f(x))))
AW_TO(fast_tanf, float, (float x), __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x)))
// The instruction came with compute capability 7.5.
AW_TO(fast_tanhf, float, (float x), aw_reflect("__CUDA_ARCH") >= 750 ? __tanhf(x) : tanhf(x))
AW_NV void __nv_fast_sincosf(float x, float *s, float *c) { *s = __nv_fast_sinf(x), *c = __nv_fast_cosf(x); }
AW_NV float __nv_frsqrt_rn(float x) {
  // Twice as many digits, then rounded: right, as no root lies so near to the middle of two floats.
  if (aw_flushing()) x = __nv_fmul_rn(x, 1.0f);
  return __frsqrt_rn(x);
}
AW_NV double __nv_rcp64h(double x) {
  double r;
  __asm__("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}

#define AW_EACH_WAY(FORM, name) FORM(name##_rn) FORM(name##_rz) FORM(name##_ru) FORM(name##_rd)
#define AW_DOUBLE_1(name) AW_TO(name, double, (double x), __##name(x))
#define AW_DOUBLE_2(name) AW_TO(name, double, (double x, double y), __##name(x, y))
#define AW_DOUBLE_3(name) AW_TO(name, double, (double x, double y, double z), __##name(x, y, z))
#define AW_IEEE_3(name) AW_TO(name, float, (float x, float y, float z), __##name(x, y, z))
AW_EACH_WAY(AW_DOUBLE_2, dadd)
AW_EACH_WAY(AW_DOUBLE_2, dsub)
AW_EACH_WAY(AW_DOUBLE_2, dmul)
AW_EACH_WAY(AW_DOUBLE_2, ddiv)
AW_EACH_WAY(AW_DOUBLE_1, dsqrt)
AW_EACH_WAY(AW_DOUBLE_1, drcp)
AW_EACH_WAY(AW_DOUBLE_3, fma)
AW_EACH_WAY(AW_IEEE_3, fmaf_ieee)

#define AW_FROM_FLOAT(name, T, c, type)                                                                        \
  AW_CHOICE_1(name##_rn, T, c, float, "f", "cvt.rni." type ".f32", "cvt.rni.ftz." type ".f32")                 \
  AW_CHOICE_1(name##_rz, T, c, float, "f", "cvt.rzi." type ".f32", "cvt.rzi.ftz." type ".f32")                 \
  AW_CHOICE_1(name##_ru, T, c, float, "f", "cvt.rpi." type ".f32", "cvt.rpi.ftz." type ".f32")                 \
  AW_CHOICE_1(name##_rd, T, c, float, "f", "cvt.rmi." type ".f32", "cvt.rmi.ftz." type ".f32")
AW_FROM_FLOAT(float2int, int, "r", "s32")
AW_FROM_FLOAT(float2uint, unsigned int, "r", "u32")
AW_FROM_FLOAT(float2ll, long long, "l", "s64")
AW_FROM_FLOAT(float2ull, unsigned long long, "l", "u64")
AW_CHOICE_1(double2float_rn, float, "f", double, "d", "cvt.rn.f32.f64", "cvt.rn.ftz.f32.f64")
AW_CHOICE_1(double2float_rz, float, "f", double, "d", "cvt.rz.f32.f64", "cvt.rz.ftz.f32.f64")
AW_CHOICE_1(double2float_ru, float, "f", double, "d", "cvt.rp.f32.f64", "cvt.rp.ftz.f32.f64")
AW_CHOICE_1(double2float_rd, float, "f", double, "d", "cvt.rm.f32.f64", "cvt.rm.ftz.f32.f64")
#define AW_CAST(Result, name, Argument) AW_TO(name, Result, (Argument x), __##name(x))
#define AW_CASTS(Result, name, Argument) \
  AW_CAST(Result, name##_rn, Argument)   \
  AW_CAST(Result, name##_rz, Argument)   \
  AW_CAST(Result, name##_ru, Argument)   \
  AW_CAST(Result, name##_rd, Argument)
AW_CASTS(int, double2int, double)
AW_CASTS(unsigned int, double2uint, double)
AW_CASTS(long long, double2ll, double)
AW_CASTS(unsigned long long, double2ull, double)
AW_CASTS(float, int2float, int)
AW_CASTS(float, uint2float, unsigned int)
AW_CASTS(float, ll2float, long long)
AW_CASTS(float, ull2float, unsigned long long)
AW_CASTS(double, ll2double, long long)
AW_CASTS(double, ull2double, unsigned long long)
AW_CAST(double, int2double_rn, int)
AW_CAST(double, uint2double_rn, unsigned int)
AW_CAST(int, double2hiint, double)
AW_CAST(int, double2loint, double)
AW_CAST(long long, double_as_longlong, double)
AW_CAST(double, longlong_as_double, long long)
AW_CAST(int, float_as_int, float)
AW_CAST(unsigned int, float_as_uint, float)
AW_CAST(float, int_as_float, int)
AW_CAST(float, uint_as_float, unsigned int)
AW_TO(hiloint2double, double, (int hi, int lo), __hiloint2double(hi, lo))
AW_TO(half2float, float, (unsigned short x), (float)__builtin_bit_cast(_Float16, x))
AW_TO(float2half_rn, unsigned short, (float x), __builtin_bit_cast(unsigned short, (_Float16)x))

AW_CAST(int, finitef, float)
AW_CAST(int, isfinited, double)
AW_CAST(int, isinfd, double)
AW_CAST(int, isinff, float)
AW_CAST(int, isnand, double)
AW_CAST(int, isnanf, float)
AW_CAST(int, signbitd, double)
AW_CAST(int, signbitf, float)

AW_CAST(unsigned int, brev, unsigned int)
AW_CAST(unsigned long long, brevll, unsigned long long)
AW_CAST(int, clz, int)
AW_CAST(int, clzll, long long)
AW_CAST(int, ffs, int)
AW_CAST(int, ffsll, long long)
AW_CAST(int, popc, unsigned int)
AW_CAST(int, popcll, unsigned long long)
AW_TO(abs, int, (int x), abs(x))
AW_TO(llabs, long long, (long long x), llabs(x))
#define AW_INTEGERS(name, call, T) AW_TO(name, T, (T x, T y), call(x, y))
AW_INTEGERS(min, min, int)
AW_INTEGERS(max, max, int)
AW_INTEGERS(umin, umin, unsigned int)
AW_INTEGERS(umax, umax, unsigned int)
AW_INTEGERS(llmin, llmin, long long)
AW_INTEGERS(llmax, llmax, long long)
AW_INTEGERS(ullmin, ullmin, unsigned long long)
AW_INTEGERS(ullmax, ullmax, unsigned long long)
AW_INTEGERS(hadd, __hadd, int)
AW_INTEGERS(rhadd, __rhadd, int)
AW_INTEGERS(uhadd, __uhadd, unsigned int)
AW_INTEGERS(urhadd, __urhadd, unsigned int)
AW_INTEGERS(mul24, __mul24, int)
AW_INTEGERS(umul24, __umul24, unsigned int)
AW_INTEGERS(mulhi, __mulhi, int)
AW_INTEGERS(umulhi, __umulhi, unsigned int)
AW_INTEGERS(mul64hi, __mul64hi, long long)
AW_INTEGERS(umul64hi, __umul64hi, unsigned long long)
AW_TO(byte_perm, int, (int x, int y, int s), __byte_perm(x, y, s))
AW_TO(sad, int, (int x, int y, int z), __sad(x, y, z))
AW_TO(usad, unsigned int, (unsigned int x, unsigned int y, unsigned int z), __usad(x, y, z))
