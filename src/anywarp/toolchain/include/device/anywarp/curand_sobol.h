// Sobol's sequences from direction vectors of the program's (curandGetDirectionVectors32 and 64), plain and scrambled.
#ifndef ANYWARP_CURAND_SOBOL_H
#define ANYWARP_CURAND_SOBOL_H

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

// c: what a scrambled sequence begins with; the plain one begins with 0.
struct curandStateSobol32 {
  unsigned int i, x, c;
  unsigned int direction_vectors[32];
};
struct curandStateScrambledSobol32 {
  unsigned int i, x, c;
  unsigned int direction_vectors[32];
};
struct curandStateSobol64 {
  unsigned long long i, x, c;
  unsigned long long direction_vectors[64];
};
struct curandStateScrambledSobol64 {
  unsigned long long i, x, c;
  unsigned long long direction_vectors[64];
};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

// The point of a place in the order of Gray's code.
template <class S>
AW_RAND void aw_sobol_place(S *s, unsigned long long i) {
  const int bits = sizeof(s->i) * 8;
  s->i = (decltype(s->i))i;
  s->x = s->c;
  decltype(s->i) gray = s->i ^ (s->i >> 1);
  for (int k = 0; k < bits; ++k)
    if (gray >> k & 1) s->x ^= s->direction_vectors[k];
}
template <class S>
AW_RAND auto aw_sobol_next(S *s) {
  const auto now = s->x;
  const int last = sizeof(s->i) * 8 - 1, k = __ffsll((long long)~(unsigned long long)s->i) - 1;
  s->x ^= s->direction_vectors[k < last ? k : last];
  ++s->i;
  return now;
}
template <class S, class V>
AW_RAND void aw_sobol_start(S *s, const V *vectors, V c, unsigned long long offset) {
  for (unsigned k = 0; k < sizeof(V) * 8; ++k) s->direction_vectors[k] = vectors[k];
  s->c = c;
  aw_sobol_place(s, offset);
}

AW_RAND void curand_init(curandDirectionVectors32_t vectors, unsigned int offset, curandStateSobol32_t *s) {
  aw_sobol_start(s, vectors, 0u, offset);
}
AW_RAND void curand_init(curandDirectionVectors32_t vectors, unsigned int scramble, unsigned int offset,
                         curandStateScrambledSobol32_t *s) {
  aw_sobol_start(s, vectors, scramble, offset);
}
AW_RAND void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset, curandStateSobol64_t *s) {
  aw_sobol_start(s, vectors, 0ull, offset);
}
AW_RAND void curand_init(curandDirectionVectors64_t vectors, unsigned long long scramble, unsigned long long offset,
                         curandStateScrambledSobol64_t *s) {
  aw_sobol_start(s, vectors, scramble, offset);
}

// Uniform and normal numbers of one coordinate; normal ones by the inverse of their distribution, which keeps dimensions apart.
AW_RAND float _curand_uniform(unsigned long long x) { return x * 0x1p-64f + 0x1p-65f; }
AW_RAND double aw_sobol_uniform(unsigned int x) { return x * 0x1p-32 + 0x1p-33; }
AW_RAND double aw_sobol_uniform(unsigned long long x) { return (x >> 11) * 0x1p-53 + 0x1p-54; }
AW_RAND double aw_sobol_normal(unsigned int x) { return normcdfinv(aw_sobol_uniform(x)); }
AW_RAND double aw_sobol_normal(unsigned long long x) {
  bool upper = x >> 63;  // near 1 by symmetry, where a double has no digits left
  double value = normcdfinv((upper ? ~x : x) * 0x1p-64 + 0x1p-65);
  return upper ? -value : value;
}
// Poisson numbers would take several coordinates of one dimension: curand_discrete takes one.
#define AW_SOBOL(state, word)                                                                                           \
  AW_RAND word curand(state *s) { return aw_sobol_next(s); }                                                            \
  AW_RAND void skipahead(word n, state *s) { aw_sobol_place(s, s->i + n); }                                             \
  AW_RAND double curand_uniform_double(state *s) { return aw_sobol_uniform(curand(s)); }                                \
  AW_RAND float curand_normal(state *s) { return (float)aw_sobol_normal(curand(s)); }                                   \
  AW_RAND double curand_normal_double(state *s) { return aw_sobol_normal(curand(s)); }                                  \
  unsigned int curand_poisson(state *s, double lambda) = delete;
AW_SOBOL(curandStateSobol32_t, unsigned int)
AW_SOBOL(curandStateScrambledSobol32_t, unsigned int)
AW_SOBOL(curandStateSobol64_t, unsigned long long)
AW_SOBOL(curandStateScrambledSobol64_t, unsigned long long)
#undef AW_SOBOL

#endif
