"""AMD GPUs: from the kernel IR to scalar LLVM IR per lane, to an object, to a code object that ROCm loads."""
