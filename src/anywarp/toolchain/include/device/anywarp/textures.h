// tex1D, tex2D ... through texture objects, surf2Dread and its family through surface objects.
#ifndef ANYWARP_TEXTURES_H
#define ANYWARP_TEXTURES_H

#include <surface_types.h>
#include <texture_types.h>
#include <vector_types.h>

#include "attributes.h"

// What a texel of type T is read as (four floats, ints or unsigned ints) and how T is made of it.
template <class T>
struct aw_texel;
#define AW_TEXEL_1(T, Four)                                          \
  template <>                                                        \
  struct aw_texel<T> {                                               \
    typedef Four four;                                               \
    __device__ static T of(Four v) { return (T)v.x; }                \
  };
#define AW_TEXEL_VECTORS(stem, part, Four)                                                                        \
  template <>                                                                                                     \
  struct aw_texel<stem##1> {                                                                                      \
    typedef Four four;                                                                                            \
    __device__ static stem##1 of(Four v) { return {(part)v.x}; }                                                  \
  };                                                                                                              \
  template <>                                                                                                     \
  struct aw_texel<stem##2> {                                                                                      \
    typedef Four four;                                                                                            \
    __device__ static stem##2 of(Four v) { return {(part)v.x, (part)v.y}; }                                       \
  };                                                                                                              \
  template <>                                                                                                     \
  struct aw_texel<stem##4> {                                                                                      \
    typedef Four four;                                                                                            \
    __device__ static stem##4 of(Four v) { return {(part)v.x, (part)v.y, (part)v.z, (part)v.w}; }                 \
  };
AW_TEXEL_1(char, int4)
AW_TEXEL_1(signed char, int4)
AW_TEXEL_1(unsigned char, uint4)
AW_TEXEL_1(short, int4)
AW_TEXEL_1(unsigned short, uint4)
AW_TEXEL_1(int, int4)
AW_TEXEL_1(unsigned int, uint4)
AW_TEXEL_1(long, int4)
AW_TEXEL_1(unsigned long, uint4)
AW_TEXEL_1(float, float4)
AW_TEXEL_VECTORS(char, signed char, int4)
AW_TEXEL_VECTORS(uchar, unsigned char, uint4)
AW_TEXEL_VECTORS(short, short, int4)
AW_TEXEL_VECTORS(ushort, unsigned short, uint4)
AW_TEXEL_VECTORS(int, int, int4)
AW_TEXEL_VECTORS(uint, unsigned int, uint4)
AW_TEXEL_VECTORS(float, float, float4)
#undef AW_TEXEL_1
#undef AW_TEXEL_VECTORS

#define AW_P(...) __VA_ARGS__
#define AW_FETCH_AS(core, Four, c, type, form, parameters, places, inputs)                              \
  AW_FN void core(Four &v, cudaTextureObject_t o, parameters) {                                         \
    __asm__ volatile(form type places                                                                   \
                     : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w)                                   \
                     : "l"(o), inputs);                                                                 \
  }
