"""PyTorch: `cuda` as a real device of a CPU build, so that programs written for CUDA run as they are.

The compiled half is native/torch; this package chooses and loads its binary and supplies the Python names that a CUDA build has.
"""
