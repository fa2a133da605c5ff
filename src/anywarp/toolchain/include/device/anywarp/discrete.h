// A distribution of whole numbers, as curandCreatePoissonDistribution makes it and curand_discrete reads it: sums[k] is the
// probability of first + k or less.
#ifndef ANYWARP_DISCRETE_H
#define ANYWARP_DISCRETE_H

struct curandDiscreteDistribution_st {
  const double *sums;
  unsigned int count, first;
};
typedef struct curandDiscreteDistribution_st *curandDiscreteDistribution_t;

#endif