// A function of CUDA for every way to call it. `form` is the instruction up to the type of what it yields, `places` the rest of it.
#define AW_FETCH(name, form, parameters, arguments, places, inputs)                                                   \
  AW_FETCH_AS(aw_##name, float4, "f", "f32", form, AW_P(parameters), places, AW_P(inputs))                            \
  AW_FETCH_AS(aw_##name, int4, "r", "s32", form, AW_P(parameters), places, AW_P(inputs))                              \
  AW_FETCH_AS(aw_##name, uint4, "r", "u32", form, AW_P(parameters), places, AW_P(inputs))                             \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ T name(cudaTextureObject_t o, parameters) {                                       \
    typename aw_texel<T>::four v;                                                                                     \
    aw_##name(v, o, arguments);                                                                                       \
    return aw_texel<T>::of(v);                                                                                        \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ void name(T *p, cudaTextureObject_t o, parameters) {                              \
    *p = name<T>(o, arguments);                                                                                       \
  }
// All textures of this device are resident.
#define AW_RESIDENT(name, parameters, arguments)                                                                      \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ T name(cudaTextureObject_t o, parameters, bool *resident) {                       \
    *resident = true;                                                                                                 \
    return name<T>(o, arguments);                                                                                     \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ void name(T *p, cudaTextureObject_t o, parameters, bool *resident) {              \
    *resident = true, *p = name<T>(o, arguments);                                                                     \
  }
#define AW_RESULT " {%0, %1, %2, %3}, [%4, "
AW_FETCH(tex1Dfetch, "tex.1d.v4.", AW_P(int x), AW_P(x), ".s32" AW_RESULT "{%5}];", AW_P("r"(x)))
AW_FETCH(tex1D, "tex.1d.v4.", AW_P(float x), AW_P(x), ".f32" AW_RESULT "{%5}];", AW_P("f"(x)))
AW_FETCH(tex2D, "tex.2d.v4.", AW_P(float x, float y), AW_P(x, y), ".f32" AW_RESULT "{%5, %6}];", AW_P("f"(x), "f"(y)))
AW_FETCH(tex3D, "tex.3d.v4.", AW_P(float x, float y, float z), AW_P(x, y, z), ".f32" AW_RESULT "{%5, %6, %7, %7}];",
         AW_P("f"(x), "f"(y), "f"(z)))
AW_FETCH(tex1DLayered, "tex.a1d.v4.", AW_P(float x, int layer), AW_P(x, layer), ".f32" AW_RESULT "{%5, %6}];",
         AW_P("r"(layer), "f"(x)))
AW_FETCH(tex2DLayered, "tex.a2d.v4.", AW_P(float x, float y, int layer), AW_P(x, y, layer),
         ".f32" AW_RESULT "{%5, %6, %7, %7}];", AW_P("r"(layer), "f"(x), "f"(y)))
AW_FETCH(texCubemap, "tex.cube.v4.", AW_P(float x, float y, float z), AW_P(x, y, z),
         ".f32" AW_RESULT "{%5, %6, %7, %7}];", AW_P("f"(x), "f"(y), "f"(z)))
AW_FETCH(texCubemapLayered, "tex.acube.v4.", AW_P(float x, float y, float z, int layer), AW_P(x, y, z, layer),
         ".f32" AW_RESULT "{%5, %6, %7, %8}];", AW_P("r"(layer), "f"(x), "f"(y), "f"(z)))
AW_FETCH(tex1DLod, "tex.level.1d.v4.", AW_P(float x, float l), AW_P(x, l), ".f32" AW_RESULT "{%5}], %6;",
         AW_P("f"(x), "f"(l)))
AW_FETCH(tex2DLod, "tex.level.2d.v4.", AW_P(float x, float y, float l), AW_P(x, y, l), ".f32" AW_RESULT "{%5, %6}], %7;",
         AW_P("f"(x), "f"(y), "f"(l)))
AW_FETCH(tex3DLod, "tex.level.3d.v4.", AW_P(float x, float y, float z, float l), AW_P(x, y, z, l),
         ".f32" AW_RESULT "{%5, %6, %7, %7}], %8;", AW_P("f"(x), "f"(y), "f"(z), "f"(l)))
AW_FETCH(tex1DLayeredLod, "tex.level.a1d.v4.", AW_P(float x, int layer, float l), AW_P(x, layer, l),
         ".f32" AW_RESULT "{%5, %6}], %7;", AW_P("r"(layer), "f"(x), "f"(l)))
AW_FETCH(tex2DLayeredLod, "tex.level.a2d.v4.", AW_P(float x, float y, int layer, float l), AW_P(x, y, layer, l),
         ".f32" AW_RESULT "{%5, %6, %7, %7}], %8;", AW_P("r"(layer), "f"(x), "f"(y), "f"(l)))
AW_FETCH(texCubemapLod, "tex.level.cube.v4.", AW_P(float x, float y, float z, float l), AW_P(x, y, z, l),
         ".f32" AW_RESULT "{%5, %6, %7, %7}], %8;", AW_P("f"(x), "f"(y), "f"(z), "f"(l)))
AW_FETCH(texCubemapLayeredLod, "tex.level.acube.v4.", AW_P(float x, float y, float z, int layer, float l),
         AW_P(x, y, z, layer, l), ".f32" AW_RESULT "{%5, %6, %7, %8}], %9;",
         AW_P("r"(layer), "f"(x), "f"(y), "f"(z), "f"(l)))
AW_FETCH(tex1DGrad, "tex.grad.1d.v4.", AW_P(float x, float dx, float dy), AW_P(x, dx, dy),
         ".f32" AW_RESULT "{%5}], {%6}, {%7};", AW_P("f"(x), "f"(dx), "f"(dy)))
AW_FETCH(tex2DGrad, "tex.grad.2d.v4.", AW_P(float x, float y, float2 dx, float2 dy), AW_P(x, y, dx, dy),
         ".f32" AW_RESULT "{%5, %6}], {%7, %8}, {%9, %10};",
         AW_P("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
AW_FETCH(tex3DGrad, "tex.grad.3d.v4.", AW_P(float x, float y, float z, float4 dx, float4 dy), AW_P(x, y, z, dx, dy),
         ".f32" AW_RESULT "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};",
         AW_P("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
AW_FETCH(texCubemapGrad, "tex.grad.cube.v4.", AW_P(float x, float y, float z, float4 dx, float4 dy), AW_P(x, y, z, dx, dy),
         ".f32" AW_RESULT "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};",
         AW_P("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
AW_FETCH(tex1DLayeredGrad, "tex.grad.a1d.v4.", AW_P(float x, int layer, float dx, float dy), AW_P(x, layer, dx, dy),
         ".f32" AW_RESULT "{%5, %6}], {%7}, {%8};", AW_P("r"(layer), "f"(x), "f"(dx), "f"(dy)))
AW_FETCH(tex2DLayeredGrad, "tex.grad.a2d.v4.", AW_P(float x, float y, int layer, float2 dx, float2 dy),
         AW_P(x, y, layer, dx, dy), ".f32" AW_RESULT "{%5, %6, %7, %7}], {%8, %9}, {%10, %11};",
         AW_P("r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
AW_FETCH(texCubemapLayeredGrad, "tex.grad.acube.v4.", AW_P(float x, float y, float z, int layer, float4 dx, float4 dy),
         AW_P(x, y, z, layer, dx, dy), ".f32" AW_RESULT "{%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14};",
         AW_P("r"(layer), "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
AW_RESIDENT(tex2D, AW_P(float x, float y), AW_P(x, y))
AW_RESIDENT(tex3D, AW_P(float x, float y, float z), AW_P(x, y, z))
AW_RESIDENT(tex2DLayered, AW_P(float x, float y, int layer), AW_P(x, y, layer))
AW_RESIDENT(tex2DLod, AW_P(float x, float y, float l), AW_P(x, y, l))
AW_RESIDENT(tex3DLod, AW_P(float x, float y, float z, float l), AW_P(x, y, z, l))
AW_RESIDENT(tex2DLayeredLod, AW_P(float x, float y, int layer, float l), AW_P(x, y, layer, l))
AW_RESIDENT(tex2DGrad, AW_P(float x, float y, float2 dx, float2 dy), AW_P(x, y, dx, dy))
AW_RESIDENT(tex3DGrad, AW_P(float x, float y, float z, float4 dx, float4 dy), AW_P(x, y, z, dx, dy))
AW_RESIDENT(tex2DLayeredGrad, AW_P(float x, float y, int layer, float2 dx, float2 dy), AW_P(x, y, layer, dx, dy))

// One component of each of the four texels around a place.
#define AW_GATHER(component) \
  AW_FETCH(aw_gather_##component, "tld4." #component ".2d.v4.", AW_P(float x, float y), AW_P(x, y), \
           ".f32" AW_RESULT "{%5, %6}];", AW_P("f"(x), "f"(y)))
AW_GATHER(r)
AW_GATHER(g)
AW_GATHER(b)
AW_GATHER(a)
#undef AW_GATHER
template <class T>
__device__ static __forceinline__ T tex2Dgather(cudaTextureObject_t o, float x, float y, int component = 0) {
  return component == 0   ? aw_gather_r<T>(o, x, y)
         : component == 1 ? aw_gather_g<T>(o, x, y)
         : component == 2 ? aw_gather_b<T>(o, x, y)
                          : aw_gather_a<T>(o, x, y);
}
template <class T>
__device__ static __forceinline__ void tex2Dgather(T *p, cudaTextureObject_t o, float x, float y, int component = 0) {
  *p = tex2Dgather<T>(o, x, y, component);
}
#undef AW_FETCH
#undef AW_FETCH_AS
#undef AW_RESIDENT
#undef AW_RESULT

// Surfaces: x counts bytes, and what lies there is taken as words of T's size. An instruction names what happens outside.
template <int Bytes>
struct aw_word;
#define AW_WORD(bytes, Word)    \
  template <>                   \
  struct aw_word<bytes> {       \
    typedef Word type;          \
  };
AW_WORD(1, unsigned char)
AW_WORD(2, unsigned short)
AW_WORD(4, unsigned int)
AW_WORD(8, unsigned long long)
AW_WORD(16, ulonglong2)
#undef AW_WORD
#define AW_READ(form, mode_word, place, c, inputs) \
  __asm__ volatile(form mode_word " %[v], " place ";" : [v] "=" c(r) : [o] "l"(o), inputs : "memory")
#define AW_WRITE(form, mode_word, place, c, inputs) \
  __asm__ volatile(form mode_word " " place ", %[v];" : : [v] c(r), [o] "l"(o), inputs : "memory")
#define AW_READ_2(form, mode_word, place, c, inputs)             \
  __asm__ volatile(form mode_word " {%[v], %[w]}, " place ";"    \
                   : [v] "=" c(r.x), [w] "=" c(r.y) : [o] "l"(o), inputs : "memory")
#define AW_WRITE_2(form, mode_word, place, c, inputs) \
  __asm__ volatile(form mode_word " " place ", {%[v], %[w]};" : : [v] c(r.x), [w] c(r.y), [o] "l"(o), inputs : "memory")
#define AW_IN_MODE(HOW, form, place, c, inputs)                                               \
  if (mode == cudaBoundaryModeTrap) HOW(form, ".trap", place, c, AW_P(inputs));               \
  else if (mode == cudaBoundaryModeClamp) HOW(form, ".clamp", place, c, AW_P(inputs));        \
  else HOW(form, ".zero", place, c, AW_P(inputs))
#define AW_SURFACE_WORD(way, type, Word, Register, c, R, W, parameters, place, inputs)                              \
  AW_FN void aw_surface_read_##way(Word &v, cudaSurfaceObject_t o, parameters, cudaSurfaceBoundaryMode mode) {      \
    Register r;                                                                                                     \
    AW_IN_MODE(R, "suld.b." #way type, place, c, AW_P(inputs));                                                     \
    v = (Word)r;                                                                                                    \
  }                                                                                                                 \
  AW_FN void aw_surface_write_##way(Word v, cudaSurfaceObject_t o, parameters, cudaSurfaceBoundaryMode mode) {      \
    Register r = v;                                                                                                 \
    AW_IN_MODE(W, "sust.b." #way type, place, c, AW_P(inputs));                                                     \
  }
#define AW_SURFACE_CORE(way, parameters, place, inputs)                                                                          \
  AW_SURFACE_WORD(way, ".b8", unsigned char, unsigned short, "h", AW_READ, AW_WRITE, AW_P(parameters), place, AW_P(inputs))      \
  AW_SURFACE_WORD(way, ".b16", unsigned short, unsigned short, "h", AW_READ, AW_WRITE, AW_P(parameters), place, AW_P(inputs))    \
  AW_SURFACE_WORD(way, ".b32", unsigned int, unsigned int, "r", AW_READ, AW_WRITE, AW_P(parameters), place, AW_P(inputs))        \
  AW_SURFACE_WORD(way, ".b64", unsigned long long, unsigned long long, "l", AW_READ, AW_WRITE, AW_P(parameters), place,          \
                  AW_P(inputs))                                                                                                  \
  AW_SURFACE_WORD(way, ".v2.b64", ulonglong2, ulonglong2, "l", AW_READ_2, AW_WRITE_2, AW_P(parameters), place, AW_P(inputs))
#define AW_SURFACE(name, way, parameters, arguments)                                                                  \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ T name##read(cudaSurfaceObject_t o, parameters,                                   \
                                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {               \
    typename aw_word<sizeof(T)>::type v;                                                                              \
    aw_surface_read_##way(v, o, arguments, mode);                                                                     \
    return __builtin_bit_cast(T, v);                                                                                  \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ void name##read(T *p, cudaSurfaceObject_t o, parameters,                          \
                                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    *p = name##read<T>(o, arguments, mode);                                                                           \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  __device__ static __forceinline__ void name##write(T v, cudaSurfaceObject_t o, parameters,                          \
                                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    aw_surface_write_##way(__builtin_bit_cast(typename aw_word<sizeof(T)>::type, v), o, arguments, mode);             \
  }
AW_SURFACE_CORE(1d, AW_P(int x), "[%[o], {%[x]}]", AW_P([x] "r"(x)))
AW_SURFACE_CORE(2d, AW_P(int x, int y), "[%[o], {%[x], %[y]}]", AW_P([x] "r"(x), [y] "r"(y)))
AW_SURFACE_CORE(3d, AW_P(int x, int y, int z), "[%[o], {%[x], %[y], %[z], %[z]}]",
                AW_P([x] "r"(x), [y] "r"(y), [z] "r"(z)))
AW_SURFACE_CORE(a1d, AW_P(int x, int layer), "[%[o], {%[layer], %[x]}]", AW_P([x] "r"(x), [layer] "r"(layer)))
AW_SURFACE_CORE(a2d, AW_P(int x, int y, int layer), "[%[o], {%[layer], %[x], %[y], %[y]}]",
                AW_P([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
AW_SURFACE(surf1D, 1d, AW_P(int x), AW_P(x))
AW_SURFACE(surf2D, 2d, AW_P(int x, int y), AW_P(x, y))
AW_SURFACE(surf3D, 3d, AW_P(int x, int y, int z), AW_P(x, y, z))
AW_SURFACE(surf1DLayered, a1d, AW_P(int x, int layer), AW_P(x, layer))
AW_SURFACE(surf2DLayered, a2d, AW_P(int x, int y, int layer), AW_P(x, y, layer))
// A cube map is six layers, one for each face.
AW_SURFACE(surfCubemap, a2d, AW_P(int x, int y, int face), AW_P(x, y, face))
AW_SURFACE(surfCubemapLayered, a2d, AW_P(int x, int y, int layer_face), AW_P(x, y, layer_face))
#undef AW_SURFACE
#undef AW_SURFACE_CORE
#undef AW_SURFACE_WORD
#undef AW_IN_MODE
#undef AW_READ
#undef AW_READ_2
#undef AW_WRITE
#undef AW_WRITE_2
#undef AW_P

#endif
