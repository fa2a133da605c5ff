"""The CUDA machine seen from Python: launching programs under our libraries, the kernel cache, the compile service.

Native code asks this room for one thing only, a compiled kernel; everything else it does without an interpreter.
"""
