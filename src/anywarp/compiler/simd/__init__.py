"""Kernel IR to whole-warp vector code for CPUs (SIMT to SIMD), as LLVM IR."""
