"""CUDA C++ source to PTX, objects and programs, with our own headers and a clang that is a package.

Separate from the compiler because nothing at run time needs it: it ends where PTX and host objects begin.
"""
