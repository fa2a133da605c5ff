# The stand-in works: nothing is compiled to see.
set(CMAKE_HIP_COMPILER_WORKS 1 CACHE INTERNAL "")
