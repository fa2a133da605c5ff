#include "cuda/atomic_capabilities.h"

#include "cuda/api.h"

namespace aw {
namespace {

// As generated code does it, with instructions of the processor and of AMD GPUs alike.
unsigned capability(CUatomicOperation operation, unsigned exchanges) {
  constexpr unsigned kSigned = CU_ATOMIC_CAPABILITY_SIGNED,
                     kUnsigned = CU_ATOMIC_CAPABILITY_UNSIGNED,
                     kReduction = CU_ATOMIC_CAPABILITY_REDUCTION,
                     k32 = CU_ATOMIC_CAPABILITY_SCALAR_32, k64 = CU_ATOMIC_CAPABILITY_SCALAR_64;
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
      return kSigned | kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return kUnsigned | kReduction | k32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
      return kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return kUnsigned | exchanges;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return kSigned | kReduction | k32 | k64;
    default:  // floating-point min and max
      return 0;
  }
}

}  // namespace

void write_atomic_capabilities(unsigned* out, const CUatomicOperation* operations, unsigned count,
                               unsigned exchanges) {
  require(out && operations && count > 0);
  for (unsigned i = 0; i < count; ++i)
    require(operations[i] >= CU_ATOMIC_OPERATION_INTEGER_ADD &&
            operations[i] < CU_ATOMIC_OPERATION_MAX);
  for (unsigned i = 0; i < count; ++i) out[i] = capability(operations[i], exchanges);
}

}  // namespace aw
